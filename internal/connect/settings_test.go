package connect_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/connect"
)

const good = `
networks:
  BTC:
    adapter: bitcoin
    params: regtest
    nodes: [{url: "http://127.0.0.1:18443", user: x, password: s3cret}]
    start: "100:0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    fees: {floor: 2, cap: 50, stuck: 3}
    hot: {low: "1", target: "2.5", high: "4"}
  LTC:
    adapter: bitcoin
    params: litecoin-regtest
    nodes: [{url: "http://127.0.0.1:19443"}]
  ETH:
    adapter: evm
    params: 31337
    nodes: [{url: "http://127.0.0.1:8545"}]
    read: finalized
  ATOM:
    adapter: cosmos
    params: dev-1
    nodes: [{url: "http://127.0.0.1:26657"}]
    fees: {floor: 30000, cap: 60000}
signer: {socket: /run/bourse/signer.sock}
`

func TestReadSandbox(t *testing.T) {
	list, signer, err := connect.ReadSandbox(strings.NewReader(good))
	if signer != (connect.Signer{Socket: "/run/bourse/signer.sock"}) {
		t.Errorf("the signer is %+v", signer)
	}
	if err != nil || len(list) != 4 || list[0].Symbol != "ATOM" || list[1].Symbol != "BTC" || list[2].Symbol != "ETH" || list[3].Symbol != "LTC" {
		t.Errorf("got %d, %v", len(list), err)
	}
}

// TestSeveralNodes takes several nodes, and how many of them must agree.
func TestSeveralNodes(t *testing.T) {
	for _, nodes := range []string{
		`[{url: "http://a"}, {url: "http://b"}]`, `[{url: "http://a"}, {url: "https://a"}, {url: "http://a:8545"}]`,
		`[{url: "http://a/key-1"}, {url: "http://a/key-2"}]`, "[{url: \"http://a\"}, {url: \"http://b\"}, {url: \"http://c\"}]\n    agree: 3",
	} {
		text := strings.Replace(good, `[{url: "http://127.0.0.1:8545"}]`, nodes, 1)
		if _, _, err := connect.ReadSandbox(strings.NewReader(text)); err != nil {
			t.Errorf("%s: %v", nodes, err)
		}
	}
}

// TestRefusals checks that each mistake is told where it is, without a password.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ old, by, wants string }{
		{"params: regtest", "params: mainnet", "BTC: params mainnet: a sandbox's money is worth nothing"},
		{"params: litecoin-regtest", "params: litecoin-mainnet", "LTC: params litecoin-mainnet: a sandbox's"},
		{"params: regtest", "params: testnet3", `params "testnet3" are not known; known are mainnet, testnet4`},
		{"params: regtest", "params: litecoin-regtest", "BTC: params litecoin-regtest are of the network LTC"},
		{"adapter: bitcoin", "adapter: evm", "BTC: params of the adapter evm are the chain id"},
		{"adapter: evm", "adapter: tron", `ETH: adapter "tron" is not known; bitcoin, evm and cosmos are`},
		{"params: dev-1", "params: cosmoshub-4", "ATOM: params cosmoshub-4: a sandbox's money is worth nothing"},
		{"  ATOM:", "  OSMO:", "OSMO: params dev-1 are of the network ATOM"},
		{"cap: 60000", "stuck: 3", "ATOM: fees: stuck is no setting of the adapter cosmos"},
		{"cap: 60000", "cap: 1099511627776", "ATOM: fees are units for a million units of gas, below 2^40"},
		{"params: dev-1\n", "params: dev-1\n    read: safe\n", "ATOM: read is a setting of the adapter evm"},
		{"params: dev-1\n", "params: dev-1\n    trace: true\n", "ATOM: trace is a setting of the adapter evm"},
		{"params: dev-1\n", "params: dev-1\n    cold: x\n", "ATOM: cold is a setting of the adapter bitcoin"},
		{"params: dev-1\n", "params: dev-1\n    keys: xprv\n", "ATOM: keys are like [d34db33f/44h/118h/0h]xpub"},
		{"params: dev-1\n", "params: dev-1\n    start: 1:zz\n", "ATOM: start is like HEIGHT:HASH"},
		{"adapter: evm", "adapter: cosmos", "ETH: params of the adapter cosmos are the chain id, of cosmoshub-4, provider, dev-1"},
		{"params: 31337", "params: 1", "ETH: params 1: a sandbox's money is worth nothing"},
		{"params: 31337", "params: 031337", "ETH: params of the adapter evm are the chain id"},
		{"read: finalized", "read: justified", `ETH: read "justified" is not known; latest, safe and finalized are`},
		{"read: finalized", "start: 1:00", "start is like HEIGHT:0xHASH"},
		{"read: finalized", "keys: xprv", "keys are like [d34db33f/44h/60h/0h]xpub"},
		{"params: litecoin-regtest\n", "params: litecoin-regtest\n    read: safe\n", "LTC: read is a setting of the adapter evm"},
		{"fees: {floor: 2, cap: 50, stuck: 3}", "fees: {cap: 5000000000}", "fees are units per virtual byte"},
		{"read: finalized", "fees: {cap: 9223372036854775808}", "ETH: fees are units per unit of gas, below 2^63"},
		{"read: finalized", "fees: {floor: 9223372036854775808}", "ETH: fees are units per unit of gas, below 2^63"},
		{"read: finalized", "read: safe\n    fees: {stuck: 127}", "ETH: fees: stuck is at least 128 with read: safe"},
		{`target: "2.5"`, `target: "0.5"`, "BTC: hot: low is at most target"},
		{`, high: "4"`, "", `BTC: hot: high ""`},
		{`high: "4"`, `high: "4", coins: {X: {low: "-1"}}`, `BTC: hot: X: low "-1"`},
		{`high: "4"`, `high: "4", most: "4"`, "field most not found"},
		{"stuck: 3", "stuck: -3", "cannot unmarshal"},
		{"user: x, password: s3cret", "user: x", "a node's user has no password"},
		{"password: s3cret", "password: s3cret, password-file: f", "exclude each other"},
		{"http://127.0.0.1:18443", "http://u:s3cret@127.0.0.1:1", "no user and no password"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}]", "nodes: []", "ETH: nodes: 0, and 1 to 9 are taken"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}]", "nodes: [" + strings.Repeat("{url: \"http://127.0.0.1:1\"},", 10) + "]",
			"ETH: nodes: 10, and 1 to 9 are taken"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}", "nodes: [{url: \"http://127.0.0.1:8545\"}, {url: \"HTTP://127.0.0.1:8545/\"}",
			"ETH: nodes: node 2 is named twice"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}", "nodes: [{url: \"http://Node\"}, {url: \"http://node.:80\"}",
			"ETH: nodes: node 2 is named twice"},
		{"read: finalized", "agree: 2", "agree is 1 to 1 of 1 nodes"},
		{"read: finalized", "agree: -1", "agree is a number of nodes"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}", "agree: 1\n    nodes: [{url: \"http://a\"}, {url: \"http://b\"}",
			"ETH: agree is 2 to 2 of 2 nodes: fewer could agree on two chains"},
		{"read: finalized", "credit-alone: {ETH: much}", `ETH: credit-alone: ETH "much"`},
		{"read: finalized", "credit-alone: {ETH: \"-1\"}", `ETH: credit-alone: ETH "-1"`},
		{"read: finalized", "credit-alone:\n    #  ETH: \"1\"", "ETH: credit-alone names no coin"},
		{"nodes: [{url: \"http://127.0.0.1:8545\"}", "credit-alone: {ETH: \"1\"}\n    nodes: [{url: \"http://a\"}, {url: \"http://b\"}",
			"ETH: credit-alone is for a network of one node"},
		{"100:0f91", "100:zz", "start is like HEIGHT:HASH"},
		{"start: ", "keys: xprv\n    start: ", "keys are like wpkh("},
		{"start: ", "cold: tr(s3cret)\n    start: ", "BTC: cold is like wpkh("},
		{"read: finalized", "cold: wpkh(x)", "ETH: cold is a setting of the adapter bitcoin"},
		{"fees: {floor: 2", "fees: {flor: 2", "line 8: field flor not found"},
		{"socket: /run", "sockets: /run", "field sockets not found"},
		{good, "networks: {}", "it names none"},
		{good, "", "it names none"},
	} {
		text := strings.Replace(good, c.old, c.by, 1)
		_, _, err := connect.ReadSandbox(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), c.wants) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %s", c.by, err, c.wants)
		}
	}
}

// realMoney is the block of a configuration file.
const realMoney = `
BTC:
  adapter: bitcoin
  params: mainnet
  nodes: [{url: "http://127.0.0.1:8332", user: x, password-file: /etc/bourse/btc.pw}]
  keys: "KEYS"
  start: "0:000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
ETH:
  adapter: evm
  params: 11155111
  nodes: [{url: "http://127.0.0.1:8545"}]
  keys: "EVM"
  start: "0:0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9"
`

// block is realMoney with keys.
func block(t *testing.T) string {
	t.Helper()
	btc, err := bitcoin.NewKeys(bitcoin.Lookup("mainnet"), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	eth, err := evm.NewKeys(&evm.Params{Chain: 11155111, Coin: "ETH"}, make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("KEYS", btc.Public().String(), "EVM", eth.Public().String()).Replace(realMoney)
}

// ownCold returns a descriptor of cold storage from a seed of zeros, as the keys of block are.
func ownCold(t *testing.T, params string) string {
	t.Helper()
	keys, err := bitcoin.NewKeys(bitcoin.Lookup(params), make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(keys.Public().String(), ")") + "/0/*)"
}

// TestProduction takes any chain, and wants all that real money needs.
func TestProduction(t *testing.T) {
	good := block(t)
	list, err := connect.ParseProduction([]byte(good))
	if err != nil || len(list) != 2 || list[0].Symbol != "BTC" || list[0].IsTest() || !list[1].IsTest() {
		t.Fatalf("%+v, %v", list, err)
	}
	if list, err := connect.ParseProduction([]byte("{}")); err != nil || len(list) != 0 {
		t.Errorf("an empty block: %+v, %v", list, err)
	}
	file := "networks:\n" + strings.ReplaceAll(good, "\n", "\n  ") + "\nsigner: {socket: s}\n"
	list, keeper, err := connect.ReadProduction(strings.NewReader(file))
	if err != nil || len(list) != 2 || keeper.Socket != "s" {
		t.Errorf("a file: %+v, %+v, %v", list, keeper, err)
	}

	line := func(word string) string {
		_, rest, _ := strings.Cut(good, "  "+word)
		rest, _, _ = strings.Cut(rest, "\n")
		return "  " + word + rest + "\n"
	}
	for _, c := range []struct{ old, by, wants string }{
		{line("keys"), "", "BTC: keys are missing"},
		{line("start"), "", "BTC: start is missing"},
		{"password-file: /etc/bourse/btc.pw", "password: s3cret", "BTC: nodes: a password is in a file of its own"},
		{line("keys"), "  keys: xprv9s21\n", "BTC: keys are like wpkh("},
		{line("start"), line("start") + "  cold: \"" + ownCold(t, "mainnet") + "\"\n", "BTC: cold has a key of the signer's own seed"},
		{"adapter: bitcoin", "adapter: bitcoin\n  trace: true", "BTC: trace is a setting of the adapter evm"},
		{"adapter: bitcoin", "adapter: bitcoin\n  stuck: 3", "field stuck not found"},
	} {
		_, err := connect.ParseProduction([]byte(strings.Replace(good, c.old, c.by, 1)))
		if err == nil || !strings.Contains(err.Error(), c.wants) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v, want %s", c.by, err, c.wants)
		}
	}
}

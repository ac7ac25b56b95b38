package main

import (
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// depositor is a customer of a sandbox that is connected to a real node.
type depositor struct {
	*server
	realNode
	key string
}

// realNode is a real node, and the outside world on its chain.
type realNode struct {
	node    *nodetest.Node
	outside world
	// asset is the native coin, and the network's name.
	asset string
	// decimals is the number of decimals of the coin's smallest unit.
	decimals uint8
	// confirms is the number of confirmations after which a deposit is credited.
	confirms int
	// sweeps is true if deposits move to the hot wallet.
	sweeps bool
	// settings are the network's in the file of networks.
	settings string
	// broadcast is the node's method that takes a signed transaction.
	broadcast string
}

// world is the outside world: it pays, mines and is paid on a chain.
type world interface {
	Send(pays ...chain.Pay) (chain.Hash, error)
	Mine(count int) (chain.BlockRef, error)
	Reorg(depth int, drop bool) (chain.BlockRef, error)
	NewAddress() (string, error)
	Balance(of string) (bourse.Amount, error)
}

// bitcoins starts a node of the Bitcoin family.
func bitcoins(t *testing.T, kind *nodetest.Kind) realNode {
	t.Helper()
	node := nodetest.Start(t, kind)
	return realNode{
		node: node, outside: nodetest.NewOutside(t, node), asset: string(kind.Params.Coin), decimals: 8, confirms: 2,
		settings: fmt.Sprintf("adapter: bitcoin\n    params: %s\n    nodes: [{url: %q, user: %s, password: %s}]",
			kind.Params.Name, node.URL, nodetest.User, nodetest.Password),
		broadcast: "sendrawtransaction",
	}
}

// ethers starts a node of Ethereum.
func ethers(t *testing.T, kind *nodetest.Kind) realNode {
	t.Helper()
	node := nodetest.Start(t, kind)
	return realNode{
		node: node, outside: nodetest.NewEther(t, node), asset: "ETH", decimals: 18, confirms: 3, sweeps: true,
		settings:  fmt.Sprintf("adapter: evm\n    params: %d\n    nodes: [{url: %q}]", nodetest.EtherChain, node.URL),
		broadcast: "eth_sendRawTransaction",
	}
}

// atoms starts a node of the Cosmos SDK.
func atoms(t *testing.T) realNode {
	t.Helper()
	node := nodetest.Start(t, nodetest.Cosmos())
	return realNode{
		node: node, outside: nodetest.NewAtoms(t, node), asset: "ATOM", decimals: 6, confirms: 1,
		settings:  fmt.Sprintf("adapter: cosmos\n    params: %s\n    nodes: [{url: %q}]", nodetest.CosmosChain, node.URL),
		broadcast: "broadcast_tx_sync",
	}
}

// tenths returns an amount of so many tenths of a coin.
func (r *realNode) tenths(n uint64) bourse.Amount {
	return bourse.Units(n * bourse.Pow10(r.decimals-1))
}

// depositAnswer is the answer about an address for deposits.
type depositAnswer struct {
	Success   bool
	Operating bool
	Target    int `json:"confirms_target"`
	Address   string
	Memo      string
	QR        string `json:"qr_content"`
}

// destination returns where a deposit goes.
func (a depositAnswer) destination() chain.Destination {
	return chain.Destination{Address: a.Address, Memo: a.Memo}
}

// TestRealNetworks lets a customer use the wallet over HTTP on chains of real nodes: a deposit
// with its confirmations, addresses, a withdrawal, a cancel, and both node and exchange killed.
func TestRealNetworks(t *testing.T) {
	if testing.Short() {
		return
	}
	for _, kind := range []*nodetest.Kind{nodetest.Knots(), nodetest.Litecoin(), nodetest.Btcd()} {
		t.Run(kind.Name, func(t *testing.T) {
			w := walk(t, bitcoins(t, kind), nil)
			w.deposit()
			w.addresses()
			w.withdraw()
			w.nodeFreezes()
			w.nodeDies()
			w.exchangeDies()
			// Last, because a killed node would forget which of its blocks it gave up.
			w.reorganised()
		})
	}

	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) {
			r := ethers(t, kind)
			r.settings += "\n    trace: true"
			w := walk(t, r, nil)
			w.deposit()
			w.addresses()
			w.withdraw()
			w.token(w.outside.(*nodetest.Ether))
			w.called(w.outside.(*nodetest.Ether))
			w.reorganised()
			w.nodeFreezes()
			if kind.Name == "geth" { // a killed anvil comes back without its chain
				w.nodeDies()
			}
			// Last, because a chain that anvil loaded cannot be reorganised.
			w.exchangeDies()
		})
	}

	// The chain's blocks are final: there is no reorganisation to test.
	t.Run("cosmos", func(t *testing.T) {
		w := walk(t, atoms(t), nil)
		w.deposit()
		w.withoutMemo()
		w.longMemos()
		w.addresses()
		w.withdraw()
		w.nodeFreezes()
		w.nodeDies()
		w.exchangeDies()
	})
}

// walk starts a sandbox that is connected to a node and has one customer. With a keeper, the keys are in the
// signer's process.
func walk(t *testing.T, r realNode, by *keeper, args ...string) *depositor {
	t.Helper()
	w := &depositor{realNode: r}
	file := filepath.Join(t.TempDir(), "networks.yaml")
	text := fmt.Sprintf("networks:\n  %s:\n    %s\n", r.asset, r.settings)
	if by != nil {
		text += fmt.Sprintf("    keys: %q\nsigner: {socket: %q}\n", by.keys(r.asset), by.socket())
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.server = start(t, t.TempDir(), append([]string{"--bots=false", "--networks", file}, args...)...)
	w.opens()
	return w
}

// opens makes the customer's account, and a key of it.
func (w *depositor) opens() {
	w.t.Helper()
	operate[any](w.server, "account", "create", "depositor@example.org")
	w.key = operate[struct {
		Secret string `json:"api_key"`
	}](w.server, "key", "create", "1", "--name", "test", "--scopes", "read,trade,withdraw").Secret
}

// wallet asks an endpoint of the wallet with the customer's key.
func wallet[A any](w *depositor, path string, body map[string]any) A {
	w.t.Helper()
	body["api_key"], body["network"] = w.key, w.asset
	if body["asset"] == nil {
		body["asset"] = w.asset
	}
	a, err := ask[A](http.DefaultClient, w.url, path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// transfers returns the customer's deposits and withdrawals, newest first.
func (w *depositor) transfers() []transfer {
	w.t.Helper()
	a, err := ask[walletAnswer](http.DefaultClient, w.url, "/wallet/transactions", map[string]any{"api_key": w.key, "offset": 0})
	if err != nil || !a.Success {
		w.t.Fatalf("%+v, %v", a, err)
	}
	return a.Transactions
}

// until waits until something holds.
func (w *depositor) until(what string, holds func() bool) {
	w.t.Helper()
	within(w.t, patience, what, holds)
}

func (w *depositor) mine(count int) {
	w.t.Helper()
	if _, err := w.outside.Mine(count); err != nil {
		w.t.Fatal(err)
	}
}

// status returns the status of the newest transfer; empty for none.
func (w *depositor) status() string {
	w.t.Helper()
	if all := w.transfers(); len(all) > 0 {
		return all[0].Status
	}
	return ""
}

func (w *depositor) operating() bool {
	w.t.Helper()
	return wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).Operating
}

// reason returns why the network does not operate, as operators see it.
func (w *depositor) reason() string {
	w.t.Helper()
	type row struct{ Network, Reason string }
	for _, n := range operate[struct{ Networks []row }](w.server, "network", "list").Networks {
		if n.Network == w.asset {
			return n.Reason
		}
	}
	return ""
}

func (w *depositor) deposit() {
	w.t.Helper()
	w.until("the network operates", w.operating)
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{})
	scheme, _, found := strings.Cut(to.QR, ":")
	if !strings.HasPrefix(to.QR, scheme+":"+to.Address) && (found || to.Memo == "") || to.Target != w.confirms {
		w.t.Errorf("the address is %+v", to)
	}

	pay := chain.Pay{To: to.destination(), Amount: w.tenths(5)}
	if _, err := w.outside.Send(pay); err != nil {
		w.t.Fatal(err)
	}
	w.mine(1)
	if w.confirms > 1 {
		w.until("a deposit that waits", func() bool { return w.status() == "PENDING" })
		if balance := w.balance(); balance != "0" {
			w.t.Errorf("%s before its confirmations", balance)
		}
		w.mine(w.confirms - 1)
	}
	w.until("a deposit that is done", func() bool { return w.status() == "DONE" })
	if balance := w.balance(); balance != "0.5" {
		w.t.Errorf("%s after the confirmations", balance)
	}
}

func (w *depositor) balance() string {
	w.t.Helper()
	return wallet[walletAnswer](w, "/wallet/balances", map[string]any{}).Balances[w.asset].Total
}

// addresses asks about addresses of this network and of another.
func (w *depositor) addresses() {
	w.t.Helper()
	out, err := w.outside.NewAddress()
	if err != nil {
		w.t.Fatal(err)
	}
	for address, valid := range map[string]bool{out: true, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": false, out + "q": false} {
		got := wallet[struct {
			Valid bool `json:"valid_address"`
		}](w, "/wallet/withdraw/validate", map[string]any{"address": address})
		if got.Valid != valid {
			w.t.Errorf("%s is valid: %t", address, got.Valid)
		}
	}
}

// ordered asks for a withdrawal of the native coin and returns its address.
func (w *depositor) ordered(amount string) (xid uint64, address string) {
	w.t.Helper()
	return w.orderedOf(w.asset, amount)
}

// orderedOf asks for a withdrawal of a coin to an address of its own.
func (w *depositor) orderedOf(asset, amount string) (xid uint64, address string) {
	w.t.Helper()
	address, err := w.outside.NewAddress()
	if err != nil {
		w.t.Fatal(err)
	}
	fee := wallet[walletAnswer](w, "/wallet/withdraw/info", map[string]any{"asset": asset}).FeeMin
	a := wallet[walletAnswer](w, "/wallet/withdraw", map[string]any{"asset": asset, "address": address, "amount": amount, "fee": fee})
	if !a.Success {
		w.t.Fatalf("the withdrawal is refused: %s", a.Error)
	}
	return a.Xid, address
}

// arrived returns the balance of an address in the native coin, in whole coins. Waiting payments do not count.
func (w *depositor) arrived(address string) string {
	w.t.Helper()
	a, err := w.outside.Balance(address)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Format(w.decimals)
}

// settled waits until something holds. On networks with sweeps, blocks come meanwhile: the hot wallet
// pays with what is settled there.
func (w *depositor) settled(what string, holds func() bool) {
	w.t.Helper()
	if w.sweeps {
		w.mined(what, holds)
	} else {
		w.until(what, holds)
	}
}

// mined mines blocks until something holds. It mines none before the exchange has read its last one, because the
// exchange pays at the chain's head alone.
func (w *depositor) mined(what string, holds func() bool) {
	w.t.Helper()
	w.minedAs(func() chain.BlockRef {
		head, err := w.outside.Mine(1)
		must(w.t, err)
		return head
	}, what, holds)
}

// minedAs is mined with blocks that are made in a way of their own.
func (w *depositor) minedAs(mine func() chain.BlockRef, what string, holds func() bool) {
	w.t.Helper()
	var last uint64
	w.minedBy(10, func() {
		if w.height() >= last {
			last = mine().Height
		}
	}, what, holds)
}

// height returns the height of the last block that the exchange has read.
func (w *depositor) height() uint64 {
	w.t.Helper()
	for _, n := range mustControl[struct {
		Networks []struct {
			Network string
			Height  uint64
		}
	}](w.server, "solvency", map[string]any{}).Networks {
		if n.Network == w.asset {
			return n.Height
		}
	}
	w.t.Fatalf("the exchange has no network %s", w.asset)
	return 0
}

// minedBy mines a block in a way of its own at every so many looks, until something holds.
func (w *depositor) minedBy(every int, mine func(), what string, holds func() bool) {
	w.t.Helper()
	looks := 0
	w.until(what, func() bool {
		if looks++; looks%every == 0 {
			mine()
		}
		return holds()
	})
}

// token deposits and withdraws a token, which is swept once the hot wallet has sent what that costs.
func (w *depositor) token(ether *nodetest.Ether) {
	w.t.Helper()
	const asset = "USDT"
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{"asset": asset})
	if to.Address == "" || to.QR != "" {
		w.t.Errorf("the address is %+v", to)
	}
	pay := chain.Pay{To: chain.Destination{Address: to.Address}, Coin: nodetest.TokenAt, Amount: bourse.Units(10e6)}
	if _, err := ether.Send(pay); err != nil {
		w.t.Fatal(err)
	}
	w.mine(1)
	w.until("a deposit of tokens that waits", func() bool { return w.status() == "PENDING" })
	w.settled("a deposit of tokens that is done", func() bool { return w.status() == "DONE" })

	out, err := ether.NewAddress()
	if err != nil {
		w.t.Fatal(err)
	}
	a := wallet[walletAnswer](w, "/wallet/withdraw", map[string]any{"asset": asset, "address": out, "amount": "3", "fee": "1"})
	if !a.Success {
		w.t.Fatalf("the withdrawal is refused: %s", a.Error)
	}
	w.settled("a withdrawal of tokens that is done", func() bool { return w.status() == "DONE" })
	w.mine(1)
	got, err := ether.Tokens(out)
	if err != nil || got != bourse.Units(3e6) {
		w.t.Errorf("%s tokens arrived, %v", got.Format(6), err)
	}
	if left := wallet[walletAnswer](w, "/wallet/balances", map[string]any{"search": asset}); left.Balances[asset].Total != "6" {
		w.t.Errorf("tokens that are left: %+v", left)
	}
}

// called deposits by a contract's call, which the block does not show.
func (w *depositor) called(ether *nodetest.Ether) {
	w.t.Helper()
	before := number(w.balance())
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).Address
	_, err := ether.SendHidden(chain.Pay{To: chain.Destination{Address: to}, Amount: w.tenths(3)})
	must(w.t, err)
	w.mine(1)
	w.until("a deposit by a call that waits", func() bool { return w.status() == "PENDING" })
	w.settled("a deposit by a call that is done", func() bool { return w.status() == "DONE" })
	if got := new(big.Rat).Sub(number(w.balance()), before); got.Cmp(number("0.3")) != 0 {
		w.t.Errorf("%s was credited", got.FloatString(8))
	}
}

func (w *depositor) withdraw() {
	w.t.Helper()
	_, address := w.ordered("0.1")
	w.settled("a withdrawal that is done", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(address); got != "0.1" {
		w.t.Errorf("%s arrived", got)
	}

	// More than the hot wallet can pay now: its change is not mined yet, or it lacks it.
	operate[any](w.server, "credit", "1", w.asset, "5")
	xid, address := w.ordered("4")
	if a := wallet[walletAnswer](w, "/wallet/withdraw/cancel", map[string]any{"xid": xid}); !a.Success {
		w.t.Errorf("the cancel is refused: %s", a.Error)
	}
	w.until("a withdrawal that is canceled", func() bool { return w.status() == "CANCELED" })
	w.mine(2)
	if got := w.arrived(address); got != "0" {
		w.t.Errorf("%s arrived of a canceled withdrawal", got)
	}
}

// reorganised lets the block of a deposit leave the chain before its confirmations. The deposit
// is credited once, from the block that has it then.
func (w *depositor) reorganised() {
	w.t.Helper()
	before := number(w.balance())
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).Address
	pay := chain.Pay{To: chain.Destination{Address: to}, Amount: w.tenths(2)}
	if _, err := w.outside.Send(pay); err != nil {
		w.t.Fatal(err)
	}
	w.mine(1)
	w.until("a deposit that waits", func() bool { return w.status() == "PENDING" })

	head, err := w.outside.Reorg(1, false)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mine(w.confirms)
	w.until("a deposit from another block", func() bool { return w.status() == "DONE" })
	if row := w.transfers()[0]; row.Height != head.Height+1 {
		w.t.Errorf("the deposit is in block %d, want %d", row.Height, head.Height+1)
	}
	if got := new(big.Rat).Sub(number(w.balance()), before); got.Cmp(number("0.2")) != 0 {
		w.t.Errorf("%s was credited", got.FloatString(8))
	}
}

// nodeFreezes halts the node, which then accepts requests and answers none.
func (w *depositor) nodeFreezes() {
	w.t.Helper()
	w.node.Freeze()
	w.until("the network does not operate", func() bool { return !w.operating() })
	w.node.Thaw()
	w.until("the network operates again", w.operating)
}

// nodeDies kills the node, and asks for a withdrawal while it is away. A killed node comes back without its last
// blocks, and gets them from its peers.
func (w *depositor) nodeDies() {
	w.t.Helper()
	node := w.outside.(killable)
	must(w.t, node.Halt())
	w.until("the network does not operate", func() bool { return !w.operating() })
	_, address := w.ordered("0.05")
	must(w.t, node.Resume())
	w.mine(1)
	w.mined("a withdrawal after the node is back", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(address); got != "0.05" {
		w.t.Errorf("%s arrived", got)
	}
}

// exchangeDies kills the exchange after it accepted a withdrawal, and starts it while the node
// is away.
func (w *depositor) exchangeDies() {
	w.t.Helper()
	_, address := w.ordered("0.05")
	w.kill()
	w.node.Stop()
	w.start()
	if w.operating() {
		w.t.Error("the network operates without its node")
	}
	w.node.Run()
	// A node of the Cosmos SDK takes payments from its first block on.
	w.mined("a withdrawal after the exchange is back", func() bool { return w.status() == "DONE" })
	w.mine(2)
	if got := w.arrived(address); got != "0.05" {
		w.t.Errorf("%s arrived", got)
	}
}

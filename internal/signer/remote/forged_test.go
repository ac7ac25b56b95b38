package remote_test

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/vault"
)

// token is the contract that the signer's settings list, and unlisted one that they do not.
const (
	token    = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
	unlisted = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
)

// evmSettings have the limits of [newRig] for the native coin and for a token.
const evmSettings = `
networks:
  ETH:
    adapter: evm
    params: 31337
    max-cost: "0.001"
    hour-cost: "0.005"
    coins:
      ETH: {payment: "0.000000000000001", hour: "0.000000000000003", day: "0.00000000000001", free: "0.0000000000000001"}
      "` + token + `": {decimals: 6, payment: "0.001", hour: "0.003", day: "0.01", free: "0.0001"}
`

// newEVMRig starts a signer of one network of Ethereum's family, with settings as an operator writes them.
func newEVMRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, disk: memdisk.New(1), now: 1e15, networks: openEVM(t, 7), server: time.Now}
	r.options = signer.Options{Networks: r.networks, Clock: r.clock, New: true, Exchange: sandbox}
	r.open()
	r.listen()
	t.Cleanup(r.end)
	return r
}

// openEVM opens the network with the keys of a seed.
func openEVM(t *testing.T, seed byte) map[bourse.NetworkID]signer.Network {
	t.Helper()
	settings, err := vault.ReadSettings(strings.NewReader(evmSettings))
	if err != nil {
		t.Fatal(err)
	}
	networks, err := settings.Open(vault.Seed{seed}, map[bourse.Symbol]bourse.NetworkID{"ETH": eth - 10})
	if err != nil {
		t.Fatal(err)
	}
	return networks
}

// forged is a transaction as a thief makes it. Each field can be what no adapter makes.
type forged struct {
	form  string
	owner uint32
	// kind is the type's byte; legacyKind for none.
	kind                          int
	chain, nonce, tip, price, gas uint64
	to                            []byte
	value                         []byte
	input                         []byte
	// accesses and more are encoded: the content of the list of accesses, and items behind it.
	accesses, more []byte
	// behind are bytes behind the transaction.
	behind []byte
}

const legacyKind = -1

// raw returns the bytes that the signer is asked to sign.
func (f *forged) raw() []byte {
	var fields []byte
	if f.kind != legacyKind {
		fields = number(fields, f.chain)
	}
	fields = number(fields, f.nonce)
	if f.kind > 1 {
		fields = number(fields, f.tip)
	}
	fields = number(number(fields, f.price), f.gas)
	fields = text(text(text(fields, f.to), f.value), f.input)
	if f.kind != legacyKind {
		fields = append(framed(fields, 0xc0, f.accesses), f.more...)
	}

	raw := binary.LittleEndian.AppendUint32([]byte(f.form), f.owner)
	if f.kind != legacyKind {
		raw = append(raw, byte(f.kind))
	}
	return append(framed(raw, 0xc0, fields), f.behind...)
}

// framed appends a string or a list in RLP.
func framed(b []byte, kind byte, content []byte) []byte {
	const short = 55
	if len(content) <= short {
		return append(append(b, kind+byte(len(content))), content...)
	}
	size := big.NewInt(int64(len(content))).Bytes()
	return slices.Concat(append(b, kind+short+byte(len(size))), size, content)
}

func text(b, s []byte) []byte {
	if len(s) == 1 && s[0] < 0x80 {
		return append(b, s...)
	}
	return framed(b, 0x80, s)
}

func number(b []byte, n uint64) []byte { return text(b, units(n)) }

// units are a number's bytes without leading zeros.
func units(n uint64) []byte { return new(big.Int).SetUint64(n).Bytes() }

// word pads bytes to a word of a contract's call.
func word(b []byte) []byte { return append(make([]byte, 32-len(b)), b...) }

// bytesOf returns an address's bytes.
func bytesOf(t *testing.T, address string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(address, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call is a contract's function with its arguments.
func call(selector string, words ...[]byte) []byte {
	b, err := hex.DecodeString(selector)
	if err != nil {
		panic(err)
	}
	for _, w := range words {
		b = append(b, word(w)...)
	}
	return b
}

// Selectors of functions that move tokens or let others move them.
const (
	transfer     = "a9059cbb"
	transferFrom = "23b872dd"
	approve      = "095ea7b3"
)

// ether is a withdrawal of the native coin that everything is right about.
func (r *rig) ether(id bourse.WalletID, amount uint64, to string) (forged, signer.Expect) {
	f := forged{
		form: "etx\x01", kind: 2, chain: 31337, nonce: uint64(id), tip: 1e9, price: 2e9, gas: 21_000,
		to: bytesOf(r.t, to), value: units(amount),
	}
	return f, signer.Expect{
		Network: eth, Kind: bourse.SignedWithdrawal, ID: id, Coin: "ETH", Amount: bourse.Units(amount),
		To: chain.Destination{Address: to}, CostCap: bourse.Units(1e15), Nonce: uint64(id),
	}
}

// tokens is a withdrawal of the token that everything is right about.
func (r *rig) tokens(id bourse.WalletID, amount uint64, to string) (forged, signer.Expect) {
	f, e := r.ether(id, amount, to)
	f.to, f.value, f.gas, f.input = bytesOf(r.t, token), nil, 60_000, call(transfer, f.to, f.value)
	e.Coin = token
	return f, e
}

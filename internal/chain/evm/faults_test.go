package evm_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"golang.org/x/crypto/sha3"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var record = flag.Bool("record", false, "write the blocks of TestFaults to testdata")

// TestFaults lets a real node show what contracts and a bad node can do.
func TestFaults(t *testing.T) {
	if testing.Short() {
		return
	}
	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) { runFaults(t, kind) })
	}
}

func runFaults(t *testing.T, kind *nodetest.Kind) {
	t.Helper()
	for _, f := range []struct {
		name string
		run  func(*testing.T, *bench)
		// alone is true for tests of anvil alone: they need its signatures or its safe blocks.
		alone bool
	}{
		{"Fakes", testFakes, false},
		{"Calls", testCalls, false},
		{"Late", testLate, false},
		{"Types", testTypes, true},
		{"ManyTransactions", testManyTransactions, false},
		{"Heads", testHeads, true},
		{"Frozen", testFrozen, false},
		{"Replaced", testReplaced, false},
		{"Gap", testGap, false},
		{"OtherChain", testOtherChain, false},
		{"Decimals", testDecimals, false},
		{"Survey", testSurvey, false},
	} {
		if f.alone && kind.Name != "anvil" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			b := rig(t, kind)
			b.Network.Watch(5)
			f.run(t, b)
		})
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// found returns what the exchange gets by the newest block.
func (b *bench) found(t *testing.T) (list []chain.Credit) {
	t.Helper()
	head := must[chain.BlockRef](t)(b.out.Mine(1))
	if *record {
		b.record(t, head.Height)
	}
	block := must[*chain.Block](t)(b.Network.Block(t.Context(), head.Height))
	for i := range block.Txs {
		for _, g := range block.Txs[i].Credits {
			if _, ours := b.Network.Owner(g.Address, ""); ours {
				list = append(list, g)
			}
		}
	}
	return list
}

// record writes a block and its receipts as the node answers them.
func (b *bench) record(t *testing.T, height uint64) {
	t.Helper()
	var block, receipts jsontext.Value
	b.node.Ask(&block, "eth_getBlockByNumber", fmt.Sprintf("0x%x", height), true)
	b.node.Ask(&receipts, "eth_getBlockReceipts", fmt.Sprintf("0x%x", height))
	name := strings.ToLower(filepath.Base(t.Name())) + ".json"
	text := fmt.Sprintf("{\"block\":%s,\n\"receipts\":%s}\n", block, receipts)
	if err := os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// testFakes pays by everything that is no payment, and once as it should be.
func testFakes(t *testing.T, b *bench) {
	to := b.Network.Destination(2)
	ether := chain.Pay{To: to, Coin: "ETH", Amount: wei(1)}
	tokens := chain.Pay{To: to, Coin: nodetest.TokenAt, Amount: bourse.Units(1e6)}
	fake := chain.Pay{To: to, Coin: nodetest.FakeAt, Amount: bourse.Units(1e6)}
	for _, send := range []func() (chain.Hash, error){
		func() (chain.Hash, error) { return b.out.Send(fake) },          // a contract that is not listed
		func() (chain.Hash, error) { return b.out.SendFailing(tokens) }, // false, and no log
		func() (chain.Hash, error) { return b.out.SendFailing(ether) },  // reverted
		func() (chain.Hash, error) { return b.out.SendCaught(ether) },   // reverted inside, status 1
		func() (chain.Hash, error) { return b.out.SendHidden(ether) },   // arrives, and is not seen
		func() (chain.Hash, error) { return b.out.Send(tokens) },
	} {
		must[chain.Hash](t)(send())
	}

	list := b.found(t)
	want := chain.Credit{Index: 1, Address: to.Address, Coin: nodetest.TokenAt, Amount: tokens.Amount}
	if len(list) != 1 || list[0] != want {
		t.Errorf("found %v", list)
	}
	for coin, has := range map[chain.CoinID]bourse.Amount{"ETH": ether.Amount, nodetest.TokenAt: tokens.Amount} {
		if got := must[bourse.Amount](t)(b.Network.Balance(t.Context(), to.Address, coin)); got != has {
			t.Errorf("%s of %s is there", got.Format(0), coin)
		}
	}
}

// testCalls pays by what a client with the setting trace sees alone: calls, the end of a contract, and a payment beside
// them. What is taken back does not count.
func testCalls(t *testing.T, b *bench) {
	b.Network = b.client(t, evm.Options{Trace: true})
	b.Network.Watch(5)
	ether := func(account uint32, n uint64) chain.Pay {
		return chain.Pay{To: b.Network.Destination(account), Coin: "ETH", Amount: wei(n)}
	}
	must[chain.Hash](t)(b.out.SendHidden(ether(2, 1)))
	must[chain.Hash](t)(b.out.SendEnding(ether(3, 2)))
	must[chain.Hash](t)(b.out.SendFailing(ether(2, 4)))
	must[chain.Hash](t)(b.out.SendCaught(ether(2, 8)))
	must[chain.Hash](t)(b.out.Send(ether(4, 16)))
	must[chain.Hash](t)(b.out.SendHidden(ether(chain.IndexHot, 32)))

	var want []chain.Credit
	for _, g := range []struct {
		index, account uint32
		ether          uint64
	}{
		{1 << 24, 2, 1}, {1 << 24, 3, 2}, {0, 4, 16}, {1 << 24, chain.IndexHot, 32},
	} {
		to := b.Network.Destination(g.account).Address
		want = append(want, chain.Credit{Index: g.index, Address: to, Coin: "ETH", Amount: wei(g.ether)})
	}
	if list := b.found(t); !slices.Equal(list, want) {
		t.Errorf("found %v, want %v", list, want)
	}
	head := must[chain.BlockRef](t)(b.out.Mine(1))
	if block := must[*chain.Block](t)(b.Network.Block(t.Context(), head.Height)); len(block.Txs) != 0 {
		t.Errorf("an empty block has %d transactions", len(block.Txs))
	}
}

// testLate has a contract spend most of a block's gas beside a payment by a call. A client that cannot wait for the
// traces reads the block without that payment, once they were late several times.
func testLate(t *testing.T, b *bench) {
	p := chain.Pay{To: b.Network.Destination(2), Coin: "ETH", Amount: wei(1)}
	must[chain.Hash](t)(b.out.SendHidden(p))
	if err := b.out.SendLooping(); err != nil {
		t.Fatal(err)
	}
	head := must[chain.BlockRef](t)(b.out.Mine(1))

	hasty := b.client(t, evm.Options{Trace: true, TraceWithin: time.Millisecond})
	hasty.Watch(5)
	read, late := (*chain.Block)(nil), 0
	for ; read == nil && late < 10; late++ {
		read, _ = hasty.Block(t.Context(), head.Height)
	}
	if read == nil || !read.Uncalled || late != 4 {
		t.Fatalf("after %d times: %+v", late, read)
	}
	patient := b.client(t, evm.Options{Trace: true})
	patient.Watch(5)
	all := must[*chain.Block](t)(patient.Block(t.Context(), head.Height))
	count := func(b *chain.Block) (count int) {
		for i := range b.Txs {
			count += len(b.Txs[i].Credits)
		}
		return count
	}
	if all.Uncalled || count(read) != 0 || count(all) != 1 {
		t.Errorf("without calls %+v, and with them %+v", read, all)
	}
}

// testTypes pays by transactions of other types, and makes a contract, which pays nobody.
func testTypes(t *testing.T, b *bench) {
	to := b.Network.Destination(3).Address
	sender := b.out.Payer()
	for _, tx := range []map[string]any{
		{"to": to, "value": "0x1", "gasPrice": "0x174876e800", "type": "0x0"},
		{"to": to, "value": "0x2", "gasPrice": "0x174876e800", "type": "0x1", "accessList": []any{
			map[string]any{"address": nodetest.TokenAt, "storageKeys": []string{"0x" + strings.Repeat("01", 32)}},
		}},
		{"to": to, "value": "0x3", "data": "0x01", "gas": "0x7530"},
		{"value": "0x4", "data": "0x00", "gas": "0x30d40"},
		{"to": to, "value": "0x4", "gas": "0x30d40", "authorizationList": []any{authorization(t)}},
	} {
		tx["from"] = sender
		b.node.Ask(nil, "eth_sendTransaction", tx)
	}

	list := b.found(t)
	if len(list) != 4 {
		t.Fatalf("found %v", list)
	}
	for i, g := range list {
		if g.Index != 0 || g.Address != to || g.Amount != bourse.Units(uint64(i+1)) {
			t.Errorf("payment %d is %v", i, g)
		}
	}
}

// authorization lets an account of anvil have the token's code (EIP-7702).
func authorization(t *testing.T) map[string]any {
	t.Helper()
	key := nodetest.FirstKey()
	code := must[[]byte](t)(hex.DecodeString(nodetest.TokenAt[2:]))
	// 0x05, and in RLP a list of chain id, address and nonce.
	h := sha3.NewLegacyKeccak256()
	_, _ = h.Write(slices.Concat([]byte{5, 0xd9, 0x82, 0x7a, 0x69, 0x94}, code, []byte{0x80}))
	s := ecdsa.SignCompact(key, h.Sum(nil), false)
	return map[string]any{
		"chainId": "0x7a69", "address": nodetest.TokenAt, "nonce": "0x0", "yParity": fmt.Sprintf("0x%x", s[0]-27),
		"r": fmt.Sprintf("0x%x", s[1:33]), "s": fmt.Sprintf("0x%x", s[33:]),
	}
}

// testManyTransactions reads a block whose tries are deeper than those of 128 transactions.
func testManyTransactions(t *testing.T, b *bench) {
	const count = 140
	pay := chain.Pay{To: b.Network.Destination(4), Coin: "ETH", Amount: bourse.Units(5)}
	for range count {
		must[chain.Hash](t)(b.out.Send(pay))
	}
	head := must[chain.BlockRef](t)(b.out.Mine(1))
	if block := must[*chain.Block](t)(b.Network.Block(t.Context(), head.Height)); len(block.Txs) != count {
		t.Errorf("the block has %d transactions", len(block.Txs))
	}
}

// testHeads reads up to the safe and the finalized block: one and two below the newest.
func testHeads(t *testing.T, b *bench) {
	p := chain.Pay{To: b.Network.Destination(1), Coin: "ETH", Amount: wei(1)}
	must[chain.Hash](t)(b.out.Send(p))
	head := must[chain.BlockRef](t)(b.out.Mine(1))
	for read, below := range map[evm.Head]uint64{evm.Latest: 0, evm.Safe: 1, evm.Finalized: 2} {
		c := b.client(t, evm.Options{Read: read})
		h, err := c.Health(t.Context())
		if err != nil || !h.Operating || h.Head.Height != head.Height-below {
			t.Errorf("%s: %+v, %v", read, h, err)
		}
		_, err = c.Block(t.Context(), head.Height)
		if (below == 0) != (err == nil) || below > 0 && !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("%s: the newest block: %v", read, err)
		}
		has := must[bourse.Amount](t)(c.Balance(t.Context(), p.To.Address, "ETH"))
		if (below == 0) == has.IsZero() {
			t.Errorf("%s: a balance of %s", read, has.Format(18))
		}
	}
}

// testFrozen halts the node's process, which then takes connections and does not answer.
func testFrozen(t *testing.T, b *bench) {
	b.node.Freeze()
	if h, err := b.Network.Health(t.Context()); !errors.Is(err, chain.ErrSilent) || h.Operating {
		t.Errorf("frozen: %+v, %v", h, err)
	}
	b.node.Thaw()
	if h, err := b.Network.Health(t.Context()); err != nil || !h.Operating {
		t.Errorf("thawed: %+v, %v", h, err)
	}
}

// signed returns a signed payment of a wei with a nonce.
func (b *bench) signed(t *testing.T, nonce uint64) (raw []byte) {
	t.Helper()
	to := must[string](t)(b.out.NewAddress())
	u := must[chain.Unsigned](t)(b.Network.Prepare(t.Context(), &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "ETH", Amount: bourse.Units(1), To: chain.Destination{Address: to},
		From: chain.IndexHot, Nonce: nonce, CostCap: wei(1),
	}))
	raw, _, err := b.Keys.Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (b *bench) offer(t *testing.T, raw []byte, want chain.VerdictKind) {
	t.Helper()
	if v := must[chain.Verdict](t)(b.Network.Broadcast(t.Context(), raw)); v.Kind != want {
		t.Errorf("the verdict is %v, want %d", v, want)
	}
}

func (b *bench) status(t *testing.T, raw []byte) chain.TxStatus {
	t.Helper()
	return must[chain.TxState](t)(b.Network.State(t.Context(), raw)).Status
}

// testReplaced offers a payment whose nonce another one of higher fees takes.
func testReplaced(t *testing.T, b *bench) {
	low := b.signed(t, 0)
	b.offer(t, low, chain.Accepted)
	dear := b.client(t, evm.Options{Floor: 50e9})
	before := b.Network
	b.Network = dear
	high := b.signed(t, 0)
	b.offer(t, high, chain.Accepted)
	b.Network = before

	b.offer(t, low, chain.Rejected)
	must[chain.BlockRef](t)(b.out.Mine(1))
	if of, other := b.status(t, high), b.status(t, low); of != chain.TxMined || other != chain.TxConflicted {
		t.Errorf("the states are %d and %d", of, other)
	}
	b.offer(t, low, chain.Rejected)
	b.offer(t, high, chain.Known)
}

// testGap offers a payment before the one below it: it waits, and neither is lost.
func testGap(t *testing.T, b *bench) {
	first, second := b.signed(t, 0), b.signed(t, 1)
	b.offer(t, second, chain.Accepted)
	must[chain.BlockRef](t)(b.out.Mine(2))
	if of := b.status(t, second); of != chain.TxWaiting {
		t.Errorf("the state is %d", of)
	}
	b.offer(t, first, chain.Accepted)
	must[chain.BlockRef](t)(b.out.Mine(1))
	if of, other := b.status(t, first), b.status(t, second); of != chain.TxMined || other != chain.TxMined {
		t.Errorf("the states are %d and %d", of, other)
	}
}

// testOtherChain asks a node of another chain: by its id, and by the block of the setting start.
func testOtherChain(t *testing.T, b *bench) {
	refused := func(what string, c chain.Network) {
		t.Helper()
		if h, err := c.Health(t.Context()); !errors.Is(err, chain.ErrOdd) || h.Operating {
			t.Errorf("%s: %+v, %v", what, h, err)
		}
	}
	h := must[chain.Health](t)(b.Network.Health(t.Context()))
	same := b.client(t, evm.Options{Start: &h.Head})
	if h, err := same.Health(t.Context()); err != nil || !h.Operating {
		t.Errorf("start: %+v, %v", h, err)
	}
	refused("start", b.client(t, evm.Options{Start: &chain.BlockRef{Height: h.Head.Height, Hash: chain.Hash{1}}}))

	other := params
	other.Chain = 1337
	c, err := evm.NewClient(&other, b.keys.Public(), evm.Options{Node: b.node.Client(b.node.URL, 0)})
	if err != nil {
		t.Fatal(err)
	}
	refused("id", c)
}

// testSurvey asks the node about itself, as operators do.
func testSurvey(t *testing.T, b *bench) {
	h := must[chain.Health](t)(b.Network.Health(t.Context()))
	c := b.client(t, evm.Options{Start: &h.Head})
	s, err := c.Survey(t.Context())
	if err != nil || s.Chain != params.Identity() || s.Head != h.Head || s.Behind != 0 || !strings.Contains(strings.ToLower(s.Software), b.node.Name) {
		t.Errorf("%+v, %v", s, err)
	}
	if len(s.Abilities) != 2 || s.Abilities[0].Name != "history" || !s.Abilities[0].Has || s.Abilities[1].Name != "trace" {
		t.Errorf("abilities %+v", s.Abilities)
	}
	lost := b.client(t, evm.Options{Start: &chain.BlockRef{Height: h.Head.Height, Hash: chain.Hash{1}}})
	if s, err := lost.Survey(t.Context()); err != nil || s.Abilities[0].Has {
		t.Errorf("a block without receipts: %+v, %v", s.Abilities, err)
	}
}

// testDecimals lists a token with decimals that its contract does not have, and one without a contract:
// there is none of it to pay with.
func testDecimals(t *testing.T, b *bench) {
	health := func(coin chain.Coin) (*evm.Client, chain.Health) {
		t.Helper()
		other := params
		other.Tokens = []chain.Coin{coin}
		c, err := evm.NewClient(&other, b.keys.Public(), evm.Options{Node: b.node.Client(b.node.URL, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return c, must[chain.Health](t)(c.Health(t.Context()))
	}
	if _, h := health(chain.Coin{ID: nodetest.TokenAt, Decimals: 18}); h.Operating || !strings.Contains(h.Reason, "decimals") {
		t.Errorf("%+v", h)
	}

	const none = "0x1000000000000000000000000000000000000009"
	c, h := health(chain.Coin{ID: none, Decimals: 6})
	if !h.Operating {
		t.Errorf("%+v", h)
	}
	_, err := c.Prepare(t.Context(), &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: none, Amount: bourse.Units(1), To: c.Destination(1), CostCap: wei(1),
	})
	if !errors.Is(err, chain.ErrFunds) {
		t.Errorf("a payment by no contract: %v", err)
	}
}

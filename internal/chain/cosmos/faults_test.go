package cosmos_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var record = flag.Bool("record", false, "write the block of TestFaults to testdata")

// TestFaults lets a real node show what strangers and a bad node can do.
func TestFaults(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("cosmos", func(t *testing.T) {
		for _, f := range []struct {
			name string
			run  func(*testing.T, *bench)
		}{
			{"Fakes", testFakes},
			{"LongMemo", testLongMemo},
			{"Frozen", testFrozen},
			{"OtherChain", testOtherChain},
			{"Survey", testSurvey},
		} {
			t.Run(f.name, func(t *testing.T) {
				b := rig(t)
				b.Network.Watch(5)
				f.run(t, b)
			})
		}
	})
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

// testFakes pays by everything that is no deposit of a customer, and then as it should be.
func testFakes(t *testing.T, b *bench) {
	to := b.Network.Destination(2)
	pay := func(units uint64) chain.Pay { return chain.Pay{To: to, Coin: "ATOM", Amount: bourse.Units(units)} }
	stake := must[nodetest.Message](t)(b.out.Delegating())

	must[chain.Hash](t)(b.out.SendFailing(pay(1)))
	// The author of such a transaction need not be the depositor: the memo is not his.
	must[chain.Hash](t)(b.out.Do(to.Memo, b.out.Paying(pay(2)), stake))
	must[chain.Hash](t)(b.out.Do(to.Memo, b.out.Splitting(pay(3), pay(4))))
	foreign := pay(5)
	foreign.Coin = nodetest.IBCDenom
	must[chain.Hash](t)(b.out.Do(to.Memo, b.out.Paying(foreign)))
	head := must[chain.BlockRef](t)(b.out.Mine(1))
	if *record {
		b.record(t, head.Height)
	}

	var list []string
	block := must[*chain.Block](t)(b.Network.Block(t.Context(), head.Height))
	for i := range block.Txs {
		for _, g := range block.Txs[i].Credits {
			if owner, ours := b.Network.Owner(g.Address, g.Memo); ours {
				list = append(list, fmt.Sprintf("%s %.3s to %d", g.Amount.Format(0), g.Coin, owner.Index))
			}
		}
	}
	if got, want := strings.Join(list, ", "), "2 ATO to 0, 3 ATO to 2, 4 ATO to 2, 5 ibc to 2"; got != want {
		t.Errorf("found %s; want %s", got, want)
	}
}

// record writes a block and its results as the node answers them.
func (b *bench) record(t *testing.T, height uint64) {
	t.Helper()
	var block, results jsontext.Value
	b.node.Ask(&block, "block", fmt.Sprint(height))
	b.node.Ask(&results, "block_results", fmt.Sprint(height))
	text := fmt.Sprintf("{\"block\":%s,\n\"results\":%s}\n", block, results)
	if err := os.WriteFile("testdata/fakes.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// testLongMemo pays to a new account with the longest memo: the gas suffices.
func testLongMemo(t *testing.T, b *bench) {
	p := &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: "ATOM", Amount: bourse.Units(7), CostCap: bourse.Units(1e6),
		To: chain.Destination{Address: must[string](t)(b.out.NewAddress()), Memo: strings.Repeat("m", 256)},
	}
	u := must[chain.Unsigned](t)(b.Network.Prepare(t.Context(), p))
	raw, _, err := b.Keys.Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	if v := must[chain.Verdict](t)(b.Network.Broadcast(t.Context(), raw)); v.Kind != chain.Accepted {
		t.Fatalf("the verdict is %v", v)
	}
	must[chain.BlockRef](t)(b.out.Mine(1))
	if s := must[chain.TxState](t)(b.Network.State(t.Context(), raw)); s.Status != chain.TxMined || s.Failed {
		t.Errorf("the state is %v", s)
	}
	p.To.Memo += "m"
	if _, err := b.Network.Prepare(t.Context(), p); err == nil {
		t.Error("a longer memo")
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

// testOtherChain asks a node of another chain: by its id, and by the block of the setting start.
func testOtherChain(t *testing.T, b *bench) {
	h := must[chain.Health](t)(b.Network.Health(t.Context()))
	same := b.client(t, cosmos.Options{Start: &h.Head})
	if h, err := same.Health(t.Context()); err != nil || !h.Operating {
		t.Errorf("start: %+v, %v", h, err)
	}
	other := b.client(t, cosmos.Options{Start: &chain.BlockRef{Height: h.Head.Height, Hash: chain.Hash{1}}})
	if err := other.CheckChain(t.Context()); !errors.Is(err, chain.ErrOtherChain) {
		t.Errorf("another start: %v", err)
	}

	hub := must[*cosmos.Params](t)(cosmos.Lookup("cosmoshub-4"))
	c := must[*cosmos.Client](t)(cosmos.NewClient(hub, b.keys.Public(), cosmos.Options{Node: b.node.Client(b.node.URL, 0)}))
	if err := c.CheckChain(t.Context()); !errors.Is(err, chain.ErrOtherChain) {
		t.Errorf("another id: %v", err)
	}
}

// testSurvey asks the node about itself, as operators do.
func testSurvey(t *testing.T, b *bench) {
	h := must[chain.Health](t)(b.Network.Health(t.Context()))
	c := b.client(t, cosmos.Options{Start: &h.Head})
	s, err := c.Survey(t.Context())
	if err != nil || s.Chain != params().Identity() || s.Head != h.Head || s.Behind != 0 || !strings.Contains(s.Software, "CometBFT") {
		t.Errorf("%+v, %v", s, err)
	}
	for _, a := range s.Abilities {
		if !a.Has || !a.Needed {
			t.Errorf("%+v", a)
		}
	}
}

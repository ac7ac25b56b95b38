package teller_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/terms"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/view"
)

// exchange is an engine with its view.
type exchange struct {
	*rapid.T
	engine *engine.Engine
	view   *view.View
	now    bourse.Time
}

func newExchange(t *rapid.T) *exchange {
	x := &exchange{T: t, engine: engine.New(), view: view.New(), now: 1_700_000_000 * bourse.Second}
	x.apply(&bourse.Command{
		Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules},
	})
	list := sandbox.Catalogue(true)
	for i := range list {
		x.apply(&list[i])
	}
	for id := range byte(2) {
		x.apply(&bourse.Command{Kind: bourse.CommandCreateAccount, Token: bourse.Token{id + 1}})
	}
	return x
}

// apply applies a command and returns the reason of a refusal.
func (x *exchange) apply(c *bourse.Command) bourse.Reason {
	if err := record.Check(c); err != nil {
		x.Fatalf("command %d: %v", c.Kind, err)
	}
	x.now += bourse.Second
	cmd := *c
	cmd.Seq, cmd.Time = x.engine.Seq()+1, x.now
	var ev bourse.Events
	x.engine.Apply(&cmd, &ev)
	x.view.Begin()
	x.view.Observe(&cmd, &ev)
	x.view.End()
	return ev.Outcome.Reason
}

// TestEdgeAgreesWithEngine compares Precheck with the engine's decision.
func TestEdgeAgreesWithEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newExchange(t)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			x.change()
			x.ask()
		}
	})
}

func draw[T any](x *exchange, name string, from []T) T {
	return rapid.SampledFrom(from).Draw(x.T, name)
}

// maximum is the largest amount.
var maximum = bourse.Amount{Hi: 1<<64 - 1, Lo: 1<<64 - 1}

// change toggles one cause of refusals.
func (x *exchange) change() {
	c := x.view.Catalogue()
	id := draw(x, "of", []bourse.AccountID{1, 2})
	switch draw(x, "change", []string{"nothing", "freeze", "asset", "network", "terms", "credit", "crowd", "tiers", "tier", "days"}) {
	case "freeze":
		standing, _ := x.view.Account(id)
		x.apply(&bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: !standing.Frozen})
	case "asset":
		a := *draw(x, "asset", c.Assets[1:])
		a.Enabled = !a.Enabled
		x.apply(&bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &a})
	case "network":
		n := *draw(x, "network", c.Networks[1:])
		n.Enabled = !n.Enabled
		x.apply(&bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &n})
	case "terms":
		n := *draw(x, "terms", c.NetworkAssets)
		if n.Enabled = !n.Enabled; draw(x, "unbounded", []bool{false, true}) {
			n.FeeMax = maximum
		}
		x.apply(&bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &n})
	case "credit":
		a := draw(x, "asset", c.Assets[1:])
		x.apply(&bourse.Command{
			Kind: bourse.CommandCredit, Account: id, AssetID: a.ID, Amount: bourse.Units(1_000 * bourse.Pow10(a.Scale)),
		})
	case "tiers":
		x.tiers()
	case "tier":
		x.apply(&bourse.Command{Kind: bourse.CommandSetAccountTier, Account: id, Level: draw(x, "tier", []uint8{0, 1})})
	case "days":
		x.now += draw(x, "span", []bourse.Time{bourse.Hour, 5 * bourse.Hour, bourse.Day, 20 * bourse.Day})
		x.apply(&bourse.Command{Kind: bourse.CommandTick})
	case "crowd":
		x.crowd(id, draw(x, "terms", c.NetworkAssets))
	}
}

// tiers defines limits on withdrawals of some assets.
func (x *exchange) tiers() {
	t := &bourse.Tiers{List: []bourse.Tier{{Name: "basic"}, {Name: "more"}}}
	for i := range t.List {
		for _, a := range x.view.Catalogue().Assets[1:] {
			whole := bourse.Pow10(a.Scale)
			most := draw(x, "most", []uint64{0, 1, whole, 2 * whole, 1000 * whole})
			t.List[i].Limits = append(t.List[i].Limits, bourse.TierLimits{
				Asset: a.ID, Withdrawal: bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(most)}},
			})
		}
	}
	x.apply(&bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: t})
}

// crowd opens as many withdrawals of an account as allowed.
func (x *exchange) crowd(id bourse.AccountID, t *bourse.NetworkAsset) {
	asked := bourse.Withdraw{
		Network: t.Network, Asset: t.Asset, Amount: t.MinWithdrawal.Plus(bourse.Units(1_000_000)), Fee: t.FeeMin,
		Address: "there",
	}
	for range terms.MaxOpen {
		if x.apply(&bourse.Command{
			Kind: bourse.CommandWithdraw, Account: id, Wallet: &bourse.WalletCommand{Withdraw: &asked},
		}) != 0 {
			return
		}
	}
}

// ask draws a request and compares edge and engine.
func (x *exchange) ask() {
	c := x.view.Catalogue()
	of := draw(x, "terms", c.NetworkAssets)
	asset := c.Assets[of.Asset]
	whole := bourse.Units(bourse.Pow10(asset.Scale))
	_, past := maximum.Div64(bourse.Pow10(asset.Scale - of.Precision))
	most := maximum.Minus(bourse.Units(past)) // the largest amount that the network moves
	asked := &bourse.Withdraw{
		Asset: asset.ID, Internal: draw(x, "to", []bourse.AccountID{0, 1, 2, 99}),
		Amount: draw(x, "amount", []bourse.Amount{bourse.Units(1), of.MinWithdrawal, whole, whole, whole, most, maximum}),
	}
	kind, r := bourse.CommandTransfer, &teller.Route{Asset: asset}
	if draw(x, "network", []bool{false, true, true}) {
		kind, r.Listed, r.Terms = bourse.CommandWithdraw, draw(x, "over", c.Networks[1:]), of
		if draw(x, "carried", []bool{true, true, true, false}) {
			r.Listed = c.Networks[of.Network]
		}
		r.Terms = c.NetworkAsset(r.Listed.ID, asset.ID)
		asked.Network, asked.Address, asked.Memo = r.Listed.ID, "there", draw(x, "memo", []string{"", "", "7"})
		asked.Fee = draw(x, "fee", []bourse.Amount{{}, of.FeeMin, of.FeeMin, of.FeeMax, bourse.Units(1), most, maximum})
	}

	cmd := &bourse.Command{
		Kind: kind, Account: draw(x, "account", []bourse.AccountID{1, 2}), Wallet: &bourse.WalletCommand{Withdraw: asked},
	}
	if record.Check(cmd) != nil {
		return // no such request reaches Precheck or the engine
	}
	edge := (&teller.Teller{View: x.view}).Precheck(cmd.Account, r, asked)
	if engine := x.apply(cmd); engine != edge {
		x.Fatalf("%+v: the engine says %q, the edge %q", asked, engine, edge)
	}
}

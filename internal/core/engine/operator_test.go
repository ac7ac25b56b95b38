package engine_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

func operatorCommand(kind bourse.CommandKind, o bourse.Operator) bourse.Command {
	o.Digest = bourse.RowDigest{1}
	return bourse.Command{Kind: kind, Operators: &bourse.OperatorCommand{Define: o}}
}

func (x *exchange) hire(role bourse.OperatorRole) bourse.Command {
	return operatorCommand(bourse.CommandAddOperator, bourse.Operator{Role: role, Enabled: true})
}

// actOf returns the act of an operator with a command.
func (x *exchange) actOf(by bourse.OperatorID, cmd bourse.Command) bourse.Command {
	return record.NewAct(x.e.Genesis(), by, bourse.Token{byte(x.e.Seq())}, "because", &cmd)
}

// approveCommand returns the approval of an act as it was ordered.
func approveCommand(id uint64, by bourse.OperatorID, act *bourse.Command) bourse.Command {
	return bourse.Command{Kind: bourse.CommandApproveAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{act.Operators.By[0], by}, Act: bourse.Seq(id), Digest: act.Operators.Digest,
	}}
}

func dropCommand(id uint64, by bourse.OperatorID, act *bourse.Command) bourse.Command {
	return bourse.Command{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{by}, Act: bourse.Seq(id), Digest: act.Operators.Digest,
	}}
}

// agreed carries out a command in the name of two operators.
func (x *exchange) agreed(first, second bourse.OperatorID, cmd bourse.Command) uint64 {
	x.tb.Helper()
	act := x.actOf(first, cmd)
	return x.must(approveCommand(x.must(act), second, &act))
}

// lastAct returns the last act that was told.
func (x *exchange) lastAct() bourse.Act {
	x.tb.Helper()
	for _, e := range slices.Backward(x.ev.List) {
		if e.Kind == bourse.EventAct {
			return *x.ev.Facts[e.At].Act
		}
	}
	x.tb.Fatal("no act")
	return bourse.Act{}
}

// The operators of a staffed exchange.
const (
	ann, bob bourse.OperatorID = 1, 2 // owners
	carl     bourse.OperatorID = 3    // an operator
	dora     bourse.OperatorID = 4    // a viewer
	eve      bourse.OperatorID = 5    // an owner who is disabled
)

// staffed returns a production exchange with operators.
func staffed(t *testing.T) *exchange {
	t.Helper()
	x, _ := staffedOn(t)
	return x
}

// staffedOn returns that exchange and its network of outputs.
func staffedOn(t *testing.T) (*exchange, *chain) {
	t.Helper()
	x, c, _ := funded(t, false)
	x.must(x.hire(bourse.RoleOwner))
	act := x.actOf(ann, x.hire(bourse.RoleOwner))
	id := x.must(act)
	x.restart()
	x.refused(bourse.UnknownOperator, approveCommand(id, bob, &act))
	x.must(dropCommand(id, ann, &act))
	// One owner alone adds no second one: what two have to agree on takes a day.
	act = x.actOf(0, x.hire(bourse.RoleOwner))
	x.must(act)
	x.aDayLater()
	if a := x.lastAct(); a.Status != bourse.ActDone || a.By != [2]bourse.OperatorID{} {
		t.Fatal(a.String())
	}
	for _, role := range []bourse.OperatorRole{bourse.RoleOperator, bourse.RoleViewer, bourse.RoleOwner} {
		x.agreed(ann, bob, x.hire(role))
	}
	x.agreed(bob, ann, operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: eve, Role: bourse.RoleOwner}))
	return x, c
}

// TestOwnerComesFirst makes the first operators of an exchange in production and of a sandbox.
func TestOwnerComesFirst(t *testing.T) {
	x := newExchange(t, false)
	x.refused(bourse.OwnerFirst, x.hire(bourse.RoleViewer))
	x.refused(bourse.OwnerFirst, x.actOf(0, x.hire(bourse.RoleOwner)))
	x.must(x.hire(bourse.RoleOwner))
	x.refused(bourse.OperatorsOnly, x.hire(bourse.RoleOwner))
	x.refused(bourse.OperatorsOnly, operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: 1, Role: bourse.RoleViewer}))

	x = newExchange(t, true)
	x.must(x.hire(bourse.RoleViewer))
	x.must(x.hire(bourse.RoleOwner))
	x.refused(bourse.LastOwner, operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: 2, Role: bourse.RoleOwner}))
	x.refused(bourse.UnknownOperator, operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: 3, Role: bourse.RoleOwner}))
	x.restart()
	x.must(freezeCommand(1, false)) // a sandbox takes all without operators
}

// TestOnlyStopsComeWithoutOperators sends each command of operators to an exchange that has an
// owner, as it came before.
func TestOnlyStopsComeWithoutOperators(t *testing.T) {
	x := staffed(t)
	w := func(kind bourse.CommandKind, w bourse.WalletCommand) bourse.Command { return walletCommand(kind, 0, w) }
	state := func(s bourse.MarketState) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 9, State: s}
	}
	for _, cmd := range []bourse.Command{
		{Kind: bourse.CommandSetRules, Rules: 1},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "X", Name: "x"}},
		{Kind: bourse.CommandDefineNetwork, Network: network("X", "")},
		{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(1, 1, 8, 5)},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, InitialPrice: 1, MaxPrice: 1, SelfTrade: bourse.SelfTradeNone,
		}},
		{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 5)},
		{Kind: bourse.CommandSetAccountFees, Account: 1}, {Kind: bourse.CommandSetAccountLevel, Account: 1},
		{Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(1)}, {Kind: bourse.CommandCollectFees},
		{Kind: bourse.CommandSetApprovalLimit, AssetID: 1}, x.hire(bourse.RoleOwner),
		{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 1)}, {Kind: bourse.CommandSetAccountTier, Account: 1},
		operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: carl, Role: bourse.RoleOwner, Enabled: true}),
		freezeCommand(1, false), pauseCommand(byOutput, false), state(bourse.MarketOpen), state(bourse.MarketDelisted),
		decideCommand(1, true), decideCommand(1, false),
		w(bourse.CommandReleaseWithdrawal, bourse.WalletCommand{ID: 1}),
		walletCommand(bourse.CommandAssignDeposit, 1, bourse.WalletCommand{Deposit: 1}), coolCommand(byOutput, btc, 1),
	} {
		x.refused(bourse.OperatorsOnly, cmd)
	}
	// The exchange itself gives up what waits for a block, since RulesOwn.
	replace := w(bourse.CommandReplaceWithdrawal, bourse.WalletCommand{ID: 1})
	release := w(bourse.CommandReleaseWithdrawal, bourse.WalletCommand{Network: byOutput, Tx: bourse.TxHash{1}})
	x.refused(bourse.WithdrawalNotFound, replace)
	x.refused(bourse.NotSigned, release)
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesOwn - 1})
	x.refused(bourse.OperatorsOnly, replace)
	x.refused(bourse.OperatorsOnly, release)
	x.must(freezeCommand(1, true))
	x.must(pauseCommand(byOutput, true))
	x.refused(bourse.UnknownMarket, state(bourse.MarketHalted))
	x.refused(bourse.UnknownMarket, state(bourse.MarketCancelOnly))
	x.must(bourse.Command{Kind: bourse.CommandNote, Text: "read"})
	x.must(bourse.Command{Kind: bourse.CommandCreateAccount}) // by its person
	x.must(bourse.Command{Kind: bourse.CommandCreateKey, Account: 1, Access: &bourse.Access{}})
	x.must(secureCommand(1, bourse.Hour))
}

// TestActsNeedTheirOperators refuses acts and approvals of operators who may not.
func TestActsNeedTheirOperators(t *testing.T) {
	x := staffed(t)
	collect := bourse.Command{Kind: bourse.CommandCollectFees}
	fees := bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: 1, Taker: 2}
	x.refused(bourse.UnknownOperator, x.actOf(77, collect))
	x.refused(bourse.OperatorDisabled, x.actOf(eve, collect))
	x.refused(bourse.RoleMissing, x.actOf(carl, collect))
	x.refused(bourse.RoleMissing, x.actOf(dora, freezeCommand(1, true)))
	x.refused(bourse.RoleMissing, x.actOf(carl, fees))

	x.must(x.actOf(ann, collect)) // one owner is enough
	x.must(x.actOf(carl, freezeCommand(1, true)))
	if a := x.lastAct(); a.Status != bourse.ActDone || a.By != [2]bourse.OperatorID{carl} || a.Reason != "because" ||
		a.What != "freeze account=1 on=true" {
		t.Error(a.String())
	}
	x.refused(bourse.UnknownAccount, x.actOf(carl, freezeCommand(99, true)))

	act := x.actOf(ann, fees)
	id := x.must(act)
	if a := x.lastAct(); a.Status != bourse.ActWaits || uint64(a.ID) != id {
		t.Error(a.String())
	}
	x.restart()
	x.refused(bourse.SameOperator, approveCommand(id, ann, &act))
	x.refused(bourse.UnknownOperator, approveCommand(id, 77, &act))
	x.refused(bourse.OperatorDisabled, approveCommand(id, eve, &act))
	x.refused(bourse.RoleMissing, approveCommand(id, carl, &act))
	x.refused(bourse.RoleMissing, dropCommand(id, carl, &act))
	x.refused(bourse.ActNotFound, approveCommand(id+1, bob, &act))
	x.refused(bourse.ActNotFound, dropCommand(id+1, ann, &act))
	other := approveCommand(id, bob, &act)
	other.Operators.By[0] = carl
	x.refused(bourse.ActNotFound, other)
	x.must(approveCommand(id, bob, &act))
	if a := x.lastAct(); a.Status != bourse.ActDone || a.By != [2]bourse.OperatorID{ann, bob} {
		t.Error(a.String())
	}
	x.refused(bourse.ActNotFound, approveCommand(id, bob, &act))
}

// TestApprovalsStayWithTheirAct moves what was asserted to another command.
func TestApprovalsStayWithTheirAct(t *testing.T) {
	x := staffed(t)
	act := x.actOf(ann, bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: 1, Taker: 1})
	other := x.actOf(ann, bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: 9, Taker: 9})
	id, otherID := x.must(act), x.must(other)
	x.refused(bourse.WrongDigest, approveCommand(otherID, bob, &act))
	x.refused(bourse.WrongDigest, dropCommand(id, bob, &other))

	moved := x.actOf(ann, freezeCommand(1, true))
	moved.Operators.Record = record.Append(nil, &bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 2, On: true})
	x.refused(bourse.WrongDigest, moved)
	moved = x.actOf(carl, freezeCommand(1, true))
	moved.Operators.By[0] = ann
	x.refused(bourse.WrongDigest, moved)
	moved = x.actOf(0, freezeCommand(1, true))
	moved.Operators.Reason = "another"
	x.refused(bourse.WrongDigest, moved)
}

// TestActsWait ends acts by time, by an owner, and by what happened to their operators.
func TestActsWait(t *testing.T) {
	x := staffed(t)
	unpause := pauseCommand(byOutput, false)
	act := x.actOf(bob, unpause)
	id := x.must(act)
	x.agreed(ann, bob, x.hire(bourse.RoleOwner)) // operator 6
	x.agreed(ann, 6, operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: bob, Role: bourse.RoleOwner}))
	x.refused(bourse.OperatorDisabled, approveCommand(id, ann, &act)) // disabled since
	x.aDayLater()
	if a := x.lastAct(); a.Status != bourse.ActExpired || uint64(a.ID) != id {
		t.Error(a.String())
	}
	x.refused(bourse.ActNotFound, approveCommand(id, ann, &act))

	act = x.actOf(ann, unpause)
	id = x.must(act)
	x.must(dropCommand(id, 6, &act)) // another owner
	if a := x.lastAct(); a.Status != bourse.ActDropped || a.By != [2]bourse.OperatorID{ann, 6} {
		t.Error(a.String())
	}

	for range bourse.MaxOpenActs {
		x.must(x.actOf(ann, unpause))
	}
	x.refused(bourse.TooMany, x.actOf(ann, unpause))
	x.must(x.actOf(6, unpause)) // the others' acts are not counted
	x.restart()
}

// TestBreakGlass lets commands of nobody wait for a day, in which an owner can drop them.
func TestBreakGlass(t *testing.T) {
	x := staffed(t)
	x.must(pauseCommand(byOutput, true))
	act, gone := x.actOf(0, pauseCommand(byOutput, false)), x.actOf(0, freezeCommand(99, true))
	id := x.must(act)
	x.must(gone)
	approve := approveCommand(id, bob, &act)
	approve.Operators.By[0] = ann
	x.refused(bourse.ActNotFound, approve)
	x.refused(bourse.RoleMissing, dropCommand(id, carl, &act))
	if !x.e.NetworkState(byOutput).Paused {
		t.Fatal("resumed at once")
	}
	x.restart()
	x.aDayLater()
	if a := x.lastAct(); a.Status != bourse.ActDone || uint64(a.ID) != id || x.e.NetworkState(byOutput).Paused {
		t.Error(a.String())
	}
	x.must(bourse.Command{Kind: bourse.CommandTick}) // one a tick; a refusal is not the tick's
	if a := x.lastAct(); a.Status != bourse.ActRefused {
		t.Error(a.String())
	}

	x.must(pauseCommand(byOutput, true))
	act = x.actOf(0, pauseCommand(byOutput, false))
	x.must(dropCommand(x.must(act), bob, &act))
	x.aDayLater()
	if !x.e.NetworkState(byOutput).Paused {
		t.Error("carried out after it was dropped")
	}
}

// TestApprovalLimit sums what an operator approves alone in a day.
func TestApprovalLimit(t *testing.T) {
	x := staffed(t)
	ask := func(amount uint64) bourse.Command {
		return decideCommand(x.must(withdrawCommand(1, withdrawOf(btc, amount, 1))), true)
	}
	waits := func(want bool, by bourse.OperatorID, cmd bourse.Command) (bourse.Command, uint64) {
		t.Helper()
		act := x.actOf(by, cmd)
		x.must(act)
		if a := x.lastAct(); (a.Status == bourse.ActWaits) != want {
			t.Error(a.String())
		}
		return act, uint64(x.e.Seq())
	}
	waits(true, carl, ask(5)) // without a limit
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: btc, Amount: bourse.Units(100)})
	waits(false, carl, ask(60))
	waits(true, carl, ask(41))
	x.refused(bourse.WithdrawalNotFound, x.actOf(carl, decideCommand(999, true)))
	x.restart()
	act, id := waits(true, carl, ask(50))
	waits(false, carl, ask(40))
	waits(true, carl, ask(5))
	waits(false, ann, ask(100)) // each operator has a sum of their own
	waits(false, carl, decideCommand(uint64(ask(5).Wallet.ID), false))

	// What two agreed on is not counted, and a day later the sum is zero again.
	x.refused(bourse.RoleMissing, approveCommand(id, dora, &act))
	x.aDayLater()
	act, id = waits(true, carl, ask(101))
	x.must(approveCommand(id, bob, &act))
	waits(false, carl, ask(100))
}

// TestDamagedOffices flips each bit of a state about operators, and cuts it at each place: what
// restores keeps the invariants, also when its acts end.
func TestDamagedOffices(t *testing.T) {
	x := staffed(t)
	before := len(snapshot(x.e))
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: btc, Amount: bourse.Units(100)})
	x.must(x.actOf(carl, decideCommand(x.must(withdrawCommand(1, withdrawOf(btc, 60, 1))), true)))
	x.must(x.actOf(0, freezeCommand(1, true)))
	x.must(x.actOf(ann, x.hire(bourse.RoleOwner)))
	good := snapshot(x.e)
	shorter := 400 // of the operators themselves
	for at := before - shorter; at < len(good); at++ {
		if hostile(t, good[:at]) {
			t.Errorf("a state restores that was cut at %d", at)
		}
		for bit := range 8 {
			damaged := bytes.Clone(good)
			damaged[at] ^= 1 << bit
			if !hostile(t, damaged) {
				continue
			}
			e, err := engine.Restore(damaged, func(*bourse.Events) {})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				var ev bourse.Events
				e.Apply(&bourse.Command{Seq: e.Seq() + 1, Time: x.e.Now() + 2*bourse.Day, Kind: bourse.CommandTick}, &ev)
			}
			if err := e.Check(); err != nil {
				t.Fatalf("byte %d, bit %d: %v", at, bit, err)
			}
		}
	}
}

package record_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// act returns an act of operator 1: to freeze account 5.
func act() bourse.Command {
	freeze := bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 5, On: true}
	return record.NewAct(&bourse.Genesis{Exchange: [16]byte{9}}, 1, bourse.Token{8}, "asked by phone", &freeze)
}

// TestActsOrderOneCommandOfOperators refuses acts whose record is none, or not one that
// operators order.
func TestActsOrderOneCommandOfOperators(t *testing.T) {
	freeze := act().Operators.Record
	whole := act()
	for what, c := range map[string]bourse.Command{
		"an act of an act": whole,
		"an order":         {Kind: bourse.CommandCancel, Account: 1, Order: 2},
		"a tick":           {Kind: bourse.CommandTick},
		"a note":           {Kind: bourse.CommandNote, Text: "x"},
		"a genesis":        {Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Rules: 1}},
		"a person's row":   {Kind: bourse.CommandSetPerson, Account: 1, Access: &bourse.Access{}},
	} {
		a := record.NewAct(&bourse.Genesis{}, 1, bourse.Token{}, "why", &c)
		if err := record.Check(&a); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	for what, bytes := range map[string][]byte{
		"nothing": nil, "a byte too few": freeze[:len(freeze)-1], "two records": append(freeze[:len(freeze):len(freeze)], freeze...),
		"an unknown kind": append([]byte{0, 0, 0, 0, 255, 1}, freeze...), "too much": make([]byte, bourse.MaxActRecord+1),
	} {
		a := act()
		a.Operators.Record = bytes
		if err := record.Check(&a); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	for what, change := range map[string]func(*bourse.OperatorCommand){
		"no reason":         func(o *bourse.OperatorCommand) { o.Reason = "" },
		"a long reason":     func(o *bourse.OperatorCommand) { o.Reason = strings.Repeat("x", bourse.MaxActReason+1) },
		"a second operator": func(o *bourse.OperatorCommand) { o.By[1] = 2 },
	} {
		a := act()
		change(a.Operators)
		if err := record.Check(&a); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	if err := record.Check(&whole); err != nil {
		t.Error(err)
	}
	if got := record.Describe(&whole); got != `act by=1 "asked by phone": freeze account=5 on=true` {
		t.Error(got)
	}
}

// TestLimitsOfTiersAreDescribed wants each limit in what a second owner reads: tiers that differ in one of them
// are different texts.
func TestLimitsOfTiersAreDescribed(t *testing.T) {
	told := func(l bourse.TierLimits) string {
		l.Asset = 3
		c := bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
			{Name: "basic", Limits: []bourse.TierLimits{l}}, {Name: "known"},
		}}}
		a := record.NewAct(&bourse.Genesis{}, 1, bourse.Token{}, "why", &c)
		return record.Describe(&a)
	}
	most := func(units uint64) bourse.FlowLimit {
		return bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(units)}}
	}
	want := `act by=1 "why": tiers tiers=2; basic: asset=3 withdrawal=70/-; known: no limit`
	if got := told(bourse.TierLimits{Withdrawal: most(70)}); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	seen := map[string]bool{}
	for _, l := range []bourse.TierLimits{
		{Withdrawal: most(7)}, {Withdrawal: most(0)}, {Deposit: most(7)}, {Trade: most(7)}, {},
		{Withdrawal: bourse.FlowLimit{Month: most(7).Day}},
	} {
		text := told(l)
		if seen[text] {
			t.Errorf("two limits are %s", text)
		}
		seen[text] = true
	}
}

// TestDigestsTellActsApart changes each part of an act, and wants another digest.
func TestDigestsTellActsApart(t *testing.T) {
	g := &bourse.Genesis{Exchange: [16]byte{9}}
	a := bourse.Act{Token: bourse.Token{1}, Reason: "why", Record: []byte{1, 2}}
	seen := map[bourse.ActDigest]string{record.ActDigest(g, 1, &a): "itself"}
	other := func(what string, g *bourse.Genesis, by bourse.OperatorID, a bourse.Act) {
		d := record.ActDigest(g, by, &a)
		if seen[d] != "" {
			t.Errorf("%s has the digest of %s", what, seen[d])
		}
		seen[d] = what
	}
	other("another exchange", &bourse.Genesis{}, 1, a)
	other("another operator", g, 2, a)
	other("another token", g, 1, bourse.Act{Token: bourse.Token{2}, Reason: "why", Record: []byte{1, 2}})
	other("another reason", g, 1, bourse.Act{Token: bourse.Token{1}, Reason: "whynot", Record: []byte{1, 2}})
	other("another record", g, 1, bourse.Act{Token: bourse.Token{1}, Reason: "why", Record: []byte{1, 3}})
}

// TestAuthorities lists what each command needs once an exchange has an owner. Kinds that are
// not listed are no commands of operators.
func TestAuthorities(t *testing.T) {
	two := record.Authority{Role: bourse.RoleOwner, Two: true}
	own := record.Authority{Role: bourse.RoleOwner, Two: true, Own: true}
	one := record.Authority{Role: bourse.RoleOperator}
	stops := record.Authority{Role: bourse.RoleOperator, Bare: true}
	want := map[bourse.CommandKind][2]record.Authority{ // with On false and true
		bourse.CommandSetRules: {two, two}, bourse.CommandDefineAsset: {two, two},
		bourse.CommandDefineNetwork: {two, two}, bourse.CommandDefineNetworkAsset: {two, two},
		bourse.CommandDefineMarket: {two, two}, bourse.CommandDefineFees: {two, two},
		bourse.CommandSetAccountFees: {two, two}, bourse.CommandSetAccountLevel: {two, two},
		bourse.CommandReplaceWithdrawal: {own, own}, bourse.CommandReleaseWithdrawal: {two, two},
		bourse.CommandResetPerson: {two, two}, bourse.CommandAssignDeposit: {two, two}, bourse.CommandAddOperator: {two, two},
		bourse.CommandChangeOperator: {two, two}, bourse.CommandSetApprovalLimit: {two, two},
		bourse.CommandSetMarketState: {stops, stops}, bourse.CommandFreezeAccount: {one, stops},
		bourse.CommandPauseWithdrawals: {two, stops}, bourse.CommandCredit: {one, one},
		bourse.CommandDefineTiers: {two, two}, bourse.CommandSetAccountTier: {one, one},
		bourse.CommandDecideWithdrawal: {one, {Role: bourse.RoleOperator, Limited: true}},
		bourse.CommandCool:             {stops, {Role: bourse.RoleOperator, Limited: true}},
		bourse.CommandWarm:             {stops, one},
		bourse.CommandFollowChain:      {two, two},
		bourse.CommandPaidWithdrawal:   {two, two},
		bourse.CommandCollectFees:      {{Role: bourse.RoleOwner}, {Role: bourse.RoleOwner}},
	}
	for kind := range bourse.LastCommandKind + 2 {
		expected, listed := want[kind]
		if !listed {
			expected = [2]record.Authority{{Bare: true}, {Bare: true}}
		}
		for i, on := range []bool{false, true} {
			if got := record.AuthorityOf(&bourse.Command{Kind: kind, On: on}); got != expected[i] {
				t.Errorf("kind %d, on %t: %+v, want %+v", kind, on, got, expected[i])
			}
		}
		if got, want := record.LeastRole(kind), min(expected[0].Role, expected[1].Role); got != want {
			t.Errorf("kind %d: the least role is %d, want %d", kind, got, want)
		}
	}
	for id, expected := range map[bourse.WalletID]record.Authority{0: own, 1: two} {
		w := &bourse.WalletCommand{ID: id}
		if got := record.AuthorityOf(&bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: w}); got != expected {
			t.Errorf("the release of withdrawal %d: %+v", id, got)
		}
	}
	for state, expected := range map[bourse.MarketState]record.Authority{
		bourse.MarketOpen: two, bourse.MarketDelisted: two, bourse.MarketHalted: stops, bourse.MarketCancelOnly: stops,
	} {
		if got := record.AuthorityOf(&bourse.Command{Kind: bourse.CommandSetMarketState, State: state}); got != expected {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

// TestSubjects wants a subject of each command that operators order, apart from those that set nothing
// which a later command could set too, and another subject for another kind.
func TestSubjects(t *testing.T) {
	none := record.Subject{}
	setsNothing := map[bourse.CommandKind]string{
		bourse.CommandAddOperator:      "adds",
		bourse.CommandCredit:           "adds",
		bourse.CommandCollectFees:      "moves what is there",
		bourse.CommandAssignDeposit:    "is refused once the deposit is assigned",
		bourse.CommandDecideWithdrawal: "is refused once the withdrawal is decided",
		bourse.CommandResetPerson:      "names the row that it replaces",
		bourse.CommandCool:             "is refused while an order is open",
		bourse.CommandWarm:             "is refused while another one waits",
	}
	ofWithdrawals := map[bourse.CommandKind]bool{
		bourse.CommandReplaceWithdrawal: true, bourse.CommandReleaseWithdrawal: true, bourse.CommandPaidWithdrawal: true,
		bourse.CommandSigned: true, bourse.CommandRecord: true,
	}
	kinds := map[record.Subject]bourse.CommandKind{}
	for _, cmd := range commands() {
		got, ordered := record.SubjectOf(&cmd), record.AuthorityOf(&cmd).Role != 0
		if why := setsNothing[cmd.Kind]; ordered && (got == none) != (why != "") && !ofWithdrawals[cmd.Kind] {
			t.Errorf("kind %d has the subject %+v, and %q", cmd.Kind, got, why)
		}
		if !ordered && got != none && !ofWithdrawals[cmd.Kind] {
			t.Errorf("kind %d is no operator's, and has a subject", cmd.Kind)
		}
		if kind, seen := kinds[got]; got != none && seen && kind != cmd.Kind && !ofWithdrawals[kind] {
			t.Errorf("kind %d has the subject of kind %d", cmd.Kind, kind)
		}
		kinds[got] = cmd.Kind
	}

	of := func(kind bourse.CommandKind, w bourse.WalletCommand) record.Subject {
		return record.SubjectOf(&bourse.Command{Kind: kind, Wallet: &w})
	}
	one := of(bourse.CommandReplaceWithdrawal, bourse.WalletCommand{ID: 1})
	if one == none || one != of(bourse.CommandReleaseWithdrawal, bourse.WalletCommand{ID: 1}) ||
		one != of(bourse.CommandSigned, bourse.WalletCommand{Signed: &bourse.SignedTx{Wallet: 1}}) ||
		one == of(bourse.CommandReplaceWithdrawal, bourse.WalletCommand{ID: 2}) {
		t.Error("the commands about one withdrawal's transaction have other subjects")
	}
	if got := of(bourse.CommandReleaseWithdrawal, bourse.WalletCommand{Network: 1, Tx: bourse.TxHash{1}}); got != none {
		t.Errorf("a sweep has the subject %+v", got)
	}
}

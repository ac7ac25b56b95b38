package operatorv1_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// TestOutdatedActs has two owners order other rates for one account. The list shows the act that was not
// approved first as outdated, its approval says what to do, and dropped and ordered anew it is carried out.
func TestOutdatedActs(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	const rates = "PUT /accounts/1/fees"
	const low = `{"maker_fee":"0.001","taker_fee":"0.001","reason":"she trades much"}`
	old := ann.waits(ann.confirmed(rates, low, 200, ""))
	other := ann.waits(ann.confirmed("PUT /accounts/1/level", `{"level":null,"reason":"x"}`, 200, ""))
	newer := bob.waits(bob.confirmed(rates, `{"maker_fee":"0.003","taker_fee":"0.004","reason":"a new price"}`, 200, ""))
	if list := ann.ask("GET /acts", ""); strings.Contains(list.Body.String(), "outdated") {
		t.Errorf("outdated too early: %s", list.Body)
	}

	ann.approves(newer, 200)
	ann.wants("GET /acts", "", 200, fmt.Sprintf(`"outdated":%d}`, e.engine.Seq()))
	if got := ann.ask("GET /acts", "").Body.String(); strings.Count(got, "outdated") != 1 {
		t.Errorf("more than one act is outdated: %s", got)
	}
	if got := bob.approves(old, 406); !strings.Contains(got, "ACT_OUTDATED: ") || !strings.Contains(got, "order it anew") {
		t.Error(got)
	}
	bob.approves(other, 200)

	ann.confirmed(fmt.Sprintf("POST /acts/%d/drop", old.Act), fmt.Sprintf(`{"digest":%q}`, old.Digest), 200, "")
	bob.approves(ann.waits(ann.confirmed(rates, low, 200, "")), 200)
	bob.wants("GET /log", "", 200, "done: account-fees account=1 on=true maker=0.001 taker=0.001")
	bob.wants("GET /acts", "", 200, `{"acts":[]}`)
}

// TestOldRolesStayOld has an owner demoted while an act that would make an owner of them waits: as the act
// was ordered first, it gives nothing back.
func TestOldRolesStayOld(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner, bourse.RoleOwner)
	ann, bob, cat := staff[0], staff[1], staff[2]
	const change = "PATCH /operators/3"
	back := cat.waits(cat.confirmed(change, `{"role":"owner","reason":"in case"}`, 200, ""))
	ann.approves(bob.waits(bob.confirmed(change, `{"role":"viewer","reason":"leaves the team"}`, 200, "")), 200)
	for _, approver := range []*person{ann, bob} {
		if got := approver.approves(back, 406); !strings.Contains(got, "ACT_OUTDATED") {
			t.Error(got)
		}
	}
	ann.wants("GET /operators", "", 200, `"operator":3,"role":"viewer"`)
}

// TestRulesAreAdopted has an exchange of the first rules adopt the newest ones by two owners. What waits until then is
// carried out as before.
func TestRulesAreAdopted(t *testing.T) {
	e := newExchange(t)
	staff := e.staff(bourse.RoleOwner)
	ann, bob := staff[0], staff[1]
	first := record.NewAct(e.View.Catalogue().Genesis, 1, bourse.Token{1}, "an old exchange", &bourse.Command{
		Kind: bourse.CommandSetRules, Rules: 1,
	})
	e.do(first)
	acts := e.View.Acts()
	bob.approves(act{Act: uint64(acts[0].ID), Digest: hex.EncodeToString(acts[0].Digest[:])}, 200)

	rates := func(maker string) act {
		return ann.waits(ann.confirmed("PUT /accounts/1/fees", fmt.Sprintf(`{"maker_fee":%q,"taker_fee":"0.01","reason":"x"}`, maker), 200, ""))
	}
	old, newer := rates("0.001"), rates("0.002")
	bob.approves(newer, 200)
	bob.approves(old, 200)

	old, newer = rates("0.003"), rates("0.004")
	bob.approves(ann.waits(ann.confirmed("POST /rules/adopt", `{"reason":"all nodes are upgraded"}`, 200, "")), 200)
	bob.approves(newer, 200)
	bob.approves(old, 406)
	ann.wants("GET /log", "", 200, fmt.Sprintf("done: rules %d: all nodes are upgraded", bourse.CurrentRules))
}

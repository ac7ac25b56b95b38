package operatorv1_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// TestDashboard wants the dashboard to show what the node knows, what is stopped and what waits.
func TestDashboard(t *testing.T) {
	e := newExchange(t)
	e.withdraw(3)
	staff := e.staff(bourse.RoleViewer, bourse.RoleOperator)
	viewer, cy := staff[1], staff[2]
	atom := e.View.Catalogue().Network("ATOM").ID
	e.Condition = func() admin.Condition {
		return admin.Condition{
			Ready: true, JournalP99: 1500 * time.Microsecond, Queue: 3, HistoryLag: 4, DiskFree: 5e9, DiskLeast: 6, Streams: 7,
			Networks: map[bourse.NetworkID]admin.Link{atom: {Operating: true, Head: 9}},
		}
	}
	cy.confirmed("PUT /networks/ATOM/withdrawals", `{"paused":true,"reason":"a look"}`, 200, "")
	cy.confirmed("PUT /markets/BTC-USDT/state", `{"state":"halted","reason":"a look"}`, 200, "")

	(&person{exchange: e}).wants("GET /dashboard", "", 401, "UNAUTHORIZED")
	for _, want := range []string{
		`"ready":true,"trading":true,"seq":`,
		`"journal_p99_us":1500,"queue":3,"history_lag":4,"disk_free":5000000000,"disk_least":6,"streams":7,"withdrawals":3,"deposits":0,"acts":0,`,
		`{"network":"ATOM","operating":true,"tip":7,"tip_time":0,"lag":2,"paused":true,"halted":""}`,
		`{"pair":"BTC/USDT","state":"halted"}`,
	} {
		viewer.wants("GET /dashboard", "", 200, want)
	}
}

// TestSolvency wants accounts and chain to differ by nothing, and by what is taken from the chain.
func TestSolvency(t *testing.T) {
	e := newExchange(t)
	e.withdraw(2)
	viewer := e.staff(bourse.RoleViewer)[1]
	stolen := bourse.Amount{}
	e.Funds = func(context.Context) (*bourse.Funds, error) {
		funds := e.engine.Funds()
		for _, n := range funds.Networks {
			for i := range n.Owned {
				n.Owned[i].Amount = n.Owned[i].Amount.Minus(stolen)
			}
		}
		// The follower is ahead of the view by an asset and a network.
		funds.Assets = append(funds.Assets, bourse.AssetFunds{Asset: bourse.AssetID(len(funds.Assets) + 1)})
		funds.Networks = append(funds.Networks, bourse.NetworkFunds{Network: bourse.NetworkID(len(funds.Networks) + 1)})
		return funds, nil
	}

	type asset struct{ Asset, Customers, Held, Pending, Chain, Difference string }
	atom := func() asset {
		var answer struct {
			Seq      bourse.Seq
			Assets   []asset
			Networks []struct {
				Network string
				Height  uint64
				Owned   map[string]string
			}
		}
		if err := json.Unmarshal(viewer.ask("GET /solvency", "").Body.Bytes(), &answer); err != nil || len(answer.Assets) != 1 {
			t.Fatalf("%+v %v", answer, err)
		}
		if answer.Seq != e.engine.Seq() {
			t.Errorf("at %d, not %d", answer.Seq, e.engine.Seq())
		}
		for _, n := range answer.Networks {
			if n.Network == "ATOM" && (n.Height != 7 || n.Owned["ATOM"] != answer.Assets[0].Chain) {
				t.Errorf("%+v", n)
			}
		}
		return answer.Assets[0]
	}
	if got := atom(); got != (asset{"ATOM", "1000", "2.02", "0", "1000", "0"}) {
		t.Errorf("%+v", got)
	}
	stolen = bourse.Units(1_000_000)
	if got := atom(); got != (asset{"ATOM", "1000", "2.02", "0", "999.999999", "0.000001"}) {
		t.Errorf("%+v", got)
	}
}

package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
)

// TestNetworkList shows how far a network is read, what it holds and what is stopped.
func TestNetworkList(t *testing.T) {
	o := newOffice(t)
	o.fund()
	atom := o.View.Catalogue().Asset("ATOM")
	id := o.View.Catalogue().Network("ATOM").ID
	amount := func(text string) map[bourse.AssetID]bourse.Amount {
		a, err := bourse.ParseAmount(text, atom.Scale)
		if err != nil {
			t.Fatal(err)
		}
		return map[bourse.AssetID]bourse.Amount{atom.ID: a}
	}
	o.Condition = func() admin.Condition {
		return admin.Condition{Networks: map[bourse.NetworkID]admin.Link{id: {Head: 9}}}
	}
	band := admin.Band{Low: amount("2")[atom.ID], Target: amount("5")[atom.ID], High: amount("10")[atom.ID], IsHigh: true}
	o.Purses = func(context.Context) map[bourse.NetworkID]admin.Purse {
		return map[bourse.NetworkID]admin.Purse{id: {
			Reason: "a look", Hot: amount("12.5"), Cold: amount("40"), Rest: amount("1"), Surplus: amount("0"),
			Bands: map[bourse.AssetID]admin.Band{atom.ID: band},
		}}
	}
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":true}`, `{"network":"ATOM","paused":true}`)

	waits := true
	o.Condition = func() admin.Condition {
		return admin.Condition{Networks: map[bourse.NetworkID]admin.Link{id: {Head: 9, AwaitsRecord: waits, Stranded: []bourse.WalletID{3}}}}
	}
	o.answers("withdrawals/pause", `{"network":"ATOM","paused":false}`, `{"error":"the signer has not told its record since the start: `+
		`a payment that the journal does not know can be the reason of the halt"}`)
	waits = false

	var got struct{ Networks []json.RawMessage }
	o.ask("network/list", `{}`, &got)
	if len(got.Networks) != len(o.View.Catalogue().Networks)-1 {
		t.Fatalf("%d networks", len(got.Networks))
	}
	w := fmt.Sprintf("%s", got.Networks)
	for _, want := range []string{
		`{"network":"ATOM","operating":false,"tip":7,"tip_time":0,"lag":2,"paused":true,"halted":"","connected":true,` +
			`"reason":"a look","head":9,"stranded":[3],"hot":{"ATOM":"12.5"},"cold":{"ATOM":"40"},` +
			`"bands":{"ATOM":{"low":"2","target":"5","high":"10","hot":"above","off_target":"7.5"}},"unswept":{"ATOM":"1"},"surplus":{"ATOM":"0"}}`,
		`"connected":false,"reason":"","head":0,"hot":{},"unswept":{}}`,
	} {
		if !strings.Contains(w, want) {
			t.Errorf("%s is not in %s", want, w)
		}
	}
}

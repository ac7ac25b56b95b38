package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/operator"
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

// funding gives the hot wallet of the network of outputs 12 coins.
func (o *office) funding() {
	o.Helper()
	c := o.View.Catalogue()
	btc := c.Asset("BTC")
	o.do(bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.BlockEffect{
		Network: c.Network("BTC").ID, BlockRef: bourse.BlockRef{Height: 7, Hash: bourse.TxHash{7}}, ByOutput: true,
		Txs: []bourse.TxEffect{{Hash: bourse.TxHash{1}, Inflows: []bourse.Inflow{
			{Asset: btc.ID, Amount: bourse.Units(12 * bourse.Pow10(btc.Scale)), Owner: bourse.AccountTreasury},
		}}},
	}}})
}

// refused wants a verb to be refused with a text.
func (o *office) refused(verb, args, want string) {
	o.Helper()
	_, err := o.DoAs(o.Context(), new(operator.Orderer), verb, []byte(args))
	if err == nil || !strings.Contains(err.Error(), want) {
		o.Errorf("%s %s: %v, and not %s", verb, args, err, want)
	}
}

// TestNetworkCool orders moves to cold storage, ends them, and refuses those that the settings or the hot wallet do not allow.
func TestNetworkCool(t *testing.T) {
	o := newOffice(t)
	o.funding()
	btc := o.View.Catalogue().Asset("BTC")
	n := o.View.Catalogue().Network("BTC").ID
	coins := func(n uint64) bourse.Amount { return bourse.Units(n * bourse.Pow10(btc.Scale)) }
	purse := admin.Purse{
		Hot: map[bourse.AssetID]bourse.Amount{btc.ID: coins(12)}, Cold: map[bourse.AssetID]bourse.Amount{},
		Bands: map[bourse.AssetID]admin.Band{btc.ID: {Low: coins(4)}},
	}
	purses := map[bourse.NetworkID]admin.Purse{n: purse}
	var moves []admin.ColdMove
	o.Condition = func() admin.Condition {
		return admin.Condition{Networks: map[bourse.NetworkID]admin.Link{n: {Cooling: "a look", ColdMoves: moves}}}
	}
	o.Purses = func(context.Context) map[bourse.NetworkID]admin.Purse { return purses }
	listed := func(want string) {
		t.Helper()
		var got struct{ Networks []json.RawMessage }
		o.ask("network/list", `{}`, &got)
		if w := fmt.Sprintf("%s", got.Networks); strings.Contains(w, "cooling") != (want != "") || !strings.Contains(w, want) {
			t.Errorf("%s has not %s", w, want)
		}
	}
	good := `{"network":"BTC","asset":"BTC","amount":"8"}`

	listed("")
	for request, want := range map[string]string{
		`{"network":"NO","asset":"BTC","amount":"1"}`:   `unknown network "NO"`,
		`{"network":"BTC","asset":"NO","amount":"1"}`:   `unknown asset "NO"`,
		`{"network":"BTC","asset":"BTC","amount":"x"}`:  `amount: `,
		`{"network":"BTC","asset":"BTC","amount":"0"}`:  `order to cold storage`,
		`{"network":"BTC","asset":"BTC","amount":"9"}`:  `the hot wallet has 12 BTC and keeps 4`,
		`{"network":"BTC","asset":"ATOM","amount":"1"}`: `hot.low is not set for ATOM`,
		`{"network":"ATOM","asset":"BTC","amount":"1"}`: `no node of it`,
	} {
		o.refused("network/cool", request, want)
	}
	for want, change := range map[string]func(*admin.Purse){
		"no cold storage":    func(p *admin.Purse) { p.Cold = nil },
		"hot.low is not set": func(p *admin.Purse) { p.Bands = nil },
	} {
		other := purse
		change(&other)
		purses[n] = other
		o.refused("network/cool", good, want)
	}
	purses[n] = purse
	o.refused("network/end-cool", `{"network":"BTC"}`, "NOTHING_TO_END")
	o.refused("network/end-cool", `{"network":"NO"}`, `unknown network "NO"`)

	o.answers("network/cool", good, `{"xid":1,"network":"BTC","asset":"BTC","amount":"8"}`)
	listed(`"cooling":{"xid":1,"asset":"BTC","amount":"8","reason":"a look"}`)
	o.refused("network/cool", good, "COOL_OPEN")
	o.answers("network/end-cool", `{"network":"BTC"}`, `{"network":"BTC"}`)
	listed("")

	o.do(bourse.Command{Kind: bourse.CommandCool, On: true, AssetID: btc.ID, Amount: coins(1), Wallet: &bourse.WalletCommand{Network: n}})
	moves = []admin.ColdMove{{Kind: "warm", Tx: "ab", State: "accepted"}, {Kind: "cool", Tx: "cd", State: "dropped"}}
	var ended struct {
		Moves    []admin.ColdMove `json:"cold_moves"`
		WaitsFor string           `json:"waits_for"`
	}
	o.ask("network/end-cool", `{"network":"BTC"}`, &ended)
	if len(ended.Moves) != 1 || ended.Moves[0] != moves[1] || !strings.Contains(ended.WaitsFor, "may be mined") {
		t.Errorf("it waits for %+v", ended)
	}
}

// TestNetworkPSBTRefusals answers without a node, and without a transaction to end.
func TestNetworkPSBTRefusals(t *testing.T) {
	o := newOffice(t)
	o.Cold = func(bourse.NetworkID) admin.ColdStorage { return nil }
	o.refused("network/psbt", `{"network":"BTC","amount":"1"}`, "no node of it")
	o.refused("network/psbt", `{"network":"NO","amount":"1"}`, `unknown network "NO"`)
	o.refused("network/send-psbt", `{"network":"BTC","signed":"00"}`, "no node of it")
	o.refused("network/end-psbt", `{"network":"BTC"}`, "NOTHING_TO_END")
}

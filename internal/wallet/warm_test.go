package wallet_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// drafting is a network whose cold storage keeps the payment that a draft is made of.
type drafting struct {
	chain.Network
	chain.ColdStorage
	asked *chain.Payment
}

func (d *drafting) Draft(_ context.Context, p *chain.Payment) (chain.Draft, error) {
	d.asked = p
	return chain.Draft{}, nil
}

// TestDraftExcludesAll gives up many moves from cold storage. The next draft has to exclude each of them, also the oldest, or the
// journal refuses what people signed.
func TestDraftExcludesAll(t *testing.T) {
	const rounds = 15
	w, l := newWorld(t, onBTC), listed(onBTC, btc)
	w.keep(9)
	first, second := w.payCold(9, 0, 3*l.least), w.payCold(9, 1, 5*l.least)
	for round := range byte(rounds) {
		s := &bourse.SignedTx{
			Network: onBTC, Kind: bourse.SignedWarm, Tx: bourse.TxHash{1, round}, Raw: []byte{round},
			Inputs: []bourse.Outpoint{first, second}, Cost: bourse.AssetAmount{Asset: btc, Amount: bourse.Units(1)},
		}
		if round == 0 {
			s.Inputs = s.Inputs[:1]
		}
		w.must(bourse.Command{Kind: bourse.CommandWarm, On: true, Wallet: &bourse.WalletCommand{Signed: s}})
		w.must(bourse.Command{Kind: bourse.CommandWarm, Wallet: &bourse.WalletCommand{Network: onBTC}})
	}

	worker := w.network(onBTC).worker
	d := &drafting{Network: worker.Network}
	worker.Network = d
	if _, err := worker.Draft(t.Context(), "0.0001"); err != nil {
		t.Fatal(err)
	}
	oldest := func(raw []byte) bool { return slices.Equal(raw, []byte{0}) }
	if len(d.asked.Replaces) != rounds || !slices.ContainsFunc(d.asked.Replaces, oldest) {
		t.Errorf("the draft excludes %v", d.asked.Replaces)
	}
}

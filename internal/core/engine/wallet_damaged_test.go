package engine_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// TestDamagedWalletStates restores states with open business that were damaged.
func TestDamagedWalletStates(t *testing.T) {
	x, c, a := funded(t, true)
	x.must(pauseCommand(byAccount, true))
	w := withdrawOf(eth, 10, 1)
	w.ClientID, w.Save = bourse.ClientID{'a'}, bourse.Token{1}
	x.must(withdrawCommand(1, w))
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	tx, s := x.signOutputs(c, id, 100, 2)
	x.must(signedCommand(s))
	x.must(c.next(tx, c.output(2, btc, 30), c.output(nobody, btc, 4)))
	x.must(a.next(a.output(3, usdt, 77)))
	late := transferOf(2, usdt, 7)
	late.Message = bourse.Token{2}
	x.must(secureCommand(1, bourse.Hour))
	late.Once = bourse.Once{Key: bourse.RequestHash{3}, Body: bourse.RequestHash{4}}
	x.must(transferCommand(1, late))
	x.must(coolCommand(byOutput, btc, 5))
	free, _ := c.unspent()
	_, warm, _ := c.warms(free[len(free)-1:], 1, 1)
	x.must(warmCommand(warm))
	good := snapshot(x.e)
	if !hostile(t, good) {
		t.Fatal("a good state does not restore")
	}
	step := 3
	if testing.Short() {
		step = 29
	}
	for at := 0; at < len(good); at += step {
		damaged := slices.Clone(good)
		damaged[at] ^= 1 << (at % 8)
		shake(t, damaged)
		damaged[at] = 0xff
		shake(t, damaged)
	}
}

// TestDamagedRandomWallets damages states that random business left behind.
func TestDamagedRandomWallets(t *testing.T) {
	flips := 300
	if testing.Short() {
		flips = 50
	}
	for seed := uint64(1); seed <= 4; seed++ {
		m := newWalletModel(t, seed)
		for range 150 {
			m.step()
		}
		good := snapshot(m.e)
		for range flips {
			damaged := slices.Clone(good)
			at := m.below(len(good))
			damaged[at] = byte(m.below(256))
			if m.chance(50) { // damage the next byte too
				damaged[min(at+1, len(good)-1)] ^= byte(1 << m.below(8))
			}
			shake(t, damaged)
		}
	}
}

// shake restores bytes of unknown origin like hostile, and then takes all blocks
// back and lets everything go that waits.
func shake(t *testing.T, data []byte) {
	t.Helper()
	if !hostile(t, data) {
		return
	}
	e, err := engine.Restore(data, func(*bourse.Events) {})
	if err != nil {
		t.Fatal(err)
	}
	var ev bourse.Events
	for _, n := range []bourse.NetworkID{byOutput, byAccount} {
		for _, cmd := range []bourse.Command{
			pauseCommand(n, false),
			walletCommand(bourse.CommandRewind, 0, bourse.WalletCommand{Network: n, Height: 1}),
		} {
			cmd.Seq, cmd.Time = e.Seq()+1, e.Now()
			e.Apply(&cmd, &ev)
			if err := e.Check(); err != nil {
				t.Fatalf("restored from damage, after %+v: %v", cmd, err)
			}
		}
	}
}

// TestDamagedRequests ends a withdrawal of an earlier day in states that were damaged: it leaves
// the sums of its account, and frees its client id.
func TestDamagedRequests(t *testing.T) {
	x, c := tiered(t, false), &chain{network: byOutput}
	x.must(tierCommand(1, 1))
	x.must(c.next(c.output(1, btc, 1000)))
	x.mine(c, target)
	id := x.must(withdrawCommand(1, withdrawOf(btc, 77, 1)))
	x.later(3 * bourse.Day)
	good := snapshot(x.e)

	for at := range good {
		damaged := slices.Clone(good)
		damaged[at] ^= 1
		if !hostile(t, damaged) {
			continue
		}
		e, err := engine.Restore(damaged, func(*bourse.Events) {})
		if err != nil {
			t.Fatal(err)
		}
		var ev bourse.Events
		cmd := decideCommand(id, false)
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()
		e.Apply(&cmd, &ev)
		if err := e.Check(); err != nil {
			t.Fatalf("damaged at %d: %v", at, err)
		}
	}
}

package devnet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/chaintest"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// seed is the exchange's, outsideSeed everybody else's.
var seed, outsideSeed = [32]byte{1}, [32]byte{2}

// relay is the way to the node that runs now.
type relay struct{ *devnet.Node }

// options are the same for each start of a node.
func options(p *devnet.Params, clock func() bourse.Time) devnet.Options {
	keys := devnet.NewKeys(p, seed)
	return devnet.Options{
		Seed: outsideSeed, Clock: clock, Hot: devnet.NewCodec(p, keys.Public()).Destination(chain.IndexHot),
	}
}

func TestContract(t *testing.T) {
	for _, p := range devnet.Networks() {
		t.Run(string(p.Symbol), func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, func(t *testing.T) *chaintest.Rig { return rig(t, p) })
		})
	}
}

func rig(t *testing.T, p *devnet.Params) *chaintest.Rig {
	var now bourse.Time = 1e15
	o := options(p, func() bourse.Time { now += bourse.Second; return now })
	d := memdisk.New(1)
	node, err := devnet.Open(d, p, o)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{node}
	faults := devnet.NewFaults(r)
	keys := devnet.NewKeys(p, seed)
	rig := &chaintest.Rig{
		Network: devnet.NewClient(p, keys.Public(), faults, devnet.ClientOptions{Timeout: 20 * time.Millisecond, Clock: o.Clock}),
		Keys:    keys, Outside: r,
		Stop: faults.Stop, Start: faults.Start, Lag: func(blocks uint64, silent bool) { r.Lag(blocks, silent) },
		SendHidden: func(pay chain.Pay) (chain.Hash, error) { return r.SendHidden(pay) },
		LoseReply:  func() { faults.Inject(devnet.LostReply, devnet.MethodBroadcast, 1) },
		Spoil:      map[string]func(){}, Mend: faults.Clear,
		Restart: func(t *testing.T) {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if r.Node, err = devnet.Open(d, p, o); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, fault := range devnet.AllFaults() {
		rig.Spoil[fmt.Sprint("fault ", fault)] = func() { faults.Inject(fault, "", 0) }
	}
	for _, other := range devnet.Networks() {
		if other.Symbol != p.Symbol {
			theirs := devnet.NewCodec(other, devnet.NewKeys(other, seed).Public())
			rig.Foreign = append(rig.Foreign, theirs.Destination(1).Address, theirs.Destination(chain.IndexHot).Address)
		}
	}
	return rig
}

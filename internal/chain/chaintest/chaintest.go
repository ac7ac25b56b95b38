package chaintest

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Outside is the world that pays us and that we pay, and whoever makes blocks.
type Outside interface {
	// Mine puts blocks on top, the first with all that waits.
	Mine(count int) (chain.BlockRef, error)
	// Send pays one coin, to one memo, in one transaction that waits.
	Send(pays ...chain.Pay) (chain.Hash, error)
	// SendFailing sends what is mined and not executed. It is asked of networks
	// of accounts alone.
	SendFailing(pay chain.Pay) (chain.Hash, error)
	// NewAddress returns an address outside that has nothing yet.
	NewAddress() (string, error)
	// Reorg takes blocks off the chain, and puts empty ones in their place; what
	// was in them waits again, last first, or is dropped.
	Reorg(depth int, drop bool) (chain.BlockRef, error)
	// Restore lets wait again what was dropped, as far as it can be mined.
	Restore() error
	// DoubleSpend throws a payment off the chain, or out of what waits, and
	// lets another one wait that takes its place.
	DoubleSpend(hash chain.Hash) (chain.Hash, error)
}

// Rig is one network, fresh, with a hot wallet that has enough of every coin.
// Where a function is missing, the tests that need it are skipped.
type Rig struct {
	Network chain.Network
	Keys    chain.Keyring
	Outside Outside
	// Foreign are addresses that this network must refuse.
	Foreign []string
	// Stop makes the node silent, Start ends it.
	Stop, Start func()
	// Lag hides the last blocks from who asks, silently or not.
	Lag func(blocks uint64, silent bool)
	// LoseReply lets the next broadcast arrive and its answer not.
	LoseReply func()
	// Spoil has, by name, what makes every answer odd from then on; Mend ends
	// it.
	Spoil map[string]func()
	Mend  func()
	// Restart ends the node and starts it again on what it has kept.
	Restart func(t *testing.T)
}

// accounts is how many accounts the suite watches.
const accounts = 5

// Run holds an adapter against the contract. Each call of open returns a new
// network.
func Run(t *testing.T, open func(t *testing.T) *Rig) {
	t.Helper()
	shape := open(t).Network.Shape()
	for _, test := range []struct {
		name string
		run  func(*desk)
		// on says on which networks there is something to test; nil is all.
		on func(*chain.Shape) bool
	}{
		{"Shape", testShape, nil},
		{"Destinations", testDestinations, nil},
		{"AddressesOfOthers", testForeignAddresses, nil},
		{"Typos", testTypos, nil},
		{"Memos", testMemos, nil},
		{"Blocks", testBlocks, nil},
		{"Deposit", testDeposit, nil},
		{"SeveralOutputs", testSeveralOutputs, nil},
		{"NobodysMemo", testNobodysMemo, withMemos},
		{"Dust", testDust, nil},
		{"FailedDeposit", testFailedDeposit, ofAccounts},
		{"MinedAgain", testMinedAgain, nil},
		{"Dropped", testDropped, nil},
		{"SpentTwice", testSpentTwice, nil},
		{"Payment", testPayment, nil},
		{"ChangeIsNoDeposit", testChange, nil},
		{"BroadcastAgain", testBroadcastAgain, nil},
		{"LostReply", testLostReply, nil},
		{"Conflict", testConflict, nil},
		{"NonceSequence", testNonceSequence, ofAccounts},
		{"PaymentReorganised", testPaymentReorganised, nil},
		{"Caps", testCaps, nil},
		{"DecodeRefuses", testDecodeRefuses, nil},
		{"Sweep", testSweep, withSweeps},
		{"SweepToken", testSweepToken, withTokenSweeps},
		{"Silent", testSilent, nil},
		{"Odd", testOdd, nil},
		{"Behind", testBehind, nil},
		{"Restart", testRestart, nil},
	} {
		if test.on != nil && !test.on(shape) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			d := &desk{T: t, Rig: open(t)}
			d.Network.Watch(accounts)
			test.run(d)
			if !t.Failed() {
				d.closeBooks()
			}
		})
	}
}

// desk is where one test is made.
type desk struct {
	*testing.T
	*Rig
}

// The kinds of networks that some tests are for.
func withMemos(s *chain.Shape) bool       { return s.MemoName != "" }
func ofAccounts(s *chain.Shape) bool      { return !s.Outputs }
func withSweeps(s *chain.Shape) bool      { return s.Sweeps }
func withTokenSweeps(s *chain.Shape) bool { return s.Sweeps && len(s.Coins) > 1 }

// must ends the test with an error.
func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// wants compares an error with the one that is due.
func (d *desk) wants(what string, got, want error) {
	d.Helper()
	if !errors.Is(got, want) {
		d.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// invalid wants an error that says that the caller is wrong.
func (d *desk) invalid(what string, err error) {
	d.Helper()
	var caller *bourse.Error
	if !errors.As(err, &caller) || caller.Code != bourse.CodeInvalid {
		d.Errorf("%s: got %v, want an error with CodeInvalid", what, err)
	}
}

func (d *desk) shape() *chain.Shape { return d.Network.Shape() }

// some returns the first coins: enough to have the native one and a token.
func (d *desk) some() []chain.Coin { return d.shape().Coins[:min(2, len(d.shape().Coins))] }

// amount is a hundredth of a coin.
func amount(c chain.Coin) bourse.Amount { return bourse.Units(bourse.Pow10(c.Decimals) / 100) }

func (d *desk) mine(count int) chain.BlockRef {
	d.Helper()
	head, err := d.Outside.Mine(count)
	d.must(err)
	return head
}

func (d *desk) send(pays ...chain.Pay) chain.Hash {
	d.Helper()
	hash, err := d.Outside.Send(pays...)
	d.must(err)
	return hash
}

func (d *desk) block(height uint64) *chain.Block {
	d.Helper()
	b, err := d.Network.Block(d.Context(), height)
	d.must(err)
	return b
}

func (d *desk) head() chain.BlockRef {
	d.Helper()
	h, err := d.Network.Health(d.Context())
	d.must(err)
	return h.Head
}

// tx returns a transaction of a block, or nil.
func (d *desk) tx(height uint64, hash chain.Hash) *chain.Tx {
	d.Helper()
	b := d.block(height)
	for i := range b.Txs {
		if b.Txs[i].Hash == hash {
			return &b.Txs[i]
		}
	}
	return nil
}

// height returns where the chain has a transaction, and zero if it has not.
func (d *desk) height(hash chain.Hash) uint64 {
	d.Helper()
	for height := d.head().Height; height > 0; height-- {
		if d.tx(height, hash) != nil {
			return height
		}
	}
	return 0
}

package chaintest

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Outside controls the chain and the addresses that are not the exchange's.
type Outside interface {
	// Mine adds blocks, the first with all pending transactions.
	Mine(count int) (chain.BlockRef, error)
	// Send makes a pending transaction that pays one coin, with one memo.
	Send(pays ...chain.Pay) (chain.Hash, error)
	// SendFailing sends a transaction that is mined without effect. It is called only on
	// networks of accounts.
	SendFailing(pay chain.Pay) (chain.Hash, error)
	// NewAddress returns an unused address outside the exchange.
	NewAddress() (string, error)
	// Reorg replaces the last blocks by empty ones. It and the methods below are not called if [Rig].Final is set.
	// Their transactions are dropped or pending again, in reverse order.
	Reorg(depth int, drop bool) (chain.BlockRef, error)
	// Restore makes dropped transactions pending again, if they are still valid.
	Restore() error
	// DoubleSpend removes a payment from the chain or the pending ones and replaces it by
	// a conflicting one.
	DoubleSpend(hash chain.Hash) (chain.Hash, error)
}

// Rig is a fresh network whose hot wallet has enough of every coin.
type Rig struct {
	Network chain.Network
	Keys    chain.Keyring
	Outside Outside
	// SendHidden makes a pending transaction by which a contract pays the native coin: it
	// arrives, and no block shows it. Networks with sweeps have it.
	SendHidden func(pay chain.Pay) (chain.Hash, error)
	// Several is the coin of which one transaction makes several payments; empty for the first.
	Several chain.CoinID
	// Foreign are addresses that the network must refuse.
	Foreign []string
	// First is the height of the chain's first block.
	First uint64
	// Final is true if blocks never leave the chain.
	Final bool
	// InOrder is true if nodes refuse a payment before they have the one with the nonce below.
	InOrder bool
	// Stop silences the node until Start.
	Stop, Start func()
	// Lag hides the last blocks from queries. If silent is set, the node does not report
	// it.
	Lag func(blocks uint64, silent bool)
	// LoseReply delivers the next broadcast but loses its answer.
	LoseReply func()
	// Spoil has functions, by name, that corrupt every answer until Mend.
	Spoil map[string]func()
	Mend  func()
	// Restart restarts the node with its stored state.
	Restart func(t *testing.T)
}

// accounts is the number of accounts that the suite watches.
const accounts = 5

// Run tests an adapter against the contract of package chain. open returns a new network
// at each call.
func Run(t *testing.T, open func(t *testing.T) *Rig) {
	t.Helper()
	rig := open(t)

	for _, test := range []struct {
		name string
		run  func(*desk)
		// on selects the networks to test; nil selects all.
		on func(*Rig) bool
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
		{"MinedAgain", testMinedAgain, reorganised},
		{"Dropped", testDropped, reorganised},
		{"SpentTwice", testSpentTwice, reorganised},
		{"Payment", testPayment, nil},
		{"ChangeIsNoDeposit", testChange, nil},
		{"ChangeIsSplit", testSplitChange, ofOutputs},
		{"Joined", testJoined, joining},
		{"BroadcastAgain", testBroadcastAgain, nil},
		{"LostReply", testLostReply, nil},
		{"Conflict", testConflict, nil},
		{"Replaced", testReplaced, replacing},
		{"ReplacedWithMore", testReplacedWithMore, replacingOutputs},
		{"NotReplaced", testNotReplaced, nil},
		{"NonceSequence", testNonceSequence, ofAccounts},
		{"PaymentReorganised", testPaymentReorganised, reorganised},
		{"Caps", testCaps, nil},
		{"DecodeRefuses", testDecodeRefuses, nil},
		{"Sweep", testSweep, withSweeps},
		{"SweepToken", testSweepToken, withTokenSweeps},
		{"HiddenDeposit", testHiddenDeposit, withSweeps},
		{"Silent", testSilent, nil},
		{"Odd", testOdd, nil},
		{"Behind", testBehind, nil},
		{"Restart", testRestart, nil},
	} {
		if test.on != nil && !test.on(rig) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			d := &desk{T: t, Rig: open(t), hidden: map[holding]bourse.Amount{}}
			d.Network.Watch(accounts)
			test.run(d)
			if !t.Failed() {
				d.closeBooks()
			}
		})
	}
}

// desk is the environment of one test.
type desk struct {
	*testing.T
	*Rig
	// hidden is what contracts paid to the exchange.
	hidden map[holding]bourse.Amount
}

// Predicates for the tests of some networks.
func (r *Rig) shape() *chain.Shape { return r.Network.Shape() }
func withMemos(r *Rig) bool        { return r.shape().MemoName != "" }
func ofAccounts(r *Rig) bool       { return !r.shape().Outputs }
func ofOutputs(r *Rig) bool        { return r.shape().Outputs }
func joining(r *Rig) bool          { return r.shape().Outputs && r.shape().Native != "" }
func replacing(r *Rig) bool        { return r.shape().Replaces }
func withSweeps(r *Rig) bool       { return r.shape().Sweeps }
func withTokenSweeps(r *Rig) bool  { return r.shape().Sweeps && len(r.shape().Coins) > 1 }
func replacingOutputs(r *Rig) bool { return r.shape().Replaces && r.shape().Outputs }
func reorganised(r *Rig) bool      { return !r.Final }

// must fails the test on an error.
func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// wants compares an error with the expected one.
func (d *desk) wants(what string, got, want error) {
	d.Helper()
	if !errors.Is(got, want) {
		d.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// invalid expects an error with CodeInvalid.
func (d *desk) invalid(what string, err error) {
	d.Helper()
	var caller *bourse.Error
	if !errors.As(err, &caller) || caller.Code != bourse.CodeInvalid {
		d.Errorf("%s: got %v, want an error with CodeInvalid", what, err)
	}
}

// some returns the first two coins: the native one and a token, if there are two.
func (d *desk) some() []chain.Coin { return d.shape().Coins[:min(2, len(d.shape().Coins))] }

// amount returns a hundredth of a coin.
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

// height returns the height of a transaction's block, or zero.
func (d *desk) height(hash chain.Hash) uint64 {
	d.Helper()
	for height := d.head().Height; height > 0; height-- {
		if d.tx(height, hash) != nil {
			return height
		}
	}
	return 0
}

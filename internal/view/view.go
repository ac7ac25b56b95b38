package view

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// View is the hot state. One goroutine folds; reads are safe for concurrent use.
type View struct {
	// mu is held from Begin to End, so that readers see whole frames.
	mu  sync.RWMutex
	seq bourse.Seq
	now bourse.Time
	// books is indexed by market ID; nil for unknown markets.
	books    []*depth
	accounts table.Table[account]
	orders   orders
	tape     *Tape
	wallet   wallet
	office   office
	// updates are the changes of the market data by the last Observe.
	updates []Update

	catalogue atomic.Pointer[Catalogue]
	// next is the catalogue being changed, or nil.
	next *Catalogue
}

// New returns an empty view.
func New() *View {
	v := &View{tape: NewTape(), wallet: newWallet()}
	v.catalogue.Store(newCatalogue())
	return v
}

// Reset empties the view and takes the market data from a snapshot's section; the
// Restored events follow. Call it between Begin and End.
func (v *View) Reset(section func(name string) ([]byte, bool)) error {
	saved, _ := section(TapeSection)
	tape, err := RestoreTape(saved)
	if err != nil {
		return fmt.Errorf("tape of the snapshot: %w", err)
	}
	v.books, v.accounts, v.orders = nil, table.Table[account]{}, orders{}
	v.tape, v.wallet, v.office = tape, newWallet(), office{}
	v.next = newCatalogue()
	return nil
}

// Begin begins a frame: readers wait until End.
func (v *View) Begin() { v.mu.Lock() }

// End ends a frame: readers see all of it.
func (v *View) End() {
	if v.next != nil {
		v.next.index()
		v.catalogue.Store(v.next)
		v.next = nil
	}
	v.mu.Unlock()
}

// Updates returns the changes of the market data by the last Observe. It belongs to the
// goroutine that observes; the result is valid until the next Observe.
func (v *View) Updates() []Update { return v.updates }

// Observe folds a command's events.
func (v *View) Observe(cmd *bourse.Command, ev *bourse.Events) {
	v.seq, v.now = cmd.Seq, cmd.Time
	for i := range ev.Balances {
		v.foldBalance(&ev.Balances[i])
	}
	for i := range ev.Moved {
		v.foldMoved(&ev.Moved[i])
	}
	for _, e := range ev.List {
		v.foldEvent(e, ev)
	}
	v.updates = v.updates[:0]
	v.tape.Fold(cmd, ev, &v.updates)
}

func (v *View) foldEvent(e bourse.Event, ev *bourse.Events) {
	switch e.Kind {
	case bourse.EventGenesis, bourse.EventRules, bourse.EventRaised, bourse.EventAsset, bourse.EventNetwork, bourse.EventNetworkAsset, bourse.EventMarket,
		bourse.EventFeeSchedule, bourse.EventTiers:
		v.foldDefinition(e.Kind, &ev.Facts[e.At])
	case bourse.EventAccountCreated, bourse.EventAccountFrozen, bourse.EventAccountFees, bourse.EventAccountLevel,
		bourse.EventAccountTier, bourse.EventAccountRestored:
		v.foldAccount(e.Kind, &ev.Facts[e.At])

	case bourse.EventOrderAccepted, bourse.EventOrderRestored:
		v.openOrder(e, &ev.Orders[e.At])
	case bourse.EventOrderRejected:
		v.account(ev.Orders[e.At].Account).toldOrder(e.StreamSeq)
		v.foldRejection(&ev.Orders[e.At], e.Reason)
	case bourse.EventRejectionRestored:
		v.foldRejection(&ev.Orders[e.At], e.Reason)
	case bourse.EventOrderTriggered:
		v.triggerOrder(e, &ev.Orders[e.At])
	case bourse.EventOrderAmended:
		v.amendOrder(e, &ev.Orders[e.At])
	case bourse.EventOrderPrevented:
		v.preventOrder(e, &ev.Orders[e.At])
	case bourse.EventOrderClosed:
		v.closeOrder(e, &ev.Orders[e.At])
	case bourse.EventTraded:
		v.foldTrade(&ev.Trades[e.At])

	case bourse.EventLevel, bourse.EventLevelRestored:
		v.foldLevel(&ev.Levels[e.At])
	case bourse.EventMarketRestored:
		v.book(ev.Facts[e.At].MarketID).seq = ev.Facts[e.At].Levels

	case bourse.EventOperator, bourse.EventApprovalLimit, bourse.EventAct, bourse.EventActOutdated,
		bourse.EventActRestored:
		v.office.fold(e.Kind, &ev.Facts[e.At])

	case bourse.EventNetworkState:
		n := &ev.Wallet.Networks[e.At]
		v.wallet.networks[n.Network] = *n
	case bourse.EventDeposit, bourse.EventDepositRestored:
		v.foldDeposit(e, &ev.Wallet.Deposits[e.At])
	case bourse.EventWithdrawal, bourse.EventWithdrawalRestored:
		v.foldWithdrawal(e, &ev.Wallet.Withdrawals[e.At])

	case bourse.EventNoted, bourse.EventRefused, bourse.EventKeyCreated, bourse.EventKeyChanged,
		bourse.EventKeyRevoked, bourse.EventKeysRestored, bourse.EventAccountHeld, bourse.EventPersonChanged,
		bourse.EventTransfer, bourse.EventOrderRepeated:
	case bourse.EventSigned, bourse.EventUnspent, bourse.EventHolding, bourse.EventNonce,
		bourse.EventAddressSaved, bourse.EventAddressForgotten: // not for clients, or in account
	}
}

// Seq returns the last command visible to readers.
func (v *View) Seq() bourse.Seq {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.seq
}

// Now returns the engine's time visible to readers.
func (v *View) Now() bourse.Time {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.now
}

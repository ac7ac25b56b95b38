package history

import (
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
)

// Definitions looks up definitions as of the last command applied.
type Definitions interface {
	// Assets and Networks return the definitions by ascending id, from one.
	Assets() []*bourse.Asset
	Networks() []*bourse.Network
	// Market returns the definition of a market, or nil.
	Market(id bourse.MarketID) *bourse.Market
	// NetworkState returns the exchange's state on a defined network.
	NetworkState(id bourse.NetworkID) bourse.NetworkState
	// Tiers returns the tiers; nil without any.
	Tiers() *bourse.Tiers
}

// Herald makes bulletins of events. Events about networks and markets come with any change of
// them, so it keeps its last bulletin of each. Not safe for concurrent use.
type Herald struct {
	now      Definitions
	networks map[bourse.NetworkID]stopped
	markets  map[bourse.MarketID]bourse.MarketState
}

// stopped is why a network's withdrawals are stopped.
type stopped struct {
	paused bool
	halted bourse.Halt
}

// NewHerald returns a herald for the commands after the state that now describes.
func NewHerald(now Definitions) *Herald {
	h := &Herald{now: now, networks: map[bourse.NetworkID]stopped{}, markets: map[bourse.MarketID]bourse.MarketState{}}
	for _, n := range now.Networks() {
		state := now.NetworkState(n.ID)
		h.networks[n.ID] = stopped{state.Paused, state.Halted}
	}
	for id := bourse.MarketID(1); now.Market(id) != nil; id++ {
		h.markets[id] = now.Market(id).State
	}
	return h
}

// Proclaim adds a command's bulletins to a batch. It sees every command after the herald's
// start, also those whose rows the batch lacks: their batch is nil.
func (h *Herald) Proclaim(cmd *bourse.Command, ev *bourse.Events, b *Batch) {
	if len(ev.Facts)+len(ev.Wallet.Deposits)+len(ev.Wallet.Withdrawals)+len(ev.Wallet.Networks) == 0 {
		return
	}

	p := proclamation{Herald: h, cmd: cmd, batch: b}
	var moved bourse.TransferKind
	for at, e := range ev.List {
		switch e.Kind {
		case bourse.EventTransfer:
			moved = ev.Transfers[e.At].Kind
		case bourse.EventDeposit:
			p.deposit(&ev.Wallet.Deposits[e.At], moved)
			moved = 0
		case bourse.EventWithdrawal:
			if w := &ev.Wallet.Withdrawals[e.At]; !changesAgain(ev, at, w.ID) || p.ended(w, moved) {
				p.withdrawal(w, moved)
			}
			moved = 0
		case bourse.EventNetworkState:
			p.network(&ev.Wallet.Networks[e.At])
		case bourse.EventMarket:
			p.market(ev.Facts[e.At].Market)
		case bourse.EventAccountCreated, bourse.EventAccountFrozen, bourse.EventAccountTier:
			p.account(e.Kind, &ev.Facts[e.At])
		default:
			// Orders, trades, keys and definitions make no bulletins.
		}
	}
}

// changesAgain reports whether a later event of the same command changes a withdrawal. A withdrawal
// that the policy approves at once is announced before its approval, and does not wait.
func changesAgain(ev *bourse.Events, at int, id bourse.WalletID) bool {
	for _, e := range ev.List[at+1:] {
		if e.Kind == bourse.EventWithdrawal && ev.Wallet.Withdrawals[e.At].ID == id {
			return true
		}
	}
	return false
}

// proclamation is the work on one command.
type proclamation struct {
	*Herald
	cmd   *bourse.Command
	batch *Batch
	place uint32
}

// say adds a bulletin.
func (p *proclamation) say(kind BulletinKind, data any) {
	place := BulletinPlace{p.cmd.Seq, p.place}
	p.place++
	if p.batch == nil {
		return
	}
	text, err := json.Marshal(data)
	if err != nil {
		bourse.Impossible("bulletin %s of command %d: %v", kind, p.cmd.Seq, err)
	}
	p.batch.Bulletins = append(p.batch.Bulletins, Bulletin{place, p.cmd.Time, kind, string(text)})
}

type aboutAccount struct {
	Account bourse.AccountID `json:"account"`
	Tier    string           `json:"tier,omitempty"`
}

func (p *proclamation) account(event bourse.EventKind, f *bourse.Fact) {
	about := aboutAccount{Account: f.Account}
	switch {
	case event == bourse.EventAccountCreated:
		p.say(BulletinAccountCreated, about)
	case event == bourse.EventAccountTier:
		about.Tier = p.now.Tiers().List[f.Tier].Name
		p.say(BulletinAccountTier, about)
	case f.On:
		p.say(BulletinAccountFrozen, about)
	default:
		p.say(BulletinAccountUnfrozen, about)
	}
}

// The reasons of bulletins.
const (
	becauseUnknownOwner = "unknown_owner"
	becauseBelowMinimum = "below_minimum"
	becauseOverAlone    = "over_alone"
	becauseCanceled     = "canceled"
	becauseReverted     = "reverted"
	becauseRefunded     = "refunded"
)

type aboutDeposit struct {
	// Deposit is the number by which operators assign it.
	Deposit bourse.DepositID `json:"deposit"`
	ID      bourse.WalletID  `json:"xid,omitzero"`
	Account bourse.AccountID `json:"account,omitzero"`
	Asset   bourse.Symbol    `json:"asset"`
	Network bourse.Symbol    `json:"network,omitempty"`
	Amount  string           `json:"amount"`
	// From is the sender's account if the money came from inside the exchange.
	From   bourse.AccountID `json:"from,omitzero"`
	Reason string           `json:"reason,omitempty"`
}

// deposit tells of a deposit. moved is the kind of the transfer before the event, which alone
// tells the step that was made from later changes, as those of a reorganisation.
func (p *proclamation) deposit(d *bourse.Deposit, moved bourse.TransferKind) {
	asset := p.asset(d.Asset)
	about := aboutDeposit{
		Deposit: d.Number, ID: d.ID, Account: d.Account, Asset: asset.Symbol, Network: p.symbol(d.Network),
		Amount: d.Amount.Format(asset.Scale), From: d.By,
	}
	mined := moved == bourse.TransferDeposit || moved == bourse.TransferParked
	switch {
	case d.From != 0 || moved == bourse.TransferCredited:
		p.say(BulletinDepositCredited, about)
	case mined && d.Status == bourse.WalletPending && d.Account == 0:
		about.Reason = becauseUnknownOwner
		p.say(BulletinDepositParked, about)
	case mined && d.Status == bourse.WalletPending && d.BelowMin:
		about.Reason = becauseBelowMinimum
		p.say(BulletinDepositParked, about)
	case mined && d.Status == bourse.WalletPending && d.OverAlone:
		about.Reason = becauseOverAlone
		p.say(BulletinDepositParked, about)
	case d.OverLimit && d.Status == bourse.WalletPending && !mined && moved != bourse.TransferRewound:
		p.say(BulletinDepositWaiting, about)
	}
}

type aboutWithdrawal struct {
	ID      bourse.WalletID  `json:"xid"`
	Account bourse.AccountID `json:"account"`
	Asset   bourse.Symbol    `json:"asset"`
	Network bourse.Symbol    `json:"network,omitempty"`
	Amount  string           `json:"amount"`
	Fee     string           `json:"fee"`
	Address string           `json:"address,omitempty"`
	Memo    string           `json:"memo,omitempty"`
	// Internal is the recipient's account if the money stays inside the exchange.
	Internal bourse.AccountID `json:"internal,omitzero"`
	Reason   string           `json:"reason,omitempty"`
}

// ended reports whether an event is about a step that no later one of its command undoes.
func (p *proclamation) ended(w *bourse.Withdrawal, moved bourse.TransferKind) bool {
	return w.Reverted || w.Refunded || w.Status == bourse.WalletCanceled || paid(moved)
}

// paid reports whether a transfer pays a withdrawal.
func paid(moved bourse.TransferKind) bool {
	switch moved {
	case bourse.TransferWithdrawal, bourse.TransferWithdrawalFee, bourse.TransferInternal, bourse.TransferToCustomer:
		return true
	default:
		return false
	}
}

// withdrawal tells of a withdrawal. moved is as in deposit.
func (p *proclamation) withdrawal(w *bourse.Withdrawal, moved bourse.TransferKind) {
	asset := p.asset(w.Asset)
	about := aboutWithdrawal{
		ID: w.ID, Account: w.Account, Asset: asset.Symbol, Network: p.symbol(w.Network),
		Amount: w.Amount.Format(asset.Scale), Fee: w.Fee.Format(asset.Scale),
		Address: w.Address, Memo: strings.ToValidUTF8(w.Memo, "\uFFFD"), Internal: w.Internal,
	}
	fail := func(reason string) {
		about.Reason = reason
		p.say(BulletinWithdrawalFailed, about)
	}
	switch {
	case w.Refunded:
		fail(becauseRefunded)
	case w.Reverted:
		fail(becauseReverted)
	case w.Status == bourse.WalletCanceled:
		fail(becauseCanceled)
	case w.Status == bourse.WalletDone && paid(moved):
		p.say(BulletinWithdrawalDone, about)
	case w.Status == bourse.WalletPending && !w.Approved:
		p.say(BulletinWithdrawalWaiting, about)
	}
}

type aboutNetwork struct {
	Network bourse.Symbol `json:"network"`
	Reason  string        `json:"reason,omitempty"`
}

func (p *proclamation) network(n *bourse.NetworkState) {
	was, is := p.networks[n.Network], stopped{n.Paused, n.Halted}
	p.networks[n.Network] = is
	about := aboutNetwork{Network: p.symbol(n.Network)}
	if is.paused && !was.paused {
		p.say(BulletinNetworkPaused, about)
	}
	if is.halted != 0 && was.halted == 0 {
		about.Reason = is.halted.String()
		p.say(BulletinNetworkHalted, about)
	}
	if was != (stopped{}) && is == (stopped{}) {
		p.say(BulletinNetworkResumed, about)
	}
}

func (p *proclamation) market(m *bourse.Market) {
	if p.markets[m.ID] == m.State {
		return
	}
	p.markets[m.ID] = m.State
	p.say(BulletinMarketState, struct {
		Market bourse.Pair `json:"market"`
		State  string      `json:"state"`
	}{m.Pair, m.State.String()})
}

func (p *proclamation) asset(id bourse.AssetID) *bourse.Asset { return p.now.Assets()[id-1] }

// symbol returns a network's symbol; empty for none.
func (p *proclamation) symbol(id bourse.NetworkID) bourse.Symbol {
	if id == 0 {
		return ""
	}
	return p.now.Networks()[id-1].Symbol
}

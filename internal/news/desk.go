package news

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Options configure a desk.
type Options struct {
	// Wants returns the news that an account wants letters of. It must be quick: it is called on
	// the goroutine that applies.
	Wants func(bourse.AccountID) account.News
	// Wanted reports whether any account wants letters.
	Wanted func() bool
	// Latest returns the definitions of markets and assets, on the goroutine that applies.
	Latest func() *view.Catalogue
	// Send mails news to the holder of an account.
	Send func(ctx context.Context, id bourse.AccountID, text string) error
	// OnFailure reports a letter that was not sent.
	OnFailure func(error)
	// Gather is how long news wait for more of them, and Every the least time between two
	// letters of an account.
	Gather, Every bourse.Time
}

// mostLines bounds the lines of a letter about withdrawals, and the lines about other news, and so
// an account's memory: some 8 KiB. Strangers cause fills and deposits, which take no line from
// withdrawals.
const mostLines = 20

// Desk gathers news. Observe belongs to the goroutine that applies; the other methods are safe
// for concurrent use.
type Desk struct {
	Options
	live atomic.Bool

	mu sync.Mutex
	// pending are the news of accounts since their last letters.
	pending map[bourse.AccountID]*pending
	// sent are the times of letters that are younger than Every.
	sent map[bourse.AccountID]bourse.Time
}

// pending are the news of an account.
type pending struct {
	since bourse.Time
	fills map[traded]*sum
	// withdrawals and deposits are oldest first.
	withdrawals, deposits []line
	// moreWithdrawals and more are the numbers of withdrawals and of other news beyond mostLines.
	moreWithdrawals, more uint64
}

// traded is a side of a market.
type traded struct {
	market bourse.MarketID
	side   bourse.Side
}

// sum is the sum of an account's trades on a side.
type sum struct {
	pair        bourse.Pair
	base, quote money
	count       uint64
}

// money is an amount of an asset.
type money struct {
	asset  *bourse.Asset
	amount bourse.Amount
}

func (m *money) String() string { return m.amount.Format(m.asset.Scale) + " " + string(m.asset.Symbol) }

// line is a deposit or a withdrawal.
type line struct {
	id   bourse.WalletID
	what string
	money
}

// New returns a desk that ignores commands until Start.
func New(o Options) *Desk {
	return &Desk{Options: o, pending: map[bourse.AccountID]*pending{}, sent: map[bourse.AccountID]bourse.Time{}}
}

// Start begins to gather: the journal has been replayed.
func (d *Desk) Start() { d.live.Store(true) }

// Reset has nothing to forget: what happened has happened.
func (d *Desk) Reset(func(string) ([]byte, bool)) error { return nil }

// Begin begins a frame.
func (d *Desk) Begin() {}

// End ends a frame.
func (d *Desk) End() {}

// Observe gathers the news of a command.
func (d *Desk) Observe(cmd *bourse.Command, ev *bourse.Events) {
	quiet := len(ev.Trades) == 0 && len(ev.Wallet.Deposits) == 0 && len(ev.Wallet.Withdrawals) == 0
	if quiet || cmd.Kind == 0 || !d.live.Load() || !d.Wanted() {
		return
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range ev.Trades {
		t := &ev.Trades[i]
		d.filled(cmd.Time, t, t.Maker.Account, t.TakerSide.Opposite())
		d.filled(cmd.Time, t, t.Taker.Account, t.TakerSide)
	}
	for i := range ev.List {
		switch e := &ev.List[i]; e.Kind {
		case bourse.EventDeposit:
			d.deposit(cmd.Time, &ev.Wallet.Deposits[e.At])
		case bourse.EventWithdrawal:
			d.withdrawal(cmd.Time, &ev.Wallet.Withdrawals[e.At])
		default: // no news
		}
	}
}

// of returns the news of an account; nil if it wants no letters of these. The caller holds mu.
func (d *Desk) of(id bourse.AccountID, what account.News, now bourse.Time) *pending {
	if d.Wants(id)&what == 0 {
		return nil
	}
	p := d.pending[id]
	if p == nil {
		p = &pending{since: now, fills: map[traded]*sum{}}
		d.pending[id] = p
	}
	return p
}

func (d *Desk) filled(now bourse.Time, t *bourse.Trade, id bourse.AccountID, side bourse.Side) {
	p := d.of(id, account.NewsFills, now)
	if p == nil {
		return
	}
	key := traded{t.Market, side}
	s := p.fills[key]
	if s == nil && len(p.fills)+len(p.deposits) >= mostLines {
		p.more++
		return
	}
	c := d.Latest()
	m := c.Markets[t.Market]
	if s == nil {
		s = &sum{pair: m.Pair, base: money{asset: c.Assets[m.Base]}, quote: money{asset: c.Assets[m.Quote]}}
		p.fills[key] = s
	}

	base, _ := m.BaseAmount(t.Lots) // it fits: the trade has settled
	s.count++
	s.base.amount, s.quote.amount = s.base.amount.PlusOrMax(base), s.quote.amount.PlusOrMax(t.Total)
}

// deposit gathers a deposit that is credited by this command.
func (d *Desk) deposit(now bourse.Time, e *bourse.Deposit) {
	if e.Status != bourse.WalletDone || e.Done != now {
		return
	}
	what := "Deposited"
	if e.From != 0 && e.Network == 0 {
		what = "Received from a member"
	}
	if p := d.of(e.Account, account.NewsDeposits, now); p != nil {
		move(&p.deposits, line{e.ID, what, d.money(e.Asset, e.Amount)}, mostLines-len(p.fills), &p.more)
	}
}

// withdrawal gathers a withdrawal that is asked for, paid or canceled by this command.
func (d *Desk) withdrawal(now bourse.Time, w *bourse.Withdrawal) {
	var what string
	switch {
	case w.Status == bourse.WalletDone && w.Done == now && w.Transfer():
		what = "Sent to a member"
	case w.Status == bourse.WalletDone && w.Done == now && !w.Refunded:
		what = "Withdrawn"
	case w.Status == bourse.WalletCanceled && w.Done == now:
		what = "Canceled the withdrawal of"
	case w.Open() && w.Created == now:
		what = "Asked to withdraw"
	default:
		return
	}
	if p := d.of(w.Account, account.NewsWithdrawals, now); p != nil {
		move(&p.withdrawals, line{w.ID, what, d.money(w.Asset, w.Amount)}, mostLines, &p.moreWithdrawals)
	}
}

func (d *Desk) money(id bourse.AssetID, amount bourse.Amount) money {
	return money{d.Latest().Assets[id], amount}
}

// move adds a line, once: a command may tell of a movement twice. Beyond most lines it counts it.
func move(lines *[]line, l line, most int, more *uint64) {
	list := *lines
	switch last := len(list) - 1; {
	case last >= 0 && list[last].id == l.id && list[last].what == l.what:
	case len(list) >= most:
		*more++
	default:
		*lines = append(list, l)
	}
}

// Step sends the letters that are due.
func (d *Desk) Step(ctx context.Context, now bourse.Time) {
	for id, text := range d.due(now) {
		if err := d.Send(ctx, id, text); err != nil {
			d.OnFailure(fmt.Errorf("news of account %d: %w", id, err))
		}
	}
}

// due takes the news that are due, as text by account.
func (d *Desk) due(now bourse.Time) map[bourse.AccountID]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.sent, func(_ bourse.AccountID, at bourse.Time) bool { return now >= at+d.Every })

	ready := map[bourse.AccountID]string{}
	for id, p := range d.pending {
		if _, lately := d.sent[id]; lately || now < p.since+d.Gather {
			continue
		}
		ready[id] = p.text()
		delete(d.pending, id)
		d.sent[id] = now
	}
	return ready
}

// text writes news to their holder, one a line: withdrawals, then what strangers cause.
func (p *pending) text() string {
	var lines []string
	movements := func(list []line) {
		for i := range list {
			lines = append(lines, list[i].what+" "+list[i].String())
		}
	}
	movements(p.withdrawals)
	if p.moreWithdrawals > 0 {
		lines = append(lines, fmt.Sprintf("and %d more about withdrawals", p.moreWithdrawals))
	}

	movements(p.deposits)
	keys := slices.SortedFunc(maps.Keys(p.fills), func(a, b traded) int {
		return cmp.Or(cmp.Compare(a.market, b.market), cmp.Compare(a.side, b.side))
	})
	for _, key := range keys {
		lines = append(lines, p.fills[key].text(key.side))
	}
	if p.more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.more))
	}
	return strings.Join(lines, "\n")
}

func (s *sum) text(side bourse.Side) string {
	verb := "Bought"
	if side == bourse.Sell {
		verb = "Sold"
	}
	trades := "1 trade"
	if s.count > 1 {
		trades = fmt.Sprintf("%d trades", s.count)
	}
	return fmt.Sprintf("%s %s for %s, in %s on %s", verb, &s.base, &s.quote, trades, s.pair)
}

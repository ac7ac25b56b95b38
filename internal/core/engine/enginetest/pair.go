package enginetest

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// Pair runs the engine, the oracle, and a twin of the engine restored from a snapshot.
type Pair struct {
	Engine *engine.Engine
	Oracle *Oracle

	twin               *engine.Engine
	ev, twinEv, wanted bourse.Events

	// The state according to the events.
	levels   map[levelKey]bourse.Lots
	levelSeq map[bourse.MarketID]uint64
	balances map[holding]bourse.Balance
	streams  map[bourse.AccountID]bourse.AccountStreams
}

type levelKey struct {
	market bourse.MarketID
	side   bourse.Side
	price  bourse.Price
}

// NewPair returns a pair before genesis.
func NewPair() *Pair {
	return &Pair{
		Engine: engine.New(), Oracle: NewOracle(), twin: engine.New(),
		levels: map[levelKey]bourse.Lots{}, levelSeq: map[bourse.MarketID]uint64{},
		balances: map[holding]bourse.Balance{}, streams: map[bourse.AccountID]bourse.AccountStreams{},
	}
}

// Events returns the engine's events of the last command. They are valid until the next
// Apply.
func (p *Pair) Events() *bourse.Events { return &p.ev }

// Apply carries out a command everywhere and returns the first difference.
func (p *Pair) Apply(cmd *bourse.Command) error {
	p.ev.Reset()
	p.twinEv.Reset()
	p.wanted.Reset()
	p.Oracle.summed = p.Oracle.summed[:0]
	p.Engine.Apply(cmd, &p.ev)
	p.twin.Apply(cmd, &p.twinEv)
	var err error
	if followed(cmd) {
		err = p.Oracle.Follow(cmd.Time, &p.ev)
	} else {
		p.Oracle.Apply(cmd, &p.wanted)
		// Delayed withdrawals leave after all other effects.
		err = errors.Join(p.compare(), p.Oracle.Follow(cmd.Time, &p.ev))
	}
	if err == nil && !slices.Equal(p.ev.Moved, p.Oracle.summed) {
		err = fmt.Errorf("the sums are %+v, the oracle's %+v", p.ev.Moved, p.Oracle.summed)
	}
	if err = errors.Join(err, p.compareTwin()); err != nil {
		return fmt.Errorf("command %d: %w", cmd.Seq, err)
	}
	return p.fold()
}

// compare compares the events of the engine and the oracle.
func (p *Pair) compare() error {
	if p.ev.Outcome != p.wanted.Outcome {
		return fmt.Errorf("the outcome is %+v, the oracle's %+v", p.ev.Outcome, p.wanted.Outcome)
	}
	if p.ev.Former != p.wanted.Former {
		return fmt.Errorf("the former terms are %+v, the oracle's %+v", p.ev.Former, p.wanted.Former)
	}
	got, want := told(&p.ev), told(&p.wanted)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("event %d is missing: %s", i, show(&p.wanted, want[i]))
		case i >= len(want):
			return fmt.Errorf("event %d is too many: %s", i, show(&p.ev, got[i]))
		case !same(&p.ev, got[i], &p.wanted, want[i]):
			return fmt.Errorf("event %d is\n\t%s, the oracle's\n\t%s", i, show(&p.ev, got[i]), show(&p.wanted, want[i]))
		}
	}
	return nil
}

// compareTwin compares the events of the engine and the twin.
func (p *Pair) compareTwin() error {
	if p.Engine.Walked() != p.twin.Walked() {
		return errors.New("an engine restored from a snapshot walked another way")
	}
	if p.ev.Outcome != p.twinEv.Outcome || !slices.Equal(p.ev.List, p.twinEv.List) ||
		!slices.Equal(p.ev.Orders, p.twinEv.Orders) || !slices.Equal(p.ev.Trades, p.twinEv.Trades) ||
		!slices.Equal(p.ev.Levels, p.twinEv.Levels) || !slices.Equal(p.ev.Transfers, p.twinEv.Transfers) ||
		!slices.Equal(p.ev.Balances, p.twinEv.Balances) || !slices.Equal(p.ev.Moved, p.twinEv.Moved) ||
		!slices.Equal(p.ev.Wallet.Deposits, p.twinEv.Wallet.Deposits) ||
		!slices.Equal(p.ev.Wallet.Withdrawals, p.twinEv.Wallet.Withdrawals) ||
		!slices.Equal(p.ev.Wallet.Networks, p.twinEv.Wallet.Networks) {
		return errors.New("an engine restored from a snapshot went another way")
	}
	return nil
}

// told returns the events that the oracle announces as well.
func told(ev *bourse.Events) []bourse.Event {
	var list []bourse.Event
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventTransfer:
			if !ofCustody(&ev.Transfers[e.At]) {
				list = append(list, e)
			}
		case bourse.EventRefused, bourse.EventAccountLevel, bourse.EventTraded, bourse.EventOrderAccepted,
			bourse.EventOrderRejected, bourse.EventOrderRepeated, bourse.EventOrderTriggered,
			bourse.EventOrderAmended, bourse.EventOrderPrevented, bourse.EventOrderClosed, bourse.EventAct, bourse.EventActOutdated:
			list = append(list, e)
		default:
		}
	}
	return list
}

func same(a *bourse.Events, x bourse.Event, b *bourse.Events, y bourse.Event) bool {
	if x.Kind != y.Kind || x.Reason != y.Reason || x.StreamSeq != y.StreamSeq {
		return false
	}
	switch x.Kind {
	case bourse.EventTransfer:
		return a.Transfers[x.At] == b.Transfers[y.At]
	case bourse.EventTraded:
		return a.Trades[x.At] == b.Trades[y.At]
	case bourse.EventAccountLevel:
		return a.Facts[x.At] == b.Facts[y.At]
	case bourse.EventAct, bourse.EventActOutdated:
		got, want := a.Facts[x.At].Act, b.Facts[y.At].Act
		return got.ID == want.ID && got.By == want.By && got.Status == want.Status && got.Due == want.Due &&
			got.Outdated == want.Outdated
	case bourse.EventRefused, bourse.EventOrderRepeated:
		return true
	default:
		return a.Orders[x.At] == b.Orders[y.At]
	}
}

func show(ev *bourse.Events, e bourse.Event) string {
	switch e.Kind {
	case bourse.EventTransfer:
		return fmt.Sprintf("transfer %+v", ev.Transfers[e.At])
	case bourse.EventTraded:
		return fmt.Sprintf("trade %+v", ev.Trades[e.At])
	case bourse.EventAccountLevel:
		return fmt.Sprintf("level %+v", ev.Facts[e.At])
	case bourse.EventAct, bourse.EventActOutdated:
		return ev.Facts[e.At].Act.String()
	case bourse.EventRefused, bourse.EventOrderRepeated:
		return fmt.Sprintf("kind %d, %s", e.Kind, e.Reason)
	default:
		return fmt.Sprintf("kind %d, %s, order %+v", e.Kind, e.Reason, ev.Orders[e.At])
	}
}

// fold applies level and balance events as an observer does. Numbers of level changes
// have no gaps, and each change alters the level's total.
func (p *Pair) fold() error {
	for _, l := range p.ev.Levels {
		p.levelSeq[l.Market]++
		if l.Seq != p.levelSeq[l.Market] {
			return fmt.Errorf("level change %d of market %d comes as %d", p.levelSeq[l.Market], l.Market, l.Seq)
		}
		key := levelKey{l.Market, l.Side, l.Price}
		if p.levels[key] == l.Lots {
			return fmt.Errorf("level %+v did not change", l)
		}
		if l.Lots == 0 {
			delete(p.levels, key)
		} else {
			p.levels[key] = l.Lots
		}
	}

	return p.foldStreams()
}

// foldStreams applies balances. It wants positions without gaps in the streams of balances and
// transfers; same compares the positions of orders with the oracle's.
func (p *Pair) foldStreams() error {
	for _, b := range p.ev.Balances {
		at := p.streams[b.Account]
		if at.Balances++; b.StreamSeq != at.Balances {
			return fmt.Errorf("balance %d of account %d comes as %d", at.Balances, b.Account, b.StreamSeq)
		}
		p.streams[b.Account] = at
		b.StreamSeq = 0
		p.balances[holding{b.Account, b.Asset}] = b
	}

	for _, e := range p.ev.List {
		account := bourse.AccountID(0)
		switch e.Kind {
		case bourse.EventDeposit:
			account = p.ev.Wallet.Deposits[e.At].Account
		case bourse.EventWithdrawal:
			account = p.ev.Wallet.Withdrawals[e.At].Account
		default:
		}
		if account == 0 {
			continue
		}
		at := p.streams[account]
		if at.Transfers++; e.StreamSeq != at.Transfers {
			return fmt.Errorf("transfer %d of account %d comes as %d", at.Transfers, account, e.StreamSeq)
		}
		p.streams[account] = at
	}
	return nil
}

// Check compares the observable state of the exchanges, and recomputes the engine's
// invariants.
func (p *Pair) Check() error {
	if err := p.Engine.Check(); err != nil {
		return err
	}
	if p.Engine.Unfinished() != p.Oracle.Unfinished() {
		return fmt.Errorf("unfinished is %t", p.Engine.Unfinished())
	}
	if err := p.checkDepth(); err != nil {
		return err
	}
	return p.checkMoney()
}

func (p *Pair) checkDepth() error {
	known := 0
	for _, m := range p.Oracle.markets {
		for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
			got, want := p.Engine.Depth(m.ID, side), p.Oracle.Depth(m.ID, side)
			if len(got) != len(want) {
				return fmt.Errorf("market %d has %d levels on %s, the oracle %d", m.ID, len(got), side, len(want))
			}
			for i, l := range got {
				want[i].Seq = p.levelSeq[m.ID]
				if l != want[i] {
					return fmt.Errorf("a level is %+v, the oracle's %+v", l, want[i])
				}
				if p.levels[levelKey{m.ID, side, l.Price}] != l.Lots {
					return fmt.Errorf("level %+v is not what its events say", l)
				}
				known++
			}
		}
	}

	if known != len(p.levels) {
		return fmt.Errorf("the events tell of %d levels, the books have %d", len(p.levels), known)
	}
	return nil
}

func (p *Pair) checkMoney() error {
	for account := range p.Oracle.accounts {
		for asset := range p.Oracle.assets {
			key := holding{bourse.AccountID(account + 1), bourse.AssetID(asset + 1)}
			got, want := p.Engine.Balance(key.account, key.asset), p.Oracle.Balance(key.account, key.asset)
			told := p.balances[key]
			told.Account, told.Asset = key.account, key.asset
			if got != want || got != told {
				return fmt.Errorf("a balance is %+v, the oracle's %+v, the events' %+v", got, want, told)
			}
		}
	}

	var wrong error
	p.Engine.Holdings(func(bourse.Balance) {}, func(
		asset bourse.AssetID, account bourse.AccountID, owes, has bourse.Amount,
	) {
		net := new(big.Int).Set(p.Oracle.ownNet(account, asset))
		switch account {
		case bourse.AccountSandbox:
			net.Sub(net, p.Oracle.credited[asset])
		case bourse.AccountTreasury:
			net.Add(net, p.Oracle.treasury[asset])
		case bourse.AccountFees:
			net.Add(net, p.Oracle.fees[asset])
		default:
		}
		if net.Cmp(new(big.Int).Sub(fromAmount(has), fromAmount(owes))) != 0 {
			wrong = fmt.Errorf("own account %d owes %s and has %s of asset %d; it should have %s",
				account, owes.Format(0), has.Format(0), asset, net)
		}
	})
	return wrong
}

// Restore replaces the twin by one restored from a snapshot of the engine, and compares
// the snapshot's events with the earlier events.
func (p *Pair) Restore() error {
	if p.Engine.StateHash() != p.twin.StateHash() {
		return errors.New("the restored engine's state differs")
	}
	var snapshot []byte
	p.Engine.Snapshot(func(b []byte) { snapshot = append(snapshot, b...) })
	r := restored{levels: map[levelKey]bourse.Lots{}, balances: map[holding]bourse.Balance{}}
	twin, err := engine.Restore(snapshot, r.take)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if twin.StateHash() != p.Engine.StateHash() {
		return errors.New("the state hash changed by a restore")
	}
	p.twin = twin
	return p.checkRestored(&r)
}

// restored is the state according to a snapshot's events.
type restored struct {
	open     []bourse.Order
	levels   map[levelKey]bourse.Lots
	balances map[holding]bourse.Balance
}

func (r *restored) take(ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderRestored:
			r.open = append(r.open, ev.Orders[e.At])
		case bourse.EventLevelRestored:
			l := ev.Levels[e.At]
			r.levels[levelKey{l.Market, l.Side, l.Price}] = l.Lots
		default:
		}
	}
	for _, b := range ev.Balances {
		r.balances[holding{b.Account, b.Asset}] = b
	}
}

func (p *Pair) checkRestored(r *restored) error {
	if !slices.Equal(r.open, p.Oracle.OpenOrders()) {
		return errors.New("the open orders of a snapshot differ")
	}
	if !maps.Equal(r.levels, p.levels) {
		return errors.New("the levels of a snapshot differ")
	}
	for key, b := range p.balances {
		if none := b.Available.IsZero() && b.Held.IsZero(); none != (r.balances[key] != b) {
			return fmt.Errorf("a snapshot tells %+v, the events %+v", r.balances[key], b)
		}
	}
	return nil
}

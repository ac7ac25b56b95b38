package engine

import (
	"math/bits"

	"github.com/bourse-exchange/bourse"
)

// volumeDays is the number of days, before the current one, whose volume counts.
const volumeDays = 30

// volume is the worth of an account's trades by day, in ledger units of the schedule's volume
// asset. Sums beyond bourse.MaxAmount are bourse.MaxAmount. Only accounts that paid a fee have
// one.
type volume struct {
	// account is zero in a free slot.
	account bourse.AccountID
	// day is the day of today; the days before it are in days, each at its number modulo
	// volumeDays.
	day   uint32
	today bourse.Amount
	days  [volumeDays]bourse.Amount
}

// valuation is the rule by which a market's trades count as volume.
type valuation uint8

const (
	// unvalued trades count nothing: there is no schedule, or no price in its asset.
	unvalued valuation = iota
	// valuedByTotal trades are quoted in the volume asset.
	valuedByTotal
	// valuedByBase trades are of the volume asset itself.
	valuedByBase
	// valuedByPrice trades count their total at the last price of the market that trades
	// their quote asset for the volume asset.
	valuedByPrice
)

// valueMarkets updates how the markets' trades are valued.
func (e *Engine) valueMarkets() {
	if e.fees.schedule == nil {
		return
	}

	in := e.fees.schedule.VolumeAsset
	by := make([]*market, len(e.assets)) // the market of each asset for the volume asset
	for _, m := range e.markets[1:] {
		if m.Quote == in {
			by[m.Base] = m
		}
	}

	for _, m := range e.markets[1:] {
		m.valuer = by[m.Quote]
		switch {
		case m.Quote == in:
			m.valued = valuedByTotal
		case m.Base == in:
			m.valued = valuedByBase
		case m.valuer != nil:
			m.valued = valuedByPrice
		default:
			m.valued = unvalued
		}
	}
}

// volume returns the volume of a trade of the market.
func (m *market) volume(tr *bourse.Trade) bourse.Amount {
	switch m.valued {
	case valuedByTotal:
		return tr.Total
	case valuedByBase:
		base, _ := m.BaseAmount(tr.Lots) // fits since the trade settled
		return base
	case valuedByPrice:
		return m.valuer.value(tr.Total)
	case unvalued:
	}
	return bourse.Amount{}
}

// value returns the worth of an amount of the base asset in the quote asset, rounded
// down: at the last price, but at most at the initial price times the band, so that a single
// odd trade does not value all others.
func (m *market) value(base bourse.Amount) bourse.Amount {
	price := m.price()
	if hi, lo := bits.Mul64(uint64(m.InitialPrice), uint64(m.Band)); m.Band != 0 && hi < bourse.RateOne {
		most, _ := bits.Div64(hi, lo, bourse.RateOne)
		price = min(price, bourse.Price(most))
	}

	hi, lo := bits.Mul64(uint64(price), m.TotalUnit)
	worth, fits := base.MulDiv(bourse.Amount{Hi: hi, Lo: lo}, m.LotUnit)
	if !fits {
		return bourse.MaxAmount
	}
	return worth
}

// countVolume adds a trade to the volumes of its accounts that paid a fee for it, so that
// no volume is free. An account's trade with itself counts nothing.
func (e *Engine) countVolume(m *market, tr *bourse.Trade) {
	if tr.Maker.Account == tr.Taker.Account {
		return
	}
	worth := m.volume(tr)
	if worth.IsZero() {
		return
	}

	for _, f := range [...]*bourse.Fill{&tr.Maker, &tr.Taker} {
		if !f.Fee.IsZero() {
			e.addVolume(f.Account, worth)
		}
	}
}

func (e *Engine) addVolume(id bourse.AccountID, worth bourse.Amount) {
	v := e.volume(id)
	if v == nil {
		v = e.fees.open(id, e.accounts.At(uint32(id)))
	} else if v.day != e.fees.today {
		v.turn(e.fees.today)
	}
	v.today = v.today.PlusOrMax(worth)
}

// volume returns an account's volume, or nil.
func (e *Engine) volume(id bourse.AccountID) *volume {
	v := e.fees.volumes.Find(e.accounts.At(uint32(id)).volume)
	if v == nil || v.account != id {
		return nil
	}
	return v
}

// open returns a new volume of today for an account without one. It never moves.
func (f *fees) open(id bourse.AccountID, acct *account) *volume {
	if last := len(f.free) - 1; last >= 0 {
		acct.volume, f.free = f.free[last], f.free[:last]
	} else {
		f.used++
		acct.volume = f.used
	}
	v := f.volumes.At(acct.volume)
	v.account, v.day = id, f.today
	return v
}

// close frees an account's volume, which must be empty.
func (f *fees) close(acct *account) {
	f.volumes.At(acct.volume).account = 0
	f.free = append(f.free, acct.volume)
}

// turn moves a volume to a later day, or leaves it at its own.
func (v *volume) turn(day uint32) {
	if day-v.day > volumeDays {
		v.day, v.today, v.days = day, bourse.Amount{}, [volumeDays]bourse.Amount{}
	}
	for ; v.day < day; v.day++ {
		v.days[v.day%volumeDays], v.today = v.today, bourse.Amount{}
	}
}

// total returns the volume of the days before today.
func (v *volume) total() bourse.Amount {
	var sum bourse.Amount
	for i := range v.days {
		sum = sum.PlusOrMax(v.days[i])
	}
	return sum
}

func (v *volume) isEmpty() bool { return v.today.IsZero() && v.total().IsZero() }

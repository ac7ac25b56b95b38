package enginetest

import (
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// volumeDays is the number of days whose volume counts.
const volumeDays = 30

// dayVolume is an account's volume of a day.
type dayVolume struct {
	day    int64
	volume *big.Int
}

// turnDay notices the first command of a day, which begins a pass over the accounts.
func (x *Oracle) turnDay() {
	if day := int64(x.now / bourse.Day); day != x.day {
		x.day = day
		x.beginPass()
	}
}

func (x *Oracle) beginPass() {
	if x.schedule != nil && len(x.accounts) > 0 {
		x.pass = 1
	}
}

func (x *Oracle) defineFees(s *bourse.FeeSchedule) {
	if int(s.VolumeAsset) > len(x.assets) {
		x.ev.Refuse(bourse.UnknownAsset)
		return
	}
	if x.schedule != nil && x.schedule.VolumeAsset != s.VolumeAsset {
		for _, a := range x.accounts {
			a.volumes = nil
		}
	}
	x.schedule = s
	x.beginPass()
}

func (x *Oracle) setAccountLevel(cmd *bourse.Command) {
	a := x.accountOrRefuse(cmd.Account)
	if a == nil {
		return
	}
	if cmd.On && (x.schedule == nil || int(cmd.Level) >= len(x.schedule.Levels)) {
		x.ev.Refuse(bourse.UnknownLevel)
		return
	}
	if a.fixed, a.level = cmd.On, cmd.Level; !a.fixed {
		a.level = x.earned(a)
	}
	x.tellLevel(cmd.Account, a)
}

func (x *Oracle) tellLevel(id bourse.AccountID, a *account) {
	x.ev.AddFact(bourse.EventAccountLevel, bourse.Fact{Account: id, On: a.fixed, FeeLevel: a.level})
}

// setLevels continues the pass over the accounts.
func (x *Oracle) setLevels() {
	for x.pass != 0 && x.steps > 0 {
		if int(x.pass) > len(x.accounts) {
			x.pass = 0
			return
		}

		a := x.accounts[x.pass-1]
		traded := len(a.volumes) > 0
		level := x.earned(a)
		if a.fixed {
			level = min(a.level, uint8(len(x.schedule.Levels)-1))
		}
		if traded || level != a.level {
			x.steps--
		} else {
			x.visit()
		}
		if level != a.level {
			a.level = level
			x.tellLevel(x.pass, a)
		}
		x.pass++
	}
}

// earned returns the level of an account's volume of the last volumeDays days, after
// forgetting the volume of earlier ones.
func (x *Oracle) earned(a *account) uint8 {
	for len(a.volumes) > 0 && a.volumes[0].day < x.day-volumeDays {
		a.volumes = a.volumes[1:]
	}
	sum := new(big.Int)
	for _, v := range a.volumes {
		if v.day < x.day {
			sum.Add(sum, v.volume)
		}
	}

	sum = bounded(sum)
	level := uint8(0)
	for i := range x.levels() {
		if sum.Cmp(fromAmount(x.schedule.Levels[i].Volume)) >= 0 {
			level = uint8(i)
		}
	}
	return level
}

func (x *Oracle) levels() []bourse.FeeLevel {
	if x.schedule == nil {
		return nil
	}
	return x.schedule.Levels
}

// rates returns an account's rates in a market.
func (x *Oracle) rates(m *market, a *account) (maker, taker bourse.Rate) {
	if a.ownFees {
		return a.maker, a.taker
	}
	maker, taker = m.Maker, m.Taker
	if x.schedule != nil {
		last := len(x.schedule.Levels) - 1
		l := x.schedule.Levels[min(int(a.level), last)]
		maker, taker = min(maker, l.Maker), min(taker, l.Taker)
	}
	return maker, taker
}

// countVolume adds a trade to the volume of each of its two accounts that paid a fee.
func (x *Oracle) countVolume(m *market, value, base *big.Int, sides ...payer) {
	volume := bounded(x.volume(m, value, base))
	if volume.Sign() == 0 || sides[0].account == sides[1].account {
		return
	}
	for _, side := range sides {
		a := side.account
		last := len(a.volumes) - 1
		switch {
		case side.fee.Sign() == 0:
		case last < 0 || a.volumes[last].day != x.day:
			a.volumes = append(a.volumes, dayVolume{x.day, volume})
		default:
			a.volumes[last].volume = bounded(new(big.Int).Add(a.volumes[last].volume, volume))
		}
	}
}

// payer is a side of a trade.
type payer struct {
	account *account
	fee     *big.Int
}

// volume returns the worth of a trade in the schedule's asset: zero if no price tells it.
func (x *Oracle) volume(m *market, value, base *big.Int) *big.Int {
	switch {
	case x.schedule == nil:
		return new(big.Int)
	case m.Quote == x.schedule.VolumeAsset:
		return value
	case m.Base == x.schedule.VolumeAsset:
		return base
	}

	for _, by := range x.markets {
		if by.Base != m.Quote || by.Quote != x.schedule.VolumeAsset {
			continue
		}
		price := whole(uint64(by.price()))
		most := times(uint64(by.InitialPrice), uint64(by.Band))
		if most.Quo(most, whole(bourse.RateOne)); by.Band != 0 && price.Cmp(most) > 0 {
			price = most
		}
		worth := price.Mul(price, value)
		worth.Mul(worth, whole(by.TotalUnit))
		return worth.Quo(worth, whole(by.LotUnit))
	}
	return new(big.Int)
}

// bounded returns n, or the largest amount if n is larger.
func bounded(n *big.Int) *big.Int {
	if n.Cmp(most) > 0 {
		return most
	}
	return n
}

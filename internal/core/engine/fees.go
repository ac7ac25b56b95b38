package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/table"
)

// fees is the state of fee levels.
type fees struct {
	// midnight is the end of today, the day of the last command, which is counted from the
	// Unix epoch in UTC.
	midnight bourse.Time
	today    uint32
	// pass is the next account of the pass that sets levels; zero if none is under way.
	pass bourse.AccountID

	// schedule is nil until one is defined.
	schedule *bourse.FeeSchedule
	// bounds are the bounds of rates by level. Levels above the schedule's last one have
	// its bounds. Without a schedule nothing is bounded.
	bounds [bourse.MaxFeeLevels]rates

	// volumes holds the accounts' volumes by slot, from one. A slot above used was never
	// taken; free lists the slots that were given back.
	volumes table.Table[volume]
	used    uint32
	free    []uint32
}

func newFees() fees {
	var f fees
	f.bound()
	return f
}

// bound derives bounds from the schedule.
func (f *fees) bound() {
	for level := range f.bounds {
		b := &f.bounds[level]
		b.maker, b.taker = f.schedule.Bound(uint8(level), bourse.RateOne, bourse.RateOne)
	}
}

// defineFees sets the schedule and begins a pass: levels follow the new schedule at once.
// Another volume asset discards all volumes.
func (e *Engine) defineFees(def *bourse.FeeSchedule, ev *bourse.Events) {
	if int(def.VolumeAsset) >= len(e.assets) {
		ev.Refuse(bourse.UnknownAsset)
		return
	}

	f := &e.fees
	if f.schedule != nil && f.schedule.VolumeAsset != def.VolumeAsset {
		f.volumes, f.used, f.free = table.Table[volume]{}, 0, nil
	}
	e.setSchedule(&bourse.FeeSchedule{VolumeAsset: def.VolumeAsset, Levels: slices.Clone(def.Levels)}, ev)
	e.beginPass()
}

func (e *Engine) setSchedule(s *bourse.FeeSchedule, ev *bourse.Events) {
	e.fees.schedule = s
	e.fees.bound()
	e.valueMarkets()
	ev.AddFact(bourse.EventFeeSchedule, bourse.Fact{Fees: s})
}

// turnDay begins the day of the current command, the first one after a midnight in UTC.
func (e *Engine) turnDay() {
	e.fees.setDay(e.now)
	e.beginPass()
}

func (f *fees) setDay(now bourse.Time) {
	f.today = uint32(now / bourse.Day)
	f.midnight = now.Floor(bourse.Day) + bourse.Day
}

// beginPass lets Continues set the levels of all accounts. It restarts a pass that is
// under way.
func (e *Engine) beginPass() {
	if e.fees.schedule != nil && e.lastAccount > 0 {
		e.fees.pass = 1
	}
}

// setLevels continues the pass over the accounts, by ascending id, within the step
// budget: an account with a volume or a new level costs a step, any other one a visit.
func (e *Engine) setLevels(ev *bourse.Events) {
	f := &e.fees
	for f.pass != 0 && e.steps > 0 {
		if f.pass > e.lastAccount {
			f.pass = 0
			return
		}
		traded := e.volume(f.pass) != nil
		if e.setLevel(f.pass, ev) || traded {
			e.steps--
		} else {
			e.visit()
		}
		f.pass++
	}
}

// setLevel sets an account's level and reports whether it is a new one. A fixed level
// above the schedule's last one becomes the last one.
func (e *Engine) setLevel(id bourse.AccountID, ev *bourse.Events) bool {
	acct := e.accounts.At(uint32(id))
	level := e.earned(id)
	if acct.fixed {
		level = min(acct.level, uint8(len(e.fees.schedule.Levels)-1))
	}
	if level == acct.level {
		return false
	}
	acct.level = level
	acct.announceLevel(id, ev)
	return true
}

// earned returns the level that an account's volume reaches today. It discards days that
// no longer count.
func (e *Engine) earned(id bourse.AccountID) uint8 {
	v := e.volume(id)
	if v == nil {
		return 0
	}
	v.turn(e.fees.today)
	if v.isEmpty() {
		e.fees.close(e.accounts.At(uint32(id)))
		return 0
	}
	return e.fees.schedule.Level(v.total())
}

// setAccountLevel fixes an account's level, or returns it to the schedule, by the volume
// of the days before the current one.
func (e *Engine) setAccountLevel(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case cmd.On && (e.fees.schedule == nil || int(cmd.Level) >= len(e.fees.schedule.Levels)):
		ev.Refuse(bourse.UnknownLevel)
		return
	}

	acct.fixed, acct.level = cmd.On, cmd.Level
	if !cmd.On {
		acct.level = e.earned(cmd.Account)
	}
	acct.announceLevel(cmd.Account, ev)
}

func (a *account) announceLevel(id bourse.AccountID, ev *bourse.Events) {
	ev.AddFact(bourse.EventAccountLevel, bourse.Fact{Account: id, On: a.fixed, FeeLevel: a.level})
}

// checkFees recomputes the levels of the accounts that the pass has visited, and compares
// the volumes with the accounts.
func (e *Engine) checkFees() error {
	f := &e.fees
	if f.today != uint32(e.now/bourse.Day) && e.genesis != nil {
		return fmt.Errorf("day %d of time %d", f.today, e.now)
	}
	if f.pass > e.lastAccount+1 || f.pass != 0 && f.schedule == nil {
		return fmt.Errorf("a pass sets the level of account %d", f.pass)
	}

	volumes := 0
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		if e.volume(id) != nil {
			volumes++
		}
		if err := e.checkLevel(id); err != nil {
			return fmt.Errorf("account %d: %w", id, err)
		}
	}
	if volumes+len(f.free) != int(f.used) {
		return fmt.Errorf("%d accounts have volume, %d slots of %d are free", volumes, len(f.free), f.used)
	}
	return nil
}

func (e *Engine) checkLevel(id bourse.AccountID) error {
	acct, v, f := e.accounts.At(uint32(id)), e.volume(id), &e.fees
	visited := f.pass == 0 || id < f.pass
	switch {
	case f.schedule == nil && (v != nil || acct.level != 0 || acct.fixed):
		return errors.New("a fee level without a schedule")
	case v != nil && (v.isEmpty() || v.day > f.today || visited && v.day != f.today):
		return fmt.Errorf("a volume of day %d is empty or out of date", v.day)
	case f.schedule == nil || !visited:
		return nil
	case acct.fixed && int(acct.level) < len(f.schedule.Levels):
		return nil
	}

	want := uint8(0)
	if v != nil {
		want = f.schedule.Level(v.total())
	}
	if acct.fixed || acct.level != want {
		return fmt.Errorf("fee level %d, fixed %t, by volume %d", acct.level, acct.fixed, want)
	}
	return nil
}

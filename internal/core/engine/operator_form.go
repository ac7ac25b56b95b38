package engine

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/record"
)

// The canonical form of the state about operators, and its invariants.

func (o *operator) code(c *codec.Codec) {
	c.Fixed(o.Token[:])
	c.Operator(&o.Operator)
}

func (a *approved) code(c *codec.Codec) {
	codec.Uint16(c, &a.asset)
	codec.Uint32(c, &a.day)
	c.Amount(&a.sum)
}

func codeLimit(c *codec.Codec, l *bourse.ApprovalLimit) {
	codec.Uint16(c, &l.Asset)
	c.Amount(&l.Amount)
}

// codeAct codes a waiting act.
func codeAct(c *codec.Codec, a *bourse.Act) {
	codec.Uint64(c, &a.ID)
	codec.Uint16(c, &a.By[0])
	c.Fixed(a.Digest[:])
	c.Ordered(&a.Token, &a.Reason, &a.Record)
	codec.Uint64(c, &a.Due)
	codec.Uint64(c, &a.Outdated)
}

func (e *Engine) writeOperators(c *codec.Codec) {
	s := &e.operators
	c.Count(len(s.list))
	for i := range s.list {
		o := &s.list[i]
		o.code(c)
		c.Count(len(o.alone))
		for j := range o.alone {
			o.alone[j].code(c)
		}
	}

	c.Count(len(s.limits))
	for i := range s.limits {
		codeLimit(c, &s.limits[i])
	}

	c.Count(len(s.acts))
	for _, a := range s.acts {
		codeAct(c, a)
	}
}

func (x *restorer) readOperators() {
	s := &x.operators
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		o := operator{}
		o.ID = bourse.OperatorID(len(s.list) + 1)
		o.code(x.c)
		x.c.Want(x.genesis != nil && len(s.list) < bourse.MaxOperators && o.Valid())
		for m := x.c.Count(0); m > 0 && x.c.OK(); m-- {
			var one approved
			one.code(x.c)
			o.alone = append(o.alone, one)
		}
		s.list = append(s.list, o)
		announceOperator(&x.ev, &o)
	}
	x.countOwners()

	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		var l bourse.ApprovalLimit
		codeLimit(x.c, &l)
		s.limits = append(s.limits, l)
		announceLimit(&x.ev, l)
	}
}

// readActs restores the waiting acts. One that is not well formed is malformed: later code
// decodes its command.
func (x *restorer) readActs() {
	for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
		a := &bourse.Act{Status: bourse.ActWaits}
		codeAct(x.c, a)
		ordered := new(bourse.Command)
		if !x.c.Want(x.genesis != nil && a.Reason != "" && record.Ordered(a.Record, ordered)) {
			return
		}
		x.operators.acts = append(x.operators.acts, a)
		announceAct(&x.ev, bourse.EventActRestored, a, ordered)
		x.flushIfFull()
	}
}

// checkOperators recomputes the invariants of operators: owners are counted, sums and limits
// are of known assets in order, and each waiting act is one that was ordered.
func (e *Engine) checkOperators() error {
	owners := 0
	for i := range e.operators.list {
		o := &e.operators.list[i]
		if o.isOwner() {
			owners++
		}
		last := bourse.AssetID(0)
		for _, a := range o.alone {
			if a.asset <= last || int(a.asset) >= len(e.assets) || a.day > e.fees.today {
				return fmt.Errorf("operator %d approved asset %d after %d", o.ID, a.asset, last)
			}
			last = a.asset
		}
	}
	if owners != e.operators.owners {
		return fmt.Errorf("%d owners are counted and %d enabled", e.operators.owners, owners)
	}

	last := bourse.AssetID(0)
	for _, l := range e.operators.limits {
		if l.Asset <= last || int(l.Asset) >= len(e.assets) {
			return fmt.Errorf("a limit of asset %d follows one of %d", l.Asset, last)
		}
		last = l.Asset
	}
	return e.checkActs()
}

func (e *Engine) checkActs() error {
	last := &bourse.Act{}
	for _, a := range e.operators.acts {
		switch {
		case a.ID <= last.ID || a.ID > e.seq, a.Due < last.Due || a.Due > e.now+bourse.ActWait:
			return fmt.Errorf("act %d waits after act %d", a.ID, last.ID)
		case int(a.By[0]) > len(e.operators.list) || a.By[1] != 0 || a.Status != bourse.ActWaits:
			return fmt.Errorf("act %d of %v waits and is %s", a.ID, a.By, a.Status)
		case a.Outdated != 0 && (a.Outdated <= a.ID || a.Outdated > e.seq):
			return fmt.Errorf("act %d is outdated by command %d", a.ID, a.Outdated)
		case a.Digest != record.ActDigest(e.genesis, a.By[0], a):
			return fmt.Errorf("act %d is not what was ordered", a.ID)
		case e.openActs(a.By[0]) > bourse.MaxOpenActs:
			return errors.New("too many acts wait")
		}
		last = a
	}
	return nil
}

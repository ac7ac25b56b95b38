package enginetest

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
)

// replace cancels an order and places another one.
func (x *Oracle) replace(cmd *bourse.Command) {
	if x.accountOrRefuse(cmd.Account) == nil || x.marketOrRefuse(cmd.NewOrder.Market) == nil || x.repeated(cmd) {
		if !x.ev.Outcome.Repeated {
			x.ev.Outcome.Cancel = x.ev.Outcome.Reason
		}
		return
	}

	reason := x.cancelable(cmd)
	switch {
	case reason == 0:
		x.cancel(cmd)
	case !cmd.On:
		x.ev.Refuse(reason)
		x.ev.Outcome.Cancel = reason
		return
	}

	x.ev.Outcome = bourse.Outcome{}
	x.place(cmd)
	x.ev.Outcome.Cancel = reason
	decided := x.ev.Outcome
	x.nameDecided(cmd, decided)
}

// cancelable returns the reason for which an order cannot be canceled, or zero.
func (x *Oracle) cancelable(cmd *bourse.Command) bourse.Reason {
	for _, m := range x.markets {
		for _, o := range m.open {
			if o.ID != cmd.Order || o.Account != cmd.Account {
				continue
			}
			if m.State == bourse.MarketHalted {
				return bourse.MarketHaltedNow
			}
			return 0
		}
	}
	return bourse.OrderNotFound
}

// replace runs replace ACCOUNT ORDER [anyway] and the words of place behind its account.
func (s *Script) replace(words []string) error {
	if len(words) < 2 {
		return want(words, 2)
	}
	number, err := strconv.ParseUint(words[1], 10, 64)
	if err != nil {
		return err
	}

	words = append([]string{words[0]}, words[2:]...)
	anyway := len(words) > 1 && words[1] == "anyway"
	if anyway {
		words = append(words[:1], words[2:]...)
	}
	cmd, err := s.placing(words)
	if err != nil {
		return err
	}
	cmd.Kind, cmd.Order, cmd.On = bourse.CommandReplace, bourse.OrderID(number), anyway
	return s.apply(cmd)
}

// replace draws the replacement of an open order, or of one that is not there.
func (w *Workload) replace() bourse.Command {
	cmd, cancel := w.placing(), w.changeOne()
	if cmd.List != nil {
		return cmd
	}
	cmd.Kind, cmd.Order, cmd.On = bourse.CommandReplace, cancel.Order, w.chance(50)
	if w.chance(80) {
		cmd.Account = cancel.Account
	}
	if w.chance(5) {
		cmd.Order = 0
	}
	if !cmd.NewOrder.ClientID.IsZero() && w.chance(80) {
		w.remember(cmd)
	}
	return cmd
}

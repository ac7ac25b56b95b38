package sandbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
)

const (
	// tradeEvery is the time between two plans for each market: they replace two orders,
	// which are four changes of the book, so 27 a second; and less than one frame of the
	// journal for each.
	tradeEvery = 150 * time.Millisecond
	// payEvery is the number of turns of the traders between two payments: a quarter of a
	// minute.
	payEvery = 100
	// botMarkets is the number of markets with traders: the first ones listed.
	botMarkets = 5
	// botSeed makes every sandbox's past the same but for the time.
	botSeed = 2026
)

// The traders' names.
const (
	botMaker = "maker@bots.example"
	botTaker = "taker@bots.example"
)

// openTraders opens and funds the traders' accounts, if there are none.
func (w *World) openTraders(ctx context.Context) error {
	for _, email := range [...]string{botMaker, botTaker} {
		_, found, err := w.exchange.Accounts.ByEmail(ctx, email)
		if err != nil {
			return err
		}
		if found {
			continue
		}
		id, err := w.exchange.Accounts.Create(ctx, email)
		if err != nil {
			return err
		}
		if err := w.carry(ctx, Funds(id, w.exchange.View.Catalogue().Assets[1:])); err != nil {
			return err
		}
	}
	return nil
}

// findTraders returns the simulated traders, with their open orders.
func (w *World) findTraders(ctx context.Context) (*Bots, error) {
	maker, _, err := w.exchange.Accounts.ByEmail(ctx, botMaker)
	if err != nil {
		return nil, err
	}
	taker, _, err := w.exchange.Accounts.ByEmail(ctx, botTaker)
	if err != nil {
		return nil, err
	}

	open := w.exchange.View.OpenOrders(maker.ID, 0, 0, 0, 1<<20)
	markets := w.exchange.View.Catalogue().Markets[1 : 1+botMarkets]
	return NewBots(botSeed, maker.ID, taker.ID, markets, open), nil
}

// Traders finds the traders, and returns the function that trades for them until its
// context ends; nil without Bots.
func (w *World) Traders(ctx context.Context) (trade func(context.Context), err error) {
	if !w.Bots {
		return nil, nil
	}
	bots, err := w.findTraders(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { w.trade(ctx, bots) }, nil
}

func (w *World) trade(ctx context.Context, bots *Bots) {
	tick := time.NewTicker(tradeEvery)
	defer tick.Stop()
	for turn := 1; ; turn++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}

		if turn%payEvery == 0 {
			if err := w.pay(ctx, bots.Taker(), turn/payEvery); err != nil {
				w.exchange.Log.Debug("a simulated trader's money stays where it is", slog.Any("error", err))
			}
		}
		bots.Learn(w.carryOut(ctx, bots.Plan(botMarkets, Live)))
	}
}

// carryOut returns the outcomes of a plan. A command that was not taken counts as void.
func (w *World) carryOut(ctx context.Context, plan []bourse.Command) []bourse.Outcome {
	outcomes := make([]bourse.Outcome, len(plan))
	for i, r := range w.exchange.Sequencer.DoAll(ctx, plan) {
		if r.Err != nil {
			w.exchange.Log.Debug("a simulated trader was refused", slog.Any("error", r.Err))
			r.Outcome.Reason = bourse.Voided
		}
		outcomes[i] = r.Outcome
	}
	return outcomes
}

package audit

import (
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Line is one change of an account's balance of an asset.
type Line struct {
	Seq  bourse.Seq `json:"seq"`
	Time string     `json:"time"`
	// Command describes the command that caused the change.
	Command   string `json:"command"`
	Available string `json:"avbl"`
	Held      string `json:"locked"`
}

// Explain calls tell for every change of an account's balance of an asset.
func (x *Exchange) Explain(account bourse.AccountID, symbol bourse.Symbol, tell func(Line) error) error {
	var asset *bourse.Asset
	_, err := x.Replay(Everything, func(e *engine.Engine, cmd *bourse.Command, ev *bourse.Events) error {
		if asset == nil {
			if asset = find(e.Assets(), symbol); asset == nil {
				return nil
			}
		}
		for i := range ev.Balances {
			b := &ev.Balances[i]
			if b.Account != account || b.Asset != asset.ID {
				continue
			}
			line := Line{
				Seq: cmd.Seq, Time: cmd.Time.Std().Format(time.RFC3339Nano), Command: record.Describe(cmd),
				Available: b.Available.Format(asset.Scale), Held: b.Held.Format(asset.Scale),
			}
			if err := tell(line); err != nil {
				return err
			}
		}
		return nil
	})

	if err == nil && asset == nil {
		err = fmt.Errorf("the journal knows no asset %q", symbol)
	}
	return err
}

func find(assets []*bourse.Asset, symbol bourse.Symbol) *bourse.Asset {
	for _, a := range assets {
		if a.Symbol == symbol {
			return a
		}
	}
	return nil
}

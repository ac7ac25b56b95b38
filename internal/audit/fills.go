package audit

import (
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// Fill is one side of a trade, as a replay makes it.
type Fill struct {
	// Seq is the sequence of the command that traded.
	Seq     bourse.Seq       `json:"seq"`
	Time    string           `json:"time"`
	Account bourse.AccountID `json:"account"`
	Pair    bourse.Pair      `json:"pair"`
	TradeID uint64           `json:"trade_id"`
	Order   bourse.OrderID   `json:"obid"`
	Side    string           `json:"side"`
	Role    string           `json:"role"`
	Price   string           `json:"price"`
	Amount  string           `json:"amount"`
	Total   string           `json:"total"`
	Fee     string           `json:"fee"`
}

// Fills calls tell for every fill of an account, or of all if it is zero, oldest first.
func (x *Exchange) Fills(account bourse.AccountID, tell func(*Fill) error) error {
	_, err := x.Replay(Everything, func(e *engine.Engine, cmd *bourse.Command, ev *bourse.Events) error {
		for i := range ev.Trades {
			for _, role := range [...]bourse.Role{bourse.Maker, bourse.Taker} {
				f := fillOf(e, &ev.Trades[i], role)
				if account != 0 && f.Account != account {
					continue
				}
				f.Seq, f.Time = cmd.Seq, cmd.Time.Std().Format(time.RFC3339Nano)
				if err := tell(&f); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
}

// fillOf returns a side of a trade, without the command.
func fillOf(e *engine.Engine, t *bourse.Trade, role bourse.Role) Fill {
	f, side := &t.Taker, t.TakerSide
	if role == bourse.Maker {
		f, side = &t.Maker, side.Opposite()
	}

	m, assets := e.Market(t.Market), e.Assets()
	scale := func(id bourse.AssetID) uint8 { return assets[id-1].Scale }
	return Fill{
		Account: f.Account, Pair: m.Pair, TradeID: t.Number, Order: f.Order, Side: side.String(), Role: role.String(),
		Price: t.Price.Format(m.QuotePrecision), Amount: t.Lots.Format(m.BasePrecision),
		Total: t.Total.Format(scale(m.Quote)), Fee: f.Fee.Format(scale(m.Received(side))),
	}
}

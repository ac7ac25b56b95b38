package audit

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

// Report is the result of an audit of money and books.
type Report struct {
	// Seq is the last audited command.
	Seq       bourse.Seq    `json:"seq"`
	StateHash string        `json:"state_hash"`
	Accounts  int           `json:"accounts"`
	Orders    int           `json:"open_orders"`
	Trades    uint64        `json:"trades"`
	Assets    []AssetReport `json:"assets"`
	// Networks lists the networks with blocks or stopped withdrawals.
	Networks []NetworkReport `json:"networks"`
	// Voids lists the void commands.
	Voids []Void `json:"voids"`
	// Violations is empty if all invariants hold.
	Violations []string `json:"violations"`
}

// AssetReport is one asset's money, in whole assets.
type AssetReport struct {
	Asset    bourse.Symbol `json:"asset"`
	Postings uint64        `json:"postings"`
	// Customers is the sum of the customers' balances. Held is the part held for open
	// orders and withdrawals.
	Customers string `json:"customers"`
	Held      string `json:"held"`
	// FeesTaken is the sum of all trading fees ever taken, Fees the part not collected
	// yet.
	FeesTaken string `json:"fees_taken"`
	Fees      string `json:"fees"`
	Treasury  string `json:"treasury"`
	// WithdrawalFees is the sum of withdrawal fees not collected yet. NetworkCosts is the
	// sum of network fees of the exchange's transactions.
	WithdrawalFees string `json:"withdrawal_fees"`
	NetworkCosts   string `json:"network_costs"`
	// Outside is the sum of the outside's debts.
	Outside string `json:"outside"`
}

// checkEvery is the number of commands between two checks of all invariants.
const checkEvery = 20_000

// maxViolations bounds a report.
const maxViolations = 100

// Audit recomputes money and books of the whole journal, and compares states with the
// anchored ones if known is not nil.
func (x *Exchange) Audit(known *anchor.Record) (*Report, error) {
	heads, err := x.compare(known)
	if err != nil {
		return nil, err
	}

	books, trades := NewBooks(), uint64(0)
	violations := []string{}
	accounts := 0
	check := func(e *engine.Engine) {
		if err := e.Check(); err != nil {
			violations = append(violations, fmt.Sprintf("at command %d: %v", e.Seq(), err))
		}
		for _, v := range books.Check(e) {
			violations = append(violations, fmt.Sprintf("at command %d: %s", e.Seq(), v))
		}
	}

	end, err := x.replay(&Replayed{Engine: engine.New(), frame: heads.frame}, Everything,
		func(e *engine.Engine, cmd *bourse.Command, ev *bourse.Events) error {
			books.Enter(ev)
			heads.state(e)
			trades += uint64(len(ev.Trades))
			for _, event := range ev.List {
				if event.Kind == bourse.EventAccountCreated {
					accounts++
				}
			}
			if cmd.Seq%checkEvery == 0 && len(violations) < maxViolations {
				check(e)
			}
			return nil
		})
	if err != nil {
		return nil, err
	}

	check(end.Engine)
	heads.end(1, end.Tip)
	violations = append(violations, heads.wrong...)
	hash := end.Engine.StateHash()
	return &Report{
		Seq: end.Engine.Seq(), StateHash: hex.EncodeToString(hash[:]), Accounts: accounts,
		Orders: end.Engine.OpenOrders(), Trades: trades, Assets: books.assets(end.Engine),
		Networks:   networks(end.Engine),
		Voids:      x.voided(),
		Violations: violations[:min(len(violations), maxViolations)],
	}, nil
}

// assets sums the books up by asset.
func (b *Books) assets(e *engine.Engine) []AssetReport {
	held := b.holds()
	var list []AssetReport
	for _, a := range e.Assets() {
		if b.postings[a.ID] == 0 {
			continue
		}
		customers, locked, outside := new(big.Int), new(big.Int), new(big.Int)
		for p, n := range b.owned {
			switch {
			case p.asset != a.ID:
			case p.account.IsCustomer():
				customers.Add(customers, n)
			case n.Sign() < 0:
				outside.Sub(outside, n)
			}
		}
		for p, n := range held {
			if p.asset == a.ID {
				locked.Add(locked, n)
			}
		}

		taken := b.fees[a.ID]
		if taken == nil {
			taken = new(big.Int)
		}
		list = append(list, AssetReport{
			Asset: a.Symbol, Postings: b.postings[a.ID],
			Customers: decimal(customers, a.Scale), Held: decimal(locked, a.Scale),
			FeesTaken: decimal(taken, a.Scale), Fees: decimal(b.at(place{bourse.AccountFees, a.ID}), a.Scale),
			Treasury: decimal(b.at(place{bourse.AccountTreasury, a.ID}), a.Scale),
			Outside:  decimal(outside, a.Scale),

			WithdrawalFees: decimal(b.at(place{bourse.AccountWithdrawalFees, a.ID}), a.Scale),
			NetworkCosts:   decimal(new(big.Int).Neg(b.at(place{bourse.AccountNetworkCosts, a.ID})), a.Scale),
		})
	}
	slices.SortFunc(list, func(p, q AssetReport) int {
		return slices.Compare([]byte(p.Asset), []byte(q.Asset))
	})
	return list
}

// decimal formats a number of ledger units in whole assets.
func decimal(n *big.Int, scale uint8) string {
	digits := new(big.Int).Abs(n).String()
	for len(digits) <= int(scale) {
		digits = "0" + digits
	}
	whole, rest := digits[:len(digits)-int(scale)], digits[len(digits)-int(scale):]
	for len(rest) > 0 && rest[len(rest)-1] == '0' {
		rest = rest[:len(rest)-1]
	}
	if rest != "" {
		whole += "." + rest
	}
	if n.Sign() < 0 {
		return "-" + whole
	}
	return whole
}

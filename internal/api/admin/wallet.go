package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/view"
)

// FormatHash formats the name of a transaction as users of its network do.
type FormatHash func(n bourse.NetworkID, tx bourse.TxHash) string

// txID returns the name of a transaction; empty if there is none.
func (s *Server) txID(n bourse.NetworkID, tx bourse.TxHash) string {
	switch {
	case tx == bourse.TxHash{}:
		return ""
	case s.FormatHash == nil:
		return hex.EncodeToString(tx[:])
	}
	return s.FormatHash(n, tx)
}

// withdrawalAnswer is a withdrawal that is not final.
type withdrawalAnswer struct {
	ID      bourse.WalletID  `json:"xid"`
	Account bourse.AccountID `json:"account"`
	Asset   bourse.Symbol    `json:"asset"`
	Network bourse.Symbol    `json:"network,omitempty"`
	Amount  string           `json:"amount"`
	Fee     string           `json:"fee"`
	Address string           `json:"address"`
	Memo    string           `json:"memo,omitempty"`
	// Internal is the recipient's account if the withdrawal stays inside the exchange.
	Internal bourse.AccountID `json:"internal,omitzero"`
	Status   string           `json:"status"`
	Approved bool             `json:"approved"`
	Signed   bool             `json:"signed"`
	TxID     string           `json:"txid,omitempty"`
	// Reverted is set if the transaction was mined and did not pay.
	Reverted bool   `json:"reverted,omitzero"`
	Created  string `json:"create_time"`
	// Risk is given while the withdrawal waits for an approval.
	Risk *riskAnswer `json:"risk,omitempty"`
}

func (s *Server) describeWithdrawal(c *view.Catalogue, w *bourse.Withdrawal) withdrawalAnswer {
	asset := c.Assets[w.Asset]
	return withdrawalAnswer{
		ID: w.ID, Account: w.Account, Asset: asset.Symbol, Network: networkSymbol(c, w.Network),
		Amount: w.Amount.Format(asset.Scale), Fee: w.Fee.Format(asset.Scale), Address: w.Address, Memo: w.Memo,
		Internal: w.Internal, Status: w.Status.String(), Approved: w.Approved, Signed: w.Signed,
		TxID: s.txID(w.Network, w.Tx), Reverted: w.Reverted, Created: w.Created.Std().Format(time.RFC3339Nano),
	}
}

// undecided reports whether a withdrawal waits for an approval.
func undecided(w *bourse.Withdrawal) bool { return !w.Approved && w.Status == bourse.WalletPending }

type withdrawalListArgs struct {
	After bourse.WalletID `json:"after"`
	Limit int             `json:"limit"`
}

// withdrawalList lists the withdrawals that are not final, oldest first, and any that
// wait for another decision of an operator.
func (s *Server) withdrawalList(ctx context.Context, a withdrawalListArgs) (any, error) {
	limit, err := rows(a.Limit)
	if err != nil {
		return nil, err
	}
	open := s.View.Leaving()
	from := sort.Search(len(open), func(i int) bool { return open[i].ID > a.After })
	open, next := cut(open[from:], limit, func(w *bourse.Withdrawal) uint64 { return uint64(w.ID) })
	facts, err := s.newRisks(ctx, open)
	if err != nil {
		return nil, err
	}

	catalogue := s.View.Catalogue()
	list := make([]withdrawalAnswer, len(open))
	for i := range open {
		list[i] = s.describeWithdrawal(catalogue, &open[i])
		if !undecided(&open[i]) {
			continue
		}
		if list[i].Risk, err = facts.of(ctx, &open[i]); err != nil {
			return nil, err
		}
	}
	return struct {
		Withdrawals []withdrawalAnswer `json:"withdrawals"`
		Next        uint64             `json:"next,omitzero"`
	}{list, next}, nil
}

type withdrawalArgs struct {
	ID bourse.WalletID `json:"xid"`
}

// withdrawal returns the operation that sequences a command about one withdrawal.
func (s *Server) withdrawal(what string, cmd bourse.Command) operation {
	return taking(func(ctx context.Context, a withdrawalArgs) (any, error) {
		do := cmd
		do.Wallet = &bourse.WalletCommand{ID: a.ID}
		if err := record.Check(&do); err != nil {
			return nil, err
		}

		_, err := s.noted(ctx, fmt.Sprintf("withdrawal %s %d", what, a.ID), &do)
		return a, err
	})
}

type withdrawalsPauseArgs struct {
	Network bourse.Symbol `json:"network"`
	Paused  bool          `json:"paused"`
}

var errUnheard = bourse.Errorf(bourse.CodeRefused,
	"the signer has not told its record since the start: a payment that the journal does not know can be the reason of the halt")

// withdrawalsPause stops a network's withdrawals or resumes them, even if the exchange
// itself stopped them.
func (s *Server) withdrawalsPause(ctx context.Context, a withdrawalsPauseArgs) (any, error) {
	n, err := s.network(a.Network)
	if err != nil {
		return nil, err
	}

	what := "resume"
	if a.Paused {
		what = "pause"
	} else if s.Condition().Networks[n.ID].AwaitsRecord {
		return nil, errUnheard
	}

	_, err = s.noted(ctx, fmt.Sprintf("withdrawals %s %s", what, a.Network), &bourse.Command{
		Kind: bourse.CommandPauseWithdrawals, On: a.Paused, Wallet: &bourse.WalletCommand{Network: n.ID},
	})
	return a, err
}

// depositAnswer is a deposit that waits for an operator.
type depositAnswer struct {
	Number bourse.DepositID `json:"deposit"`
	// Account and ID are set for a deposit below the least deposit, or beyond a limit or what one node alone credits.
	Account bourse.AccountID `json:"account,omitzero"`
	ID      bourse.WalletID  `json:"xid,omitzero"`
	Asset   bourse.Symbol    `json:"asset"`
	Network bourse.Symbol    `json:"network"`
	Amount  string           `json:"amount"`
	Memo    string           `json:"memo,omitempty"`
	// AddressOf is the account whose own address received a deposit without an account.
	AddressOf bourse.AccountID `json:"address_of,omitzero"`
	TxID      string           `json:"txid"`
	Index     uint32           `json:"index"`
	Height    uint64           `json:"height"`
	// Confirms is zero while the deposit's block is not in the chain.
	Confirms uint64 `json:"confirms"`
	Target   uint32 `json:"confirms_target"`
	// OverLimit is true for a deposit beyond the limit of its account's tier.
	OverLimit bool `json:"over_limit,omitzero"`
	// OverAlone is true for a deposit beyond what one node alone credits in a day.
	OverAlone bool   `json:"over_alone,omitzero"`
	Created   string `json:"create_time"`
}

// depositsParked lists the deposits that wait for an operator, oldest first.
func (s *Server) depositsParked(_ context.Context, _ struct{}) (any, error) {
	parked := s.View.Parked()
	catalogue := s.View.Catalogue()
	list := make([]depositAnswer, len(parked))
	for i := range parked {
		d := &parked[i]
		asset := catalogue.Assets[d.Asset]
		var of bourse.AccountID
		if d.Account == 0 {
			of = bourse.AccountID(d.Address) // zero where all accounts share an address
		}
		list[i] = depositAnswer{
			Number: d.Number, Account: d.Account, ID: d.ID, Asset: asset.Symbol,
			Network: catalogue.Networks[d.Network].Symbol, Amount: d.Amount.Format(asset.Scale),
			Memo: strings.ToValidUTF8(d.Memo, "\uFFFD"), AddressOf: of,
			TxID: s.txID(d.Network, d.Tx), Index: d.Index, Height: d.Block.Height,
			Confirms: d.Confirms(s.View.NetworkState(d.Network).Tip.Height), Target: d.Target,
			OverLimit: d.OverLimit, OverAlone: d.OverAlone, Created: d.Created.Std().Format(time.RFC3339Nano),
		}
	}

	return struct {
		Deposits []depositAnswer `json:"deposits"`
	}{list}, nil
}

type depositAssignArgs struct {
	Deposit bourse.DepositID `json:"deposit"`
	Account bourse.AccountID `json:"account"`
}

// depositAssign credits a parked deposit to an account, or credits an account's deposit
// below the least deposit, or beyond a limit or what one node alone credits.
func (s *Server) depositAssign(ctx context.Context, a depositAssignArgs) (any, error) {
	cmd := &bourse.Command{
		Kind: bourse.CommandAssignDeposit, Account: a.Account, Wallet: &bourse.WalletCommand{Deposit: a.Deposit},
	}
	if err := record.Check(cmd); err != nil {
		return nil, err
	}

	r, err := s.noted(ctx, fmt.Sprintf("deposit assign %d %d", a.Deposit, a.Account), cmd)
	return struct {
		Deposit bourse.DepositID `json:"deposit"`
		Account bourse.AccountID `json:"account"`
		ID      bourse.WalletID  `json:"xid"`
	}{a.Deposit, a.Account, bourse.WalletID(r.Outcome.ID)}, err
}

// networkSymbol returns the symbol of a network; empty for id zero, that of transfers
// between accounts.
func networkSymbol(c *view.Catalogue, id bourse.NetworkID) bourse.Symbol {
	if id == 0 {
		return ""
	}
	return c.Networks[id].Symbol
}

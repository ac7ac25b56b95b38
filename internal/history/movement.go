package history

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MovementKind is the direction of a movement.
type MovementKind uint8

// The kinds of movements.
const (
	// MovementDeposit is money that came in.
	MovementDeposit MovementKind = iota + 1
	// MovementWithdrawal is money that goes out.
	MovementWithdrawal
	// MovementTransferIn and MovementTransferOut are the two sides of a transfer
	// between accounts, which goes over no network.
	MovementTransferIn
	MovementTransferOut
)

// Movement is a deposit or a withdrawal of an account, for people to read. A store has
// the ended ones: credited deposits, and withdrawals that are done or canceled. A later
// change (its transaction is mined in another block, an operator refunds or replaces it)
// writes the row again: of two rows with one ordinal, the one with the higher Seq holds.
type Movement struct {
	// Seq is the command that last changed it; zero while it is open.
	Seq bourse.Seq
	// Account and Ordinal name the row: an account's deposits and withdrawals are
	// counted together from one. Ids rise with ordinals.
	Account bourse.AccountID
	Ordinal uint64
	ID      bourse.WalletID
	Kind    MovementKind
	Network bourse.NetworkID
	Asset   bourse.AssetID
	// Amount is the amount that arrived, or shall arrive; a withdrawal's Fee is charged
	// on top of it.
	Amount, Fee bourse.Amount
	Status      bourse.WalletStatus
	// Address is the destination of a withdrawal; a deposit's follows from its account.
	Address string
	Memo    string
	// Tx is the transaction, zero while there is none and inside the exchange.
	Tx bourse.TxHash
	// Mined, Height and Target belong to a deposit: whether its block is in the chain,
	// that block's height, and the depth that it must reach.
	Mined  bool
	Height uint64
	Target uint32
	// Other is the other side of a movement inside the exchange; else zero.
	Other bourse.WalletID
	// Party is the other account of a transfer, and Message the token of its message.
	Party   bourse.AccountID
	Message bourse.Token
	// Refunded is true if an operator paid a withdrawal back after it was done.
	Refunded bool
	// Created is when it was first seen or requested, Done when it was credited, accepted
	// by its network, or canceled; zero until then.
	Created, Done bourse.Time
}

// Confirms returns the depth of a deposit's block when the last block is at height tip;
// zero if it is not in the chain.
func (m *Movement) Confirms(tip uint64) uint64 {
	d := bourse.Deposit{Mined: m.Mined, Block: bourse.BlockRef{Height: m.Height}}
	return d.Confirms(tip)
}

// OfDeposit returns the movement of a deposit that the command seq changed; seq is zero
// for an open one.
func OfDeposit(seq bourse.Seq, d *bourse.Deposit) Movement {
	m := Movement{
		Seq: seq, Account: d.Account, Ordinal: d.Ordinal, ID: d.ID, Kind: MovementDeposit,
		Network: d.Network, Asset: d.Asset, Amount: d.Amount, Status: d.Status, Memo: d.Memo, Tx: d.Tx,
		Mined: d.Mined, Height: d.Block.Height, Target: d.Target, Other: d.From,
		Created: d.Created, Done: d.Done,
	}
	if d.From != 0 && d.Network == 0 {
		m.Kind, m.Party, m.Message = MovementTransferIn, d.By, d.Message
	}
	return m
}

// OfWithdrawal returns the movement of a withdrawal in the same way.
func OfWithdrawal(seq bourse.Seq, w *bourse.Withdrawal) Movement {
	m := Movement{
		Seq: seq, Account: w.Account, Ordinal: w.Ordinal, ID: w.ID, Kind: MovementWithdrawal,
		Network: w.Network, Asset: w.Asset, Amount: w.Amount, Fee: w.Fee, Status: w.Status,
		Address: w.Address, Memo: w.Memo, Tx: w.Tx, Other: w.Deposit, Refunded: w.Refunded,
		Created: w.Created, Done: w.Done,
	}
	if w.Transfer() {
		m.Kind, m.Party, m.Message = MovementTransferOut, w.Internal, w.Message
	}
	return m
}

// MovementSet is a set of kinds with statuses.
type MovementSet uint64

func member(kind MovementKind, status bourse.WalletStatus) MovementSet {
	return 1 << (8*uint(kind) + uint(status))
}

// With returns the set with a kind in these statuses, or in every one.
func (s MovementSet) With(kind MovementKind, statuses ...bourse.WalletStatus) MovementSet {
	for status := bourse.WalletPending; status <= bourse.WalletDone; status++ {
		if len(statuses) == 0 || slices.Contains(statuses, status) {
			s |= member(kind, status)
		}
	}
	return s
}

// stored reports whether a store can have movements of the set: open ones are in the
// view.
func (s MovementSet) stored() bool {
	for kind := MovementDeposit; kind <= MovementTransferOut; kind++ {
		if s&(member(kind, bourse.WalletDone)|member(kind, bourse.WalletCanceled)) != 0 {
			return true
		}
	}
	return false
}

// MovementFilter selects the movements that match each field that is not zero.
type MovementFilter struct {
	Asset   bourse.AssetID
	Network bourse.NetworkID
	Of      MovementSet
	// Before selects movements with lower ids.
	Before bourse.WalletID
	// From and To bound the time of creation, both included. To is zero for no bound.
	From, To bourse.Time
}

// Passes reports whether a movement passes the filter.
func (f MovementFilter) Passes(m *Movement) bool {
	return (f.Asset == 0 || f.Asset == m.Asset) && (f.Network == 0 || f.Network == m.Network) &&
		(f.Of == 0 || f.Of&member(m.Kind, m.Status) != 0) && (f.Before == 0 || m.ID < f.Before) &&
		m.Created >= f.From && (f.To == 0 || m.Created <= f.To)
}

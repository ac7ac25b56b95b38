package history

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MovementKind says which way money moved.
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

// Movement is a deposit or a withdrawal of an account, as people read it. A store
// has those that are over: credited deposits, and withdrawals that are done or
// canceled. What happens to one of them afterwards (its transaction is mined in
// another block, an operator refunds or replaces it) writes the row again: of two
// rows with one ordinal, that with the higher Seq holds.
type Movement struct {
	// Seq is the command that made it what it is; zero for one that is open.
	Seq bourse.Seq
	// Account and Ordinal name the row: an account's deposits and withdrawals are
	// counted together from one. Ids rise with ordinals.
	Account bourse.AccountID
	Ordinal uint64
	ID      bourse.WalletID
	Kind    MovementKind
	Network bourse.NetworkID
	Asset   bourse.AssetID
	// Amount is what arrived, or shall arrive; Fee, of a withdrawal, is charged on
	// top of it.
	Amount, Fee bourse.Amount
	Status      bourse.WalletStatus
	// Address is where a withdrawal goes to; a deposit's follows from its account.
	Address string
	Memo    string
	// Tx is the transaction, zero while there is none and inside the exchange.
	Tx bourse.TxHash
	// Mined, Height and Target are of a deposit: whether its block is in the chain,
	// how high that lies, and how deep it has to.
	Mined  bool
	Height uint64
	Target uint32
	// Other is the other side of a movement inside the exchange, else zero.
	Other bourse.WalletID
	// Party is the other account of a transfer, and Message the token of its message.
	Party   bourse.AccountID
	Message bourse.Token
	// Refunded says that an operator paid a withdrawal back after it was done.
	Refunded bool
	// Created is when it was first seen or asked for, Done when it was credited,
	// accepted by its network, or canceled; zero until then.
	Created, Done bourse.Time
}

// Confirms returns how deep a deposit's block lies when the last one is at height
// tip; zero if it is not in the chain.
func (m *Movement) Confirms(tip uint64) uint64 {
	d := bourse.Deposit{Mined: m.Mined, Block: bourse.BlockRef{Height: m.Height}}
	return d.Confirms(tip)
}

// ofDeposit returns the movement of a deposit that a command changed, or of an
// open one with seq zero.
func ofDeposit(seq bourse.Seq, d *bourse.Deposit) Movement {
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

// ofWithdrawal returns the movement of a withdrawal in the same way.
func ofWithdrawal(seq bourse.Seq, w *bourse.Withdrawal) Movement {
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

// OverNetworks are deposits and withdrawals in every status.
var OverNetworks = MovementSet(0).With(MovementDeposit).With(MovementWithdrawal)

// With returns the set with a kind in these statuses, or in every one.
func (s MovementSet) With(kind MovementKind, statuses ...bourse.WalletStatus) MovementSet {
	for status := bourse.WalletPending; status <= bourse.WalletDone; status++ {
		if len(statuses) == 0 || slices.Contains(statuses, status) {
			s |= member(kind, status)
		}
	}
	return s
}

// stored reports whether a store can have what is in the set: what is open is in
// the view.
func (s MovementSet) stored() bool {
	for kind := MovementDeposit; kind <= MovementTransferOut; kind++ {
		if s&(member(kind, bourse.WalletDone)|member(kind, bourse.WalletCanceled)) != 0 {
			return true
		}
	}
	return false
}

// MovementFilter leaves the movements that agree with each field that is not
// zero.
type MovementFilter struct {
	Asset   bourse.AssetID
	Network bourse.NetworkID
	Of      MovementSet
}

// Passes reports whether a movement passes the filter.
func (f MovementFilter) Passes(m *Movement) bool {
	return (f.Asset == 0 || f.Asset == m.Asset) && (f.Network == 0 || f.Network == m.Network) &&
		(f.Of == 0 || f.Of&member(m.Kind, m.Status) != 0)
}

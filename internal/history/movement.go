package history

import "github.com/bourse-exchange/bourse"

// MovementKind says which way money moved.
type MovementKind uint8

// The kinds of movements.
const (
	// MovementDeposit is money that came in.
	MovementDeposit MovementKind = iota + 1
	// MovementWithdrawal is money that goes out.
	MovementWithdrawal
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
	return Movement{
		Seq: seq, Account: d.Account, Ordinal: d.Ordinal, ID: d.ID, Kind: MovementDeposit,
		Network: d.Network, Asset: d.Asset, Amount: d.Amount, Status: d.Status, Memo: d.Memo, Tx: d.Tx,
		Mined: d.Mined, Height: d.Block.Height, Target: d.Target, Other: d.From,
		Created: d.Created, Done: d.Done,
	}
}

// ofWithdrawal returns the movement of a withdrawal in the same way.
func ofWithdrawal(seq bourse.Seq, w *bourse.Withdrawal) Movement {
	return Movement{
		Seq: seq, Account: w.Account, Ordinal: w.Ordinal, ID: w.ID, Kind: MovementWithdrawal,
		Network: w.Network, Asset: w.Asset, Amount: w.Amount, Fee: w.Fee, Status: w.Status,
		Address: w.Address, Memo: w.Memo, Tx: w.Tx, Other: w.Deposit, Refunded: w.Refunded,
		Created: w.Created, Done: w.Done,
	}
}

// MovementFilter leaves the movements that agree with each field that is not
// zero.
type MovementFilter struct {
	Asset  bourse.AssetID
	Kind   MovementKind
	Status bourse.WalletStatus
}

// Passes reports whether a movement passes the filter.
func (f MovementFilter) Passes(m *Movement) bool {
	return (f.Asset == 0 || f.Asset == m.Asset) && (f.Kind == 0 || f.Kind == m.Kind) &&
		(f.Status == 0 || f.Status == m.Status)
}

// stored reports whether a store can have what passes: open ones are in the view.
func (f MovementFilter) stored() bool {
	return f.Status == 0 || f.Status == bourse.WalletDone || f.Status == bourse.WalletCanceled
}

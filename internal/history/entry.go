package history

import (
	"cmp"

	"github.com/bourse-exchange/bourse"
)

// EntryKind is the reason of a change of a balance.
type EntryKind uint8

// The kinds of entries.
const (
	// EntryTrade: an order traded; received amounts are net of the fee.
	EntryTrade EntryKind = iota + 1
	// EntryCredit: a sandbox handed out money.
	EntryCredit
	// EntryDeposit: a deposit was credited.
	EntryDeposit
	// EntryWithdrawal: a withdrawal was accepted by its network, or paid inside.
	EntryWithdrawal
	// EntryWithdrawalFee: the fee of a withdrawal.
	EntryWithdrawalFee
	// EntryTransferIn and EntryTransferOut: a customer gave money to another.
	EntryTransferIn
	EntryTransferOut
	// EntryRefund: an operator paid a withdrawal back.
	EntryRefund
)

var entryWords = [...]string{
	"", "TRADE", "CREDIT", "DEPOSIT", "WITHDRAWAL", "WITHDRAWAL_FEE", "TRANSFER_IN", "TRANSFER_OUT", "REFUND",
}

// String returns the kind's word of the public interfaces.
func (k EntryKind) String() string {
	if int(k) < len(entryWords) {
		return entryWords[k]
	}
	return "UNKNOWN"
}

// EntryPlace is the position of an entry in an account's ledger, which is sorted by it.
type EntryPlace struct {
	Seq bourse.Seq
	// Place counts the account's entries of the command from zero.
	Place uint32
}

// placeShift is the number of low bits of a cursor that have the command's sequence; the place is above
// them.
const placeShift = 40

// Cursor returns the place as a number, for clients.
func (p EntryPlace) Cursor() uint64 { return uint64(p.Place)<<placeShift | uint64(p.Seq) }

// PlaceAt returns the place of a cursor.
func PlaceAt(cursor uint64) EntryPlace {
	return EntryPlace{Seq: bourse.Seq(cursor & (1<<placeShift - 1)), Place: uint32(cursor >> placeShift)}
}

func comparePlaces(a, b EntryPlace) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Place, b.Place))
}

// Entry is a change of an account's balance of an asset, available or held.
type Entry struct {
	EntryPlace
	Time    bourse.Time
	Account bourse.AccountID
	Asset   bourse.AssetID
	Kind    EntryKind
	// Debit is true if Amount left the balance, false if it was added.
	Debit  bool
	Amount bourse.Amount
	// Balance is the balance after the entry.
	Balance bourse.Amount
	// Market, Trade and Order name the entry's trade, and Movement its deposit or
	// withdrawal; zero without one.
	Market   bourse.MarketID
	Trade    uint64
	Order    bourse.OrderID
	Movement bourse.WalletID
}

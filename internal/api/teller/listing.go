package teller

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// Listing writes a page of one account's transactions.
type Listing struct {
	*Teller
	// tips are the networks' heights before the rows were read, so that a pending deposit
	// never appears with all its confirmations.
	tips []uint64
	// addresses caches the account's deposit addresses, emails those of other accounts.
	addresses map[bourse.NetworkID]string
	emails    map[bourse.AccountID]string
}

// KindWords are the words for types of transactions, the first one for none.
var KindWords = [...]string{
	history.MovementDeposit: "DEPOSIT", history.MovementWithdrawal: "WITHDRAWAL",
	history.MovementTransferIn: "TRANSFER_IN", history.MovementTransferOut: "TRANSFER_OUT",
}

// Given reports whether a transaction is a transfer, which uses no network.
func Given(m *history.Movement) bool {
	return m.Kind == history.MovementTransferIn || m.Kind == history.MovementTransferOut
}

// NewListing returns a listing. Call it before the rows are read.
func (t *Teller) NewListing() *Listing {
	tips := make([]uint64, len(t.View.Catalogue().Networks))
	for id := range tips {
		tips[id] = t.View.NetworkState(bourse.NetworkID(id)).Tip.Height
	}
	return &Listing{
		Teller: t, tips: tips, addresses: map[bourse.NetworkID]string{}, emails: map[bourse.AccountID]string{},
	}
}

// Parties returns the address and memo of a transaction; for a transfer, the other
// account's e-mail address and the message.
func (l *Listing) Parties(ctx context.Context, m *history.Movement) (address, memo string, err error) {
	if !Given(m) {
		return l.address(m), m.Memo, nil
	}

	address, known := l.emails[m.Party]
	if !known {
		other, _, err := l.Accounts.ByID(ctx, m.Party)
		if err != nil {
			return "", "", err
		}
		address = other.Email
		l.emails[m.Party] = address
	}

	memo, err = l.Accounts.Message(ctx, m.Message)
	return address, memo, err
}

// address returns the address of a deposit or the destination of a withdrawal.
func (l *Listing) address(m *history.Movement) string {
	if m.Kind == history.MovementWithdrawal {
		return m.Address
	}
	address, known := l.addresses[m.Network]
	if n, connected := l.Networks.Network(m.Network); connected && !known {
		address = n.Destination(uint32(m.Account)).Address
		l.addresses[m.Network] = address
	}
	return address
}

// Confirms returns a deposit's confirmations at the listing's height, at least those of
// its own block.
func (l *Listing) Confirms(m *history.Movement) uint64 {
	var tip uint64
	if int(m.Network) < len(l.tips) {
		tip = l.tips[m.Network]
	}
	return m.Confirms(max(tip, m.Height))
}

// TxID returns the name of a transaction or, inside the exchange, of the withdrawal;
// empty before it is sent and while it is signed anew.
func (l *Listing) TxID(m *history.Movement) string {
	inside := m.Other // the recipient's row has the withdrawal's number
	if m.Kind == history.MovementWithdrawal {
		if m.Status != bourse.WalletDone {
			return ""
		}
		if inside != 0 {
			inside = m.ID
		}
	}

	switch {
	case inside != 0:
		return "internal-" + strconv.FormatUint(uint64(inside), 10)
	case m.Tx == bourse.TxHash{}:
		return ""
	}
	if n, connected := l.Networks.Network(m.Network); connected {
		return n.FormatHash(m.Tx)
	}
	return hex.EncodeToString(m.Tx[:])
}

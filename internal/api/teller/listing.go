package teller

import (
	"encoding/hex"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// Listing is the work on a page of transactions of one account.
type Listing struct {
	*Teller
	// tips are the networks' heights from before the rows were read: a pending
	// deposit is not as deep as it must be, and with these it cannot seem to be.
	tips []uint64
	// addresses are those where the account's deposits arrive.
	addresses map[bourse.NetworkID]string
}

// NewListing returns the work on a page whose rows are read after it.
func (t *Teller) NewListing() *Listing {
	tips := make([]uint64, len(t.View.Catalogue().Networks))
	for id := range tips {
		tips[id] = t.View.NetworkState(bourse.NetworkID(id)).Tip.Height
	}
	return &Listing{Teller: t, tips: tips, addresses: map[bourse.NetworkID]string{}}
}

// Address returns where a deposit arrived or a withdrawal goes to.
func (l *Listing) Address(m *history.Movement) string {
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

// Confirms counts from heights that may be older than the deposit's block.
func (l *Listing) Confirms(m *history.Movement) uint64 {
	var tip uint64
	if int(m.Network) < len(l.tips) {
		tip = l.tips[m.Network]
	}
	return m.Confirms(max(tip, m.Height))
}

// TxID returns the name of a transaction, or, of one inside the exchange, that of
// the withdrawal. There is none before it is sent, and while an operator has it
// signed anew.
func (l *Listing) TxID(m *history.Movement) string {
	inside := m.Other // both sides bear the withdrawal's number
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

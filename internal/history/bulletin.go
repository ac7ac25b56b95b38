package history

import (
	"cmp"

	"github.com/bourse-exchange/bourse"
)

// BulletinKind is the kind of a bulletin.
type BulletinKind uint8

// The kinds of bulletins.
const (
	// BulletinAccountCreated: an account was opened.
	BulletinAccountCreated BulletinKind = iota + 1
	// BulletinAccountFrozen and BulletinAccountUnfrozen: an operator froze an account, or ended
	// that.
	BulletinAccountFrozen
	BulletinAccountUnfrozen
	// BulletinAccountTier: an operator gave an account a tier.
	BulletinAccountTier
	// BulletinDepositCredited: a deposit is spendable.
	BulletinDepositCredited
	// BulletinDepositParked: a mined deposit has no owner or is too small; an operator decides.
	BulletinDepositParked
	// BulletinDepositWaiting: a deposit is deep enough and beyond the limit of its account's
	// tier.
	BulletinDepositWaiting
	// BulletinWithdrawalWaiting: a withdrawal needs an operator's approval.
	BulletinWithdrawalWaiting
	// BulletinWithdrawalDone: a withdrawal was accepted by its network, or paid inside.
	BulletinWithdrawalDone
	// BulletinWithdrawalFailed: a withdrawal was canceled, mined without paying, or paid back.
	BulletinWithdrawalFailed
	// BulletinNetworkHalted: the exchange stopped a network's withdrawals by itself.
	BulletinNetworkHalted
	// BulletinNetworkPaused and BulletinNetworkResumed: an operator stopped a network's
	// withdrawals, or ended a stop.
	BulletinNetworkPaused
	BulletinNetworkResumed
	// BulletinMarketState: a market was listed, or has another state.
	BulletinMarketState
	// LastBulletinKind is the last one.
	LastBulletinKind = BulletinMarketState
)

var bulletinWords = [...]string{
	"", "account.created", "account.frozen", "account.unfrozen", "account.tier",
	"deposit.credited", "deposit.parked", "deposit.waiting",
	"withdrawal.waiting", "withdrawal.done", "withdrawal.failed",
	"network.halted", "network.paused", "network.resumed", "market.state",
}

// String returns the kind's word, an area and a name: account.created.
func (k BulletinKind) String() string {
	if int(k) < len(bulletinWords) {
		return bulletinWords[k]
	}
	return ""
}

// ParseBulletinKind reads a kind as String writes it.
func ParseBulletinKind(word string) (BulletinKind, bool) {
	for k := BulletinAccountCreated; k <= LastBulletinKind; k++ {
		if bulletinWords[k] == word {
			return k, true
		}
	}
	return 0, false
}

// BulletinPlace is the position of a bulletin among all of them.
type BulletinPlace struct {
	Seq bourse.Seq
	// Place counts the bulletins of the command from zero.
	Place uint32
}

// AfterCommand returns the place behind all bulletins of the commands up to seq.
func AfterCommand(seq bourse.Seq) BulletinPlace { return BulletinPlace{seq, 1<<31 - 1} }

// Compare orders places.
func (p BulletinPlace) Compare(to BulletinPlace) int {
	return cmp.Or(cmp.Compare(p.Seq, to.Seq), cmp.Compare(p.Place, to.Place))
}

// Bulletin is a fact of the journal that programs of the operator are told of.
type Bulletin struct {
	BulletinPlace
	Time bourse.Time
	Kind BulletinKind
	// Data is a JSON object. It has numbers of accounts, and neither secrets nor e-mail
	// addresses.
	Data string
}

package bourse

// WalletStatus is the status of a deposit or a withdrawal.
type WalletStatus uint8

// The statuses. WalletCanceled and WalletDone are final for a withdrawal; a canceled
// deposit that is mined after all is pending again.
const (
	// WalletPending: the deposit is not deep enough or needs an operator; the withdrawal
	// needs approval.
	WalletPending WalletStatus = iota + 1
	// WalletProcessing: the withdrawal is approved and is being sent.
	WalletProcessing
	// WalletPendingCancel: the withdrawal is being canceled.
	WalletPendingCancel
	// WalletCanceled: nothing was paid.
	WalletCanceled
	// WalletDone: the deposit was credited; the withdrawal was accepted by its
	// network.
	WalletDone
)

var walletWords = [...]string{"", "PENDING", "PROCESSING", "PENDING_CANCEL", "CANCELED", "DONE"}

// String returns PENDING, PROCESSING, PENDING_CANCEL, CANCELED or DONE.
func (s WalletStatus) String() string { return word(walletWords[:], s) }

// ParseWalletStatus reads a status as String writes it.
func ParseWalletStatus(s string) (WalletStatus, bool) {
	return parseWord[WalletStatus](walletWords[:], s)
}

// Deposit is money that reached the exchange.
type Deposit struct {
	Number DepositID
	// ID, Ordinal and Account are zero while the deposit is parked. Ordinal counts the
	// account's deposits and withdrawals together from one.
	ID      WalletID
	Ordinal uint64
	Account AccountID
	Network NetworkID
	Asset   AssetID
	Amount  Amount
	Tx      TxHash
	Index   uint32
	Address uint32
	Memo    string
	Status  WalletStatus
	// BelowMin marks an amount below the minimum deposit; an operator must admit it.
	BelowMin bool
	// OverLimit marks a deposit that is deep enough and beyond the deposit limit of its
	// account's tier. It waits until the limit has room, or an operator admits it.
	OverLimit bool
	// OverAlone marks a deposit beyond what one node alone credits of its asset in a day; an operator must admit it.
	OverAlone bool
	// Admitted is true once an operator assigned or admitted the deposit: no limit holds it.
	Admitted bool
	// Mined is true while Block is in the chain; otherwise Block is the last one that
	// held the deposit.
	Mined bool
	Block BlockRef
	// Gone is the greatest height that the chain had reached when Block left it. The
	// deposit is given up once the chain is Target blocks higher.
	Gone uint64
	// Target is the required depth of Block.
	Target uint32
	// From is the withdrawal that paid the deposit inside the exchange and By its
	// account. Such a deposit has no transaction, block or target; a transfer between
	// accounts also has no network and may have a Message.
	From    WalletID
	By      AccountID
	Message Token
	// Created is the time the deposit was first seen, Done the time it was credited or
	// given up.
	Created, Done Time
}

// NeedsOperator reports whether an operator may assign the deposit to its account, or to any if it has none.
func (d *Deposit) NeedsOperator() bool {
	return d.Status == WalletPending && (d.Account == 0 || d.BelowMin || d.OverLimit || d.OverAlone)
}

// Confirms returns the depth of the deposit's block under a tip at height tip: one for
// the tip itself, zero if the block is not in the chain.
func (d *Deposit) Confirms(tip uint64) uint64 {
	if !d.Mined || tip < d.Block.Height {
		return 0
	}
	return tip - d.Block.Height + 1
}

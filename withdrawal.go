package bourse

// Withdraw is a client's request for a withdrawal or a transfer.
type Withdraw struct {
	Network NetworkID
	Asset   AssetID
	// Amount is the amount to arrive; Fee is charged on top.
	Amount, Fee Amount
	// Address and Memo are in the canonical form of the network.
	Address string
	Memo    string
	// Internal is the account of this exchange that Address and Memo name.
	Internal AccountID
	// Factor is true if the client gave a second factor.
	Factor bool
	// Again asks for the outcome of an earlier request with the same name; a new request
	// is refused and not remembered.
	Again bool
	// Save asks for an entry of the address book, whose name is stored under this token;
	// zero for none.
	Save Token
	// ClientID makes the request idempotent; zero is none.
	ClientID ClientID
	// Once does the same for interfaces that name requests in another form. At most one
	// of the two is set.
	Once Once
	// Message is the token of the stored message of a transfer between accounts; zero for
	// none.
	Message Token
}

// Transfer reports whether the money goes to another account of the exchange, over no
// network.
func (w *Withdraw) Transfer() bool { return w.Network == 0 }

// Named reports whether the engine would recognise a repetition of the request.
func (w *Withdraw) Named() bool { return !w.ClientID.IsZero() || !w.Once.IsZero() }

// Withdrawal is money that leaves an account.
type Withdrawal struct {
	ID      WalletID
	Ordinal uint64
	Account AccountID
	Withdraw
	Status WalletStatus
	// NotBefore is the earliest time to leave; zero if there is no hold or the hold is
	// over.
	NotBefore Time
	// Approved is true once policy or a person approved the withdrawal.
	Approved bool
	// Signed is true from the first signature on; a signed withdrawal cannot be canceled.
	Signed bool
	// Reverted is true if the transaction was mined without paying: an operator must
	// decide.
	Reverted bool
	// Refunded is true if an operator paid a DONE withdrawal back, because its
	// transaction can never be mined.
	Refunded bool
	// Counted is true if the amount is in the sums that tiers limit; a withdrawal that ends
	// without a payment is taken out of them.
	Counted bool
	// AtSigner is true from the first request to the signer for the next transaction until
	// the journal has it: the signer may have signed.
	AtSigner bool
	// Ending is true if its owner or an operator wants it to end while it is at the signer,
	// who decides. Tx is zero.
	Ending bool
	// Tx is the signed transaction that pays it; zero while none does.
	Tx TxHash
	// Deposit is the receiving side of an internal withdrawal.
	Deposit WalletID
	// Created is the time of the request, Done the time of the network's acceptance or
	// the cancellation.
	Created, Done Time
}

// Open reports whether the amount and the fee are held.
func (w *Withdrawal) Open() bool {
	return w.Status == WalletPending || w.Status == WalletProcessing || w.Status == WalletPendingCancel
}

// Held returns the amount and the fee while w is open, and zero afterwards.
func (w *Withdrawal) Held() Amount {
	if !w.Open() {
		return Amount{}
	}
	return w.Amount.Plus(w.Fee)
}

// Unsigned reports whether w waits for a signed transaction.
func (w *Withdrawal) Unsigned() bool {
	return w.Tx == TxHash{} && w.Internal == 0 && !w.Refunded && !w.Ending &&
		(w.Status == WalletProcessing || w.Status == WalletDone)
}

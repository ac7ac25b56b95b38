package bourse

import "slices"

// The ids of the wallet are dense, start at one and are allotted by the engine.
type (
	// WalletID names a deposit or a withdrawal of an account; both are counted
	// together. It is the xid of the interfaces.
	WalletID uint64
	// DepositID names a deposit from the moment it is seen, also while it is
	// parked and belongs to nobody.
	DepositID uint64
	// AddressID names an entry of an address book.
	AddressID uint32
)

// TxHash names a transaction or a block of a network. How a network writes it
// is its adapter's business.
type TxHash [32]byte

// BlockRef names a block.
type BlockRef struct {
	Height uint64
	Hash   TxHash
}

// AssetAmount is so much of an asset, in ledger units.
type AssetAmount struct {
	Asset  AssetID
	Amount Amount
}

// Outpoint names an output of a transaction.
type Outpoint struct {
	Tx    TxHash
	Index uint32
}

// Block is what a block of a network does to the exchange's addresses.
type Block struct {
	Network NetworkID
	BlockRef
	Parent TxHash
	// Time is when the network says the block was made.
	Time Time
	// ByOutput is true for a network whose money lies in outputs, each of which
	// is spent as a whole.
	ByOutput bool
	// Part counts from zero the commands that one block takes, and More says
	// that another follows: a block is not done before its last part.
	Part uint32
	More bool
	// Txs are the transactions that touch addresses of the exchange, in the
	// order of the block.
	Txs []Tx
}

// Tx is what a transaction does to the exchange's addresses.
type Tx struct {
	Hash TxHash
	// Taken is what left addresses of the exchange, the network's fee included.
	Taken []Taken
	// Spent are the outputs of the exchange that the transaction used up, where
	// money lies in outputs. Their amounts are what Taken says.
	Spent []Outpoint
	// Outputs are what reached addresses of the exchange.
	Outputs []Output
}

// Taken is what left one address of the exchange.
type Taken struct {
	Address uint32
	Asset   AssetID
	Amount  Amount
}

// Output is what reached one address of the exchange.
type Output struct {
	// Index tells the outputs of a transaction apart, and is the same in
	// whatever block the transaction is mined.
	Index  uint32
	Asset  AssetID
	Amount Amount
	// Owner is the customer whose address or memo it is, AccountTreasury for the
	// exchange's own addresses, or zero if the memo is missing or unknown.
	Owner AccountID
	// Address is the number of the address, where the money lies.
	Address uint32
	Memo    string
}

// WalletStatus is where a deposit or a withdrawal is in its life.
type WalletStatus uint8

// The statuses. A withdrawal's WalletCanceled and WalletDone are final; a
// canceled deposit that is mined after all is pending again.
const (
	// WalletPending: a deposit is not deep enough, or waits for an operator; a
	// withdrawal waits for its approval.
	WalletPending WalletStatus = iota + 1
	// WalletProcessing: the withdrawal is approved and is being sent.
	WalletProcessing
	// WalletPendingCancel: the withdrawal's end was asked for.
	WalletPendingCancel
	// WalletCanceled: nothing was paid.
	WalletCanceled
	// WalletDone: the deposit was credited; the withdrawal was accepted by its
	// network.
	WalletDone
)

// Deposit is money that came in.
type Deposit struct {
	Number DepositID
	// ID, Ordinal and Account are zero while the deposit is parked. Ordinal
	// counts the account's deposits and withdrawals together from one.
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
	// BelowMin marks less than the least deposit; it waits for an operator.
	BelowMin bool
	// Mined says that Block is in the chain now; otherwise it was the last one.
	Mined bool
	Block BlockRef
	// Gone is the height from which the absence of its block is counted: that of
	// the highest block there was when it left.
	Gone uint64
	// Target is how deep its block must lie.
	Target uint32
	// From is the withdrawal that paid it inside the exchange, By its account;
	// such a deposit has no transaction, block and target, and, if it is a
	// transfer between accounts, no network, but perhaps a Message.
	From    WalletID
	By      AccountID
	Message Token
	// Created is when it was first seen, Done when it was credited or given up.
	Created, Done Time
}

// Confirms returns how deep the deposit's block lies when the last block is at
// height tip: one for the last block, zero if it is not in the chain.
func (d *Deposit) Confirms(tip uint64) uint64 {
	if !d.Mined || tip < d.Block.Height {
		return 0
	}
	return tip - d.Block.Height + 1
}

// Withdraw is what a client asks for with a withdrawal.
type Withdraw struct {
	Network NetworkID
	Asset   AssetID
	// Amount is what arrives; Fee is charged on top of it.
	Amount, Fee Amount
	// Address and Memo are in the canonical form of the network.
	Address string
	Memo    string
	// Internal is the account of this exchange that Address and Memo name.
	Internal AccountID
	// Factor says that the client gave a second factor.
	Factor bool
	// Again asks for the outcome of the same request, which came before: a new one
	// is refused, and not remembered.
	Again bool
	// Save asks for an entry of the address book, whose name is kept under this
	// token; zero for none.
	Save Token
	// ClientID makes the request idempotent; zero is none.
	ClientID ClientID
	// Once does the same for interfaces that name requests otherwise. Only one of
	// the two is given.
	Once Once
	// Message is, of a transfer between accounts, the token under which its
	// message is kept; zero for none.
	Message Token
}

// Transfer reports whether the money goes to another account of the exchange, over
// no network.
func (w *Withdraw) Transfer() bool { return w.Network == 0 }

// Named reports whether the request would be known if it came again.
func (w *Withdraw) Named() bool { return w.ClientID.Given() || w.Once.Given() }

// Withdrawal is money that goes out.
type Withdrawal struct {
	ID      WalletID
	Ordinal uint64
	Account AccountID
	Withdraw
	Status WalletStatus
	// NotBefore is the time before which it does not leave; zero, and once that
	// time has come, it is not held up.
	NotBefore Time
	// Approved is true once policy or a person let it go.
	Approved bool
	// Sent is true from the first signature on: it is not canceled any more.
	Sent bool
	// Reverted says that the transaction was mined and did not pay: an operator
	// must decide.
	Reverted bool
	// Refunded says that an operator paid a DONE withdrawal back, because its
	// transaction can never be mined.
	Refunded bool
	// Tx is the signed transaction that pays it; zero while none does.
	Tx TxHash
	// Deposit is the other side of an internal withdrawal.
	Deposit WalletID
	// Created is when it was asked for, Done when the network accepted it or it
	// was canceled.
	Created, Done Time
}

// Open reports whether the amount and the fee are held.
func (w *Withdrawal) Open() bool { return w.Status == WalletPending || w.Status == WalletProcessing }

// Held returns what is held for w: amount and fee while it is open.
func (w *Withdrawal) Held() Amount {
	if !w.Open() {
		return Amount{}
	}
	return w.Amount.Plus(w.Fee)
}

// Unsigned reports whether w waits for a signed transaction.
func (w *Withdrawal) Unsigned() bool {
	return w.Tx == TxHash{} && w.Internal == 0 && !w.Refunded &&
		(w.Status == WalletProcessing || w.Status == WalletDone)
}

// SignedKind says what a transaction of the exchange is for.
type SignedKind uint8

// The kinds of transactions of the exchange.
const (
	// SignedWithdrawal pays a withdrawal.
	SignedWithdrawal SignedKind = iota + 1
	// SignedSweep brings money from a customer's address to the hot wallet.
	SignedSweep
	// SignedTopUp brings a customer's address the coin that a sweep's fee needs.
	SignedTopUp
)

// SignedState is where a transaction of the exchange is in its life.
type SignedState uint8

// The states of a transaction of the exchange.
const (
	// SignedWaiting: signed, and not known to be accepted by the network.
	SignedWaiting SignedState = iota + 1
	// SignedAccepted: the network took it; it is in no block.
	SignedAccepted
	// SignedMined: it is in a block of the chain.
	SignedMined
	// SignedFinal: its block is too deep to leave the chain; it is forgotten.
	SignedFinal
	// SignedDropped: an operator gave it up, because it can never be mined.
	SignedDropped
)

// SignedTx is a transaction of the exchange. Only these bytes are ever sent.
type SignedTx struct {
	Network NetworkID
	Kind    SignedKind
	// Wallet is the withdrawal that it pays; zero for other kinds.
	Wallet WalletID
	Tx     TxHash
	Raw    []byte
	// Inputs are the outputs that it spends, where money lies in outputs.
	Inputs []Outpoint
	// From is the number of the sending address and Nonce its number of the
	// transaction, where money lies in accounts.
	From  uint32
	Nonce uint64
	// Cost is the most that the network may take for it.
	Cost AssetAmount

	// What follows is the engine's.

	State SignedState
	// Reverted says that it was mined and did not do what it is for.
	Reverted bool
	Block    BlockRef
	Time     Time
}

// Rivals reports whether a chain can hold only one of two transactions: they spend
// the same output, or have the same number at the same address.
func (s *SignedTx) Rivals(other *SignedTx) bool {
	if len(s.Inputs) == 0 && len(other.Inputs) == 0 {
		return s.From == other.From && s.Nonce == other.Nonce
	}
	return slices.ContainsFunc(s.Inputs, func(at Outpoint) bool { return slices.Contains(other.Inputs, at) })
}

// Unspent is an output of the exchange.
type Unspent struct {
	Network NetworkID
	Outpoint
	Asset   AssetID
	Amount  Amount
	Address uint32
	// Height is that of its block.
	Height uint64
	// By is the transaction of the exchange that reserves it, or zero.
	By TxHash
	// Gone says that it is spent, or that its block left the chain.
	Gone bool
}

// Holding is what an address of the exchange has, where money lies in accounts.
type Holding struct {
	Network NetworkID
	Address uint32
	Asset   AssetID
	Amount  Amount
}

// Nonce is the number of the next transaction of a sending address.
type Nonce struct {
	Network NetworkID
	Address uint32
	Next    uint64
}

// Halt says why the exchange stopped a network's withdrawals by itself.
type Halt uint8

// The reasons to halt. Only an operator resumes.
const (
	// HaltReorg: the block of a credited deposit left the chain.
	HaltReorg Halt = iota + 1
	// HaltDeepReorg: the chain changed deeper than the exchange remembers.
	HaltDeepReorg
	// HaltStrangeSpend: money left by a transaction that the exchange did not
	// sign, or had given up.
	HaltStrangeSpend
)

// NetworkState is where the exchange is on a network.
type NetworkState struct {
	Network NetworkID
	// Tip is the last block that was taken in; zero before the first.
	Tip BlockRef
	// Part is the number of the next part of the tip, zero if it is complete.
	Part uint32
	// Time is the tip's.
	Time Time
	// Paused: an operator stopped withdrawals. Halted: the exchange did.
	Paused bool
	Halted Halt
}

// Stopped reports whether withdrawals do not leave.
func (n *NetworkState) Stopped() bool { return n.Paused || n.Halted != 0 }

// SavedAddress is an entry of an address book. Its name is kept elsewhere.
type SavedAddress struct {
	ID      AddressID
	Account AccountID
	Network NetworkID
	// Asset is that of the withdrawal that saved it.
	Asset   AssetID
	Address string
	Memo    string
	Token   Token
	// Trusts say what may leave to it without a person, by ascending asset; one for
	// each asset of which a person or a second factor approved a withdrawal.
	Trusts []Trust
}

// Trust is how much of an asset may leave to a saved address without a person.
type Trust struct {
	Asset AssetID
	// Most is the greatest amount of one withdrawal, its fee excluded, from From on.
	Most Amount
	From Time
	// Greater takes the place of Most from GreaterFrom on. Both are zero if no
	// greater amount was approved.
	Greater     Amount
	GreaterFrom Time
}

// Covers reports whether a withdrawal of an amount needs no person at a time.
func (t *Trust) Covers(amount Amount, now Time) bool {
	if t.GreaterFrom != 0 && t.GreaterFrom <= now {
		return !t.Greater.Less(amount)
	}
	return t.From <= now && !t.Most.Less(amount)
}

// WalletCommand is what the commands of the wallet read besides Account, On,
// AssetID and Token.
type WalletCommand struct {
	Network NetworkID
	ID      WalletID
	Deposit DepositID
	Address AddressID
	Height  uint64
	Tx      TxHash

	Block    *Block
	Withdraw *Withdraw
	Signed   *SignedTx
	Save     *SavedAddress
}

// The bounds of what a command of the wallet carries, so that each fits a frame
// of the journal.
const (
	// MaxMemo is the longest memo that is kept, in bytes.
	MaxMemo = 128
	// MaxAddress is the longest address, in bytes.
	MaxAddress = 128
	// MaxBlockEntries bounds the transactions, takings, spent and new outputs of
	// a part of a block, taken together.
	MaxBlockEntries = 1000
	// MaxRaw is the longest signed transaction, in bytes.
	MaxRaw = 100_000
	// MaxInputs is the most outputs that a signed transaction spends.
	MaxInputs = 1000
)

func (w *WalletCommand) check(c *Command) bool {
	if w == nil {
		return false
	}
	switch c.Kind {
	case CommandBlock:
		return w.Block != nil && w.Block.check()
	case CommandRewind, CommandPauseWithdrawals:
		return w.Network > 0
	case CommandWithdraw:
		return c.Account.IsCustomer() && w.Withdraw != nil && w.Withdraw.check()
	case CommandTransfer:
		return c.Account.IsCustomer() && w.Withdraw != nil && w.Withdraw.checkTransfer()
	case CommandCancelWithdrawal:
		return c.Account.IsCustomer() && w.ID > 0
	case CommandDecideWithdrawal, CommandReplaceWithdrawal:
		return w.ID > 0
	case CommandReleaseWithdrawal:
		return (w.ID > 0) != (w.Network > 0 && w.Tx != TxHash{})
	case CommandSigned:
		return w.Signed != nil && w.Signed.check()
	case CommandSent:
		return w.Network > 0 && w.Tx != TxHash{}
	case CommandAssignDeposit:
		return c.Account.IsCustomer() && w.Deposit > 0
	case CommandSaveAddress:
		return c.Account.IsCustomer() && w.Save != nil && w.Save.check()
	case CommandForgetAddress:
		return c.Account.IsCustomer() && w.Address > 0
	default:
		return false
	}
}

func (b *Block) check() bool {
	entries := len(b.Txs)
	for i := range b.Txs {
		tx := &b.Txs[i]
		entries += len(tx.Taken) + len(tx.Spent) + len(tx.Outputs)
		if (tx.Hash == TxHash{}) || len(tx.Taken)+len(tx.Outputs) == 0 || !b.ByOutput && len(tx.Spent) > 0 || !tx.check() {
			return false
		}
	}
	return b.Network > 0 && b.Hash != TxHash{} && b.Hash != b.Parent && b.Time >= 0 &&
		b.Height < 1<<62 && b.Part < 1<<31 && entries <= MaxBlockEntries
}

func (t *Tx) check() bool {
	for i := range t.Taken {
		if t.Taken[i].Asset == 0 || t.Taken[i].Amount.IsZero() {
			return false
		}
	}
	for i := range t.Outputs {
		o := &t.Outputs[i]
		owned := o.Owner == 0 || o.Owner == AccountTreasury || o.Owner.IsCustomer()
		// Indexes rise, so that none comes twice.
		if !owned || o.Asset == 0 || o.Amount.IsZero() || len(o.Memo) > MaxMemo ||
			i > 0 && o.Index <= t.Outputs[i-1].Index {
			return false
		}
	}
	return true
}

func (w *Withdraw) check() bool {
	return w.Network > 0 && w.Asset > 0 && !w.Amount.IsZero() && validAddress(w.Address, w.Memo) &&
		(w.Internal == 0 || w.Internal.IsCustomer()) &&
		(!w.ClientID.Given() || !w.Once.Given()) && w.checkAgain() && w.Message == Token{}
}

// checkAgain reports whether a request that is to have come before can be known.
func (w *Withdraw) checkAgain() bool { return !w.Again || w.Named() && !w.Factor }

func (s *SavedAddress) check() bool {
	return s.Network > 0 && s.Asset > 0 && validAddress(s.Address, s.Memo)
}

func (s *SignedTx) check() bool {
	return s.Network > 0 && s.Kind >= SignedWithdrawal && s.Kind <= SignedTopUp &&
		(s.Kind == SignedWithdrawal) == (s.Wallet > 0) && s.Tx != TxHash{} &&
		len(s.Raw) > 0 && len(s.Raw) <= MaxRaw && len(s.Inputs) <= MaxInputs && s.Nonce < 1<<62
}

func validAddress(address, memo string) bool {
	return len(address) <= MaxAddress && validText(address) &&
		(memo == "" || len(memo) <= MaxMemo && validText(memo))
}

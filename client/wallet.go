package client

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"
)

// Asset is an asset of the exchange.
type Asset struct {
	Symbol  string `json:"-"`
	Name    string `json:"name"`
	IconURL string `json:"icon_url"`
}

// Assets lists the assets whose symbol or name contains a text, by symbol; all if it is empty.
func (c *Client) Assets(ctx context.Context, search string) iter.Seq2[Asset, error] {
	f := fields{}.text("search", search)
	return pages(func(offset int) ([]Asset, error) {
		f["offset"] = offset
		a, err := look[struct{ Assets map[string]Asset }](ctx, c, "/wallet/assets", f)
		return bySymbol(a.Assets, func(row *Asset, symbol string) { row.Symbol = symbol }), err
	})
}

// bySymbol returns the members of an object in the order of their names.
func bySymbol[R any](members map[string]R, name func(*R, string)) []R {
	var list []R
	for _, symbol := range slices.Sorted(maps.Keys(members)) {
		row := members[symbol]
		name(&row, symbol)
		list = append(list, row)
	}
	return list
}

// Network is a network that carries an asset.
type Network struct {
	Symbol      string `json:"-"`
	Description string `json:"description"`
	IconURL     string `json:"icon_url"`
}

// Networks returns the networks that carry an asset, by symbol.
func (c *Client) Networks(ctx context.Context, asset string) ([]Network, error) {
	a, err := look[struct{ Networks map[string]Network }](ctx, c, "/wallet/networks", fields{"asset": asset})
	return bySymbol(a.Networks, func(row *Network, symbol string) { row.Symbol = symbol }), err
}

// Balance is the account's balance of an asset, from [Client.Balances] or the stream MyBalances.
type Balance struct {
	Asset string `json:"asset"`
	// Total is Locked plus Available, in units of the asset.
	Total Decimal `json:"total"`
	// Locked is held by open orders and withdrawals.
	Locked    Decimal `json:"locked"`
	Available Decimal `json:"avbl"`
	// Time is the time of the change; zero in Balances.
	Time Time `json:"time"`
}

// Balances lists the account's balances of all assets, zero ones included, by symbol.
func (c *Client) Balances(ctx context.Context) iter.Seq2[Balance, error] {
	return pages(func(offset int) ([]Balance, error) {
		a, err := read[struct{ Balances map[string]Balance }](ctx, c, "/wallet/balances", fields{"offset": offset})
		return bySymbol(a.Balances, func(row *Balance, symbol string) { row.Asset = symbol }), err
	})
}

// Transaction is a deposit, a withdrawal or a transfer between accounts, from
// [Client.Transactions] or the stream MyTransfers.
type Transaction struct {
	ID uint64 `json:"xid"`
	// Type is DEPOSIT, WITHDRAWAL, TRANSFER_IN or TRANSFER_OUT.
	Type  string `json:"type"`
	Asset string `json:"asset"`
	// Network is empty for a transfer.
	Network string `json:"network"`
	// Amount is in the asset. A withdrawal's excludes Fee.
	Amount Decimal `json:"amount"`
	// Status is PENDING, PROCESSING, PENDING_CANCEL, CANCELED or DONE.
	Status  string `json:"status"`
	Created Time   `json:"create_time"`
	// Done is zero until the status is DONE.
	Done Time `json:"exec_time"`
	// Address is the destination, for a transfer the other account's e-mail address.
	Address string `json:"address"`
	Memo    string `json:"memo"`
	// Confirms counts the confirmations of a PENDING deposit, ConfirmsTarget the needed ones.
	Confirms       uint64 `json:"confirms"`
	ConfirmsTarget uint64 `json:"confirms_target"`
	// TxID and Height name the network's transaction and its block.
	TxID   string  `json:"txid"`
	Height uint64  `json:"height"`
	Fee    Decimal `json:"fee"`
}

// Movements selects transactions. The zero Movements selects all.
type Movements struct {
	Asset string
	// Types are words of Transaction.Type, Status one of Transaction.Status.
	Types  []string
	Status string
	// From and To bound the times of creation, in whole seconds, both included.
	From, To time.Time
}

// Transactions lists the account's transactions, newest first.
func (c *Client) Transactions(ctx context.Context, which Movements) iter.Seq2[Transaction, error] {
	return begun(func() iter.Seq2[Transaction, error] {
		f := fields{"offset": 0}.text("asset", which.Asset).text("status", which.Status).
			seconds("from", which.From).seconds("to", which.To)
		last := uint64(0)
		if len(which.Types) > 0 {
			f["type"] = which.Types
		}
		list := pages(func(int) ([]Transaction, error) {
			a, err := read[struct{ Transactions []Transaction }](ctx, c, "/wallet/transactions", f.number("after", last))
			return a.Transactions, err
		})
		return filtered(list, func(row *Transaction) bool {
			last = row.ID
			return true
		})
	})
}

// DepositAddress is the account's address for deposits of an asset over a network.
type DepositAddress struct {
	// Operating is false while the network does not answer or is behind.
	Operating bool `json:"operating"`
	// ConfirmsTarget is the number of confirmations after which a deposit is credited.
	ConfirmsTarget uint64 `json:"confirms_target"`
	Address        string `json:"address"`
	// Memo belongs to the address on networks with memos, MemoName is their word for it.
	Memo      string `json:"memo"`
	MemoName  string `json:"memo_name"`
	QRContent string `json:"qr_content"`
	// Contract is the asset's contract on the network, if it has one.
	Contract   string  `json:"contract"`
	MinDeposit Decimal `json:"min_deposit"`
	Warning    string  `json:"warning"`
}

// DepositAddress returns the account's address for deposits of an asset over a network.
func (c *Client) DepositAddress(ctx context.Context, asset, network string) (DepositAddress, error) {
	return read[DepositAddress](ctx, c, "/wallet/deposit", fields{"asset": asset, "network": network})
}

// WithdrawTerms are the terms of withdrawals of an asset over a network.
type WithdrawTerms struct {
	Operating bool `json:"operating"`
	// MinFee and MaxFee bound the fee, in the asset.
	MinFee Decimal `json:"fee_min"`
	MaxFee Decimal `json:"fee_max"`
	// Precision is the number of decimals of amount and fee.
	Precision     uint8   `json:"prec"`
	MemoName      string  `json:"memo_name"`
	Contract      string  `json:"contract"`
	MinWithdrawal Decimal `json:"min_withdrawal"`
	Warning       string  `json:"warning"`
}

// WithdrawTerms returns the terms of withdrawals of an asset over a network.
func (c *Client) WithdrawTerms(ctx context.Context, asset, network string) (WithdrawTerms, error) {
	return read[WithdrawTerms](ctx, c, "/wallet/withdraw/info", fields{"asset": asset, "network": network})
}

// Verdict is the result of [Client.Validate].
type Verdict struct {
	ValidAddress bool `json:"valid_address"`
	ValidMemo    bool `json:"valid_memo"`
	// Internal is true for an account of this exchange.
	Internal bool `json:"internal"`
}

// Validate judges a destination of an asset over a network. Without a memo ValidMemo is false.
func (c *Client) Validate(ctx context.Context, asset, network, address, memo string) (Verdict, error) {
	f := fields{"asset": asset, "network": network, "address": address}.text("memo", memo)
	return read[Verdict](ctx, c, "/wallet/withdraw/validate", f)
}

// NewWithdrawal is a withdrawal to be made.
type NewWithdrawal struct {
	Asset, Network, Address, Memo string
	// Amount and Fee are in the asset; the account is charged their sum.
	Amount, Fee Decimal
	// SaveAs, if it is not empty, saves the address under this name.
	SaveAs string
	// ClientID is the client's own name for the withdrawal. A request that comes again with
	// the same name and the same fields is answered with the first id and withdraws nothing.
	ClientID string
	// Code is the second factor's, for the key of a session.
	Code string
}

// Withdraw asks for a withdrawal once, and returns its id. After ErrOutcomeUnknown it may exist:
// [Client.Transactions] tells, or the same request again, if it has a ClientID.
func (c *Client) Withdraw(ctx context.Context, w *NewWithdrawal) (id uint64, err error) {
	f := fields{"asset": w.Asset, "network": w.Network, "address": w.Address, "amount": w.Amount, "fee": w.Fee}
	f.text("memo", w.Memo).text("adbk_name", w.SaveAs).text("client_id", w.ClientID).text("code_2fa", w.Code)
	a, err := change[struct{ Xid uint64 }](ctx, c, "/wallet/withdraw", f)
	return a.Xid, err
}

// WithdrawOnce makes a withdrawal exactly once: it repeats the request until an answer comes, or
// the context ends. It gives a withdrawal without a ClientID a random one, in w.
func (c *Client) WithdrawOnce(ctx context.Context, w *NewWithdrawal) (id uint64, err error) {
	w.ClientID = nameOf(w.ClientID)
	return once(ctx, func() (uint64, error) { return c.Withdraw(ctx, w) })
}

// CancelWithdrawal cancels a withdrawal. The error is ErrAlreadySent once its transaction is
// signed.
func (c *Client) CancelWithdrawal(ctx context.Context, id uint64) error {
	_, err := change[nothing](ctx, c, "/wallet/withdraw/cancel", fields{"xid": id})
	return err
}

// SavedAddress is an entry of the account's address book: a destination of withdrawals.
type SavedAddress struct {
	// ID is the number that RenameAddress and DeleteAddress take.
	ID      uint64 `json:"-"`
	Name    string `json:"name"`
	Asset   string `json:"asset"`
	Network string `json:"network"`
	Address string `json:"address"`
	Memo    string `json:"memo"`
}

// AddressBook returns the entries of an asset and a network, or of all where they are empty, by
// id.
func (c *Client) AddressBook(ctx context.Context, asset, network string) ([]SavedAddress, error) {
	a, err := read[struct{ Addressbook map[uint64]SavedAddress }](
		ctx, c, "/wallet/addressbook", fields{}.text("asset", asset).text("network", network))
	list := make([]SavedAddress, 0, len(a.Addressbook))
	for _, id := range slices.Sorted(maps.Keys(a.Addressbook)) {
		row := a.Addressbook[id]
		row.ID = id
		list = append(list, row)
	}
	return list, err
}

// RenameAddress renames an entry of the address book.
func (c *Client) RenameAddress(ctx context.Context, id uint64, name string) error {
	_, err := change[nothing](ctx, c, "/wallet/addressbook/rename", fields{"adbkid": id, "new_name": name})
	return err
}

// DeleteAddress deletes an entry of the address book.
func (c *Client) DeleteAddress(ctx context.Context, id uint64) error {
	_, err := change[nothing](ctx, c, "/wallet/addressbook/delete", fields{"adbkid": id})
	return err
}

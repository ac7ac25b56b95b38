package chain

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

var (
	// ErrSilent says that the node did not answer in time. The request may have had its
	// effect.
	ErrSilent = errors.New("the network does not answer")
	// ErrOdd says that an answer was malformed, out of range, or contradicted itself.
	// Nothing of it is used.
	ErrOdd = errors.New("the network answers oddly")
	// ErrOtherChain says that a node is of another chain than the one of the settings. It comes
	// with ErrOdd.
	ErrOtherChain = errors.New("the node is of another chain")
	// ErrPruned says that the node has thrown away a block of its chain that the exchange has not read. It
	// comes with ErrOdd.
	ErrPruned = errors.New("the node does not have the block any more")
	// ErrNoBlock says that the node's chain has no block at that height.
	ErrNoBlock = errors.New("no such block")
	// ErrFunds says that a payment's inputs or sender cannot pay for it.
	ErrFunds = errors.New("not enough to pay with")
	// ErrCost says that a payment would cost more than its cap.
	ErrCost = errors.New("costs more than allowed")
)

// Codec is the part of a network that needs no node: addresses, memos, and the bytes of
// transactions. It is made from public keys, is pure except for Watch, and is safe for
// concurrent use.
type Codec interface {
	// Shape returns the network's shape, which never changes.
	Shape() *Shape
	// Destination returns the deposit address of an account; IndexHot and IndexChange are
	// the exchange's own. It never changes.
	Destination(index uint32) Destination
	// Watch makes the accounts up to this id known to Owner. Ids are dense, so the last
	// one stands for all. The bound never decreases.
	Watch(last uint32)
	// Owner returns the owner of an address and memo; false if the exchange does not own
	// the address. An account beyond Watch's bound owns nothing. A debit has no memo:
	// only At counts then.
	Owner(address, memo string) (Owner, bool)
	// ParseAddress returns the canonical form of an address of this network. The error is
	// an *bourse.Error with CodeInvalid: another network's address, a wrong checksum, a
	// wrong length.
	ParseAddress(s string) (string, error)
	// ParseMemo returns the canonical form of a memo. The error is an *bourse.Error with
	// CodeInvalid, and is returned for every memo on networks without memos.
	ParseMemo(s string) (string, error)
	// FormatHash writes a block's or transaction's hash in the network's form.
	FormatHash(h Hash) string
	// PaymentURI returns a URL that opens a payer's wallet with the payment; false if the
	// network has none for the coin.
	PaymentURI(coin CoinID, to Destination) (string, bool)
	// Decode returns all effects of a transaction, unsigned or signed. It refuses a
	// transaction with a source that is not the exchange's, and one that it does not
	// understand to the last byte.
	Decode(raw []byte) (Decoded, error)
}

// Network is a connection to a network. Every method with a context returns within the
// adapter's own timeout, or earlier if the context ends, and fails with ErrSilent or
// ErrOdd as the package describes. Safe for concurrent use.
type Network interface {
	Codec
	// Health reports whether the network is usable. With an error it is not operating,
	// and Reason explains why.
	Health(ctx context.Context) (Health, error)
	// Block returns the block at a height of the node's chain; ErrNoBlock above the head.
	// Its contents are checked against its hash as far as the network permits. Transfers of addresses
	// that Owner does not know at the call may be left out.
	Block(ctx context.Context, height uint64) (*Block, error)
	// Fees returns the current cost of payments of a coin.
	Fees(ctx context.Context, coin CoinID) (Fees, error)
	// Outbid returns the cost of payments of a coin that replace signed transactions and
	// spend the same inputs, or more. It fails with ErrCost if the settings allow no such cost. On networks of
	// accounts they allow OverCap times their cap.
	// Without transactions to replace, and on networks that replace none, it is Fees.
	Outbid(ctx context.Context, coin CoinID, replaces [][]byte) (Fees, error)
	// Prepare makes a payment that lacks only a signature. It fails with ErrCost above
	// the payment's cap, and with ErrFunds above the balance.
	Prepare(ctx context.Context, p *Payment) (Unsigned, error)
	// Broadcast sends a signed transaction to the node. It is idempotent. With an error
	// the verdict is Unknown.
	Broadcast(ctx context.Context, raw []byte) (Verdict, error)
	// State returns the state of a signed transaction of the exchange. It takes the
	// bytes, not the hash, to check for conflicting transactions.
	State(ctx context.Context, raw []byte) (TxState, error)
	// Balance returns an address's balance on the node's chain, at its head.
	Balance(ctx context.Context, address string, coin CoinID) (bourse.Amount, error)
	// Nonce returns the next nonce of an own address on the node's chain, without waiting
	// transactions; zero on networks of outputs.
	Nonce(ctx context.Context, index uint32) (uint64, error)
}

// ColdStorage is what a network whose cold storage people sign for has besides. Safe for concurrent use.
type ColdStorage interface {
	// Draft returns a transaction from cold storage to the hot wallet, for people to sign. It spends the first of the
	// payment's inputs that are enough and exclude what the payment replaces. It fails with ErrFunds if they are not, and
	// with ErrCost above the settings' cap on fees.
	Draft(ctx context.Context, p *Payment) (Draft, error)
	// FromCold returns what people signed, as Decode and Broadcast take it. Nothing of it is trusted: it spends only
	// what spends returns, has every signature, pays the hot wallet once and else cold storage alone, and its
	// cost is bounded by the settings.
	FromCold(signed []byte, spends func(Outpoint) (Input, bool)) (raw []byte, err error)
}

// Keyring holds the private keys of one network. It signs without checks: the caller has
// decoded and compared the bytes (package signer).
type Keyring interface {
	// Sign returns the signed transaction and its hash. It is deterministic.
	Sign(raw []byte) (signed []byte, hash Hash, err error)
}

package chain

import (
	"context"
	"errors"

	"github.com/bourse-exchange/bourse"
)

var (
	// ErrSilent says that the node did not answer, or not in time. What was
	// asked of it may have happened all the same.
	ErrSilent = errors.New("the network does not answer")
	// ErrOdd says that an answer was not what had been asked for: malformed,
	// out of range, or contradicting itself. Nothing of it is used.
	ErrOdd = errors.New("the network answers oddly")
	// ErrNoBlock says that the node's chain has no block at that height.
	ErrNoBlock = errors.New("no such block")
	// ErrFunds says that a payment's inputs or sender cannot pay for it.
	ErrFunds = errors.New("not enough to pay with")
	// ErrCost says that a payment would cost more than its cap.
	ErrCost = errors.New("costs more than allowed")
)

// Codec is the part of a network that needs no node: addresses, memos, and the
// bytes of transactions. It is made from public keys, is pure but for Watch,
// and may be used by anybody at once.
type Codec interface {
	// Shape says how the network works. The same for ever.
	Shape() *Shape
	// Destination returns where an account receives its deposits; IndexHot and
	// IndexChange are the exchange's own. The same for ever.
	Destination(index uint32) Destination
	// Watch makes the accounts up to this id known to Owner. Ids are dense, so
	// that one number says which exist; it never goes back.
	Watch(last uint32)
	// Owner returns whose an address with its memo is, and false if it is none
	// of ours. An account that is not watched is nobody's. For what was taken
	// from an address there is no memo: At alone counts then.
	Owner(address, memo string) (Owner, bool)
	// ParseAddress returns the canonical form of an address of this network.
	// The error is an *bourse.Error with CodeInvalid: another network's, a
	// wrong checksum, a wrong length.
	ParseAddress(s string) (string, error)
	// ParseMemo returns the canonical form of a memo. The error is an
	// *bourse.Error with CodeInvalid, always so on networks without memos.
	ParseMemo(s string) (string, error)
	// FormatHash writes the name of a block or a transaction.
	FormatHash(h Hash) string
	// PaymentURI returns a URL that asks a payer's wallet to pay, and false
	// where the network has none for the coin.
	PaymentURI(coin CoinID, to Destination) (string, bool)
	// Decode tells everything that a transaction does, unsigned or signed. It
	// refuses what spends from others than us, and whatever it does not
	// understand to the last byte.
	Decode(raw []byte) (Decoded, error)
}

// Network is a network that can be asked. Every method that takes a context
// returns within the adapter's own timeout, or earlier if the context ends,
// and fails with ErrSilent or ErrOdd as the package says. The methods may be
// called by anybody at once.
type Network interface {
	Codec
	// Health says whether the network can be worked with. With an error it is
	// not operating, and the reason says so in words.
	Health(ctx context.Context) (Health, error)
	// Block returns the block at a height of the node's chain; ErrNoBlock above
	// the head. Its contents are checked against its hash as far as the network
	// makes that possible.
	Block(ctx context.Context, height uint64) (*Block, error)
	// Fees returns what payments of a coin cost now.
	Fees(ctx context.Context, coin CoinID) (Fees, error)
	// Prepare makes a payment that needs a signature alone. It never costs more
	// than its cap (ErrCost) nor more than there is (ErrFunds).
	Prepare(ctx context.Context, p *Payment) (Unsigned, error)
	// Broadcast hands a signed transaction to the node. The same bytes may be
	// handed over any number of times. With an error the verdict is Unknown.
	Broadcast(ctx context.Context, raw []byte) (Verdict, error)
	// State says where a signed transaction of ours is; it takes the bytes, not
	// the hash, to see what may have taken the transaction's place.
	State(ctx context.Context, raw []byte) (TxState, error)
	// Balance returns what an address has on the node's chain, at its head.
	Balance(ctx context.Context, address string, coin CoinID) (bourse.Amount, error)
	// Nonce returns the number of the next payment of an address of ours on the
	// node's chain, waiting ones not counted; zero on networks of outputs.
	Nonce(ctx context.Context, index uint32) (uint64, error)
}

// Keyring holds the private keys of one network. It signs what it is given:
// who calls it has decoded and compared it before (package signer).
type Keyring interface {
	// Sign returns the signed transaction and its hash. The same bytes give the
	// same signature.
	Sign(raw []byte) (signed []byte, hash Hash, err error)
}

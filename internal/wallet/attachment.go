package wallet

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// Attachment describes a network to connect.
type Attachment struct {
	// Symbol is the network's name in the catalogue. An unlisted network is not
	// connected.
	Symbol bourse.Symbol
	// Open connects to the network. It is called at most once, after the process has
	// locked the journal.
	Open func() (*Connection, error)
}

// Connection is a connected network, for the wallet and its signer.
type Connection struct {
	// Network is the worker's client.
	Network chain.Network
	// Start is the height of the first block to read, if none was read before.
	Start uint64
	// Stuck is as in Options.
	Stuck uint64
	// Outputs is as in Options.
	Outputs int
	// Joined is as in Options.
	Joined int
	// Hot bounds the hot wallet's balances of some assets.
	Hot map[bourse.AssetID]Band
	// Alone is as in Options.
	Alone map[bourse.AssetID]bourse.Amount
	// Signer is the signer's part of the network. The caller that opens the signer sets
	// its limits.
	Signer signer.Network
	// Changed, if not nil, receives when the worker should step at once.
	Changed <-chan struct{}
	// Tick, if not nil, runs before each step of the worker: an embedded network makes
	// its due blocks there. A full disk is retried; any other error is final.
	Tick func() error
	// Close releases the resources of Open.
	Close func() error
}

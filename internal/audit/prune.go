package audit

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Pruned is the result of a prune.
type Pruned struct {
	// Since is the first kept command.
	Since bourse.Seq `json:"since"`
	// StateHash is the hash of the state before it.
	StateHash string `json:"state_hash"`
}

// Prune deletes archived segments that end before a sequence, and leaves a stub with the
// state after them. The exchange must not run.
func (x *Exchange) Prune(before bourse.Seq) (_ *Pruned, err error) {
	lock, err := journal.Lock(x.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	last, err := x.Files.Boundary(before)
	if err != nil {
		return nil, err
	}
	if last == 0 {
		return nil, fmt.Errorf("no archived file lies before command %d", before)
	}

	end, err := x.ReplayOldest(last)
	if err != nil {
		return nil, err
	}
	if end.Tip.Last != last {
		return nil, fmt.Errorf("the replay ended at command %d, not %d", end.Tip.Last, last)
	}

	hash := end.Engine.StateHash()
	stub := journal.Stub{Seq: last, Chain: end.Tip.Chain, State: hash, Balances: balances(end.Engine)}
	return &Pruned{Since: last + 1, StateHash: hex.EncodeToString(hash[:])}, x.Files.Prune(before, stub)
}

// balances writes all balances, one on each line.
func balances(e *engine.Engine) []byte {
	var text []byte
	e.Holdings(func(b bourse.Balance) {
		text = fmt.Appendf(text, "%d %d %s %s\n", b.Asset, b.Account, b.Available.Format(0), b.Held.Format(0))
	}, func(asset bourse.AssetID, account bourse.AccountID, owes, has bourse.Amount) {
		text = fmt.Appendf(text, "%d %d %s -%s\n", asset, account, has.Format(0), owes.Format(0))
	})
	return text
}

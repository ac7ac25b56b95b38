package standby

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Promotion is the outcome of Promote.
type Promotion struct {
	Exchange string `json:"exchange"`
	Sandbox  bool   `json:"sandbox"`
	// Incarnation begins with the next start.
	Incarnation bourse.Incarnation `json:"incarnation"`
	// The end of the copy: later acknowledgements are lost.
	Seq       bourse.Seq `json:"seq"`
	Time      string     `json:"time"`
	Chain     string     `json:"chain"`
	StateHash string     `json:"state_hash"`
}

// PromoteOptions are the arguments of Promote.
type PromoteOptions struct {
	// Dir is the standby's data directory.
	Dir         string
	Credentials Credentials
	// Gone is true if a person has looked and knows that the source will not answer again.
	Gone bool
	// Remote is true if the accounts are on a server, which Fence keeps from all lower incarnations.
	Remote bool
	Fence  func(bourse.Incarnation) error
}

// The reasons not to promote.
var (
	// ErrAnswers means that the source answers.
	ErrAnswers = errors.New("the source answers")
	// ErrNotSure means that the source does not answer, and PromoteOptions.Gone is false.
	ErrNotSure = errors.New("the source does not answer, which may be the network's fault: look whether it is off, see that it stays so, and say --source-is-gone")
	// ErrNoStandby means that the directory is no standby's.
	ErrNoStandby = errors.New("is no standby")
)

// Promote makes a copy the exchange, in the next incarnation, which its next start journals.
func Promote(ctx context.Context, o PromoteOptions) (_ *Promotion, err error) {
	d, err := disk.OpenExisting(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	role, err := ReadRole(d)
	switch {
	case err != nil:
		return nil, err
	case role.Follows == "":
		return nil, fmt.Errorf("%s %w", o.Dir, ErrNoStandby)
	case role.Differs != "":
		return nil, fmt.Errorf("%s cannot become the exchange: %s", o.Dir, role.Differs)
	}
	if err := o.look(ctx, role.Follows); err != nil {
		return nil, err
	}

	lock, err := journal.Lock(d)
	if err != nil {
		return nil, fmt.Errorf("%s: stop `bourse follow` first: %w", o.Dir, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	p, err := o.examine()
	if err != nil {
		return nil, err
	}
	if o.Remote {
		if err := o.Fence(p.Incarnation); err != nil {
			return nil, err
		}
	}
	return p, Role{Raise: p.Incarnation, Why: "promote"}.Write(d)
}

// look refuses while one of the source's addresses answers, or may.
func (o *PromoteOptions) look(ctx context.Context, source string) error {
	var silent error
	for _, address := range Addresses(source) {
		peer, err := NewPeer(address, &o.Credentials)
		if err != nil {
			return err
		}
		answered, err := peer.Reach(ctx)
		peer.Close()
		switch {
		case err == nil:
			return fmt.Errorf("%w at %s: stop it first", ErrAnswers, address)
		case answered:
			return fmt.Errorf("%w at %s, but not to this node: %w", ErrAnswers, address, err)
		}
		silent = errors.Join(silent, err)
	}
	if !o.Gone {
		return fmt.Errorf("%w: %w", ErrNotSure, silent)
	}
	return nil
}

// examine replays the copy, and checks its books.
func (o *PromoteOptions) examine() (_ *Promotion, err error) {
	if _, err := os.Stat(filepath.Join(o.Dir, accountsDB)); errors.Is(err, fs.ErrNotExist) && !o.Remote {
		return nil, fmt.Errorf("%s has no copy of the accounts yet", o.Dir)
	}
	x, err := audit.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	end, err := x.ReplayNewest(audit.Everything)
	if err != nil {
		return nil, err
	}
	if err := end.Engine.Check(); err != nil {
		return nil, fmt.Errorf("the copy's books are wrong: %w", err)
	}
	if end.Engine.Genesis() == nil {
		return nil, fmt.Errorf("%s has no exchange yet", o.Dir)
	}

	hash := end.Engine.StateHash()
	return &Promotion{
		Exchange: hex.EncodeToString(x.Identity.Exchange[:]), Sandbox: x.Identity.Sandbox,
		Incarnation: end.Engine.Incarnation() + 1, Seq: end.Tip.Last, Time: end.Tip.Time.Std().Format(time.RFC3339Nano),
		Chain: hex.EncodeToString(end.Tip.Chain[:]), StateHash: hex.EncodeToString(hash[:]),
	}, nil
}

package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// clusterRecover makes the node that is left the only one of its cluster.
type clusterRecover struct {
	Data     place  `help:"Data directory of the node that is left; its process has ended." required:""`
	Accept   bool   `help:"A person has looked: the other nodes are gone for good, and what they alone acknowledged is lost. Without it, print what this node has." name:"accept-loss"`
	Accounts string `help:"PostgreSQL database of accounts and keys, if they are on a server." placeholder:"URL"`
}

// recovery is the answer to cluster recover.
type recovery struct {
	Node uint64 `json:"node"`
	// Lost are the numbers of the nodes that voted and are no members any more.
	Lost []uint64 `json:"lost"`
	// Last is the last entry of the node's log when the recovery began. Later entries are lost.
	Last cluster.Place `json:"last"`
	// Commit is the last entry that the node knew to be committed then.
	Commit cluster.Place `json:"commit"`
	// Incarnation begins with the next start.
	Incarnation bourse.Incarnation `json:"incarnation"`
	Epoch       uint32             `json:"epoch"`
	StateHash   string             `json:"state_hash"`
	// Kept is the directory with the files as they were.
	Kept string `json:"kept"`
}

// Run recovers the node. The last step makes it one that starts; all others can be repeated.
func (c *clusterRecover) Run(p *program) (err error) {
	d, err := disk.OpenExisting(string(c.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	config, err := cluster.LoadConfig(d)
	if err != nil {
		return fmt.Errorf("%s is no node of a cluster: %w", c.Data, err)
	}
	if config.Sandbox {
		common, err := c.hold()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, common.Close()) }()
	}
	if err := c.checkAccounts(); err != nil {
		return err
	}
	extent, err := c.check(p, d, config)
	if err != nil {
		return err
	}

	after, begun, err := cluster.Recover(d, config, extent, time.Now())
	if err != nil {
		return err
	}
	incarnation, hash, err := c.replay()
	if err != nil {
		return err
	}
	if err := (standby.Role{Raise: incarnation, Why: "recover"}).Write(d); err != nil {
		return err
	}
	if err := c.fence(p, signer.Epoch{Incarnation: incarnation, Term: begun.Extent.Term}); err != nil {
		return err
	}
	if err := after.Save(d); err != nil {
		return err
	}

	number := cluster.Number(after.Node)
	return p.print(recovery{
		Node: number, Lost: slices.DeleteFunc(begun.Extent.Voters, func(n uint64) bool { return n == number }),
		Last: begun.Extent.Last, Commit: begun.Extent.Commit, Incarnation: incarnation, Epoch: after.Epoch, StateHash: hash,
		Kept: filepath.Join(string(c.Data), begun.Kept),
	})
}

// check refuses a recovery that is not needed, or that nobody has accepted. It returns how far the node's log reaches.
func (c *clusterRecover) check(p *program, d disk.Disk, config *cluster.Config) (*cluster.Extent, error) {
	number := cluster.Number(config.Node)
	if answering := config.Answering(p.ctx); len(answering) > 0 {
		return nil, fmt.Errorf("nodes %d answer at their node ports, and may have all that was acknowledged: start node %d beside them. "+
			"If they are no majority together, end them, and recover the one whose journal reaches furthest", answering, number)
	}
	extent, err := cluster.Inspect(d, config)
	switch {
	case errors.Is(err, journal.ErrInUse):
		return nil, fmt.Errorf("node %d runs: end its process first: %w", number, err)
	case err != nil:
		return nil, err
	case !extent.Votes:
		return nil, fmt.Errorf("node %d has no vote, and may lack much: recover one of the nodes %d", number, extent.Voters)
	case len(extent.Voters) == 1:
		return nil, fmt.Errorf("node %d is the only one that votes, and has lost nothing: start it", number)
	case !c.Accept:
		return nil, fmt.Errorf("nothing was changed. Of the nodes %d, which vote, node %d has the log up to entry %d: command %d of %s. "+
			"It knows that entry %d, command %d, is committed. What the others acknowledged behind entry %d is lost for good with them: "+
			"if they cannot come back, say --accept-loss", extent.Voters, number, extent.Last.Index, extent.Last.Seq, extent.Last.Time,
			extent.Commit.Index, extent.Commit.Seq, extent.Last.Index)
	default:
		return extent, nil
	}
}

// checkAccounts refuses a recovery without the accounts: a fence in a new file would keep nobody from the old ones.
func (c *clusterRecover) checkAccounts() error {
	if c.Accounts != "" {
		return nil
	}
	if _, err := os.Stat(c.accounts()); err != nil {
		return fmt.Errorf("the accounts are not there: if they are on a server, name it with --accounts: %w", err)
	}
	return nil
}

// accounts returns the place of the accounts.
func (c *clusterRecover) accounts() string {
	return cmp.Or(c.Accounts, filepath.Join(c.common(), node.AccountsDB))
}

// common returns the directory that the nodes share.
func (c *clusterRecover) common() string {
	return filepath.Join(filepath.Dir(filepath.Clean(string(c.Data))), commonDir)
}

// hold keeps the parent of the nodes from starting until the Closer is closed.
func (c *clusterRecover) hold() (io.Closer, error) {
	d, err := disk.OpenExisting(c.common())
	if err != nil {
		return nil, err
	}
	lock, err := d.Lock(parentLock)
	if errors.Is(err, disk.ErrLocked) {
		err = errors.New("`bourse dev --nodes` runs: end it first, and with it all nodes")
	}
	return lock, errors.Join(err, d.Close())
}

// fence keeps the lost nodes from the accounts, and from the signer of a sandbox.
func (c *clusterRecover) fence(p *program, to signer.Epoch) error {
	if err := fence(p.ctx, c.accounts(), to.Incarnation); err != nil {
		return fmt.Errorf("accounts: %w", err)
	}

	d, err := disk.OpenExisting(filepath.Join(c.common(), signer.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a signer of its own is adopted by its people
	}
	if err != nil {
		return err
	}
	if err := errors.Join(signer.Adopt(d, &signer.Options{Clock: sharedClock}, to, nil), d.Close()); err != nil {
		return fmt.Errorf("signer: %w", err)
	}
	return nil
}

// replay checks the books behind the last command, and returns the next incarnation and the state's hash.
func (c *clusterRecover) replay() (_ bourse.Incarnation, hash string, err error) {
	x, err := audit.Open(string(c.Data))
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	end, err := x.ReplayNewest(audit.Everything)
	if err != nil {
		return 0, "", err
	}
	if err := end.Engine.Check(); err != nil {
		return 0, "", fmt.Errorf("the node's books are wrong: %w", err)
	}
	state := end.Engine.StateHash()
	return end.Engine.Incarnation() + 1, hex.EncodeToString(state[:]), nil
}

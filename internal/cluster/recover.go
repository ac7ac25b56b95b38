package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// answersWithin bounds the time in which a node port takes a connection.
const answersWithin = 2 * time.Second

// ErrRecovering means that a node is neither one of its old cluster nor one of the new one.
var ErrRecovering = errors.New("its recovery was cut short: run `bourse cluster recover --accept-loss` again")

// Recovering is a recovery that was begun.
type Recovering struct {
	// Member is the node in the cluster of one. Its pin is empty until its key is durable.
	Member
	// Kept is the directory with the files that the recovery changes, as they were.
	Kept string `json:"kept"`
	// Extent is that of the node's log before.
	Extent Extent `json:"extent"`
}

// Extent says how far a stopped node's log reaches. Other nodes may have more.
type Extent struct {
	// Last is the last entry, Commit the last one that the node knows to be committed.
	Last   Place `json:"last"`
	Commit Place `json:"commit"`
	// Term is the term of the last entry.
	Term uint64 `json:"term"`
	// Voters are the numbers of the nodes that vote, and Votes is true if this one does.
	Voters []uint64 `json:"voters"`
	Votes  bool     `json:"-"`
	// files are the names of the files that Recover copies before it changes them.
	files []string
}

// Place is a place in a node's log.
type Place struct {
	Index uint64 `json:"index"`
	// Seq is the last command there, Time its time.
	Seq  uint64 `json:"seq"`
	Time string `json:"time"`
}

func placeOf(index uint64, t *journal.Tip) Place {
	return Place{Index: index, Seq: uint64(t.Last), Time: t.Time.Std().Format(time.RFC3339Nano)}
}

// Inspect verifies the log of a node whose process has ended, and returns its extent: if a recovery was begun, that from
// before it.
func Inspect(d disk.Disk, c *Config) (*Extent, error) {
	if c.Recovering != nil {
		before := c.Recovering.Extent
		before.Votes = true // or it would not have begun
		return &before, nil
	}
	id, err := c.Identity()
	if err != nil {
		return nil, err
	}
	end, err := raftlog.Inspect(d, id)
	if err != nil {
		return nil, err
	}
	e := &Extent{
		Last: placeOf(end.Last.Index, &end.Tip), Commit: placeOf(end.Commit, &end.Committed), Term: end.Last.Term,
		files: append(end.Files, ConfigFile, certFile, keyFile),
	}
	for _, id := range end.Voters {
		e.Voters = append(e.Voters, Number(id))
	}
	slices.Sort(e.Voters)
	e.Votes = slices.Contains(end.Voters, c.Node)
	return e, nil
}

// Answering returns the numbers of the other nodes whose node ports take connections.
func (c *Config) Answering(ctx context.Context) (numbers []uint64) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, p := range c.peers() {
		all.Go(func() {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Address)
			if err != nil {
				return
			}
			_ = conn.Close() // nothing was sent
			mu.Lock()
			defer mu.Unlock()
			numbers = append(numbers, Number(p.Node))
		})
	}
	all.Wait()
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// Recover makes the node of a data directory, whose process has ended, the only one of its cluster: in the next
// epoch, under the next life and with a new key, so that the others are strangers to it. It keeps copies of all files
// that it changes. The extent is what Inspect returned. The returned configuration is not saved, and the node does not
// start without it. After a crash, or instead of saving it, Recover can be called again.
func Recover(d disk.Disk, c *Config, e *Extent, now time.Time) (after *Config, begun *Recovering, err error) {
	id, err := c.Identity()
	if err != nil {
		return nil, nil, err
	}
	if err := c.beginRecovery(d, e); err != nil {
		return nil, nil, err
	}
	if err := c.certifyAnew(d, now); err != nil {
		return nil, nil, err
	}

	own := c.Recovering.Member
	text, err := json.Marshal(&own)
	if err != nil {
		return nil, nil, err
	}
	own.Since, err = raftlog.Recover(d, journal.Options{Identity: id}, own.Node, text)
	if err != nil {
		return nil, nil, err
	}
	after = &Config{
		Exchange: c.Exchange, Sandbox: c.Sandbox, Epoch: c.Epoch + 1, Node: own.Node, Nodes: []Member{own}, Changed: own.Since,
		Lives: c.lives(), Versions: c.Versions,
	}
	return after, c.Recovering, nil
}

// beginRecovery keeps the files that a recovery changes, and then keeps the node from starting.
func (c *Config) beginRecovery(d disk.Disk, e *Extent) error {
	if c.Recovering != nil {
		return nil // an earlier call was cut short
	}
	kept, err := keep(d, c.Epoch, e.files)
	if err != nil {
		return fmt.Errorf("keeping what will change: %w", err)
	}
	own := *c.Member(c.Node)
	own.Node, own.Pin = c.Node+1<<lifeShift, ""
	c.Recovering = &Recovering{Member: own, Kept: kept, Extent: *e}
	return c.Save(d)
}

// certifyAnew makes the key with which a recovered node goes on.
func (c *Config) certifyAnew(d disk.Disk, now time.Time) error {
	if c.Recovering.Pin != "" {
		return nil
	}
	cert, key, pin, err := pinned.Certify(now)
	if err != nil {
		return err
	}
	if err := errors.Join(write(d, certFile, cert), write(d, keyFile, key)); err != nil {
		return err
	}
	c.Recovering.Pin = pin
	return c.Save(d)
}

// keep copies files of a data directory to a new directory in it, which has its name once the copies are durable.
func keep(d disk.Disk, epoch uint32, names []string) (dir string, err error) {
	if err := d.MkdirAll(journal.TornDir); err != nil {
		return "", err
	}
	there, err := d.List(journal.TornDir)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("epoch-%d", epoch)
	for n := 2; slices.Contains(there, name); n++ {
		name = fmt.Sprintf("epoch-%d.%d", epoch, n)
	}

	dir = path.Join(journal.TornDir, name)
	staging := path.Join(journal.TornDir, "keeping")
	for _, file := range names {
		to := path.Join(staging, file)
		if err := d.MkdirAll(path.Dir(to)); err != nil {
			return "", err
		}
		if err := disk.Copy(d, file, to); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
		if err := errors.Join(d.SyncDir(path.Dir(to)), d.SyncDir(staging)); err != nil {
			return "", err
		}
	}
	if err := d.Rename(staging, dir); err != nil {
		return "", err
	}
	return dir, errors.Join(d.SyncDir(journal.TornDir), d.SyncDir("."))
}

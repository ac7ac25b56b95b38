package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/node"
)

const (
	// askAgain is the time between two requests to be admitted, admittedWithin that after which another
	// leader is asked.
	askAgain       = 200 * time.Millisecond
	admittedWithin = 10 * time.Second
	// mendAgain is the time after which a damaged node looks again for another node that has the entries it lacks.
	mendAgain = time.Second
	// mostKept bounds the copies of earlier data that a node's directory keeps: a disk that damages more is
	// to be replaced, and the copies are not to fill it.
	mostKept = 3
)

// returning is a node of a sandbox that may have lost its data. Under its id it could break promises that it
// has forgotten, so that it comes back under a new one, with an empty journal that the leader fills.
type returning struct {
	*program
	// data is the directory of the sandbox, number the node's in it, segment the size of its journal's files.
	data    string
	number  uint64
	segment int64
	// own is the directory of a node on a machine of its own, and reach reads the journals of the others; empty in a sandbox.
	own   string
	reach cluster.Others
}

// dir returns the node's directory.
func (r *returning) dir() string {
	if r.own != "" {
		return r.own
	}
	return nodeDir(r.data, r.number)
}

// config returns the node's configuration. A node whose directory was emptied, or was replaced in another
// place, is made anew.
func (r *returning) config() (*cluster.Config, error) {
	own, err := readConfig(r.dir())
	others := r.others()
	switch {
	case others == nil && err == nil:
		return own, nil
	case others == nil:
		return nil, fmt.Errorf("%s holds no node %d: begin with %s: %w", r.data, r.number,
			r.line("dev", "--nodes", "3", "--data", r.data), err)
	case others.Newest(r.number) == nil:
		return nil, fmt.Errorf("%s has the nodes %d, and no node %d", r.data, others.Numbers(), r.number)
	case err != nil:
		return r.remake(fmt.Errorf("its directory holds no node: %w", err))
	case own.Node < others.Newest(r.number).Node:
		return r.remake(errors.New("its directory is that of a node that was replaced"))
	default:
		return own, r.adopt(own)
	}
}

// adopt brings the members of the node's configuration up to those that the other nodes know.
func (r *returning) adopt(own *cluster.Config) error {
	d, err := disk.Open(r.dir())
	if err != nil {
		return err
	}
	for _, c := range configs(r.data) {
		err = errors.Join(err, own.Adopt(d, c))
	}
	return errors.Join(err, d.Close())
}

// others returns the configuration of another node, that which knows the newest change of the members: a node that is
// gone may have a directory that knows others that are gone. It is nil if there is none.
func (r *returning) others() (newest *cluster.Config) {
	for n, c := range configs(r.data) {
		if n != r.number && (newest == nil || c.Newer(newest)) {
			newest = c
		}
	}
	return newest
}

// remake makes the node anew, once the leader has admitted it: until then nothing of its data is touched.
func (r *returning) remake(cause error) (*cluster.Config, error) {
	d, err := disk.Open(r.dir())
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // everything is durable
	keep, err := keepIn(d)
	if err != nil {
		return nil, fmt.Errorf("node %d cannot be made anew, although %w: %w", r.number, cause, err)
	}
	_, _ = fmt.Fprintf(r.stderr, "bourse: node %d asks the leader to make it anew: %v\n", r.number, cause)

	newcomer, cert, key, err := cluster.Prepare(r.number, time.Now())
	if err != nil {
		return nil, err
	}
	newcomer.Running = true // it is this process that may still answer
	a, err := r.ask(&newcomer)
	if err != nil {
		return nil, fmt.Errorf("node %d is not made anew, although %w: %w", r.number, cause, err)
	}
	if err := setAside(d, keep); err != nil {
		return nil, err
	}
	if err := r.settle(d, a, cert, key); err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(r.stderr, "bourse: node %d begins anew, and has a vote once it has caught up\n", r.number)
	return &a.Config, nil
}

// settle makes the admitted node in its directory, whose data are set aside. If it cannot, because the leader's archive is
// damaged or the disk is full, it removes what it has made: the next start would keep that as data of the node.
func (r *returning) settle(d disk.Disk, a *cluster.Admission, cert, key []byte) error {
	a.Segment = r.segment
	err := cluster.Settle(r.ctx, d, a, cert, key)
	if from, ok := a.From.(io.Closer); ok {
		_ = from.Close() // it was only read
	}
	if err == nil {
		return nil
	}
	names, failed := d.List(".")
	for _, name := range names {
		if name != journal.TornDir {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(r.dir(), name)))
		}
	}
	return errors.Join(err, failed)
}

// ask asks the leader to admit the node. It waits until there is one.
func (r *returning) ask(n *cluster.Newcomer) (*cluster.Admission, error) {
	for {
		for other := range uint64(mostNodes) {
			dir := nodeDir(r.data, other+1)
			if s := r.stateOf(dir); s == nil || s.Role != "leader" || other+1 == r.number {
				continue
			}
			a, err := r.askAt(dir, n)
			refusal := (*bourse.Error)(nil)
			if err == nil || errors.As(err, &refusal) && refusal.Message != cluster.ErrNotLeader.Error() {
				return a, err
			}
		}

		if err := r.pause(); err != nil {
			return nil, err
		}
	}
}

// askAt asks a node that leads. It may be one that a newer leader has not told yet.
func (r *returning) askAt(dir string, n *cluster.Newcomer) (*cluster.Admission, error) {
	ctx, cancel := context.WithTimeout(r.ctx, admittedWithin)
	defer cancel()
	answer, err := admin.Call(ctx, dir, "cluster/admit", n)
	if err != nil {
		return nil, err
	}
	a := new(cluster.Admission)
	if err := json.Unmarshal(answer, a); err != nil {
		return nil, err
	}
	a.From, err = disk.OpenExisting(dir)
	return a, err
}

// repair repairs a node whose journal is damaged, and returns node.ErrDeposed if the process is to begin again. It
// fetches what is damaged from the other nodes, so that the node votes on under its id; if it may have forgotten
// its vote or the last entries that it acknowledged, it is made anew.
func (r *returning) repair(cause error) error {
	err := r.mendOrWait(cause)
	if err != nil && !errors.Is(err, journal.ErrInUse) && r.ctx.Err() == nil {
		_, err = r.remake(cause)
	}
	if err == nil || errors.Is(err, journal.ErrInUse) {
		return node.ErrDeposed // a log that is still open is not any more in a process that begins again
	}
	return err
}

// mendOrWait mends the node's journal. It waits while no other node has the damaged entries.
func (r *returning) mendOrWait(cause error) error {
	err := r.mend(cause)
	for said := false; errors.Is(err, journal.ErrNoSource); err = r.mend(cause) {
		if !said {
			_, _ = fmt.Fprintf(r.stderr, "bourse: node %d waits for a node that has what it lacks: %v\n", r.number, err)
			said = true
		}
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-time.After(mendAgain):
		}
	}
	return err
}

// withOthers returns a function that opens the journals of the other nodes for its argument. In a sandbox they are directories beside
// this node's, and are read whether their nodes run or not.
func (r *returning) withOthers(id journal.Identity) cluster.Others {
	if r.reach != nil {
		return r.reach
	}
	return func(use func([]*journal.Files) error) error {
		var others []*journal.Files
		for n := range uint64(mostNodes) {
			if d, err := disk.OpenExisting(nodeDir(r.data, n+1)); err == nil && n+1 != r.number {
				defer func() { _ = d.Close() }() // it was only read
				others = append(others, journal.NewFiles(d, id))
			}
		}
		return use(others)
	}
}

// mend replaces the damaged segments of the node. An error other than journal.ErrNoSource means that the damage is
// none of those that can be mended.
func (r *returning) mend(cause error) error {
	d, err := disk.Open(r.dir())
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // everything is durable
	config, err := cluster.LoadConfig(d)
	if err != nil {
		return err
	}
	id, err := config.Identity()
	if err != nil {
		return err
	}
	files := journal.NewFiles(d, id)
	lock, err := journal.Lock(d)
	switch {
	case errors.Is(err, journal.ErrInUse):
		// This process has the log open, so that only a new one can mend it. But its start cuts damaged bytes at
		// the end of the journal, which look like a torn write, although the node may have acknowledged them. So the
		// process begins again only if reading the journal finds damage that is not at its end.
		if _, _, found := files.End(nil); !inJournal(found) {
			return cause
		}
		return err
	case err != nil:
		return err
	}
	defer func() { _ = lock.Close() }() // the process begins again

	var mended []string
	err = r.withOthers(id)(func(others []*journal.Files) (err error) {
		mended, err = files.Mend(others)
		return err
	})
	if err != nil {
		return err
	}
	damage := (*journal.DamageError)(nil)
	if errors.As(cause, &damage) && !slices.Contains(mended, damage.File) {
		return cause
	}
	_, _ = fmt.Fprintf(r.stderr, "bourse: node %d has %v again, from the other nodes; what was damaged is in %s: %v\n",
		r.number, mended, journal.TornDir, cause)
	return nil
}

// inJournal reports whether an error is damage in the live journal.
func inJournal(err error) bool {
	damage := (*journal.DamageError)(nil)
	return errors.As(err, &damage) && strings.HasPrefix(damage.File, journal.LiveDir)
}

// keepIn returns the directory for a copy of the data, in a data directory.
func keepIn(d disk.Disk) (string, error) {
	if err := d.MkdirAll(journal.TornDir); err != nil {
		return "", err
	}
	kept, err := d.List(journal.TornDir)
	if err != nil {
		return "", err
	}
	for n := range mostKept {
		// Operators remove any of the copies, and no other one is written over.
		if name := "node-" + strconv.Itoa(n+1); !slices.Contains(kept, name) {
			return path.Join(journal.TornDir, name), nil
		}
	}
	return "", fmt.Errorf("it was %d times before: replace the disk, or remove the copies in %s", mostKept, journal.TornDir)
}

// setAside moves all of a data directory to a directory in it. The configuration goes first: without it the
// directory is no node's, also after a crash. Of a directory without data it keeps nothing.
func setAside(d disk.Disk, to string) error {
	names, err := d.List(".")
	if err != nil {
		return err
	}
	if names = slices.DeleteFunc(names, func(name string) bool { return name == journal.TornDir }); len(names) == 0 {
		return nil
	}
	if slices.Contains(names, journal.LiveDir) {
		lock, err := journal.Lock(d)
		if err != nil {
			return err
		}
		defer func() { _ = lock.Close() }() // it has moved with its file
	}
	if err := d.MkdirAll(to); err != nil {
		return err
	}

	if i := slices.Index(names, cluster.ConfigFile); i > 0 {
		names[0], names[i] = names[i], names[0]
	}
	for _, name := range names {
		if err := d.Rename(name, path.Join(to, name)); err != nil {
			return err
		}
		if err := errors.Join(d.SyncDir(to), d.SyncDir(".")); err != nil {
			return err
		}
	}
	return d.SyncDir(journal.TornDir)
}

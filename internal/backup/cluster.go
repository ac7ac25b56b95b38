package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// Cluster makes a backup of a cluster's node one of the exchange, from which a node of its own is restored.
type Cluster struct {
	// Common is the directory of accounts and secrets.
	Common string
	// Seq asks the leader for the last command that it has applied. The journal of the backup reaches as far.
	Seq func() (bourse.Seq, error)
	// OpenLog begins a journal of one node.
	OpenLog func(disk.Disk, journal.Options) (standby.CopyLog, *journal.Recovery, error)
	After   func(time.Duration) <-chan time.Time
}

const (
	// mostLooks bounds the looks at a journal that is behind the leader's, lookEvery is the time between two.
	mostLooks = 1500
	lookEvery = 20 * time.Millisecond
	// mostFrames bounds the frames that are synced together, in bytes, and segmentSize the files of the journal.
	mostFrames  = 4 << 20
	segmentSize = 64 << 20
)

// frames writes the node's journal anew, up to what the leader had applied, as one of an exchange on one node: the segments of
// nodes have entries of raft between the frames, and end at other places. A frame is the same in both.
func (c *copier) frames(ctx context.Context, of *Cluster) (err error) {
	last, err := of.Seq()
	if err != nil {
		return err
	}
	x, err := audit.Open(c.from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	to, err := disk.OpenExisting(c.to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	log, _, err := of.OpenLog(to, journal.Options{Identity: x.Identity, SegmentSize: segmentSize})
	if err != nil {
		return err
	}
	err = errors.Join(of.transcribe(ctx, x.Files, log, last), log.Close())
	switch {
	case errors.Is(err, journal.ErrCompacted):
		return fmt.Errorf("%w: put the pruned segments back into its archive, and remove the stub there, or take the backup of another node", err)
	case err != nil:
		return err
	}

	written, err := filepath.Glob(filepath.Join(c.to, journal.LiveDir, "*.seg"))
	for _, name := range written {
		err = errors.Join(err, c.enter(journal.LiveDir+"/"+filepath.Base(name)))
	}
	return errors.Join(err, c.file("voids"))
}

// transcribe copies the committed frames of a journal to a log, up to a command at least.
func (of *Cluster) transcribe(ctx context.Context, from *journal.Files, to standby.CopyLog, last bourse.Seq) error {
	reader, err := from.Read(1)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }() // it was only read

	tip := to.Tip()
	var frames []journal.Frame
	for size, looks := 0, 0; ; {
		b, err := reader.Next()
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if !ended {
			frames = append(frames, journal.Frame{
				First: b.First, Count: b.Count, Term: b.Term, Time: b.Time, Previous: tip.Chain, Commands: bytes.Clone(b.Commands),
			})
			size += len(b.Commands)
			tip = b.Tip()
		}
		if size > mostFrames || ended {
			if _, err := to.Copy(frames); err != nil {
				return err
			}
			if to.Tip() != tip {
				return fmt.Errorf("the frame of command %d is written otherwise", tip.Last)
			}
			frames, size = frames[:0], 0
		}
		if !ended {
			continue
		}

		looks++
		switch {
		case tip.Last >= last:
			return nil
		case looks == mostLooks:
			return fmt.Errorf("the node knows that commands up to %d are committed, and the leader has applied %d: take the backup of another node",
				tip.Last, last)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-of.After(lookEvery):
		}
	}
}

package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

const (
	// scrubEvery is the time between two pieces of the live segments that are read again, scrubPiece the size
	// of a piece, in bytes: 0.8 MiB a second, which trading does not notice. An archived segment is one piece.
	scrubEvery = 10 * time.Second
	scrubPiece = 8 << 20
)

// scrub reads the committed part of the live segments again and again, from the oldest to the newest, and an archived
// segment after each time, so that damage is found while the other nodes have what it hit. Each time ends at the last
// command that was committed when it began: a journal may grow faster than it is read. scrub returns the first damage of a
// live segment, or error of the disk; nil once ctx ends.
func (n *Node) scrub(ctx context.Context) error {
	var r journal.Reader
	var last bourse.Seq
	defer func() {
		if r != nil {
			_ = r.Close() // it was only read
		}
	}()
	for archived := bourse.Seq(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-n.after(scrubEvery):
		}

		err := error(nil)
		if r == nil {
			last = n.Log.Durable()
			r, err = n.oldest()
		}
		if err == nil {
			err = scrubbed(r, last)
		}
		damage := (*journal.DamageError)(nil)
		switch {
		case err == nil:
			continue
		case errors.As(err, &damage) || errors.Is(err, syscall.EIO):
			return err
		case errors.Is(err, io.EOF):
			archived = n.scrubArchived(archived)
		case !errors.Is(err, journal.ErrCompacted):
			n.log.Warn("the journal was not read again", slog.Any("error", err)) // as without a free file descriptor
		}
		if r != nil {
			_ = r.Close() // it was only read
			r = nil
		}
	}
}

// oldest returns a reader of the live segments.
func (n *Node) oldest() (r journal.Reader, err error) {
	err = n.Log.reach(func(l *raftlog.Log) error {
		base, err := l.Base()
		if err == nil {
			r, err = l.Read(base.First())
		}
		return err
	})
	return r, err
}

// scrubbed reads a piece, up to the batch with a last command; io.EOF behind that.
func scrubbed(r journal.Reader, last bourse.Seq) error {
	for size := 0; size < scrubPiece; {
		b, err := r.Next()
		if err != nil {
			return err
		}
		if b.Last() >= last {
			return io.EOF
		}
		size += journal.Block + len(b.Commands)
	}
	return nil
}

// scrubArchived reads the archived segment that begins at or behind a command, mends it if it is damaged, and returns
// from where the next one is to be sought. The node needs none of them to vote, so that it runs on meanwhile.
func (n *Node) scrubArchived(from bourse.Seq) bourse.Seq {
	first, ok, err := n.files.NextArchived(from)
	if err == nil && !ok {
		return 0
	}
	if err == nil {
		err = n.files.CheckArchived(first)
	}
	damage := (*journal.DamageError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &damage):
		mending := n.others(func(others []*journal.Files) error { return n.files.MendArchived(first, others) })
		if mending == nil {
			n.log.Warn("an archived segment was damaged, and has its entries again from another node", slog.Any("error", err))
			break
		}
		n.log.Error("an archived segment is damaged", slog.Any("error", errors.Join(err, mending)))
	default:
		n.log.Error("the archive was not read again", slog.Any("error", err))
	}
	return first + 1
}

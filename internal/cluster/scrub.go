package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

const (
	// scrubEvery is the time between two pieces of the live segments that are read again, scrubPiece the size
	// of a piece, in bytes: 0.8 MiB a second, which trading does not notice.
	scrubEvery = 10 * time.Second
	scrubPiece = 8 << 20
)

// scrub reads the committed part of the live segments again and again, from the oldest to the newest, so that
// damage is found while the other nodes have what it hit. It returns the first damage, or error of the disk;
// nil once ctx ends.
func (n *Node) scrub(ctx context.Context) error {
	var r journal.Reader
	defer func() {
		if r != nil {
			_ = r.Close() // it was only read
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.after(scrubEvery):
		}

		err := error(nil)
		if r == nil {
			r, err = n.oldest()
		}
		if err == nil {
			err = scrubbed(r)
		}
		damage := (*journal.DamageError)(nil)
		switch {
		case err == nil:
			continue
		case errors.As(err, &damage) || errors.Is(err, syscall.EIO):
			return err
		case !errors.Is(err, io.EOF) && !errors.Is(err, journal.ErrCompacted):
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

// scrubbed reads a piece; io.EOF at the end.
func scrubbed(r journal.Reader) error {
	for size := 0; size < scrubPiece; {
		b, err := r.Next()
		if err != nil {
			return err
		}
		size += journal.Block + len(b.Commands)
	}
	return nil
}

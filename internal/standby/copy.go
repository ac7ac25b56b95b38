package standby

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// quietFor is the time after which a stream without a byte counts as dead. A source sends a
	// byte at least once a second.
	quietFor = 5 * time.Second
	// mostTogether bounds the bytes that are made durable together.
	mostTogether = 1 << 20
	// roomAfter is the time after which a full disk is tried again.
	roomAfter = time.Second
)

// CopyLog is the journal of a copy.
type CopyLog interface {
	journal.Log
	// Copy appends frames of the source's journal and returns how many are durable.
	Copy(frames []journal.Frame) (int, error)
	// Tip returns the copy's end. It belongs to the goroutine of Copy.
	Tip() journal.Tip
}

// Errors of a stream.
var (
	// ErrTransit means that bytes of a stream, which changed on the way, are no frame.
	ErrTransit = errors.New("what came is no frame")
	// ErrDisk means that the copy's own disk failed. A full disk is no failure.
	ErrDisk = errors.New("the disk of the copy failed")
)

// ownDisk makes an error of the copy's disk final, unless the disk is just full.
func ownDisk(err error) error {
	if err == nil || disk.IsFull(err) && !errors.Is(err, journal.ErrStopped) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDisk, err)
}

// Copier copies a source's journal.
type Copier struct {
	Peer  *Peer
	Log   CopyLog
	After func(time.Duration) <-chan time.Time
	// Full is called when the disk has no room for the copy.
	Full func(error)
	// Opened is called when a stream has begun.
	Opened func()

	frames []journal.Frame
	// taken counts the writes of streams.
	taken atomic.Uint64
}

// Stream copies frames from one connection until it ends. See Final for the errors after which
// another connection is useless.
func (c *Copier) Stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tip := c.Log.Tip()
	body, err := c.Peer.frames(ctx, &tip)
	if err != nil {
		return err
	}

	c.Opened()
	go c.cutIfQuiet(ctx, cancel)
	in := bufio.NewReaderSize(body, mostTogether)
	for err == nil {
		err = c.take(ctx, in)
		c.taken.Add(1)
	}
	return errors.Join(err, body.Close())
}

// cutIfQuiet ends a stream from which nothing comes.
func (c *Copier) cutIfQuiet(ctx context.Context, cut context.CancelFunc) {
	for last := c.taken.Load(); ; last = c.taken.Load() {
		select {
		case <-ctx.Done():
			return
		case <-c.After(quietFor):
		}
		if c.taken.Load() == last {
			cut()
		}
	}
}

// take copies the frames that have arrived, at least one.
func (c *Copier) take(ctx context.Context, in *bufio.Reader) error {
	c.frames = c.frames[:0]
	size, err := next(in, 0)
	if err != nil {
		return err
	}
	if size == 0 { // the stream lives
		if _, err := in.Discard(sizeBytes); err != nil {
			return err
		}
		return ownDisk(c.Log.Mark())
	}

	all := 0
	for size > 0 {
		b, err := in.Peek(all + size)
		if err != nil {
			return err
		}
		var f journal.Frame
		_, _, err = journal.ParseFrame(b[all:], &f)
		if err != nil && all > 0 {
			break // those before it are whole
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrTransit, err)
		}
		c.frames = append(c.frames, f)
		all += size
		size = arrived(in, all)
	}
	if err := c.write(ctx); err != nil {
		return err
	}
	_, err = in.Discard(all)
	return err
}

// sizeBytes is the length of a frame's length.
const sizeBytes = 4

// next waits for the frame at an offset and returns its length, which may be zero.
func next(in *bufio.Reader, at int) (int, error) {
	b, err := in.Peek(at + sizeBytes)
	if err != nil {
		return 0, err
	}
	size := binary.LittleEndian.Uint32(b[at:])
	if size > journal.MostFrame {
		return 0, fmt.Errorf("%w: its length is %d", ErrTransit, size)
	}
	if size == 0 {
		return 0, nil
	}
	_, err = in.Peek(at + int(size))
	return int(size), err
}

// arrived returns the length of the frame at an offset if all of it has arrived, and zero if not.
func arrived(in *bufio.Reader, at int) int {
	if in.Buffered() < at+sizeBytes {
		return 0
	}
	b, err := in.Peek(at + sizeBytes)
	if err != nil {
		return 0
	}
	size := int64(binary.LittleEndian.Uint32(b[at:]))
	if int64(in.Buffered()) < int64(at)+size {
		return 0
	}
	return int(size)
}

// write appends the frames to the copy. It waits while the disk is full.
func (c *Copier) write(ctx context.Context) error {
	for len(c.frames) > 0 {
		n, err := c.Log.Copy(c.frames)
		c.frames = c.frames[n:]
		if err == nil {
			continue
		}
		if errors.Is(err, journal.ErrNotNext) { // the source's frame, not the disk
			return err
		}
		if err := ownDisk(err); errors.Is(err, ErrDisk) {
			return err
		}

		c.Full(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.After(roomAfter):
		}
	}
	return nil
}

// Final reports whether an error ends the copy: its own disk failed, source and copy have parted,
// or the source no longer has the frames that the copy needs. Others are the wire's, or the source
// is away.
func Final(err error) bool {
	for _, final := range []error{ErrDisk, ErrDiverged, ErrAhead, ErrState, ErrRaised, ErrProtocol, ErrStandby,
		journal.ErrCompacted, journal.ErrOtherExchange, journal.ErrSandbox} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// Status describes a standby.
type Status struct {
	Role     string `json:"role"`
	Exchange string `json:"exchange"`
	Sandbox  bool   `json:"sandbox"`
	// Incarnation is the copy's.
	Incarnation bourse.Incarnation `json:"incarnation"`
	// Source is the address that is followed; of several the last one at which a node led.
	Source    string `json:"source"`
	Connected bool   `json:"connected"`
	// Seq is the last command of the copy, SourceSeq that of the source when it was last asked.
	Seq       bourse.Seq `json:"seq"`
	SourceSeq bourse.Seq `json:"source_seq"`
	// AsOf is a time before which everything acknowledged is in the copy, nil if that is unknown;
	// LagMS the time since, -1 for nil.
	AsOf  *string `json:"as_of"`
	LagMS int64   `json:"lag_ms"`
	// HistoryLag counts the commands of the copy that its engine has not applied.
	HistoryLag uint64 `json:"history_lag"`
	// Compared is the last command after which both states were compared, zero for none.
	Compared bourse.Seq `json:"compared_seq"`
	// Accounts and Secrets describe the copies of these parts.
	Accounts PartStatus `json:"accounts"`
	Secrets  PartStatus `json:"secrets"`
	// Retries counts the streams that ended since one last worked, Problem is why the last one ended.
	Retries uint64 `json:"retries"`
	Problem string `json:"problem,omitempty"`
}

// PartStatus describes the copy of a part. Its fields are as in Status.
type PartStatus struct {
	AsOf  *string `json:"as_of"`
	LagMS int64   `json:"lag_ms"`
}

package journal

import (
	"errors"

	"github.com/bourse-exchange/bourse"
)

// MaxFrame is the most bytes of commands that one batch carries: 256 KiB.
const MaxFrame = 256 << 10

// Errors of a log.
var (
	// ErrBusy: the log takes no proposal now; step it and try again.
	ErrBusy = errors.New("journal is busy")
	// ErrTooLarge: a proposal has more than MaxFrame bytes, or no command.
	ErrTooLarge = errors.New("proposal does not fit a frame")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("journal is closed")
	// ErrInUse: another process has the journal open.
	ErrInUse = errors.New("journal is in use by another process")
	// ErrCompacted: what was asked for lies before the oldest frame kept.
	ErrCompacted = errors.New("journal has been cut before that sequence")
)

// Hash is a SHA-256, of the chain or of a state.
type Hash [32]byte

// Proposal is a batch of commands that should be committed as one frame.
type Proposal struct {
	// ID is chosen by the proposer, above zero and rising within a process.
	ID uint64
	// Count is how many commands Commands holds, at least one.
	Count int
	// Time is the proposer's clock. The batch gets this time, or that of the
	// batch before it where that is later.
	Time bourse.Time
	// Commands is their encoding, back to back. The log does not keep the slice
	// after Propose returns.
	Commands []byte
}

// Batch is a committed frame.
type Batch struct {
	// First is the sequence of the first command; the others follow it.
	First bourse.Seq
	Count int
	Term  uint64
	Time  bourse.Time
	// Commands is as proposed. It is good until the next call to the method
	// that yielded it.
	Commands []byte
	// Chain is the hash of the frame, which covers the hash of the one before.
	Chain Hash
}

// Last returns the sequence of the batch's last command.
func (b *Batch) Last() bourse.Seq { return b.First + bourse.Seq(b.Count) - 1 }

// NoticeKind says what a [Notice] tells.
type NoticeKind uint8

// The kinds of notices.
const (
	// Committed: a batch was committed. Batch, Proposal.
	Committed NoticeKind = iota + 1
	// Lost: it is not known whether a proposal of this process will ever be
	// committed, because the term changed. If it is, it comes as a Committed
	// notice without Proposal. Proposal.
	Lost
	// Refused: the log has no room for a proposal. It is not committed and never
	// will be. Proposal.
	Refused
	// Installed: this log fell so far behind that it was given a snapshot in
	// place of the batches up to it. Snapshot.
	Installed
)

// Notice is what a log tells the sequencer, in order.
type Notice struct {
	Kind NoticeKind
	// Proposal is the id of this process's proposal, or zero if the batch was
	// proposed elsewhere or before a restart.
	Proposal uint64
	Batch    Batch
	// Snapshot is where the installed snapshot starts; the snapshot itself is
	// read from the snapshot store.
	Snapshot bourse.Seq
}

// Log orders commands and keeps them. It is a step machine without goroutines
// of its own: whoever owns it calls Step, a simulator as well as a process.
//
// Propose, Step and Mark belong to one goroutine, Next and Prepare to another one
// each; Durable, Read and Ready may be called by anybody.
type Log interface {
	// Propose hands over a batch. It does no I/O; the proposal is carried by
	// the steps that follow. Proposals may be committed in another order than
	// proposed, between those of others, or never. The errors are ErrBusy,
	// ErrTooLarge, ErrClosed and any failure that stopped the log.
	Propose(p Proposal) error

	// Step does the work at hand: for a log on files one write and one
	// fdatasync. It reports whether there may be more to do at once. A proposal
	// that the disk has no room for is answered by a Refused notice, and the log
	// goes on. An error is final: what was not yielded is unknown, and the process
	// must stop.
	Step() (more bool, err error)

	// Prepare makes ready ahead what a later Step will need, as a log on files
	// its next segment, so that Step does not wait for it; Step does it itself
	// if it must. It belongs to a goroutine of its own, and does one piece of the
	// work; it reports whether there is more to do at once, and is called again
	// every now and then when there is not. An error is final, but for a full
	// disk (syscall.ENOSPC), after which it may be called again.
	Prepare() (more bool, err error)

	// Mark makes it provable that everything committed was durable, without
	// which a damaged end cannot be told from a torn one. It is called when
	// nothing arrives for a while after a Step, and does nothing twice.
	Mark() error

	// Next returns the next notice, and false if there is none now. What it
	// returned is good until the next call.
	Next() (*Notice, bool)

	// Ready returns a channel that receives when Next may have more to return.
	Ready() <-chan struct{}

	// Durable returns the last sequence that is committed and durable here.
	Durable() bourse.Seq

	// Read returns a reader of the batches that hold this sequence and later
	// ones. ErrCompacted if it lies before the oldest frame kept, in which case
	// the archive may have it.
	Read(from bourse.Seq) (Reader, error)

	// Close finishes what was proposed, seals the log so that the next start
	// knows it was complete, and releases it. A log that failed is released
	// only.
	Close() error
}

// Reader reads batches that are durable, behind the log that appends to them.
// It belongs to one goroutine.
type Reader interface {
	// Next returns the next batch, or io.EOF when there is none yet; calling
	// again later continues. Any other error means damage and is final. The
	// batch is good until the next call.
	Next() (*Batch, error)
	// Close releases the reader.
	Close() error
}

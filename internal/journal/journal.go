package journal

import (
	"errors"

	"github.com/bourse-exchange/bourse"
)

// MaxFrame is the most bytes of commands in one batch: 256 KiB.
const MaxFrame = 256 << 10

// Errors of a log.
var (
	// ErrBusy: the log takes no proposal now; call Step and try again.
	ErrBusy = errors.New("journal is busy")
	// ErrTooLarge: a proposal has more than MaxFrame bytes, or no command.
	ErrTooLarge = errors.New("proposal does not fit a frame")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("journal is closed")
	// ErrNotLeader: another node takes proposals now, or none does.
	ErrNotLeader = errors.New("this node does not lead")
	// ErrInUse: another process has the journal open.
	ErrInUse = errors.New("journal is in use by another process")
	// ErrNotNext: a frame does not continue the journal that it was to be appended to.
	ErrNotNext = errors.New("frame does not continue the journal")
	// ErrCompacted: the requested sequence is below the oldest frame kept.
	ErrCompacted = errors.New("journal has been cut before that sequence")
	// ErrStopped: a write failed, and the log takes no more. It wraps the cause, which may be that
	// of a full disk, but trying again is useless.
	ErrStopped = errors.New("the journal has stopped")
)

// Hash is a SHA-256 of the chain or of a state.
type Hash [32]byte

// Proposal is a batch of commands to commit as one frame.
type Proposal struct {
	// ID is chosen by the proposer, above zero and rising within a process.
	ID uint64
	// Count is the number of commands, at least one.
	Count int
	// Time is the proposer's clock. The batch gets this time, or that of the batch before
	// it if that is later.
	Time bourse.Time
	// Commands are the encoded commands, back to back. The log does not keep the slice
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
	// Commands are those of the proposal. Valid until the next call of the method that
	// returned the batch.
	Commands []byte
	// Chain is the hash of the frame, which covers the hash of the previous frame.
	Chain Hash
}

// Last returns the sequence of the batch's last command.
func (b *Batch) Last() bourse.Seq { return b.First + bourse.Seq(b.Count) - 1 }

// Tip returns the journal's tip behind the batch.
func (b *Batch) Tip() Tip { return Tip{b.Last(), b.Chain, b.Term, b.Time} }

// NoticeKind is the kind of a [Notice].
type NoticeKind uint8

// The kinds of notices. Each comment ends with the fields that it sets.
const (
	// Committed: a batch was committed. Batch, Proposal.
	Committed NoticeKind = iota + 1
	// Lost: the term changed, and it is unknown whether a proposal of this process will
	// ever be committed. If it is, a Committed notice without Proposal follows. Proposal.
	Lost
	// Refused: the log has no room for a proposal. It is not committed and never
	// will be. Proposal.
	Refused
	// Dropped: a later term has taken the place of a proposal. It is not committed and never
	// will be; the disk has room. Proposal.
	Dropped
	// Role: in a log whose leader is elected, this process begins or ceases to lead. Where it
	// begins, Next has yielded all that earlier leaders committed. Leads, Term.
	Role
	// Installed: this log fell so far behind that it got a snapshot in place of the
	// batches up to it. Snapshot.
	Installed
)

// Notice is an event that a log reports to the sequencer, in order.
type Notice struct {
	Kind NoticeKind
	// Proposal is the ID of this process's proposal; zero if the batch was proposed
	// elsewhere or before a restart.
	Proposal uint64
	Batch    Batch
	// Snapshot is the sequence of the installed snapshot, which is read from the snapshot
	// store.
	Snapshot bourse.Seq
	// Leads is true if this process leads the log from now on, in the term Term.
	Leads bool
	Term  uint64
}

// Log orders commands and stores them. It is a step machine without goroutines: its
// owner, a process or a simulator, calls Step.
//
// Propose, Step and Mark belong to one goroutine, Next to a second, Prepare to a third;
// Durable, Read, Ready and Unprepared are safe for concurrent use.
type Log interface {
	// Propose hands over a batch without I/O; later Steps carry it. Proposals may be
	// committed in another order, between those of other processes, or never. The errors
	// are ErrBusy, ErrTooLarge, ErrNotLeader, ErrClosed and any failure that stopped the log.
	Propose(p Proposal) error

	// Step does the pending work: in a log on files, one write and one fdatasync. It
	// reports whether to call it again at once. A proposal that finds no room on the disk
	// gets a Refused notice, and the log continues. An error is final: the fate of
	// batches not yet yielded is unknown, and the process must stop.
	Step() (more bool, err error)

	// Prepare does work ahead that Step would otherwise wait for, such as the next
	// segment of a log on files. It belongs to its own goroutine and does one piece of
	// work per call. It reports whether to call it again at once; otherwise call it after
	// Unprepared, and from time to time. An error is final, except a full disk
	// (syscall.ENOSPC), after which Prepare may be called again.
	Prepare() (more bool, err error)

	// Unprepared returns a channel that receives when Prepare may have work. It is nil
	// for a log that prepares nothing.
	Unprepared() <-chan struct{}

	// Mark writes a proof that everything committed was durable. Without it, a damaged
	// end cannot be told from a torn one. Call it when the log has been idle for a while
	// after a Step; without new batches it does nothing.
	Mark() error

	// Next returns the next notice, and false if there is none now. The notice is valid
	// until the next call.
	Next() (*Notice, bool)

	// Ready returns a channel that receives when Next may have notices.
	Ready() <-chan struct{}

	// Durable returns the last sequence that is committed and durable locally.
	Durable() bourse.Seq

	// Read returns a reader of the batches from sequence from on. ErrCompacted if from is
	// below the oldest frame kept; the archive may have it.
	Read(from bourse.Seq) (Reader, error)

	// Close finishes the pending proposals, seals the log so that the next start knows it
	// is complete, and releases it. A failed log is only released.
	Close() error
}

// Reader reads durable batches, also while the log appends. Not safe for concurrent use.
type Reader interface {
	// Next returns the next batch, or io.EOF when there is none yet; a later call
	// continues. Any other error means damage and is final. The batch is valid until the
	// next call.
	Next() (*Batch, error)
	// Close releases the reader.
	Close() error
}

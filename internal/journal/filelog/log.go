package filelog

import (
	"io"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

// slots bounds the proposals from Propose until the caller of Next is done with them: one
// being written, one being applied, two to keep both sides busy.
const slots = 4

// Log is a journal.Log on files.
type Log struct {
	disk  disk.Disk
	files *journal.Files
	lock  io.Closer

	// Owned by the writing goroutine. tip is the durable tip; last is the kind of the
	// last entry, zero in an empty segment.
	segment  segment
	tip      journal.Tip
	term     uint64
	last     journal.EntryKind
	entry    journal.Entry
	blank    []byte
	proposed uint64
	failed   error
	closed   bool
	// copying is true within Copy, which syncs several entries together; copied is the
	// buffer of its entries.
	copying bool
	copied  []byte
	// torn is a torn end that Open found no room to copy. It is cut before anything is
	// written.
	torn *journal.Torn

	// ring holds the proposals, each at its number modulo slots. Numbers below released
	// are free, below committed durable or refused, below proposed pending.
	ring      [slots]slot
	committed atomic.Uint64
	released  atomic.Uint64
	durable   atomic.Uint64
	ready     chan struct{}

	// Owned by the goroutine that calls Next.
	taken  uint64
	notice journal.Notice

	spare *segments.Spare
}

var _ journal.Log = (*Log)(nil)

// slot holds a proposal, and then its batch.
type slot struct {
	id    uint64
	count int
	time  bourse.Time
	// refused is true if the disk had no room for the proposal.
	refused bool
	// buf is the entry's buffer: commands from journal.CommandsAt on; the write fills in
	// the rest.
	buf   []byte
	batch journal.Batch
}

// Propose implements [journal.Log].
func (l *Log) Propose(p journal.Proposal) error {
	switch {
	case l.closed:
		return journal.ErrClosed
	case l.failed != nil:
		return l.failed
	case p.Count < 1 || len(p.Commands) < p.Count || len(p.Commands) > journal.MaxFrame:
		return journal.ErrTooLarge
	case l.proposed-l.released.Load() >= slots:
		return journal.ErrBusy
	}

	s := &l.ring[l.proposed%slots]
	s.id, s.count, s.time, s.refused = p.ID, p.Count, p.Time, false
	s.buf = withCommands(s.buf, p.Commands)
	l.proposed++
	return nil
}

// withCommands returns a buffer with room for an entry and the commands in their place.
func withCommands(buf, commands []byte) []byte {
	if room := journal.Room(len(commands)); cap(buf) < room {
		buf = make([]byte, 0, room)
	}
	return append(buf[:journal.CommandsAt], commands...)
}

// Next returns the next notice: a committed batch, or a refused proposal.
func (l *Log) Next() (*journal.Notice, bool) {
	l.released.Store(l.taken)
	if l.taken == l.committed.Load() {
		return nil, false
	}
	s := &l.ring[l.taken%slots]
	l.taken++
	l.notice = journal.Notice{Kind: journal.Committed, Proposal: s.id, Batch: s.batch}
	if s.refused {
		l.notice = journal.Notice{Kind: journal.Refused, Proposal: s.id}
	}
	return &l.notice, true
}

// Ready returns a channel that receives when Next may have notices.
func (l *Log) Ready() <-chan struct{} { return l.ready }

// Durable returns the last sequence that is durable.
func (l *Log) Durable() bourse.Seq { return bourse.Seq(l.durable.Load()) }

// Read returns a reader of the live segments up to Durable.
func (l *Log) Read(from bourse.Seq) (journal.Reader, error) {
	return l.files.ReadDurable(from, l.Durable)
}

// Prepare makes one piece of the next segment, if one is due.
func (l *Log) Prepare() (more bool, err error) { return l.spare.Prepare() }

// Unprepared receives when a piece may be due: the spare was taken, or the current
// segment has grown.
func (l *Log) Unprepared() <-chan struct{} { return l.spare.Behind() }

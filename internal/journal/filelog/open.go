package filelog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	lockName = journal.LiveDir + "/LOCK"
	// defaultSegment is large enough that a new one is rare (a second, at a
	// million commands per second), and small enough to be made in a moment.
	defaultSegment = 64 << 20
	mostSegment    = 1 << 30
)

// Options are what a log is opened with.
type Options struct {
	// Identity is whose journal it is, or will be if there is none yet.
	Identity journal.Identity
	// SegmentSize is the bytes of new segments, 64 MiB if it is zero. It is
	// rounded up to blocks.
	SegmentSize int64
	// Reserve, if not nil, returns how many bytes of the disk the log leaves free for
	// what must be written beside it. It must not use the log.
	Reserve func() uint64
	// Progress, if not nil, is told how many bytes of how many were verified.
	Progress func(done, total int64)
}

// Recovery is what a start found.
type Recovery struct {
	// Tip is where the journal stands.
	Tip journal.Tip
	// First is the oldest command in the live segments, Tip.Last+1 if there is
	// none; Frames is how many frames with commands were verified.
	First  bourse.Seq
	Frames int
	// Sealed is true if the log was closed before, or is new.
	Sealed bool
	// Torn is what was cut from the end, nil if nothing was.
	Torn *Torn
}

// Torn is an entry that a crash interrupted, which nobody was told of.
type Torn struct {
	journal.Torn
	// Copy is the file that has what was cut. It is empty if the disk had no room for
	// it: then nothing is cut, and nothing is taken, before it has.
	Copy string
}

// Open opens the journal of a data directory, and makes one if there is none. It
// verifies every live segment. Errors are journal.ErrInUse, ErrOtherExchange,
// ErrSandbox, ErrNewerFormat, and *journal.DamageError.
func Open(d disk.Disk, o Options) (*Log, *Recovery, error) {
	l, err := newLog(d, &o)
	if err != nil {
		return nil, nil, err
	}
	r, err := l.recover(&o)
	if err != nil {
		return nil, nil, errors.Join(err, l.release())
	}
	return l, r, nil
}

// newLog takes the lock.
func newLog(d disk.Disk, o *Options) (*Log, error) {
	size := (o.SegmentSize + journal.Block - 1) / journal.Block * journal.Block
	switch {
	case size == 0:
		size = defaultSegment
	case size < 2*journal.Block || size > mostSegment:
		return nil, fmt.Errorf("segments of %d bytes: not between %d and %d", o.SegmentSize, 2*journal.Block, mostSegment)
	}
	if err := makeDir(d, journal.LiveDir); err != nil {
		return nil, err
	}
	lock, err := Lock(d)
	if err != nil {
		return nil, err
	}
	l := &Log{
		disk: d, files: journal.NewFiles(d, o.Identity), lock: lock,
		ready: make(chan struct{}, 1), spare: spare{disk: d, size: size, reserve: o.Reserve, behind: make(chan struct{}, 1)},
	}
	l.segment.head.Identity = o.Identity
	return l, nil
}

// Lock keeps a journal to one process, until it is closed. journal.ErrInUse if
// another one has it.
func Lock(d disk.Disk) (io.Closer, error) {
	lock, err := d.Lock(lockName)
	if errors.Is(err, disk.ErrLocked) {
		return nil, fmt.Errorf("%w: %w", journal.ErrInUse, err)
	}
	return lock, err
}

func makeDir(d disk.Disk, dir string) error {
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	return d.SyncDir(".")
}

// recover brings the log to where the journal ends.
func (l *Log) recover(o *Options) (*Recovery, error) {
	// The process before may have died before it made a segment's name durable.
	if err := l.disk.SyncDir(journal.LiveDir); err != nil {
		return nil, err
	}
	end, ok, err := l.files.End(o.Progress)
	if err != nil {
		return nil, err
	}
	if !ok {
		l.term = 1
		return &Recovery{First: 1, Sealed: true}, l.begin()
	}
	torn, err := l.resume(&end)
	if err != nil {
		return nil, err
	}
	return &Recovery{
		Tip: end.Tip, First: end.First, Frames: end.Frames, Sealed: end.Last == journal.EntrySeal, Torn: torn,
	}, nil
}

// begin makes the first segment.
func (l *Log) begin() error {
	if err := l.spare.complete(0); err != nil {
		return err
	}
	file, size := l.spare.take()
	l.segment.file, l.segment.off, l.segment.size = file, journal.Block, size
	if _, err := file.WriteAt(l.segment.head.Bytes(), 0); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return l.spare.name(&l.segment.head)
}

// resume goes on at the end of the last segment.
func (l *Log) resume(end *journal.End) (*Torn, error) {
	file, err := l.disk.Edit(end.Segment.Name())
	if err != nil {
		return nil, err
	}
	l.segment = segment{file: file, head: end.Segment, off: end.Offset, size: end.Size}
	l.tip, l.term, l.last = end.Tip, end.Tip.Term+1, end.Last
	l.durable.Store(uint64(end.Tip.Last))
	torn, err := l.cut(end.Torn)
	if isFull(err) {
		l.torn, err = end.Torn, nil // it is cut once there is room for the copy
	}
	if err != nil {
		return nil, err
	}
	if err := l.confirm(end); err != nil {
		return nil, err
	}
	return torn, l.Mark()
}

// mend cuts what Open had no room to copy.
func (l *Log) mend() error {
	if l.torn == nil {
		return nil
	}
	if _, err := l.cut(l.torn); err != nil {
		return err
	}
	l.torn = nil
	return l.segment.file.Sync()
}

// confirm makes the last entry durable. It writes it once more, because after a
// sync that failed the system may hold for durable what is not, and only writing
// makes it try again.
func (l *Log) confirm(end *journal.End) error {
	if end.Last != 0 {
		b := make([]byte, end.Offset-end.LastOffset)
		if _, err := l.segment.file.ReadAt(b, end.LastOffset); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var e journal.Entry
		if err := l.segment.head.ParseEntry(b, end.LastOffset, &e); err != nil {
			return fmt.Errorf("%s is read otherwise the second time: %w", end.Segment.Name(), err)
		}
		if _, err := l.segment.file.WriteAt(b, end.LastOffset); err != nil {
			return err
		}
	}
	return l.segment.file.Sync()
}

// cut copies what is torn to a file of its own, and writes zeros in its place.
func (l *Log) cut(torn *journal.Torn) (*Torn, error) {
	if torn == nil {
		return nil, nil
	}
	name, err := l.keep(torn)
	if err != nil {
		return &Torn{Torn: *torn}, noRoom(fmt.Errorf("keeping what is torn: %w", err))
	}
	for off := torn.From; off < torn.To; off += chunk {
		if _, err := l.segment.file.WriteAt(zeros[:min(chunk, torn.To-off)], off); err != nil {
			return nil, err
		}
	}
	return &Torn{*torn, name}, nil
}

// keep makes a durable copy of what is torn.
func (l *Log) keep(torn *journal.Torn) (string, error) {
	if err := makeDir(l.disk, journal.TornDir); err != nil {
		return "", err
	}
	file, name, err := l.createTorn(torn.Seq)
	if err != nil {
		return "", err
	}
	from := io.NewSectionReader(l.segment.file, torn.From, torn.To-torn.From)
	_, err = io.Copy(io.NewOffsetWriter(file, 0), from)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, l.disk.Remove(name)) // or tries would pile up
	}
	return name, l.disk.SyncDir(journal.TornDir)
}

// createTorn makes a file named after a command; there may be some of earlier
// starts.
func (l *Log) createTorn(seq bourse.Seq) (disk.File, string, error) {
	base := fmt.Sprintf("%s/%020d", journal.TornDir, uint64(seq))
	name := base
	for n := 2; ; n++ {
		file, err := l.disk.Create(name)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
		name = fmt.Sprintf("%s.%d", base, n)
	}
}

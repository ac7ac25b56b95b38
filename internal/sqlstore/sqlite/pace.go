package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	// piece is how much is written out at once, in bytes, of what has been appended
	// to a file; of the rest, where few pages change, it is one of so many parts.
	piece = 1 << 20
	parts = 64
	// gap is how long the device is left to others after a piece, and clean how long
	// one takes at most of which nothing was to be written.
	gap   = 10 * time.Millisecond
	clean = 100 * time.Microsecond
)

// pace folds a log into a file without hurry. A fold leaves tens of megabytes to be
// synced, which SQLite has synced at once: the syncs of everybody else, such as the
// journal's, then wait for all of it. Here both files are written out first, piece
// by piece. The log keeps its blocks: to free and find them again costs others' syncs
// as much.
type pace struct {
	// log and file are open from the first to the last: to close one that SQLite has
	// open would give up its locks, and one that is opened late does not tell that
	// a page could not be written. Whoever is told is told once, so that ahead is
	// the log once more.
	log, ahead, file *os.File
	// old is how long the file was when it was last folded, in bytes.
	old int64
	// every is how many writes there are between folds, writes how many there were
	// since the last.
	every, writes int
	// grown receives when the log has grown, done is closed behind the last.
	grown chan struct{}
	done  chan struct{}

	// writing is held while the log is written or folded, out while a file is
	// written out.
	writing, out sync.Mutex
	// failed says why the log may not be written any more: what was folded may not
	// be in the file.
	failed error
}

func newPace(path string, every int) (*pace, error) {
	p := &pace{every: every, grown: make(chan struct{}, 1), done: make(chan struct{})}
	for _, f := range [...]struct {
		file **os.File
		path string
	}{{&p.file, path}, {&p.log, path + "-wal"}, {&p.ahead, path + "-wal"}} {
		var err error
		if *f.file, err = os.Open(f.path); err != nil {
			return nil, errors.Join(err, p.release())
		}
	}
	info, err := p.file.Stat()
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	p.old = info.Size()
	go p.follow()
	return p, nil
}

// follow writes the log out behind its writer, so that little is left to do when it
// is folded.
func (p *pace) follow() {
	defer close(p.done)
	for range p.grown {
		_ = p.writeOut(p.ahead, 0) // whoever folds is told of it as well
	}
}

// grew notes that the log has grown.
func (p *pace) grew() {
	select {
	case p.grown <- struct{}{}:
	default: // it is known already
	}
}

// fold has SQLite fold the log into the file and sync neither of them, and does that
// in its place and order: the log is durable before a page of the file changes, and
// the file before the log begins anew, which it does with the next write.
func (p *pace) fold(ctx context.Context, writer *sql.DB) error {
	p.writes = 0
	if p.failed == nil {
		p.failed = p.sync(p.log, 0)
	}
	if p.failed != nil {
		return p.failed
	}
	ctx = context.WithoutCancel(ctx) // half-way, the writer would be left without syncs
	if _, err := writer.ExecContext(ctx, "PRAGMA synchronous=OFF"); err != nil {
		return err
	}
	_, err := writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	_, on := writer.ExecContext(ctx, "PRAGMA synchronous=NORMAL")
	p.failed = errors.Join(on, p.sync(p.file, p.old))
	if info, err := p.file.Stat(); err == nil {
		p.old = info.Size()
	}
	return errors.Join(err, p.failed)
}

// sync makes a file durable of which the bytes from old on are new.
func (p *pace) sync(file *os.File, old int64) error {
	err := p.writeOut(file, old)
	if err == nil {
		err = disk.SyncData(file)
	}
	if err != nil {
		err = fmt.Errorf("%s could not be written, and is repaired by the next start: %w", file.Name(), err)
	}
	return err
}

// writeOut has the system write the pages of a file that are not on the device.
func (p *pace) writeOut(file *os.File, old int64) error {
	p.out.Lock()
	defer p.out.Unlock()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var n int64
	for at := int64(0); at < info.Size(); at += n {
		n = piece
		if at < old {
			n = max(piece, min(old/parts, old-at))
		}
		began := time.Now()
		if err := writeRange(file, at, n); err != nil {
			return err
		}
		if time.Since(began) > clean {
			time.Sleep(gap)
		}
	}
	return nil
}

// close lets go of the files, after SQLite has closed them. Again it does nothing.
func (p *pace) close() error {
	if p.grown == nil {
		return nil
	}
	close(p.grown)
	<-p.done
	p.grown = nil
	return p.release()
}

func (p *pace) release() (err error) {
	for _, f := range [...]*os.File{p.log, p.ahead, p.file} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

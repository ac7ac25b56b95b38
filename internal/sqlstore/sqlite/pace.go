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
	// piece is the size of one write-out of appended data, in bytes. In the rest of a
	// file, where few pages change, a write-out covers one of parts equal shares.
	piece = 1 << 20
	parts = 64
	// gap is the pause after a piece, for other users of the device. A piece that took
	// less than clean had nothing to write and needs no pause.
	gap   = 10 * time.Millisecond
	clean = 100 * time.Microsecond
)

// pace is a folder that folds a log into a file in pieces. A fold leaves tens of
// megabytes to sync, and SQLite syncs them at once: the syncs of others, such as the
// journal's, then wait for all of it. Here both files are first written out piece by
// piece. The log keeps its blocks, because freeing and allocating them again slows
// others' syncs as much.
type pace struct {
	// log and file are open from first to last: closing a file that SQLite has open would
	// drop its locks, and a file opened late does not report earlier write errors. Each
	// descriptor reports an error once, so ahead is a second one of the log.
	log, ahead, file *os.File
	writer           *sql.DB
	// old is the length of the file at the last fold, in bytes.
	old int64
	// every is the number of writes between folds, writes the number since the last one.
	every, writes int
	// grown receives when the log has grown. done is closed when follow returns.
	grown chan struct{}
	done  chan struct{}

	// writing is held while the log is written or folded, out while a file is written
	// out.
	writing, out sync.Mutex
	// failed is the reason to refuse further writes to the log: folded pages may be
	// missing in the file.
	failed error
}

func newPace(path string, writer *sql.DB, every int) (*pace, error) {
	p := &pace{writer: writer, every: every, grown: make(chan struct{}, 1), done: make(chan struct{})}
	for _, f := range [...]struct {
		file **os.File
		path string
	}{{&p.file, path}, {&p.log, path + logSuffix}, {&p.ahead, path + logSuffix}} {
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

// follow writes the log out behind its writer, so that a fold has little left to do.
func (p *pace) follow() {
	defer close(p.done)
	for range p.grown {
		_ = p.writeOut(p.ahead, 0) // the fold gets the error as well
	}
}

// grew signals follow that the log has grown.
func (p *pace) grew() {
	select {
	case p.grown <- struct{}{}:
	default: // already signalled
	}
}

func (p *pace) write(ctx context.Context, transact func() error) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.failed != nil {
		return p.failed
	}
	if err := transact(); err != nil {
		return err
	}

	if p.writes++; p.writes >= p.every {
		_ = p.foldLocked(ctx) // the transaction is written: the next write reports the error
	} else {
		p.grew()
	}
	return nil
}

func (p *pace) fold(ctx context.Context) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.foldLocked(ctx)
}

// foldLocked makes SQLite fold the log into the file without syncs, and syncs in its
// place and order: the log is durable before a page of the file changes, and the file
// before the log restarts, which it does with the next write.
func (p *pace) foldLocked(ctx context.Context) error {
	p.writes = 0
	if p.failed == nil {
		p.failed = p.sync(p.log, 0)
	}
	if p.failed != nil {
		return p.failed
	}
	ctx = context.WithoutCancel(ctx) // stopped half-way, the writer would stay without syncs
	if _, err := p.writer.ExecContext(ctx, "PRAGMA synchronous=OFF"); err != nil {
		return err
	}
	_, err := p.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	_, on := p.writer.ExecContext(ctx, "PRAGMA synchronous=NORMAL")
	p.failed = errors.Join(on, p.sync(p.file, p.old))
	if info, err := p.file.Stat(); err == nil {
		p.old = info.Size()
	}
	return errors.Join(err, p.failed)
}

// sync makes a file durable. Its bytes from old on are new.
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

// writeOut makes the system write the dirty pages of a file, in pieces.
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

// close closes the files after SQLite has closed them.
func (p *pace) close(closeDB func() error) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if p.failed != nil {
		return p.failed // closing the writer would remove the log
	}

	err := closeDB()
	if p.grown == nil {
		return err // closed before
	}
	close(p.grown)
	<-p.done
	p.grown = nil
	return errors.Join(err, p.release())
}

func (p *pace) release() (err error) {
	for _, f := range [...]*os.File{p.log, p.ahead, p.file} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

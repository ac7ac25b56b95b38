package filelog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// small is the size of a segment with a header, three small entries, a mark and a seal.
const small = 6 * journal.Block

// session is one process that uses a log, with its notices.
type session struct {
	log *filelog.Log
	// told are the commands of the batches yielded by Next or found at the start, in
	// order; sent counts the proposals.
	told [][]byte
	sent int
}

func open(d disk.Disk, size int64) (*session, *journal.Recovery, error) {
	l, r, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: size})
	return &session{log: l}, r, err
}

func mustOpen(t *testing.T, d disk.Disk, size int64) (*session, *journal.Recovery) {
	t.Helper()
	s, r, err := open(d, size)
	if err != nil {
		t.Fatal(err)
	}
	return s, r
}

// command returns the n-th batch of a test: one command of a few bytes or more.
func command(n int) []byte {
	return fmt.Appendf(nil, "command %d %s", n, bytes.Repeat([]byte{byte(n)}, n*1777%9000))
}

// write commits the n-th batch and takes its notice.
func (s *session) write(n int) error {
	s.sent++
	c := command(n)
	err := s.log.Propose(journal.Proposal{ID: uint64(s.sent), Count: 1, Time: bourse.Time(n), Commands: c})
	if err == nil {
		_, err = s.log.Step()
	}
	if err != nil {
		return err
	}
	n0, ok := s.log.Next()
	if !ok || !bytes.Equal(n0.Batch.Commands, c) {
		return errors.New("a step without its notice")
	}
	s.told = append(s.told, c)
	return nil
}

func (s *session) mustWrite(t *testing.T, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if err := s.write(n); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the commands of a journal from 1 on.
func readAll(d disk.Disk) ([][]byte, error) {
	r, err := journal.NewFiles(d, identity).Read(1)
	if err != nil {
		return nil, err
	}
	var all [][]byte
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, r.Close()
		}
		if err != nil {
			return all, errors.Join(err, r.Close())
		}
		if b.First != bourse.Seq(len(all)+1) {
			return all, fmt.Errorf("batch %d in place of %d", b.First, len(all)+1)
		}
		all = append(all, bytes.Clone(b.Commands))
	}
}

// holds fails unless a journal begins with these batches, and continues only with
// proposed ones.
func holds(t *testing.T, d disk.Disk, told [][]byte) [][]byte {
	t.Helper()
	all, err := readAll(d)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < len(told) {
		t.Fatalf("%d batches are left of %d", len(all), len(told))
	}
	for i, b := range all {
		if want := command(i + 1); !bytes.Equal(b, want) {
			t.Fatalf("batch %d is %.20q", i+1, b)
		}
	}
	return all
}

func TestRecovery(t *testing.T) {
	d := memdisk.New(1)
	s, r := mustOpen(t, d, small)
	if r.First != 1 || r.Tip.Last != 0 || !r.Sealed {
		t.Fatalf("a new journal: %+v", r)
	}
	s.mustWrite(t, 1, 10)
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.log.Step(); !errors.Is(err, journal.ErrClosed) {
		t.Fatalf("Step after Close: %v", err)
	}
	for range 3 { // starts and ends leave no trace
		s, r = mustOpen(t, d, small)
		if r.First != 1 || r.Tip.Last != 10 || r.Frames != 10 || !r.Sealed || r.Torn != nil {
			t.Fatalf("after a close: %+v", r)
		}
		if err := s.log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, _ = mustOpen(t, d, small)
	s.mustWrite(t, 11, 12)
	killed := d.Clone()
	s, r = mustOpen(t, killed, small)
	if r.Tip.Last != 12 || r.Sealed || r.Torn != nil || r.Tip.Term < 2 {
		t.Fatalf("after a kill: %+v", r)
	}
	st, err := journal.NewFiles(killed, identity).Stat()
	if err != nil || st.Proven != 12 || st.Last != 12 || st.First != 1 || st.Sealed {
		t.Fatalf("a start proves what it found: %+v, %v", st, err)
	}
	_ = s
}

func TestProgress(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, small)
	s.mustWrite(t, 1, 10)
	var last, total int64
	_, _, err := filelog.Open(d.Clone(), journal.Options{Identity: identity, SegmentSize: small, Progress: func(done, of int64) {
		if done < last || of == 0 || done > of {
			t.Errorf("%d after %d of %d", done, last, of)
		}
		last, total = done, of
	}})
	if err != nil || last != total {
		t.Fatalf("%d of %d, %v", last, total, err)
	}
}

func TestRefusals(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, small)
	if _, _, err := open(d, small); !errors.Is(err, journal.ErrInUse) {
		t.Fatalf("a second process: %v", err)
	}
	s.mustWrite(t, 1, 1)
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	id, ok, err := journal.Identify(d)
	if id != identity || !ok || err != nil {
		t.Fatalf("Identify: %v, %v, %v", id, ok, err)
	}
	for _, c := range []struct {
		id   journal.Identity
		want error
	}{
		{journal.Identity{Exchange: [16]byte{9}, Sandbox: true}, journal.ErrOtherExchange},
		{journal.Identity{Exchange: identity.Exchange}, journal.ErrSandbox},
	} {
		if _, _, err := filelog.Open(d, journal.Options{Identity: c.id}); !errors.Is(err, c.want) {
			t.Errorf("%v: %v", c.id, err)
		}
		if _, err := journal.NewFiles(d, c.id).Read(1); !errors.Is(err, c.want) {
			t.Errorf("reading as %v: %v", c.id, err)
		}
	}
	if _, _, err := open(d, small); err != nil {
		t.Errorf("a start that failed keeps the lock: %v", err)
	}
	if _, ok, err := journal.Identify(memdisk.New(1)); ok || err != nil {
		t.Errorf("an empty directory: %v, %v", ok, err)
	}
}

func TestLockOfRealFiles(t *testing.T) {
	path := t.TempDir()
	s, _ := mustOpen(t, openDir(t, path), small)
	if _, _, err := open(openDir(t, path), small); !errors.Is(err, journal.ErrInUse) {
		t.Fatalf("a second process: %v", err)
	}
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = mustOpen(t, openDir(t, path), small)
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
}

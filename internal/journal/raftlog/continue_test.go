package raftlog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// single makes the journal of a single exchange with so many commands of a size.
func single(t *testing.T, commands, size int) *memdisk.Disk {
	t.Helper()
	d := memdisk.New(3)
	l, _, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: small})
	if err != nil {
		t.Fatal(err)
	}
	for i := range commands {
		p := journal.Proposal{ID: uint64(i + 1), Count: 1, Time: 9, Commands: bytes.Repeat([]byte{byte(i)}, size)}
		if err := l.Propose(p); err != nil {
			t.Fatal(err)
		}
		for more := true; more; {
			if more, err = l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		for ok := true; ok; {
			_, ok = l.Next()
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return d
}

// reads wants a journal to have commands as single made them, and returns the number of those behind.
func reads(t *testing.T, d *memdisk.Disk, commands int) (behind int) {
	t.Helper()
	r, err := journal.NewFiles(d, identity).Read(1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for i := 0; ; i++ {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return i - commands
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First != bourse.Seq(i+1) || i < commands && b.Commands[0] != byte(i) {
			t.Fatalf("batch %d begins with command %d", i, b.First)
		}
	}
}

// TestContinue makes a cluster of single exchanges of many lengths: the journal is whole, and goes on. A new node's archive has
// all of it. The call may be repeated, and no cluster's journal is continued by another cluster.
func TestContinue(t *testing.T) {
	for commands := range 20 {
		d := single(t, commands, 9000)
		for range 2 {
			if err := raftlog.Continue(d, identity, 1, small); err != nil {
				t.Fatalf("%d commands: %v", commands, err)
			}
		}
		if more := reads(t, d, commands); more != 0 {
			t.Errorf("%d commands: %d more", commands, more)
		}

		h := &alone{disk: d}
		l := h.Open(t)
		if got := l.Durable(); got != bourse.Seq(commands) {
			t.Errorf("the cluster begins behind %d of %d commands", got, commands)
		}
		if err := l.Propose(journal.Proposal{ID: 1, Count: 1, Time: 5, Commands: []byte("a")}); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		base, err := l.(*raftlog.Log).Base()
		if err != nil || base.First() != bourse.Seq(commands+1) {
			t.Errorf("the live journal begins with %d, %v", base.First(), err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if more := reads(t, d, commands); more != 1 {
			t.Errorf("%d commands: %d more, behind one", commands, more)
		}
		if err := raftlog.Continue(d, identity, 1, small); err == nil {
			t.Error("a node that has run begins a cluster")
		}

		if commands == 0 {
			continue
		}
		copied := memdisk.New(4)
		from, to := journal.NewFiles(d, identity), journal.NewFiles(copied, identity)
		if err := to.CopyArchive(context.Background(), from, &base); err != nil {
			t.Errorf("%d commands: a new node's archive: %v", commands, err)
		}
	}
}

// TestContinueCut cuts the power at each point of Continue. Then the exchange goes on alone, or Continue does.
func TestContinueCut(t *testing.T) {
	for _, commands := range []int{0, 1, 9, 12} {
		testContinueCut(t, commands)
	}
}

func testContinueCut(t *testing.T, commands int) {
	t.Helper()
	for ops, cut := 1, true; cut; ops++ {
		d := single(t, commands, 9000)
		d.StopAt(ops)
		err := raftlog.Continue(d, identity, 1, small)
		cut = err != nil
		d = d.Crash()
		if more := reads(t, d, commands); more != 0 {
			t.Fatalf("behind %d operations and %v: %d more", ops, err, more)
		}
		if err := raftlog.Continue(d, identity, 1, small); err != nil {
			t.Fatalf("behind %d operations: %v", ops, err)
		}
		if l := (&alone{disk: d}).Open(t); l.Durable() != bourse.Seq(commands) {
			t.Errorf("behind %d operations the cluster begins at %d", ops, l.Durable())
		}
	}
}

package raftlog_test

import (
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

var identity = journal.Identity{Exchange: [16]byte{1, 2, 3}, Sandbox: true}

const small = 64 << 10

// alone is a cluster of one node, on a disk that a crash replaces.
type alone struct {
	disk  *memdisk.Disk
	crash func(*memdisk.Disk) *memdisk.Disk
}

func newAlone(t *testing.T, seed uint64, crash func(*memdisk.Disk) *memdisk.Disk) *alone {
	t.Helper()
	h := &alone{memdisk.New(seed), crash}
	c := raftlog.Cluster{Identity: identity, Nodes: []uint64{1}, SegmentSize: small}
	if err := raftlog.Init(h.disk, &c, 1); err != nil {
		t.Fatal(err)
	}
	return h
}

func options(size int64, send func([]*raftpb.Message)) raftlog.Options {
	return raftlog.Options{Options: journal.Options{Identity: identity, SegmentSize: size}, Send: send}
}

// Open opens the log and leads.
func (h *alone) Open(t *testing.T) journal.Log {
	t.Helper()
	l, _, err := raftlog.Open(h.disk, options(small, func([]*raftpb.Message) { t.Error("a message to nobody") }))
	if err != nil {
		t.Fatal(err)
	}
	for !l.Status().Open {
		l.Tick()
		for more := true; more; {
			if more, err = l.Step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for ok := true; ok; {
		_, ok = l.Next()
	}
	return l
}

func (h *alone) Crash(*testing.T) { h.disk = h.crash(h.disk) }

func (h *alone) Compact(t *testing.T, before bourse.Seq) {
	journaltest.Archive(t, journal.NewFiles(h.disk, identity), before)
}

func TestContract(t *testing.T) {
	t.Run("killed", func(t *testing.T) {
		journaltest.Run(t, func(t *testing.T) journaltest.Harness { return newAlone(t, 1, (*memdisk.Disk).Clone) })
	})
	t.Run("without power", func(t *testing.T) {
		journaltest.Run(t, func(t *testing.T) journaltest.Harness { return newAlone(t, 2, (*memdisk.Disk).Crash) })
	})
}

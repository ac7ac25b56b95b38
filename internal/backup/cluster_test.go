package backup

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// logIn opens a journal of its own in a directory.
func logIn(t *testing.T, id journal.Identity) (*filelog.Log, disk.Disk) {
	t.Helper()
	d, err := disk.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := filelog.Open(d, journal.Options{Identity: id, SegmentSize: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	})
	return l, d
}

// extend appends frames of one command each.
func extend(t *testing.T, l *filelog.Log, frames int) {
	t.Helper()
	for range frames {
		tip := l.Tip()
		f := journal.Frame{First: tip.Last + 1, Count: 1, Term: 1, Time: bourse.Time(tip.Last + 1), Previous: tip.Chain, Commands: []byte("command")}
		if _, err := l.Copy([]journal.Frame{f}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTranscribe copies a journal that reaches the wanted command while it is copied. One that never reaches it is an error
// that says how far it is, and a canceled backup ends.
func TestTranscribe(t *testing.T) {
	id := journal.Identity{Exchange: [16]byte{7}, Sandbox: true}
	from, on := logIn(t, id)
	extend(t, from, 3)
	now := make(chan time.Time)
	close(now)
	grows := &Cluster{After: func(time.Duration) <-chan time.Time {
		extend(t, from, 1)
		return now
	}}
	to, _ := logIn(t, id)
	if err := grows.transcribe(t.Context(), journal.NewFiles(on, id), to, 5); err != nil || to.Tip() != from.Tip() || to.Tip().Last != 5 {
		t.Errorf("the copy ends with %+v, the journal with %+v: %v", to.Tip(), from.Tip(), err)
	}

	stands := &Cluster{After: func(time.Duration) <-chan time.Time { return now }}
	to, _ = logIn(t, id)
	if err := stands.transcribe(t.Context(), journal.NewFiles(on, id), to, 6); err == nil || !strings.Contains(err.Error(), "up to 5 are committed") {
		t.Errorf("a journal that stands still: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	canceled := &Cluster{After: func(time.Duration) <-chan time.Time {
		cancel()
		return nil
	}}
	to, _ = logIn(t, id)
	if err := canceled.transcribe(ctx, journal.NewFiles(on, id), to, 6); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled backup: %v", err)
	}
}

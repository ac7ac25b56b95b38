package node

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

func TestClockFollowsNoJump(t *testing.T) {
	const s = bourse.Second
	r := reading{wall: 1000 * s, mono: 5 * s}
	alarms := 0
	c := newClock(func() reading { return r }, 0, func(bourse.Time) { alarms++ })
	for _, step := range []struct {
		name       string
		wall, mono bourse.Time
		accept     bool
		want       bourse.Time
		alarms     int
	}{
		{"at first the wall clock", 1000, 5, false, 1000, 0},
		{"both go on", 1010, 15, false, 1010, 0},
		{"a small step forward is followed", 1060, 16, false, 1060, 0},
		{"a small step back stands on what was", 1050, 26, false, 1070, 0},
		{"the wall clock has caught up", 1085, 40, false, 1085, 0},
		{"a jump forward is an alarm", 5000, 41, false, 1086, 1},
		{"once", 5001, 42, false, 1087, 1},
		{"accepted", 5002, 43, true, 5002, 1},
		{"and followed", 5003, 44, false, 5003, 1},
		{"a jump back is not followed", 100, 45, false, 5004, 1},
		{"time goes on", 101, 46, false, 5005, 1},
		{"another jump forward", 9000, 47, false, 5006, 2},
		{"which goes away by itself", 5008, 48, false, 5008, 2},
		{"a third one", 9000, 49, false, 5009, 3},
		{"which is taken back a little too far", 5009, 50, false, 5010, 3},
	} {
		r = reading{wall: step.wall * s, mono: step.mono * s}
		if step.accept {
			c.Accept()
		}
		if got := c.Now(); got != step.want*s || alarms != step.alarms {
			t.Errorf("%s: %d, %d alarms; want %d, %d", step.name, got/s, alarms, step.want, step.alarms)
		}
	}
	if c.Jumped() {
		t.Error("a jump that was taken back still waits for somebody")
	}
}

func TestClockIsNeverBehindTheJournal(t *testing.T) {
	r := reading{wall: 100 * bourse.Second}
	c := newClock(func() reading { return r }, 500*bourse.Second, func(bourse.Time) { t.Error("alarm") })
	r = reading{wall: 110 * bourse.Second, mono: 10 * bourse.Second}
	if got := c.Now(); got != 510*bourse.Second {
		t.Errorf("now = %d", got/bourse.Second)
	}
}

// TestClockJumps has the machine's clock jump under a running exchange: nothing is
// taken until an operator accepts it, or until it is right again.
func TestClockJumps(t *testing.T) {
	machine := machineClock()
	var ahead atomic.Int64
	serving, ended := make(chan string, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	data, world := t.TempDir(), sandbox.New(sandbox.Options{})
	go func() {
		ended <- Run(ctx, Options{
			Data: data, OpenLog: openLog, Listen: "127.0.0.1:0", Sandbox: world, Networks: world.Attachments(), SegmentSize: 256 << 10, Log: slog.New(slog.DiscardHandler),
			Serving: func(address, _ string) { serving <- address },
			machine: func() reading {
				r := machine()
				r.wall += bourse.Time(ahead.Load())
				return r
			},
		})
	}()
	select {
	case <-serving:
	case err := <-ended:
		t.Fatal(err)
	}
	credited := 0
	ask := func(verb string, args any) error {
		_, err := admin.Call(t.Context(), data, verb, args)
		return err
	}
	if err := ask("account/create", map[string]any{"email": "one@example.org"}); err != nil {
		t.Fatal(err)
	}
	credit := func() error {
		err := ask("credit", map[string]any{"account": 1, "asset": "BTC", "amount": "1"})
		if err == nil {
			credited++
		}
		return err
	}
	taken := func() bool { return credit() == nil }
	refused := func() bool {
		err := credit()
		return err != nil && strings.Contains(err.Error(), "clock has jumped")
	}
	until := func(what string, wanted func() bool) {
		t.Helper()
		every := time.NewTicker(5 * time.Millisecond)
		defer every.Stop()
		for end := time.Now().Add(10 * time.Second); !wanted(); <-every.C {
			if time.Now().After(end) {
				t.Fatalf("commands are never %s", what)
			}
		}
	}
	hour := int64(3600 * bourse.Second)
	until("taken", taken)
	ahead.Store(hour)
	until("refused after a jump forward", refused)
	if err := ask("clock/accept", struct{}{}); err != nil {
		t.Fatal(err)
	}
	until("taken when the jump is accepted", taken)
	ahead.Store(3 * hour)
	until("refused after another jump", refused)
	ahead.Store(hour)
	until("taken when the clock is right again", taken)
	ahead.Store(0)
	until("taken after a jump back", taken)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if credited < 4 {
		t.Errorf("%d credits", credited)
	}
}

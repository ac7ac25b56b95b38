package node

import (
	"testing"

	"github.com/bourse-exchange/bourse"
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
	} {
		r = reading{wall: step.wall * s, mono: step.mono * s}
		if step.accept {
			c.Accept()
		}
		if got := c.Now(); got != step.want*s || alarms != step.alarms {
			t.Errorf("%s: %d, %d alarms; want %d, %d", step.name, got/s, alarms, step.want, step.alarms)
		}
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

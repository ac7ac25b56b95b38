package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/demo"
)

// TestDemoCrash wants the demonstration to find everything after the crash, and to leave
// nothing behind.
func TestDemoCrash(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("BOURSE_BLOCK_TIME", "nonsense") // settings are for another exchange
	path, err := binary()
	must(t, err)
	tradeFor := demo.TradeFor
	if testing.Short() {
		tradeFor /= 10
	}
	var out bytes.Buffer
	if err := demo.Crash(t.Context(), demo.Options{Program: path, Out: &out, TradeFor: tradeFor}); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	stdout := out.String()
	number := func(form string) string {
		t.Helper()
		m := regexp.MustCompile(form).FindStringSubmatch(stdout)
		if m == nil {
			t.Fatalf("%s is not there:\n%s", form, stdout)
		}
		return m[1]
	}
	if told := number(`acknowledged +([0-9,]+)\n`); told != number(`there +([0-9,]+)\n`) || len(told) < len("100") {
		t.Errorf("too little was acknowledged:\n%s", stdout)
	}
	if number(`lost +([0-9]+)\n`) != "0" || number(`: ([0-9]+) violations`) != "0" || number(`the middle: ([0-9]+) requests`) == "0" {
		t.Errorf("it was lost, or not in the middle:\n%s", stdout)
	}
	// There is one more for each snapshot that was taken before the end.
	if hash := number(`as it was killed +(\w{64})\n`); strings.Count(stdout, hash) != 2+strings.Count(stdout, "from snapshot") {
		t.Errorf("state hashes:\n%s", stdout)
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// TestDemoCrashNotices gives the demonstration a program that begins anew when it is
// started again.
func TestDemoCrashNotices(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path, err := binary()
	must(t, err)
	forgetful := filepath.Join(t.TempDir(), "forgetful")
	must(t, os.WriteFile(forgetful, fmt.Appendf(nil, "#!/bin/sh\nrm -rf \"$3\"\nexec %s \"$@\"\n", path), 0o700))
	var out bytes.Buffer
	err = demo.Crash(t.Context(), demo.Options{Program: forgetful, Out: &out, TradeFor: 200 * time.Millisecond})
	if !errors.Is(err, demo.ErrBroken) {
		t.Fatalf("%v\n%s", err, &out)
	}
	if kept, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "bourse-demo-*/data/*")); err != nil || len(kept) == 0 {
		t.Errorf("nothing is left to look at: %v", err)
	}
}

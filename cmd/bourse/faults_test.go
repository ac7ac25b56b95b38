package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// fault is an answer of the system that the program gets in place of a real one.
type fault struct {
	// call is a system call by which the program reaches files alone.
	call, errno string
	// when is which call of each thread it is; with a plus, that one and all after.
	when string
	// file is the one in the data directory that it happens to; empty for all.
	file string
	// fresh faults are met by the first start of an exchange.
	fresh bool
}

// faultPoints are spread over starting, trading, taking snapshots, archiving and
// stopping: the numbers rise to where a short life of a thread still comes.
func faultPoints() (list []fault) {
	add := func(f fault, errnos string, whens ...string) {
		for _, f.when = range whens {
			for _, f.errno = range strings.Fields(errnos) {
				list = append(list, f)
			}
		}
	}
	add(fault{call: "fdatasync"}, "EIO", "1", "2", "3", "5", "8", "13", "21", "2+")
	add(fault{call: "pwrite64"}, "EIO ENOSPC", "1", "2", "3", "5", "8", "13", "21", "34", "4+")
	add(fault{call: "fsync"}, "EIO", "1", "2")
	add(fault{call: "renameat"}, "EIO ENOSPC", "1", "2")
	add(fault{call: "ftruncate"}, "EIO", "1")
	add(fault{call: "unlinkat"}, "EIO", "1", "2")
	add(fault{call: "openat"}, "EIO EMFILE", "20", "30", "40")
	add(fault{call: "pread64"}, "EIO", "6", "9", "13", "20") // the first ones load the program
	add(fault{call: "getdents64"}, "EIO", "1", "2", "3")
	add(fault{call: "flock"}, "EIO", "1")
	add(fault{call: "pwrite64", file: "history.db-wal"}, "EIO ENOSPC", "2", "5")
	add(fault{call: "pwrite64", file: "accounts.db-wal"}, "ENOSPC", "1")
	add(fault{call: "fdatasync", fresh: true}, "EIO", "1", "3", "8")
	add(fault{call: "pwrite64", fresh: true}, "ENOSPC", "1", "5", "20")
	add(fault{call: "fsync", fresh: true}, "EIO", "1", "2")
	add(fault{call: "mkdirat", fresh: true}, "ENOSPC", "1", "2")
	add(fault{call: "openat", fresh: true}, "EIO", "15", "25")
	return list
}

// String names the point.
func (f *fault) String() string {
	name := strings.Join([]string{f.call, f.errno, f.when, f.file}, "_")
	if f.fresh {
		return "fresh_" + name
	}
	return name
}

// under returns the command that runs a program with the fault.
func (f *fault) under(data, trace string) []string {
	words := []string{"strace", "-D", "-f", "-qq", "-o", trace, "-e", "trace=" + f.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%s", f.call, f.errno, f.when)}
	if f.file == "" {
		return append(words, "--seccomp-bpf")
	}
	return append(words, "-P", filepath.Join(data, f.file))
}

// leastFaults is how many points must have been met.
const leastFaults = 50

// TestInjectedFaults lets system calls of the real program fail, one after the
// other, while it starts, trades, takes snapshots, archives and stops. It ends
// with a reason or goes on; and the next start has all that was acknowledged.
func TestInjectedFaults(t *testing.T) {
	needs.Program(t, "strace")
	template, key := exemplar(t)
	points, met, ended := faultPoints(), 0, 0
	for i, f := range points {
		if testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			hit, stopped := f.inject(t, template, key, uint64(i))
			if hit {
				met++
			}
			if stopped {
				ended++
			}
		})
	}
	t.Logf("of %d faults %d were met, and %d ended the process", len(points), met, ended)
	if ended == 0 || !testing.Short() && (met < leastFaults || ended == met) {
		t.Error("too few faults were met, or all of them ended the process, or none")
	}
}

// short makes journals with all kinds of files in no time.
var short = []string{"--bots=false", "--block-time=0", "--segment-size=256KiB", "--snapshot-every=150"}

// exemplar makes a data directory that has segments, archives and snapshots, and
// returns it with the key of a trader.
func exemplar(t *testing.T) (dir, key string) {
	t.Helper()
	s := start(t, t.TempDir(), short...)
	_, key = s.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 300
	c.trade(s.url)

	// The follower archives a segment once history has it, in its own time. Wait for two:
	// pruning deletes the segments before the newest archived one.
	c.most = 20
	within(t, patience, "archived", func() bool {
		c.trade(s.url)
		return len(kept(s.data, "archive/*.zst")) > 1
	})

	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for _, kind := range []string{"journal/*.seg", "archive/*.zst", "snapshots/*.snap"} {
		newest(t, s.data, kind)
	}
	return s.data, key
}

// copied returns a copy of a data directory.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// inject runs a life with the fault and one without. It reports whether the
// fault was met, and whether it ended the process.
func (f *fault) inject(t *testing.T, template, key string, seed uint64) (met, ended bool) {
	data := filepath.Join(t.TempDir(), "data")
	if !f.fresh {
		data = copied(t, template)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	s := &server{t: t, data: data, args: short, under: f.under(data, trace)}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
		if t.Failed() {
			t.Logf("log of the exchange:\n%s", s.log)
		}
	})
	c := newTrader(key, rand.New(rand.NewPCG(seed, 2)))
	c.n, c.most, c.wary = 1000, 180, true
	if s.launch("dev") {
		if !f.fresh {
			c.trade(s.url)
		}
		s.end(seed)
	}
	code := s.cmd.ProcessState.ExitCode()
	s.sober(code)
	text, err := os.ReadFile(trace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.under = nil
	s.start()
	if !f.fresh {
		c.check(t, s.url)
	}
	s.audit()
	s.kill()
	return strings.Contains(string(text), "(INJECTED)"), code == exitFailed || code == exitDamaged
}

// killed is the exit code of a process that was killed.
const killed = -1

// end stops the process or kills it.
func (s *server) end(seed uint64) {
	s.t.Helper()
	if seed%3 == 0 {
		s.kill()
		return
	}
	if _, took := s.stop(); took > 12*time.Second {
		s.t.Errorf("it took %s to stop", took)
	}
}

var wild = regexp.MustCompile(`panic:|goroutine \d+|SIGSEGV|fatal error|runtime error`)

// sober wants an end of the process to be one that it decided on, with a reason.
func (s *server) sober(code int) {
	s.t.Helper()
	if code != 0 && code != exitFailed && code != exitDamaged && code != killed {
		s.t.Errorf("exit %d", code)
	}
	if code > 0 && !strings.Contains(s.log.String(), "bourse: ") {
		s.t.Errorf("exit %d without a reason", code)
	}
	if at := wild.FindString(s.log.String()); at != "" {
		s.t.Errorf("the log says %s", at)
	}
}

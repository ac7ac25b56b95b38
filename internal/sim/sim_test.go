package sim_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/sim"
)

var (
	oneSeed  = flag.Uint64("sim.seed", 0, "the first seed; zero for one, and those that failed before")
	seeds    = flag.Uint64("sim.seeds", 0, "how many seeds; zero for a few, or for as long as -sim.for says")
	commands = flag.Int("sim.commands", 0, "how many commands a seed has")
	wall     = flag.Duration("sim.for", 0, "go on with new seeds until so much time has passed")
)

// enough is the number of seeds that must have seen every kind of fault.
const enough = 100

// TestSeeds simulates whole exchanges. The default is a sample; `make sim` is the gate.
func TestSeeds(t *testing.T) {
	r := run{t: t, commands: *commands, began: time.Now(), told: time.Now()}
	if r.commands == 0 {
		r.commands = 800
		if testing.Short() {
			r.commands = 300
		}
	}
	if *oneSeed == 0 {
		r.list = failedBefore(t)
	}
	r.next, r.atLeast = max(*oneSeed, 1), *seeds
	if r.atLeast == 0 && *wall == 0 {
		r.atLeast = 6
		if testing.Short() {
			r.atLeast = 2
		}
	}
	// Simulations make much garbage and keep little.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 0
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(r.work)
	}
	workers.Wait()
	r.tell()
	if missing := r.counts.Missing(); r.done >= enough && len(missing) > 0 {
		t.Errorf("what never happened: %v", missing)
	}
}

// run is a run of many seeds, by several workers.
type run struct {
	t           *testing.T
	commands    int
	began, told time.Time

	mu sync.Mutex
	// list runs first, then at least atLeast seeds from next on, and more while there is
	// time.
	list          []sim.Options
	next, atLeast uint64
	started, done uint64
	total         uint64
	counts        sim.Counts
	failed        bool
}

// take returns the next seed; false if there is none.
func (r *run) take() (sim.Options, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed {
		return sim.Options{}, false
	}
	if len(r.list) > 0 {
		o := r.list[0]
		r.list = r.list[1:]
		return o, true
	}
	if r.started >= r.atLeast && time.Since(r.began) >= *wall {
		return sim.Options{}, false
	}
	r.started++
	r.next++
	return sim.Options{Seed: r.next - 1, Commands: r.commands}, true
}

func (r *run) work() {
	for {
		o, ok := r.take()
		if !ok {
			return
		}
		report, err := sim.Run(o)
		r.finish(o, report, err)
	}
}

func (r *run) finish(o sim.Options, report *sim.Report, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed = true
		r.t.Errorf("%v\n\nto repeat it:\n\tmake sim SEED=%d COMMANDS=%d\nand keep it in internal/sim/testdata/seeds.txt",
			err, o.Seed, o.Commands)
		return
	}
	r.done++
	r.total += report.Commands
	r.counts.Add(&report.Counts)
	if time.Since(r.told) > time.Minute {
		r.tell()
	}
}

// tell logs how far the run has come.
func (r *run) tell() {
	r.told = time.Now()
	took := r.told.Sub(r.began)
	r.t.Logf("%d of %d seeds, %d commands in the journal, in %v, %.0f a second and each twice: %v",
		r.done, r.atLeast, r.total, took.Round(time.Second), float64(r.total)/took.Seconds(), &r.counts)
}

// failedBefore reads the seeds that once failed: a seed and a number of commands per
// line, then the finding.
func failedBefore(t *testing.T) []sim.Options {
	t.Helper()
	b, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []sim.Options
	for line := range strings.Lines(string(b)) {
		o, err := parseSeed(line)
		if errors.Is(err, errComment) {
			continue
		}
		if err != nil {
			t.Fatalf("testdata/seeds.txt: %q: %v", line, err)
		}
		list = append(list, o)
	}
	return list
}

var errComment = errors.New("no seed on this line")

func parseSeed(line string) (o sim.Options, err error) {
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	switch len(words) {
	case 0:
		return o, errComment
	case 2:
	default:
		return o, fmt.Errorf("%d words", len(words))
	}
	if o.Seed, err = strconv.ParseUint(words[0], 10, 64); err != nil {
		return o, err
	}
	o.Commands, err = strconv.Atoi(words[1])
	return o, err
}

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// plan configures a run.
type plan struct {
	// Bourse and Self are the programs, Dir is the measured directory, and Engine the
	// driver of i25959341's engine, or empty.
	Bourse, Self, Dir, Engine string
	// Rounds is the number of rounds of all measurements; a figure is the median.
	Rounds int
	// Each is the time of one measurement, Window that of each half of a pair.
	Each, Window time.Duration
	Pairs        int
	// SnapshotWindow and Orders configure the snapshot, which is measured once.
	SnapshotWindow time.Duration
	Orders         int
	// Rates are tried for the highest sustained one.
	Rates []int
}

func fullPlan() plan {
	return plan{
		Rounds: 3, Each: 8 * time.Second, Window: 5 * time.Second, Pairs: 3,
		SnapshotWindow: 45 * time.Second, Orders: 1_000_000, Rates: []int{250_000, 500_000, 1_000_000, 1_500_000},
	}
}

func quickPlan() plan {
	return plan{
		Rounds: 1, Each: 2 * time.Second, Window: 2 * time.Second, Pairs: 1,
		SnapshotWindow: 3 * time.Second, Orders: 200_000, Rates: []int{250_000, 500_000},
	}
}

// report is the result of a run as JSON.
type report struct {
	Machine machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Lines   []line  `json:"lines"`
	// Others is the share of CPU time that other processes took.
	Others float64 `json:"others"`
}

// machine describes the machine of a run.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// tooMuch is the share of other processes above which a run counts as disturbed.
const tooMuch = 0.05

// runAll measures everything and prints the table.
func runAll(args []string) error {
	var quick bool
	var path, dir, bourse, engine, doc string

	err := flags("run", args, func(f *flag.FlagSet) {
		f.BoolVar(&quick, "quick", false, "one short round, to see that everything works")
		f.StringVar(&path, "json", "", "file for the figures as JSON")
		f.StringVar(&doc, "doc", "", "Markdown file whose table is replaced")
		f.StringVar(&dir, "dir", ".", "directory on the disk to measure; the workloads are kept in it")
		f.StringVar(&bourse, "bourse", "bin/bourse", "the product")
		f.StringVar(&engine, "engine", "", "the driver of i25959341's engine, if it was built")
	})
	if err != nil {
		return err
	}

	p := fullPlan()
	if quick {
		p = quickPlan()
	}

	if p.Self, err = os.Executable(); err != nil {
		return err
	}
	p.Bourse, p.Dir, p.Engine = bourse, dir, engine

	if err := p.workloads(); err != nil {
		return err
	}

	r := report{Machine: thisMachine(), Rounds: p.Rounds}
	before := now()
	s := samples{}
	for range p.Rounds {
		if err := p.round(s); err != nil {
			return err
		}
	}

	if err := p.snapshot(s); err != nil {
		return err
	}

	r.Others, r.Lines = now().others(before), lines(s)
	if path != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}

	r.print(os.Stdout)
	if doc != "" {
		return r.replace(doc)
	}
	return nil
}

// workloads are the files of the workloads, with their resting orders.
var workloads = map[string]int{"w1k.bin": 1_000, "w100k.bin": 100_000}

func (p *plan) workloads() error {
	for name, resting := range workloads {
		path := filepath.Join(p.Dir, name)
		if _, err := os.Stat(path + ".json"); err == nil {
			continue
		}
		if err := writeFiles(path, resting, 5_000_000, 1); err != nil {
			return err
		}
	}
	return nil
}

// samples are the figures of all rounds by name.
type samples map[string][]float64

// take runs a command that prints a JSON object and keeps its numbers as PREFIX.NAME.
func (s samples) take(prefix, program string, args ...string) error {
	_, _ = fmt.Fprintf(os.Stderr, "%s\n", strings.Join(append([]string{filepath.Base(program)}, args...), " "))
	command := exec.Command(program, args...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	var figures map[string]any
	if err := json.Unmarshal(out, &figures); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	for name, value := range figures {
		if n, ok := value.(float64); ok {
			s[prefix+"."+name] = append(s[prefix+"."+name], n)
		}
	}
	return nil
}

// round measures everything once, each figure directly before its anchor.
func (p *plan) round(s samples) error {
	for _, w := range []string{"w1k", "w100k"} {
		path := filepath.Join(p.Dir, w+".bin")
		err := errors.Join(s.take("core."+w, p.Bourse, "bench", "core", "--json", "--workload", path),
			s.take("book."+w, p.Self, "book", "-workload", path))
		if err == nil && p.Engine != "" {
			err = s.take("i25959341."+w, p.Engine, "-workload", path)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(p.durable(s), p.orders(s), p.entry(s), p.streams(s), p.rest(s))
}

// durable measures the in-process figures: the latency at a rate, and the highest rate.
func (p *plan) durable(s samples) error {
	durable := func(name string, rate int) error {
		return s.take(name, p.Bourse, "bench", "durable", "--json", "--workload", filepath.Join(p.Dir, "w1k.bin"),
			"--dir", p.Dir, "--rate", strconv.Itoa(rate), "--for", p.Each.String())
	}
	if err := errors.Join(durable("durable", 100_000), s.take("sync", p.Self, "sync", "-dir", p.Dir)); err != nil {
		return err
	}

	highest := 0.0
	for _, rate := range p.Rates {
		const most = 1000 // microseconds
		name := "durable." + strconv.Itoa(rate)
		if err := durable(name, rate); err != nil {
			return err
		}
		if last := len(s[name+".p99_us"]) - 1; s[name+".p99_us"][last] <= most {
			highest = float64(rate)
		}
	}
	s["highest.rate"] = append(s["highest.rate"], highest)
	return nil
}

// orders measures orders over HTTP against the trivial handler, signed ones, and batches of them.
func (p *plan) orders(s samples) error {
	for _, n := range []string{"1", "64", "256"} {
		args := []string{"bench", "rest", "--json", "--connections", n, "--for", p.Each.String()}
		err := errors.Join(s.take("rest."+n, p.Bourse, append(args, "--dir", p.Dir)...),
			p.beside(s, "handler."+n, nil, args))
		if err != nil {
			return err
		}
	}
	for _, kind := range []string{"hmac", "ed25519"} {
		if err := s.take(kind+".64", p.Bourse, "bench", "rest", "--json", "--connections", "64", "--sign", kind,
			"--for", p.Each.String(), "--dir", p.Dir); err != nil {
			return err
		}
	}
	return s.take("batch.64", p.Bourse, "bench", "rest", "--json", "--connections", "64", "--batch", "50",
		"--for", p.Each.String(), "--dir", p.Dir)
}

// entry measures orders over one WebSocket beside orders over HTTP.
func (p *plan) entry(s samples) error {
	return s.take("entry", p.Bourse, "bench", "entry", "--json", "--for", p.Each.String(), "--dir", p.Dir)
}

// streams measures subscribers against the raw loop.
func (p *plan) streams(s samples) error {
	for _, n := range []string{"4", "64"} {
		args := []string{"bench", "stream", "--json", "--burst", n, "--for", p.Each.String()}
		err := errors.Join(s.take("stream."+n, p.Bourse, append(args, "--dir", p.Dir)...),
			p.beside(s, "raw."+n, []string{"-fan"}, args))
		if err != nil {
			return err
		}
	}
	return nil
}

// rest measures the figures without an anchor.
func (p *plan) rest(s samples) error {
	workload := filepath.Join(p.Dir, "w1k.bin")
	return errors.Join(
		s.take("replay", p.Bourse, "bench", "replay", "--json", "--workload", workload, "--dir", p.Dir),
		p.history(s, "history"), p.postgres(s),
		s.take("standby", p.Bourse, "bench", "standby", "--json", "--dir", p.Dir, "--for", p.Each.String()),
		s.take("cluster", p.Bourse, "bench", "cluster", "--json", "--dir", p.Dir, "--for", p.Each.String()),
		s.take("start", p.Bourse, "bench", "start", "--json", "--dir", p.Dir, "--rounds", "1"))
}

// history measures the history; args are added to the command.
func (p *plan) history(s samples, name string, args ...string) error {
	return s.take(name, p.Bourse, append([]string{
		"bench", "history", "--json", "--workload", filepath.Join(p.Dir, "w1k.bin"), "--dir", p.Dir,
		"--pairs", strconv.Itoa(p.Pairs), "--window", p.Window.String(),
	}, args...)...)
}

// postgres measures the history on a new PostgreSQL server, if one is installed.
func (p *plan) postgres(s samples) error {
	if program("initdb") == "" {
		return nil // lines prints that it is not installed
	}
	server, err := startServer()
	if err != nil {
		return err
	}
	return errors.Join(p.history(s, "postgres", "--store", server.url()), server.stop())
}

func (p *plan) snapshot(s samples) error {
	const pairs = 5
	return s.take("snapshot", p.Bourse, "bench", "snapshot", "--json", "--dir", p.Dir,
		"--orders", strconv.Itoa(p.Orders),
		"--pairs", strconv.Itoa(min(pairs, 2*p.Pairs)), "--window", p.SnapshotWindow.String())
}

// beside starts an anchor and measures it with the product's client.
func (p *plan) beside(s samples, prefix string, flags, args []string) (err error) {
	anchor := exec.Command(p.Self, append([]string{"anchor"}, flags...)...)
	out, err := anchor.StderrPipe()
	if err != nil {
		return err
	}

	if err := anchor.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, anchor.Process.Kill())
		_ = anchor.Wait() // the exit status of a killed process does not matter
	}()

	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(line), "address=")
	if err != nil || !ok {
		return fmt.Errorf("the anchor does not serve: %q, %w", line, err)
	}
	return s.take(prefix, p.Bourse, append(args, "--to", address, "--pid", strconv.Itoa(anchor.Process.Pid))...)
}

// cpuTime is the CPU time since the machine started: all, and this process with its
// children.
type cpuTime struct {
	at        time.Time
	all, ours time.Duration
}

func now() cpuTime {
	u := cpuTime{at: time.Now()}
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			u.ours += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}

	text, _ := os.ReadFile("/proc/stat")
	const idle, wait, ticks = 3, 4, 100

	fields := strings.Fields(strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "cpu "))
	for i, field := range fields[:min(len(fields), 8)] {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && i != idle && i != wait {
			u.all += time.Duration(n) * time.Second / ticks
		}
	}
	return u
}

// others returns the share of CPU time that other processes took since then.
func (u cpuTime) others(since cpuTime) float64 {
	foreign := u.all - since.all - (u.ours - since.ours)
	return max(float64(foreign)/float64(u.at.Sub(since.at))/float64(runtime.NumCPU()), 0)
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version()}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	text, _ = os.ReadFile("/proc/sys/kernel/osrelease")
	m.Kernel = strings.TrimSpace(string(text))
	return m
}

func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

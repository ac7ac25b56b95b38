package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// line is one line of the table.
type line struct {
	Number string `json:"number"`
	Figure string `json:"figure"`
	// Value is the median of the rounds, in Unit.
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Anchor is the median of the anchor and Ratio that of the rounds' ratios; zero
	// without an anchor.
	Anchor float64 `json:"anchor,omitempty"`
	Ratio  float64 `json:"ratio,omitempty"`
	// AtLeast and Aim apply to Ratio or, without one, to Value. Lower is better if Aim is
	// below AtLeast.
	AtLeast float64 `json:"at_least"`
	Aim     float64 `json:"aim"`
	// CPU, in microseconds, and Allocs are per operation; zero if unknown.
	CPU    float64 `json:"cpu_us_per_op,omitempty"`
	Allocs float64 `json:"allocs_per_op,omitempty"`
}

// bound is the target of a line.
type bound struct{ atLeast, aim float64 }

const (
	million = 1e6
	mega    = 1 << 20
	kibi    = 1 << 10
)

// lines makes the table from the samples.
func lines(s samples) []line {
	return append([]line{
		s.plain("1", "engine on w1k, one thread", value{"core.w1k.commands_per_second", "M/s", million}, bound{13.5, 27}),
		s.plain("1", "the same with the journal's encoding", value{"core.w1k.commands_per_second_encoded", "M/s", million},
			bound{}),
		s.plain("1", "engine on w100k, one thread",
			value{"core.w100k.commands_per_second", "M/s", million}, bound{7.9, 15.8}),
		s.plain("1", "reference book on w1k: a flat array, no money", value{"book.w1k.commands_per_second", "M/s", million},
			bound{}),
		s.engine("w1k"), s.engine("w100k"),
		s.over("2", "w100k ÷ w1k", quotient{"core.w100k.commands_per_second", "core.w1k.commands_per_second", "/s"},
			bound{0.6, 0.7}),
		s.plain("3", "allocations per command", value{"core.w1k.allocs_per_command", "", 1}, bound{0.001, 0.001}),
		s.over("4", "order → durable, p50 at 100,000/s ÷ fdatasync", quotient{"durable.p50_us", "sync.p50_us", "µs"},
			bound{3, 2}),
		s.plain("5", "highest rate with p99 ≤ 1 ms, durable", value{"highest.rate", "k/s", 1000}, bound{500, 1500}),
		s.plain("5", "p99 of who comes at any moment to the loop of fdatasync", value{"sync.wait_p99_us", "ms", 1000},
			bound{}),
		s.over("6", "REST orders, 64 connections ÷ trivial handler", quotient{"rest.64.rate", "handler.64.rate", "/s"},
			bound{0.5, 0.7}),
		s.over("6", "REST orders, 256 connections ÷ trivial handler", quotient{"rest.256.rate", "handler.256.rate", "/s"},
			bound{0.65, 0.85}),
		s.plain("6", "the same until the history has caught up", value{"rest.256.sustained_rate", "/s", 1}, bound{}),
		s.over("6", "REST orders in batches of 50, 64 connections ÷ single orders",
			quotient{"batch.64.rate", "rest.64.rate", "/s"}, bound{5, 7}),
		s.over("6", "REST orders signed with HMAC, 64 connections ÷ unsigned",
			quotient{"hmac.64.rate", "rest.64.rate", "/s"}, bound{}),
		s.over("6", "REST orders signed with Ed25519, 64 connections ÷ unsigned",
			quotient{"ed25519.64.rate", "rest.64.rate", "/s"}, bound{}),
		s.alone(),
		s.over("8", "messages to 1,000 subscribers ÷ raw loop",
			quotient{"stream.4.messages_per_second", "raw.4.messages_per_second", "/s"},
			bound{0.8, 0.9}),
		s.plain("8", "messages to 1,000 subscribers in bursts of 64", value{"stream.64.messages_per_second", "M/s", million},
			bound{1, 2}),
		s.plain("9", "restart after kill -9, state hash equal", value{"replay.commands_per_second", "M/s", million},
			bound{5, 10}),
		s.plain("10", "start in an empty directory", value{"start.start_s", "s", 1}, bound{1, 0.3}),
		s.plain("10", "memory when idle", value{"start.resident_bytes", "MiB", mega}, bound{150, 80}),
		s.plain("11", "p99.9 during a snapshot ÷ without", value{"snapshot.p999_ratio", "", 1}, bound{3, 1.5}),
		s.plain("12", "rows of history into SQLite", value{"history.rows_per_second", "k/s", 1000}, bound{50, 100}),
		s.server("rows of history into PostgreSQL", "k/s", "postgres.rows_per_second", 1000, bound{80, 150}),
		s.plain("12", "ACK p99 at 20,000/s, history on ÷ off", value{"history.p99_ratio", "", 1}, bound{1.5, 1.1}),
		s.server("the same with PostgreSQL", "", "postgres.p99_ratio", 1, bound{1.5, 1.1}),
		s.plain("13", "memory of a resting order, engine alone", value{"core.w100k.bytes_per_resting_order", "B", 1},
			bound{128, 64}),
		s.plain("13", "memory of a resting order, whole process", value{"snapshot.bytes_per_order", "B", 1}, bound{600, 300}),
		s.plain("13", "memory of an idle WebSocket", value{"start.bytes_per_stream", "KiB", kibi}, bound{16, 6}),
		s.over("14", "orders over one WebSocket that does not wait for answers ÷ REST, 64 connections",
			quotient{"entry.rate", "entry.rest_rate", "/s"}, bound{5, 8}),
		s.plain("14", "CPU of such an order without the history's", value{"entry.own_cpu_us_per_op", "µs", 1}, bound{15, 10}),
		s.plain("15", "CPU of a REST order without the history's, 64 connections",
			value{"rest.64.own_cpu_us_per_op", "µs", 1}, bound{30, 24}),
		s.plain("15", "CPU of a REST order without the history's, 256 connections",
			value{"rest.256.own_cpu_us_per_op", "µs", 1}, bound{25, 20}),
		s.plain("15", "CPU of the history for an order", value{"rest.64.history_cpu_us_per_op", "µs", 1}, bound{25, 15}),
		s.plain("15", "commands that the history is behind then", value{"rest.64.history_lag", "", 1}, bound{}),
		s.plain("15", "time in which it catches up", value{"rest.64.history_catch_up_s", "s", 1}, bound{}),
		s.plain("16", "lag of a standby at 20,000 orders/s, p99", value{"standby.lag_p99_ms", "ms", 1}, bound{1000, 500}),
		s.plain("16", "orders that were acknowledged then", value{"standby.reached", "/s", 1}, bound{}),
	}, s.cluster()...)
}

// cluster returns the lines of three nodes.
func (s samples) cluster() []line {
	return []line{
		s.over("17", "REST orders of three nodes on this machine ÷ one, 64 connections",
			quotient{"cluster.rate", "cluster.one_rate", "/s"}, bound{0.35, 0.7}),
		s.over("17", "REST order of three nodes on this machine, one connection, p50 ÷ one",
			quotient{"cluster.p50_us", "cluster.one_p50_us", "µs"}, bound{3.5, 2}),
		s.over("17", "the same through a replica ÷ at the leader",
			quotient{"cluster.replica_p50_us", "cluster.p50_us", "µs"}, bound{}),
		s.over("17", "reads of a book, three nodes asked ÷ the leader alone",
			quotient{"cluster.reads_3", "cluster.reads_1", "/s"}, bound{}),
		s.over("17", "reads of a book, two nodes asked ÷ the leader alone",
			quotient{"cluster.reads_2", "cluster.reads_1", "/s"}, bound{}),
		s.over("17", "reads of a book, the two other nodes asked ÷ the leader alone",
			quotient{"cluster.reads_beside", "cluster.reads_1", "/s"}, bound{}),
		s.over("17", "the leader's CPU for a read of a book that another node is asked ÷ that it is asked",
			quotient{"cluster.leader_beside_us", "cluster.leader_read_us", "µs"}, bound{}),
		s.over("17", "reads of a book, the leader of three nodes ÷ one node",
			quotient{"cluster.reads_1", "cluster.one_reads", "/s"}, bound{}),
		s.over("17", "messages of a book to 400 clients of another node ÷ of the leader",
			quotient{"cluster.stream_beside", "cluster.stream_leader", "/s"}, bound{}),
		s.over("17", "the leader's CPU for such a message at another node ÷ at the leader",
			quotient{"cluster.leader_follower_beside_us", "cluster.leader_follower_us", "µs"}, bound{}),
		s.plain("17", "lag of a replica at 20,000 orders/s, p99", value{"cluster.lag_p99_ms", "ms", 1}, bound{50, 20}),
		s.plain("17", "orders that were acknowledged then", value{"cluster.reached", "/s", 1}, bound{}),
	}
}

// value names samples, and says how they are printed: in a unit, divided by the scale.
type value struct {
	name, unit string
	scale      float64
}

// quotient names the samples of a line with an anchor.
type quotient struct{ name, anchor, unit string }

// plain returns a line without an anchor.
func (s samples) plain(number, figure string, v value, b bound) line {
	return line{Number: number, Figure: figure, Unit: v.unit,
		Value: median(s[v.name]) / v.scale, AtLeast: b.atLeast, Aim: b.aim}
}

// server returns a line of history on a PostgreSQL server, if one is installed.
func (s samples) server(figure, unit, name string, scale float64, b bound) line {
	if len(s[name]) == 0 {
		return line{Number: "12", Figure: figure + ": not installed here"}
	}
	return s.plain("12", figure, value{name, unit, scale}, b)
}

// engine returns a line with i25959341's engine as the anchor.
func (s samples) engine(workload string) line {
	figure := "engine on " + workload + " ÷ i25959341"
	if len(s["i25959341."+workload+".commands_per_second"]) == 0 {
		return line{Number: "1", Figure: figure + ": not here, see test/bench/i25959341"}
	}
	const rate = ".commands_per_second"
	return s.over("1", figure, quotient{"core." + workload + rate, "i25959341." + workload + rate, "/s"}, bound{10, 20})
}

// over returns a line with an anchor.
func (s samples) over(number, figure string, q quotient, b bound) line {
	l := s.plain(number, figure, value{q.name, q.unit, 1}, b)
	l.Anchor, l.Ratio = median(s[q.anchor]), s.ratio(q.name, func(round int) float64 { return s[q.anchor][round] })
	for prefix := q.name; prefix != ""; prefix = parent(prefix) {
		l.CPU = max(l.CPU, median(s[prefix+".cpu_us_per_op"]), median(s[prefix+".cpu_us_per_message"]))
		l.Allocs = max(l.Allocs, median(s[prefix+".allocs_per_op"]))
	}
	return l
}

// alone returns the line of a single connection, whose anchor is the handler plus a sync.
func (s samples) alone() line {
	const name = "rest.1.p50_us"
	anchor := func(round int) float64 { return s["handler.1.p50_us"][round] + s["sync.p50_us"][round] }
	l := s.plain("7", "REST order, one connection, p50 ÷ (handler + fdatasync)", value{name, "µs", 1}, bound{2, 1.5})
	l.Ratio = s.ratio(name, anchor)
	l.Anchor = l.Value / l.Ratio
	return l
}

// ratio returns the median of the rounds' ratios.
func (s samples) ratio(name string, anchor func(round int) float64) float64 {
	list := make([]float64, len(s[name]))
	for i, value := range s[name] {
		list[i] = value / anchor(i)
	}
	return median(list)
}

// parent removes the last part of a dotted name.
func parent(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[:i]
		}
	}
	return ""
}

// reached returns the target that a line reaches.
func (l *line) reached() string {
	value := l.Value
	if l.Ratio != 0 {
		value = l.Ratio
	}

	reaches := func(bound float64) bool {
		if l.Aim < l.AtLeast || l.Aim < 1 && l.Ratio == 0 { // lower is better
			return value <= bound
		}
		return value >= bound
	}

	switch {
	case l.AtLeast == 0:
		return ""
	case reaches(l.Aim):
		return "aim"
	case reaches(l.AtLeast):
		return "at least"
	default:
		return "**no**"
	}
}

// print prints the table as Markdown.
func (r *report) print(w io.Writer) {
	m := &r.Machine
	_, _ = fmt.Fprintf(w, "%s, %d cores, Linux %s, %s; medians of %d rounds.\n",
		m.CPU, m.Cores, m.Kernel, m.Go, r.Rounds)

	if r.Others > tooMuch {
		_, _ = fmt.Fprintf(w, "Disturbed: other processes took %.0f %% of the processors.\n", 100*r.Others)
	}
	_, _ = fmt.Fprint(w,
		"\n| # | figure | measured | anchor | ratio | at least | aim | CPU µs/op | allocs/op | reached |\n|--|--|--:|--:|--:|--:|--:|--:|--:|--|\n")
	for i := range r.Lines {
		l := &r.Lines[i]
		_, _ = fmt.Fprintf(w, "| %s | %s | %s %s | %s | %s | %s | %s | %s | %s | %s |\n",
			l.Number, l.Figure, short(l.Value), l.Unit,
			short(l.Anchor), short(l.Ratio), short(l.AtLeast), short(l.Aim), short(l.CPU), short(l.Allocs), l.reached())
	}
}

// The marks around the table in a document.
const (
	tableBegins = "<!-- make bench writes what follows -->\n"
	tableEnds   = "<!-- make bench wrote what precedes -->\n"
)

// replace replaces the table in a document.
func (r *report) replace(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}

	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the table", path)
	}

	var table strings.Builder
	r.print(&table)
	return os.WriteFile(path, []byte(before+tableBegins+"\n"+table.String()+"\n"+tableEnds+after), 0o644)
}

// short formats three digits; zero is empty.
func short(v float64) string {
	switch {
	case v == 0 || math.IsNaN(v):
		return ""
	case math.Abs(v) >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
}

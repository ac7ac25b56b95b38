package standby

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

// mostProbes bounds the probes that wait for the copy. At one each 20 ms it is filled by a copy that
// is 20 s behind; from then on there are fewer of them.
const mostProbes = 1024

// Lag bounds how far a copy may be behind. Safe for concurrent use.
type Lag struct {
	mu sync.Mutex
	// probes are answered probes whose command the copy lacks, oldest first: one of each stride, the
	// next after skip more.
	probes       []probe
	stride, skip int
	// asOf is when the newest probe was sent whose command the copy has; source is the last command
	// that the source told of.
	asOf   time.Time
	source bourse.Seq
}

// probe is an answered probe: everything acknowledged before sent is in a copy that has seq.
type probe struct {
	sent time.Time
	seq  bourse.Seq
}

// Answered notes the answer to a probe, the source's last durable command, and the copy's. Probes come
// in the order in which they were sent.
func (l *Lag) Answered(sent time.Time, seq, copied bourse.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source = max(l.source, seq)
	l.reached(copied)
	if seq <= copied {
		l.asOf = sent
		return
	}

	if len(l.probes) == 0 {
		l.stride, l.skip = 1, 0
	}
	if l.skip--; l.skip >= 0 {
		return
	}
	if len(l.probes) == mostProbes {
		l.thin()
	}
	l.probes = append(l.probes, probe{sent, seq})
	l.skip = l.stride - 1
}

// reached removes the probes whose command a copy has.
func (l *Lag) reached(copied bourse.Seq) {
	has := 0
	for has < len(l.probes) && l.probes[has].seq <= copied {
		l.asOf = l.probes[has].sent
		has++
	}
	l.probes = append(l.probes[:0], l.probes[has:]...)
}

// thin removes every second probe, and doubles the stride. In place of a removed probe the one before
// it counts, so that the lag shown is never too small.
func (l *Lag) thin() {
	l.stride *= 2
	kept := l.probes[:0]
	for i := 0; i < len(l.probes); i += 2 {
		kept = append(kept, l.probes[i])
	}
	l.probes = kept
}

// At returns the time as of which a copy up to a command is whole, zero if that is unknown, and the
// last command that the source told of.
func (l *Lag) At(copied bourse.Seq) (asOf time.Time, source bourse.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reached(copied)
	return l.asOf, l.source
}

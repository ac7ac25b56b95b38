package standby

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

// mostProbes bounds the probes that wait for the copy: while it is full, newer ones are not
// remembered, so that the lag shown is never too small.
const mostProbes = 4096

// Lag tells how far a copy may be behind. Safe for concurrent use.
type Lag struct {
	mu sync.Mutex
	// probes are the answered probes whose command the copy has not, oldest first.
	probes []probe
	// asOf is the time when the newest probe was sent whose command the copy has; source is the
	// last command that the source told of.
	asOf   time.Time
	source bourse.Seq
}

type probe struct {
	sent time.Time
	seq  bourse.Seq
}

// Answered notes the answer to a probe: the source's last durable command. Probes come in the
// order in which they were sent.
func (l *Lag) Answered(sent time.Time, seq bourse.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.source = max(l.source, seq)
	if len(l.probes) < mostProbes {
		l.probes = append(l.probes, probe{sent, seq})
	}
}

// At returns the time as of which a copy up to a command is whole, zero if that is unknown, and the
// last command that the source told of.
func (l *Lag) At(copied bourse.Seq) (asOf time.Time, source bourse.Seq) {
	l.mu.Lock()
	defer l.mu.Unlock()
	has := 0
	for has < len(l.probes) && l.probes[has].seq <= copied {
		l.asOf = l.probes[has].sent
		has++
	}
	l.probes = append(l.probes[:0], l.probes[has:]...)
	return l.asOf, l.source
}

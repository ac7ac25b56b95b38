package node

import (
	"slices"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/api/pages"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// newPages returns the interface that web pages read.
func (n *Node) newPages() *pages.Pages {
	n.since = time.Now()
	return pages.New(pages.Options{
		View: n.view, History: n.reader, Notices: n.notices, Condition: n.condition, Clock: time.Now,
	})
}

// condition returns the condition of the parts that the view does not show.
func (n *Node) condition() pages.Condition {
	lag, _ := n.tail.Lag()
	links := make(map[bourse.NetworkID]pages.Link, len(n.networks))
	for _, a := range n.networks {
		health := a.worker.Health()
		links[a.id] = pages.Link{Operating: health.Operating, Head: health.Head.Height}
	}
	return pages.Condition{
		Version: n.Version, Since: n.since, Refusing: n.refusing(sequencer.Orders), Step: n.writes.percentile99(), Lag: lag,
		Networks: links,
	}
}

// vitals returns the condition of the node for operators.
func (n *Node) vitals() admin.Condition {
	c := n.condition()
	links := make(map[bourse.NetworkID]admin.Link, len(c.Networks))
	for _, a := range n.networks {
		link := c.Networks[a.id]
		links[a.id] = admin.Link{
			Operating: link.Operating, Head: link.Head, AwaitsRecord: a.worker.AwaitsRecord(), Stranded: a.worker.Stranded(),
			Cooling: a.worker.Cooling(), ColdMoves: a.coldMoves(),
		}
	}
	return admin.Condition{
		Ready: n.takes(), Refusing: c.Refusing, JournalP99: c.Step, Queue: uint64(n.sequencer.Queued()), HistoryLag: c.Lag,
		DiskFree: n.room.free.Load(), DiskLeast: n.room.least.Load(), Streams: n.streams.Len(), Networks: links,
	}
}

// wrote notes the duration of a step of the journal's writer.
func (n *Node) wrote(d time.Duration) {
	n.metrics.step.Observe(d.Seconds())
	n.writes.add(d)
}

// durations are the last of a series. Safe for concurrent use.
type durations struct {
	mu   sync.Mutex
	last [1024]time.Duration
	// added counts all that were added.
	added int
}

func (d *durations) add(took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last[d.added%len(d.last)] = took
	d.added++
}

// percentile99 returns the duration that 99 of 100 do not exceed; zero if there is none.
func (d *durations) percentile99() time.Duration {
	d.mu.Lock()
	list := slices.Clone(d.last[:min(d.added, len(d.last))])
	d.mu.Unlock()
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)*99/100]
}

package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// latencies are how long commands took from their moment in the schedule, in
// order.
type latencies []time.Duration

// at returns the latency that a part of a thousand does not reach, in
// microseconds.
func (l latencies) at(part int) float64 { return micros(l[len(l)*part/1000]) }

// sent is a command on its way.
type sent struct {
	due    time.Time
	ticket *sequencer.Ticket
}

// drive submits commands at their moments in an open-loop schedule: one that is
// late because those before it were counts from when it was due. It returns how
// long each took until its ticket, and how many a second were acknowledged.
func (l *line) drive(next source, rate int, lasting time.Duration) (latencies, float64, error) {
	l.writing.Do(func() { l.spawn(l.Write) })
	const flyingMost = 1 << 16
	flying, free := make(chan sent, flyingMost), make(chan *sequencer.Ticket, flyingMost)
	took := make(latencies, 0, int(float64(rate)*lasting.Seconds()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range flying {
			<-s.ticket.Done()
			took = append(took, time.Since(s.due))
			select {
			case free <- s.ticket:
			default:
			}
		}
	}()
	began := time.Now()
	err := l.keepTo(next, began, rate, lasting, flying, free)
	close(flying)
	if err != nil {
		return nil, 0, err // what flies is left to the collector
	}
	<-done
	spent := time.Since(began)
	if len(took) == 0 {
		return nil, 0, fmt.Errorf("nothing to measure at %d commands a second in %s", rate, lasting)
	}
	slices.Sort(took)
	return took, float64(len(took)) / spent.Seconds(), nil
}

// keepTo submits commands at their moments, as long as there are any.
func (l *line) keepTo(next source, began time.Time, rate int, lasting time.Duration, flying chan<- sent, free <-chan *sequencer.Ticket) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := punctual(); err != nil {
		return err
	}
	var c bourse.Command
	for i := 0; ; i++ {
		after := time.Duration(float64(i) / float64(rate) * float64(time.Second))
		c = bourse.Command{}
		if after >= lasting || !next(&c) {
			return nil
		}
		due := began.Add(after)
		sleepUntil(due)
		var t *sequencer.Ticket
		select {
		case t = <-free:
		default:
			t = sequencer.NewTicket()
		}
		if err := l.submit(&c, t); err != nil {
			return err
		}
		flying <- sent{due, t}
	}
}

// sleepUntil sleeps for a while at least, and what becomes due meanwhile is late: to
// wake for each command would take more than the commands do.
func sleepUntil(due time.Time) {
	const least = 50 * time.Microsecond
	if wait := time.Until(due); wait > 0 {
		sleep(max(wait, least))
	}
}

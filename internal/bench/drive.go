package bench

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// latencies are the times from a command's due time to its ticket, sorted.
type latencies []time.Duration

// at returns the latency at a quantile in thousandths, in microseconds.
func (l latencies) at(part int) float64 { return micros(l[len(l)*part/1000]) }

// sent is a submitted command.
type sent struct {
	due    time.Time
	ticket *sequencer.Ticket
}

// drive submits commands in an open-loop schedule: the latency of a command delayed by
// earlier ones counts from its due time. It returns the latencies, and the acknowledged
// commands per second.
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
	err := l.keepTo(next, began, schedule{rate, lasting}, flying, free)
	close(flying)
	if err != nil {
		return nil, 0, err // submitted commands are abandoned
	}
	<-done

	spent := time.Since(began)
	if len(took) == 0 {
		return nil, 0, fmt.Errorf("nothing to measure at %d commands a second in %s", rate, lasting)
	}
	slices.Sort(took)
	return took, float64(len(took)) / spent.Seconds(), nil
}

// schedule is a rate in commands per second, and a duration.
type schedule struct {
	rate    int
	lasting time.Duration
}

// keepTo submits commands at their due times until the schedule or the commands end.
func (l *line) keepTo(
	next source, began time.Time, s schedule, flying chan<- sent, free <-chan *sequencer.Ticket,
) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := punctual(); err != nil {
		return err
	}

	var c bourse.Command
	for i := 0; ; i++ {
		after := time.Duration(float64(i) / float64(s.rate) * float64(time.Second))
		c = bourse.Command{}
		if after >= s.lasting || !next(&c) {
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

// sleepUntil sleeps at least 50 µs, and commands that become due meanwhile are late:
// waking for each command would cost more than the commands.
func sleepUntil(due time.Time) {
	const least = 50 * time.Microsecond
	if wait := time.Until(due); wait > 0 {
		sleep(max(wait, least))
	}
}

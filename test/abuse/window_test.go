package abuse

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Lengths of a window in the short form and the full one.
const (
	shortWindow = 900 * time.Millisecond
	fullWindow  = 5 * time.Second
)

// slower bounds the honest 99th percentile of ACK, as a multiple of that while the crowd
// requests /healthz.
const slower = 2.0

// Growth allowed beyond an attack's bounds.
const (
	// slackDisk covers the databases' logs before a checkpoint and the exchange's own
	// ticks and blocks.
	slackDisk = 2 << 20
	// slackMemory covers the heap between two collections: one hash of a password takes 7
	// MiB.
	slackMemory = 128 << 20
)

// The commands that the exchange journals by itself in a second, ticks and blocks, and
// the tolerance of the count.
const (
	ownCommands   = 10
	slackCommands = 30
)

// startWithin is the time within which all connections take their first step.
const startWithin = 200 * time.Millisecond

// siege carries out an attack.
type siege struct {
	*testing.T
	x       *exchange
	honest  *honest
	attack  *attack
	members []*member
	tally   *tally
	// calm is the bytes that honest clients write in a round.
	calm float64
	// unharmed is the average number of busy processors in the last window without the
	// attack.
	unharmed float64
}

func TestOrders(t *testing.T)  { lay(t, "orders.txt") }
func TestChanges(t *testing.T) { lay(t, "changes.txt") }
func TestBooks(t *testing.T)   { lay(t, "books.txt") }
func TestCancels(t *testing.T) { lay(t, "cancels.txt") }
func TestPeople(t *testing.T)  { lay(t, "people.txt") }
func TestKeys(t *testing.T)    { lay(t, "keys.txt") }
func TestStreams(t *testing.T) { lay(t, "streams.txt") }
func TestAnswers(t *testing.T) { lay(t, "answers.txt") }
func TestWallet(t *testing.T)  { lay(t, "wallet.txt") }
func TestDoors(t *testing.T)   { lay(t, "doors.txt") }
func TestBots(t *testing.T)    { lay(t, "bots.txt") }

// lay carries out the attacks of a file against a new exchange.
func lay(t *testing.T, file string) {
	list := readAttacks(t, file)
	x := start(t, filepath.Join(t.TempDir(), "data"))
	defer x.stop(t)
	h := newHonest(t, x)
	defer h.close()

	calm := h.calm(t)
	for _, a := range list {
		if !strings.Contains(a.name, *onlyFlag) {
			continue
		}
		t.Run(strings.ReplaceAll(a.name, "/", "|"), func(t *testing.T) {
			s := &siege{T: t, x: x, honest: h, attack: a, calm: calm}
			s.gather()
			defer s.scatter()
			s.carryOut()
		})
	}
}

// length returns the length of the attack's windows.
func (a *attack) length() time.Duration {
	switch {
	case *windowFlag > 0:
		return *windowFlag
	case *fullFlag:
		return max(fullWindow, a.least)
	}
	return shortWindow
}

// calm returns the bytes that honest clients write in a round without an attack.
func (h *honest) calm(t *testing.T) float64 {
	t.Helper()
	before, rounds := h.x.written(t), h.rounds.Load()
	h.during(after(shortWindow))
	if list := h.refused(); len(list) > 0 {
		t.Fatalf("refused while nobody attacked: %s", list)
	}
	return float64(h.x.written(t)-before) / float64(h.rounds.Load()-rounds)
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	end := make(chan struct{})
	time.AfterFunc(d, func() { close(end) })
	return end
}

// closer multiplies the pairs of windows of an attack that looks too slow after the usual
// number. The percentiles are over all pairs, and their number does not depend on the
// later ones.
const closer = 4

// carryOut measures windows of the attack, in the full form each paired with one of
// requests for /healthz, and checks the bars.
func (s *siege) carryOut() {
	pairs := 1
	if *fullFlag {
		pairs = *pairsFlag
	}
	usual := pairs
	var total growth
	var attacked, control []time.Duration
	for n := 0; n < pairs; n++ {
		if *fullFlag && n%2 == 0 {
			control = append(control, s.control()...)
		}
		acks, grown := s.measure()
		attacked = append(attacked, acks...)
		total.add(grown)
		if *fullFlag && n%2 == 1 {
			control = append(control, s.control()...)
		}
		if n+1 == usual && ratio(attacked, control) > slower {
			pairs = closer * usual
		}
	}
	// Limits are passed at the machine's own pace: a busy one takes more than a window to meet them.
	for end := time.Now().Add(patience); len(s.tally.missing()) > 0 && time.Now().Before(end); {
		acks, grown := s.measure()
		attacked = append(attacked, acks...)
		total.add(grown)
	}
	s.judge(&total, attacked, control)
}

// ratio returns the ratio of two lists' percentiles; zero if control is empty.
func ratio(attacked, control []time.Duration) float64 {
	if len(control) == 0 {
		return 0
	}
	return float64(percentile(attacked)) / float64(percentile(control))
}

// control measures a window in which the crowd requests /healthz.
func (s *siege) control() []time.Duration {
	worked, began := s.x.worked(), time.Now()
	acks := s.window(s.askHealth)
	s.unharmed = (s.x.worked() - worked).Seconds() / time.Since(began).Seconds()
	return acks
}

// growth is the growth during a window, in bytes.
type growth struct {
	disk, memory float64
	// processor is the CPU time of the exchange.
	processor time.Duration
	// commands is the number of commands journaled, less those of honest clients.
	commands float64
	// seconds is the time of the attack, summed over all attackers.
	seconds float64
}

func (g *growth) add(other growth) {
	g.disk += other.disk
	g.memory = max(g.memory, other.memory)
	g.commands += other.commands
	g.processor += other.processor
	g.seconds += other.seconds
}

// measure measures a window of the attack and its growth.
func (s *siege) measure() ([]time.Duration, growth) {
	s.Helper()
	rounds, disk, memory := s.honest.rounds.Load(), s.x.written(s.T), s.x.collected(s.T)
	done, most := make(chan struct{}), make(chan int64)
	go func() { most <- s.x.highest(done) }()
	worked := s.x.worked()
	began, seq, known := time.Now(), s.x.seq(s.T), s.honest.commands.Load()
	acks := s.window(s.strike)
	seconds := time.Since(began).Seconds()
	close(done)
	journaled := float64(s.x.seq(s.T)-seq) - float64(s.honest.commands.Load()-known) - ownCommands*seconds

	added := float64(<-most - memory)
	wrote := float64(s.x.written(s.T)-disk) - s.calm*float64(s.honest.rounds.Load()-rounds)
	return acks, growth{
		disk: max(0, wrote), memory: max(0, added), commands: max(0, journaled), processor: s.x.worked() - worked,
		seconds: seconds * float64(s.attack.members),
	}
}

// highest returns the highest resident memory until done.
func (x *exchange) highest(done <-chan struct{}) (most int64) {
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for {
		most = max(most, x.resident())
		select {
		case <-done:
			return most
		case <-every.C:
		}
	}
}

// window lets the crowd act while honest clients go on, and returns their times of ACK.
func (s *siege) window(do func(*connection)) []time.Duration {
	for _, tr := range s.honest.traders {
		if err := tr.subscribe(); err != nil {
			s.honest.refuse(fmt.Errorf("%s: stream: %w", tr.pair, err))
		}
	}

	stop := make(chan struct{})
	var crowd sync.WaitGroup
	for _, m := range s.members {
		for _, c := range m.conns {
			crowd.Go(func() { c.attackUntil(stop, do) })
		}
	}
	acks := s.honest.during(after(s.attack.length()))
	close(stop)
	crowd.Wait()
	return acks
}

// attackUntil takes steps at the attack's pace.
func (c *connection) attackUntil(stop <-chan struct{}, do func(*connection)) {
	if c.attack.pace == 0 {
		for {
			select {
			case <-stop:
				return
			default:
				do(c)
			}
		}
	}

	every := time.Duration(float64(time.Second) / c.attack.pace)
	begin := time.NewTimer(time.Duration(c.random.Int64N(int64(min(every, startWithin)))))
	defer begin.Stop()
	select {
	case <-stop:
		return
	case <-begin.C:
	}
	pace := time.NewTicker(every)
	defer pace.Stop()
	for {
		do(c)
		select {
		case <-stop:
			return
		case <-pace.C:
		}
	}
}

// strike takes the next step of the attack.
func (s *siege) strike(c *connection) {
	c.do(&s.attack.steps[c.turn%len(s.attack.steps)])
	c.turn++
}

// askHealth requests /healthz instead of attacking.
func (s *siege) askHealth(c *connection) {
	if a, err := request(c.asker(), http.MethodGet, "http://"+s.x.address+"/healthz", "", "", nil); err != nil || a.status != http.StatusOK {
		s.Errorf("/healthz: %d %v", a.status, err)
	}
}

// percentile returns the 99th percentile; zero for an empty list.
func percentile(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)*99-1)/100]
}

// judge prints the results of an attack and checks them against the bars.
func (s *siege) judge(g *growth, attacked, control []time.Duration) {
	s.Helper()
	refusals := s.honest.refused()
	disk, memory := g.disk/1024/g.seconds, g.memory/1024/g.seconds
	times := ratio(attacked, control)
	l := s.tally
	fmt.Printf("%-44s honest refused %d · crowd answered %d, refused %d, limited %d, turned away %d · disk %.1f, memory %.0f KiB and %.1f commands per attacker-second · processors %.2f, %.2f beside /healthz · ACK p99 %.1f ms beside the attack, %.1f ms beside /healthz, ratio %.2f (%d)\n",
		s.attack.name, len(refusals), l.answers, l.refused(), l.limited, l.turned, disk, memory, g.commands/g.seconds,
		g.processor.Seconds()*float64(s.attack.members)/g.seconds, s.unharmed,
		milliseconds(percentile(attacked)), milliseconds(percentile(control)), times, len(attacked))
	s.Logf("the crowd was answered:\n    %s", l.most())

	if len(refusals) > 0 {
		s.Errorf("honest clients were refused %d times: %.2000s", len(refusals), strings.Join(refusals, "\n"))
	}
	if len(l.broken) > 0 {
		s.Errorf("%d answers may never come: %.2000s", len(l.broken), strings.Join(l.broken, "\n"))
	}
	if missing := l.missing(); len(missing) > 0 {
		s.Errorf("%s:%d: the attack met nothing of what it is about: %q", s.attack.file, s.attack.line, missing)
	}
	if g.disk > slackDisk+s.attack.disk*1024*g.seconds {
		s.Errorf("%.0f KiB were written, %.1f per attacker-second; allowed are %.0f", g.disk/1024, disk, s.attack.disk)
	}
	if s.attack.nothing && g.commands > slackCommands {
		s.Errorf("%.0f commands were journaled that nobody honest has sent", g.commands)
	}
	if g.memory > slackMemory+s.attack.memory*1024*g.seconds {
		s.Errorf("%.0f KiB of memory were added, %.0f per attacker-second; allowed are %.0f", g.memory/1024, memory, s.attack.memory)
	}
	if times > slower {
		s.Errorf("the honest ACK takes %.2f times as long beside the attack; allowed is %.1f", times, slower)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

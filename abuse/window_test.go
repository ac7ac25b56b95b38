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

// How long a window is, in the short form and in the full one.
const (
	shortWindow = 900 * time.Millisecond
	fullWindow  = 5 * time.Second
)

// slower is how many times the honest 99th percentile of ACK may be what it is while
// the crowd asks for /healthz.
const slower = 2.0

// What growth may be beyond the bounds of an attack.
const (
	// slackDisk is for the logs of the databases until they are folded in, and for what
	// the exchange's own clock and blocks write.
	slackDisk = 2 << 20
	// slackMemory is for the heap between two collections: a hash of a password alone
	// takes 19 MiB, and two are computed at once.
	slackMemory = 128 << 20
)

// What the exchange journals of its own accord in a second, ticks and blocks, and how
// many commands more may be in the journal than were counted.
const (
	ownCommands   = 10
	slackCommands = 30
)

// startWithin is how soon each connection takes its first step.
const startWithin = 200 * time.Millisecond

// siege is an attack that is carried out.
type siege struct {
	*testing.T
	x       *exchange
	honest  *honest
	attack  *attack
	members []*member
	tally   *tally
	// calm is what honest clients write in a round, in bytes.
	calm float64
	// unharmed is how many processors worked in the last window without the attack.
	unharmed float64
}

func TestOrders(t *testing.T)  { lay(t, "orders.txt") }
func TestBooks(t *testing.T)   { lay(t, "books.txt") }
func TestCancels(t *testing.T) { lay(t, "cancels.txt") }
func TestPeople(t *testing.T)  { lay(t, "people.txt") }
func TestKeys(t *testing.T)    { lay(t, "keys.txt") }
func TestStreams(t *testing.T) { lay(t, "streams.txt") }
func TestAnswers(t *testing.T) { lay(t, "answers.txt") }
func TestWallet(t *testing.T)  { lay(t, "wallet.txt") }
func TestDoors(t *testing.T)   { lay(t, "doors.txt") }

// lay carries out the attacks of a file against an exchange of its own.
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

// length is how long a window of the attack is.
func (a *attack) length() time.Duration {
	switch {
	case *windowFlag > 0:
		return *windowFlag
	case *fullFlag:
		return max(fullWindow, a.least)
	}
	return shortWindow
}

// calm returns what honest clients write in a round while nobody attacks.
func (h *honest) calm(t *testing.T) float64 {
	t.Helper()
	before, rounds := h.x.written(t), h.rounds.Load()
	h.during(after(shortWindow))
	if list := h.refused(); len(list) > 0 {
		t.Fatalf("refused while nobody attacked: %s", list)
	}
	return float64(h.x.written(t)-before) / float64(h.rounds.Load()-rounds)
}

// after returns a channel that is closed after some time.
func after(d time.Duration) <-chan struct{} {
	end := make(chan struct{})
	time.AfterFunc(d, func() { close(end) })
	return end
}

// carryOut measures windows of the attack, in the full form each beside one in which
// the crowd asks for /healthz, and holds them against the bars.
func (s *siege) carryOut() {
	pairs := 1
	if *fullFlag {
		pairs = *pairsFlag
	}
	var total growth
	var attacked, control []time.Duration
	for n := range pairs {
		if *fullFlag && n%2 == 0 {
			control = append(control, s.control()...)
		}
		acks, grown := s.measure()
		attacked = append(attacked, acks...)
		total.add(grown)
		if *fullFlag && n%2 == 1 {
			control = append(control, s.control()...)
		}
	}
	s.judge(&total, percentile(attacked), percentile(control), len(attacked))
}

// control is a window in which the crowd asks for /healthz.
func (s *siege) control() []time.Duration {
	worked, began := s.x.worked(), time.Now()
	acks := s.window(s.askHealth)
	s.unharmed = (s.x.worked() - worked).Seconds() / time.Since(began).Seconds()
	return acks
}

// growth is what was added meanwhile, in bytes.
type growth struct {
	disk, memory float64
	// processor is the time that processors worked for the exchange.
	processor time.Duration
	// commands is how many commands the journal gained, less those of honest clients that
	// were counted.
	commands float64
	// seconds is how long attackers attacked, all of them together.
	seconds float64
}

func (g *growth) add(other growth) {
	g.disk += other.disk
	g.memory = max(g.memory, other.memory)
	g.commands += other.commands
	g.processor += other.processor
	g.seconds += other.seconds
}

// measure is a window of the attack, with what it added to disk and memory.
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

// highest returns the most that the resident memory is until something is done.
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

// window lets the crowd do something while honest clients go on, and returns their
// times of ACK.
func (s *siege) window(do func(*connection)) []time.Duration {
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

// attackUntil takes steps at the pace of the attack.
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

// askHealth asks for /healthz in place of attacking.
func (s *siege) askHealth(c *connection) {
	if a, err := request(c.asker(), http.MethodGet, "http://"+s.x.address+"/healthz", "", "", nil); err != nil || a.status != http.StatusOK {
		s.Errorf("/healthz: %d %v", a.status, err)
	}
}

// percentile returns the 99th of times; zero if there are none.
func percentile(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[(len(sorted)*99-1)/100]
}

// judge prints what came of an attack and holds it against the bars.
func (s *siege) judge(g *growth, attacked, control time.Duration, samples int) {
	s.Helper()
	refusals := s.honest.refused()
	disk, memory := g.disk/1024/g.seconds, g.memory/1024/g.seconds
	ratio := 0.0
	if control > 0 {
		ratio = float64(attacked) / float64(control)
	}
	l := s.tally
	fmt.Printf("%-44s honest refused %d · crowd answered %d, refused %d, limited %d, turned away %d · disk %.1f, memory %.0f KiB and %.1f commands per attacker-second · processors %.2f, %.2f beside /healthz · ACK p99 %.1f ms beside the attack, %.1f ms beside /healthz, ratio %.2f (%d)\n",
		s.attack.name, len(refusals), l.answers, l.refused(), l.limited, l.turned, disk, memory, g.commands/g.seconds,
		g.processor.Seconds()*float64(s.attack.members)/g.seconds, s.unharmed,
		milliseconds(attacked), milliseconds(control), ratio, samples)
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
	if *fullFlag && ratio > slower {
		s.Errorf("the honest ACK takes %.2f times as long beside the attack; allowed is %.1f", ratio, slower)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

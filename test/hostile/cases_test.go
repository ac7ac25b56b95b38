package hostile

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostileCase is one case of a file:
//
//	case a name twice
//	  post /trades {"pair":"BTC/USDT","pair":"BTC/USDT","offset":0}
//	  refused one JSON object
//
// A line of a case is a word with its arguments. The placeholder <<ff fe>> stands for
// bytes in hexadecimal, <<1000 * text>> repeats a text with Go's backslash escapes, and
// <<key>> is a value of the test.
type hostileCase struct {
	file, name string
	line       int
	steps      []step
	// slow cases wait for a timeout of the exchange; they run in parallel, and not with
	// -short.
	slow bool
}

// step is a line of a case.
type step struct {
	line       int
	word, text string
}

// enough is the least number of cases in a file.
const enough = 60

// readCases reads a file of testdata.
func readCases(t *testing.T, file string) (list []hostileCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "case "); ok {
			if seen[name] {
				t.Fatalf("%s:%d: this case is there twice", file, i+1)
			}
			seen[name] = true
			list = append(list, hostileCase{file: file, name: name, line: i + 1})
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words, ok := strings.CutPrefix(line, "  ")
		if !ok || len(list) == 0 {
			t.Fatalf("%s:%d: not a line of a case", file, i+1)
		}
		c := &list[len(list)-1]
		if words == "slow" {
			c.slow = true
			continue
		}
		word, rest, _ := strings.Cut(words, " ")
		c.steps = append(c.steps, step{i + 1, word, rest})
	}
	if len(list) < enough {
		t.Errorf("%s has %d cases, wanted are %d", file, len(list), enough)
	}
	return list
}

var placeholder = regexp.MustCompile(`(?s)<<(.*?)>>`)

// expand replaces the placeholders <<...>>.
func expand(text string, known map[string]string) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(s string) string {
		s, err := expandOne(s[2:len(s)-2], known)
		if err != nil {
			failed = err
		}
		return s
	})
	return out, failed
}

func expandOne(s string, known map[string]string) (string, error) {
	if value, ok := known[s]; ok {
		return value, nil
	}
	if times, what, ok := strings.Cut(s, " * "); ok {
		n, err := strconv.Atoi(times)
		if err != nil {
			return "", err
		}
		what, err = strconv.Unquote(`"` + strings.ReplaceAll(what, `"`, `\"`) + `"`)
		return strings.Repeat(what, n), err
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		return "", fmt.Errorf("<<%s>> is nothing that is known", s)
	}
	return string(b), nil
}

// siege is a file of cases against an exchange.
type siege struct {
	*exchange
	// attacker owns the key that the cases use.
	attacker *account
	known    map[string]string
	// work carries out a case.
	work func(c *attack)
}

// attack is a running case.
type attack struct {
	*testing.T
	*siege
	hostileCase
	// at is the current line.
	at step
}

// fail reports an error with the current line.
func (a *attack) fail(format string, args ...any) {
	a.Helper()
	a.Fatalf("testdata/%s:%d: %s %.120s: %s", a.file, a.at.line, a.at.word, a.at.text, fmt.Sprintf(format, args...))
}

// expanded returns a text with its placeholders replaced.
func (a *attack) expanded(text string) string {
	a.Helper()
	out, err := expand(text, a.known)
	if err != nil {
		a.fail("%v", err)
	}
	return out
}

// each calls f for the lines of the case.
func (a *attack) each(f func(word, text string)) {
	for _, a.at = range a.steps {
		f(a.at.word, a.expanded(a.at.text))
	}
}

// lay carries out all cases of a file beside a healthy client, and checks the exchange
// afterwards.
func lay(t *testing.T, file string, work func(*attack)) {
	x := attacked
	s := &siege{exchange: x, attacker: x.open(t, "1000000 USDT", "1000 LTC", "10 BTC", "100 ATOM", "10 ETH"), work: work}
	s.known = map[string]string{
		"key": s.attacker.key, "host": x.address, "busy": x.data, "unknown": strings.Repeat("0123456789abcdef", 4),
	}
	list := readCases(t, file)
	before := s.stand(t)
	h := x.healthy(t)
	t.Run("cases", func(t *testing.T) {
		for i := range list {
			c := &list[i]
			t.Run(strings.ReplaceAll(c.name, "/", "|"), func(t *testing.T) {
				if c.slow {
					t.Parallel()
				}
				work(&attack{T: t, siege: s, hostileCase: *c})
			})
		}
	})
	h.end(t)
	s.attacker.must(t, "/open_orders/cancel_all", nil)
	s.unchanged(t, &before)
}

// stand is the state that an attack must not change.
type stand struct {
	balances          string
	goroutines, bytes float64
	failures          int
}

// slack is the allowed growth of goroutines and bytes: idle connections of the test, and
// the trading's additions to books and histories.
const (
	slackGoroutines = 16
	slackBytes      = 24 << 20
)

func (s *siege) stand(t *testing.T) (now stand) {
	t.Helper()
	all, err := s.attacker.balances()
	if err != nil {
		t.Fatal(err)
	}
	now.balances = fmt.Sprint(all)
	if _, err := s.watch("/debug/pprof/heap?gc=1&debug=1"); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]*float64{"go_goroutines": &now.goroutines, "go_gc_heap_live_bytes": &now.bytes} {
		if *to, err = s.gauge(name); err != nil {
			t.Fatal(err)
		}
	}
	failed, err := s.failures()
	if err != nil {
		t.Fatal(err)
	}
	now.failures = len(failed)
	return now
}

func (s *siege) unchanged(t *testing.T, before *stand) {
	t.Helper()
	var now stand
	settled := eventually(patience, func() bool {
		now = s.stand(t)
		return now.goroutines <= before.goroutines+slackGoroutines && now.bytes <= before.bytes+slackBytes
	})
	t.Logf("goroutines %v, then %v; %.1f MiB, then %.1f MiB", before.goroutines, now.goroutines, before.bytes/(1<<20), now.bytes/(1<<20))
	if !settled {
		left, _ := s.watch("/debug/pprof/goroutine?debug=1")
		t.Errorf("goroutines or memory did not come back:\n%.4000s", left)
	}
	if now.balances != before.balances {
		t.Errorf("the attacker has %s and had %s", now.balances, before.balances)
	}
	if failed, err := s.failures(); err != nil || len(failed) > 0 {
		t.Errorf("requests that failed: %v %v", failed, err)
	}
	if err := s.sober(); err != nil {
		t.Error(err)
	}
	if err := s.unleaked(s.log.Text()); err != nil {
		t.Errorf("log: %v", err)
	}
}

// within returns the deadline of a connection.
func within(d time.Duration) time.Time { return time.Now().Add(d) }

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// watcher is a running bourse watch.
type watcher struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// watched starts bourse watch on an exchange, writing to out; from is where that is read.
func watched(t *testing.T, s *server, out *os.File, from io.Reader) *watcher {
	t.Helper()
	path, err := binary()
	must(t, err)
	w := &watcher{t: t, cmd: exec.Command(path, "watch", "BTC/USDT", "--url", s.url), lines: bufio.NewScanner(from)}
	w.cmd.Stdout, w.cmd.Stderr = out, os.Stderr
	must(t, w.cmd.Start())
	must(t, out.Close())
	t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	return w
}

// until reads lines until one has a text, and returns it.
func (w *watcher) until(text string) string {
	w.t.Helper()
	for w.lines.Scan() {
		if strings.Contains(w.lines.Text(), text) {
			return w.lines.Text()
		}
	}
	w.t.Fatalf("%q never came", text)
	return ""
}

// interrupt ends it as Ctrl-C does, and wants exit code 0.
func (w *watcher) interrupt() {
	w.t.Helper()
	must(w.t, w.cmd.Process.Signal(syscall.SIGINT))
}

func (w *watcher) ended() {
	w.t.Helper()
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("at Ctrl-C: %v", err)
	}
}

// limit places an order.
func (s *server) limit(key, side, price, amount string) {
	s.t.Helper()
	a, err := post(http.DefaultClient, s.url, "/spot/open_orders/new", map[string]any{
		"api_key": key, "pair": "BTC/USDT", "side": side, "type": "LIMIT", "time_in_force": "GTC", "price": price, "amount": amount, "resp_type": "RESULT",
	})
	if err != nil || !a.Success {
		s.t.Fatalf("%v %s", err, a.Error)
	}
}

// TestWatchPipe wants the book and the trades of a real exchange as lines.
func TestWatchPipe(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, key := s.customer("ada")
	s.limit(key, "SELL", "60010", "0.5")
	from, out, err := os.Pipe()
	must(t, err)
	w := watched(t, s, out, from)
	w.until("book  - | 0.5 at 60010")
	s.limit(key, "BUY", "59990", "0.25")
	w.until("book  0.25 at 59990 | 0.5 at 60010")
	s.limit(key, "BUY", "60010", "0.1")
	w.until("BUY 0.1 at 60010")
	w.until("book  0.25 at 59990 | 0.4 at 60010")
	w.interrupt()
	for w.lines.Scan() {
		t.Errorf("after Ctrl-C: %s", w.lines.Text())
	}
	w.ended()
}

// TestWatchTerminal wants the same on a terminal, which is left as it was.
func TestWatchTerminal(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, key := s.customer("ada")
	s.limit(key, "SELL", "60010", "0.5")
	terminal, page := pseudoterminal(t)
	w := watched(t, s, page, terminal)
	if first := w.until("BTC/USDT at " + s.url); !strings.HasPrefix(first, "\x1b[?1049h\x1b[?25l") {
		t.Errorf("the page begins with %q", first)
	}
	w.until(" 0.5")
	s.limit(key, "BUY", "60010", "0.1")
	if line := w.until("0.4"); !strings.Contains(line, "60010") {
		t.Errorf("the level is shown as %q", line)
	}
	w.interrupt()
	w.until("\x1b[?25h\x1b[?1049l")
	w.ended()
}

// TestWatchMistakes wants a line for what cannot be watched.
func TestWatchMistakes(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	for args, says := range map[string]string{
		"BTC/EUR --url " + s.url:                 "Unknown pair",
		"nonsense --url " + s.url:                "no pair",
		"BTC/USDT --url http://127.0.0.1:1":      "no exchange answers at http://127.0.0.1:1",
		"BTC/USDT --url 127.0.0.1":               "no address such as",
		"BTC/USDT --url " + s.url + "/elsewhere": "no exchange answers",
	} {
		_, stderr, code := run(t, append([]string{"watch"}, strings.Fields(args)...)...)
		if code != exitFailed || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
}

// The requests of Linux that make a pseudoterminal; x/sys names them on Linux alone.
const tiocgptn, tiocsptlck = 0x80045430, 0x40045431

// pseudoterminal opens a terminal: what programs write to slave is read from master.
func pseudoterminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	t.Cleanup(func() { _ = master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), tiocgptn)
	must(t, err)
	must(t, unix.IoctlSetPointerInt(int(master.Fd()), tiocsptlck, 0))
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	return master, slave
}

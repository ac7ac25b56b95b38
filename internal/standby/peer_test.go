package standby_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// errNotSure is a leader's that no majority has confirmed.
var errNotSure = errors.New("no majority says that this node leads")

// says has a source answer with a hello that was changed, or with an error.
func says(change func(*standby.Hello), err error) func(*standby.SourceOptions) {
	return func(o *standby.SourceOptions) {
		hello := o.Hello
		o.Hello = func(ctx context.Context) (standby.Hello, error) {
			h, _ := hello(ctx)
			h.Incarnation = 2
			change(&h)
			return h, err
		}
	}
}

// closedPort returns an address at which nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	return l.Addr().String()
}

// TestFind looks for the node that leads among those at several addresses. Of the others one is away, one cannot tell whether it leads,
// one is of an earlier incarnation and one of another exchange. What is asked then is asked of the one that was found.
func TestFind(t *testing.T) {
	same := func(*standby.Hello) {}
	others := []string{
		closedPort(t),
		newSource(t, 1, says(same, errNotSure)).address,
		newSource(t, 2, says(func(h *standby.Hello) { h.Incarnation = 1 }, nil)).address,
		newSource(t, 3, says(func(h *standby.Hello) { h.Exchange = strings.Repeat("00", 16) }, nil)).address,
	}
	leads := newSource(t, 40, says(same, nil))
	own := standby.NewHello(identity, "this")
	own.Incarnation = 2

	for at := range len(others) + 1 {
		list := append(append(append([]string{}, others[:at]...), leads.address), others[at:]...)
		p, err := standby.NewPeer(strings.Join(list, ", "), &standby.Credentials{})
		must(t, err)
		t.Cleanup(p.Close)
		if h, err := p.Find(t.Context(), own.Source); err != nil || h.Seq != 40 || p.Address() != leads.address {
			t.Fatalf("at place %d: %s with %+v, %v", at, p.Address(), h, err)
		}
		if h, err := p.Hello(t.Context()); err != nil || h.Seq != 40 {
			t.Errorf("at place %d it is asked of another one: %+v, %v", at, h, err)
		}
		must(t, streams(t, p, openCopy(t, memdisk.New(1)), 40))
	}

	for name, c := range map[string]struct {
		list []string
		want error
	}{
		"away or not sure":                       {others[:2], nil},
		"one that does not fit, and others away": {others[:3], nil},
		"an earlier incarnation alone":           {others[2:3], standby.ErrRaised},
		"another exchange alone":                 {others[3:], journal.ErrOtherExchange},
	} {
		p, err := standby.NewPeer(strings.Join(c.list, ","), &standby.Credentials{})
		must(t, err)
		t.Cleanup(p.Close)
		if _, err := p.Find(t.Context(), own.Source); err == nil || !errors.Is(err, c.want) && c.want != nil || standby.Final(err) != (c.want != nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", ",", "127.0.0.1:1,", "127.0.0.1:1,127.0.0.1", "127.0.0.1:1,10.0.0.1:1"} {
		if _, err := standby.NewPeer(bad, &standby.Credentials{}); err == nil {
			t.Errorf("%q is a list of addresses", bad)
		}
	}
}

// TestPromoteBesideOneOfSeveral refuses to promote a copy of a cluster while a node answers at any address, whether it leads or cannot
// tell.
func TestPromoteBesideOneOfSeveral(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	d, err := disk.Open(dir)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	away := closedPort(t)
	for name, answers := range map[string]string{
		"leads": newSource(t, 1, nil).address, "cannot tell": newSource(t, 1, says(func(*standby.Hello) {}, errNotSure)).address,
	} {
		for _, list := range []string{answers + "," + away, away + "," + answers} {
			must(t, standby.Role{Follows: list}.Write(d))
			_, err := standby.Promote(t.Context(), standby.PromoteOptions{Dir: dir, Gone: true})
			if !errors.Is(err, standby.ErrAnswers) || !strings.Contains(err.Error(), answers) {
				t.Errorf("%s, in %s: %v", name, list, err)
			}
		}
	}
	must(t, standby.Role{Follows: away + "," + away}.Write(d))
	if _, err := standby.Promote(t.Context(), standby.PromoteOptions{Dir: dir}); !errors.Is(err, standby.ErrNotSure) {
		t.Errorf("none answers: %v", err)
	}
}

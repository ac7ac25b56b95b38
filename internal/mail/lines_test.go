package mail

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/bourse-exchange/bourse/internal/account"
)

// TestStrangersDoNotDelayAccounts fills the line of strangers from one source, and
// wants a second factor to be in another line, and a stranger's single letter before
// the flood, which pays for the room.
func TestStrangersDoNotDelayAccounts(t *testing.T) {
	dropped := 0
	q := NewQueue(nil, nil, func(error) { dropped++ })
	source := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }
	send := func(to string, from netip.Addr) {
		if err := q.Send(t.Context(), &account.Mail{To: to, Source: from}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		send(fmt.Sprint(i), source(1))
	}
	send("lone", source(2))
	send("factor", netip.Addr{})
	if want := 2000 - mostWaiting + 1; dropped != want {
		t.Errorf("%d letters were dropped, want %d", dropped, want)
	}

	for kind, want := range []string{"factor", "lone"} {
		if m, ok, _ := q.take(kind); !ok || m.To != want {
			t.Errorf("line %d carries %q first, want %q", kind, m.To, want)
		}
	}
	for i := range mostWaiting - 1 { // the flood keeps its oldest letters
		if m, ok, _ := q.take(1); !ok || m.To != fmt.Sprint(i) {
			t.Fatalf("letter %d is to %q", i, m.To)
		}
	}
}

// TestNewsGoLast wants letters that nobody waits for to fill and delay no other line.
func TestNewsGoLast(t *testing.T) {
	dropped := 0
	q := NewQueue(nil, nil, func(error) { dropped++ })
	for i := range 2 * mostWaiting {
		_ = q.Send(t.Context(), &account.Mail{To: fmt.Sprint(i), News: true})
	}
	_ = q.Send(t.Context(), &account.Mail{To: "factor"})
	if m, ok, _ := q.take(ofAccounts); !ok || m.To != "factor" || dropped != mostWaiting {
		t.Errorf("letters of accounts begin with %q; %d were dropped", m.To, dropped)
	}
	if _, ok, _ := q.take(ofStrangers); ok {
		t.Error("news are in the line of strangers")
	}
	if m, ok, _ := q.take(ofNews); !ok || m.To != "0" {
		t.Errorf("news begin with %q", m.To)
	}
}

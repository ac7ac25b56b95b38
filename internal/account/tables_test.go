package account

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestNamesShareNoCount fills a quota's table, and wants names beyond it to have
// counts of their own, which right attempts give back; and names with many counts to
// outlive the crowd.
func TestNamesShareNoCount(t *testing.T) {
	s := newLocal(new(Limits))
	take := func(name string) bool { return s.Take(passwordsByAccount, name, 1) }
	for range mostAccountFailures {
		if !take("victim") {
			t.Fatal("a victim is locked too soon")
		}
	}
	for i := range 5 * mostNames { // more than the 131,072 names of old
		if !take(fmt.Sprint(i)) {
			t.Fatalf("name %d has no count of its own", i)
		}
	}
	for i := range 100 {
		name := fmt.Sprint("late ", i)
		for range mostAccountFailures - 1 {
			if !take(name) {
				t.Fatalf("%s shares its count", name)
			}
		}
		s.Back(passwordsByAccount, name)
		if s.Wait(passwordsByAccount, name, 1) > 0 {
			t.Errorf("%s: what went well was not given back", name)
		}
	}
	if s.Wait(passwordsByAccount, "victim", 1) == 0 {
		t.Error("a crowd of names made the table forget ten wrong passwords")
	}
	if n := len(s.(*local).countTables[passwordsByAccount].names); n > mostNames {
		t.Errorf("the table holds %d names", n)
	}
}

// TestCodesOfTheQuietStay has one network, with more sources than the table has room,
// ask for codes, and wants the codes of others to stay.
func TestCodesOfTheQuietStay(t *testing.T) {
	s := newLocal(new(Limits))
	put := func(p Purpose, subject string, source netip.Addr) {
		c := &Code{Subject: subject, Text: "123456", Source: source, Expires: 100}
		if !s.PutCode(p, c, 1) {
			t.Fatalf("no room for %s", subject)
		}
	}
	flood := func(i int) netip.Addr { // of 2001:db8::/32, each of another network of 64 bits
		a := [16]byte{0x20, 0x01, 0x0d, 0xb8}
		binary.BigEndian.PutUint32(a[4:], uint32(i))
		return Neighbourhood(netip.AddrFrom16(a))
	}
	quiet := netip.MustParseAddr("198.51.100.1")
	put(ForReset, "first", quiet)
	for i := range mostCodes + mostCodes/4 {
		put(ForReset, fmt.Sprint(i), flood(i))
	}
	put(ForReset, "last", quiet)
	put(ForFactor, "factor", quiet)
	for i := range mostCodes + mostCodes/4 {
		put(ForReset, fmt.Sprint("again ", i), flood(i))
	}
	for _, subject := range []string{"first", "last"} {
		if len(s.CodesOf(ForReset, subject, 1)) != 1 {
			t.Errorf("the %s code of a quiet source is gone", subject)
		}
	}
	if len(s.CodesOf(ForFactor, "factor", 1)) != 1 {
		t.Error("resets took the room of second factors")
	}
	if held := s.(*local).codeTables[ForReset].held; held > mostCodes {
		t.Errorf("the table holds %d codes", held)
	}
}

// TestFullOfNetworks wants a table that is full of networks with one code each to take
// another one.
func TestFullOfNetworks(t *testing.T) {
	s := newLocal(new(Limits))
	for i := range mostCodes + 10 {
		a := [16]byte{0x20}
		binary.BigEndian.PutUint16(a[2:], uint16(i))
		a[1] = byte(i >> 16)
		c := &Code{Subject: fmt.Sprint(i), Text: "123456", Source: netip.AddrFrom16(a), Expires: 100}
		if !s.PutCode(ForSignUp, c, 1) {
			t.Fatalf("no room for code %d", i)
		}
	}
	if held := s.(*local).codeTables[ForSignUp].held; held > mostCodes || held < mostCodes/2 {
		t.Errorf("the table holds %d codes", held)
	}
}

// captchas returns a service that has nothing but a key, a clock and captchas.
func captchas(now *time.Time, limits Limits) *Service {
	return NewService(Options{
		Clock: func() time.Time { return *now }, Random: rand.Reader, Captcha: true, Seal: [32]byte{7}, Limits: limits,
	})
}

// TestCaptchaIsSealed wants a challenge to be good once, for its address and its time,
// and at another process with the same key: nothing is kept of it.
func TestCaptchaIsSealed(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s, another := captchas(&now, Limits{}), captchas(&now, Limits{})
	const ada = "ada@example.com"
	draw := func() (string, string) {
		c, err := s.NewCaptcha(ada, Visit{})
		if err != nil || !strings.HasPrefix(string(c.PNG), "\x89PNG") {
			t.Fatal(err)
		}
		answer, ok := s.openCaptcha(ada, c.Challenge)
		if !ok {
			t.Fatal("a challenge cannot be opened")
		}
		return c.Challenge, answer
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrVerification) {
			t.Errorf("%s: %v", what, err)
		}
	}

	challenge, answer := draw()
	if err := another.checkCaptcha(ada, challenge, answer, Visit{}); err != nil {
		t.Errorf("at another process: %v", err)
	}
	if err := s.checkCaptcha(ada, challenge, answer, Visit{}); err != nil {
		t.Errorf("the right answer: %v", err)
	}
	refused("a second time", s.checkCaptcha(ada, challenge, answer, Visit{}))

	challenge, answer = draw()
	refused("another address", s.checkCaptcha("eve@example.com", challenge, answer, Visit{}))
	refused("in capitals", s.checkCaptcha(ada, strings.ToUpper(challenge), answer, Visit{}))
	refused("cut", s.checkCaptcha(ada, challenge[:20], answer, Visit{}))
	refused("none", s.checkCaptcha(ada, "", "", Visit{}))
	refused("a wrong answer", s.checkCaptcha(ada, challenge, answer[1:], Visit{}))
	refused("the right one after it", s.checkCaptcha(ada, challenge, answer, Visit{}))

	challenge, answer = draw()
	now = now.Add(10 * time.Minute)
	refused("too late", s.checkCaptcha(ada, challenge, answer, Visit{}))
}

// TestCaptchasBySource wants one source to run out of pictures, and no other.
func TestCaptchasBySource(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := captchas(&now, Limits{Captchas: 3})
	from := func(a string) Visit { return Visit{From: netip.MustParseAddr(a)} }
	for range 3 {
		if _, err := s.NewCaptcha("a@b", from("2001:db8::1")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.NewCaptcha("a@b", from("2001:db8::2")); !errors.Is(err, errTooMany) {
		t.Errorf("the same network: %v", err)
	}
	if _, err := s.NewCaptcha("a@b", from("2001:db8:0:1::1")); err != nil {
		t.Errorf("another source: %v", err)
	}
}

// TestGuessesInAll wants the limit of all sources to cost those who guess: beyond it a
// network that has sent a wrong code is refused, a clean one is not, a code is taken
// from the source alone that asked for it, and sources that are known pay nothing.
func TestGuessesInAll(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	const most = 100
	s := captchas(&now, Limits{WrongCodesInAll: most})
	guess := func(from netip.Addr, own, known bool) (func(), bool) {
		subject := from.String() // another account each time
		back, err := s.guess(&try{ForReset, subject, Visit{From: from}, known}, own)
		return back, err == nil
	}
	for i := range most {
		if _, ok := guess(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), false, false); !ok {
			t.Fatalf("guess %d was refused", i)
		}
	}
	dirty, clean := netip.MustParseAddr("10.1.200.200"), netip.MustParseAddr("10.2.0.1")
	if _, ok := guess(dirty, true, false); ok {
		t.Error("the network of the guesses may go on")
	}
	if _, ok := guess(dirty, true, true); !ok {
		t.Error("a known source pays for its network")
	}
	if _, ok := guess(clean, false, false); ok {
		t.Error("a code of another source may be tried")
	}
	back, ok := guess(clean, true, false)
	if !ok {
		t.Fatal("a clean network pays for others")
	}
	back()
	if _, ok := guess(clean, true, false); !ok {
		t.Error("a right code counts")
	}
	if _, ok := guess(clean, true, false); ok {
		t.Error("a wrong code does not count")
	}
	now = now.Add(24 * time.Hour)
	if _, ok := guess(dirty, false, false); !ok {
		t.Error("a day later")
	}
}

// TestHashingBySource wants one source to wait for no more hashes than it may, and
// another one to get its turn.
func TestHashingBySource(t *testing.T) {
	h := newHasher(2, 2)
	flood, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	for range 2 {
		if err := h.enter(t.Context(), flood); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.enter(t.Context(), flood); !errors.Is(err, errTooMany) {
		t.Errorf("a third hash: %v", err)
	}
	if !h.count(other) {
		t.Error("another source may not wait")
	}
	h.uncount(other)
	h.leave(flood)
	if err := h.enter(t.Context(), flood); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// TestPlain wants what clients write to stay what it is on a line of a letter.
func TestPlain(t *testing.T) {
	for given, want := range map[string]string{
		"bc1qxyz":                 "bc1qxyz",
		"a\r\nBcc: b":             "a??Bcc: b",
		"https://evil.example/x":  "https: //evil.example/x",
		"\u202egnp.exe":           "?gnp.exe",
		"zero\u200bwidth":         "zero?width",
		strings.Repeat("x", 1000): strings.Repeat("x", maxPlain) + "…",
		"\xff":                    "\ufffd",
	} {
		if got := Plain(given); got != want {
			t.Errorf("%q is shown as %q, want %q", given, got, want)
		}
	}
	if got := PlainTo("é\n"+strings.Repeat("x", 10), 5); got != "é?xxx…" {
		t.Errorf("five characters are %q", got)
	}
}

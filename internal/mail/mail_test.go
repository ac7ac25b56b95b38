package mail_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/mail"
)

// office is a mail server on loopback: it accepts one letter, or refuses its
// recipient.
type office struct {
	net.Listener
	refuses string
	// letters has what came between DATA and its end.
	letters chan string
	// authenticated says that the client sent a password.
	authenticated atomic.Bool
	// hangUp ends the conversation.
	hangUp chan struct{}
}

func newOffice(t *testing.T, refuses string) (*office, *mail.SMTP) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &office{Listener: l, refuses: refuses, letters: make(chan string, 1), hangUp: make(chan struct{})}
	done := make(chan struct{})
	go func() { defer close(done); o.serve() }()
	t.Cleanup(func() { _ = l.Close(); close(o.hangUp); <-done })
	return o, &mail.SMTP{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, From: "exchange@example.com", Plain: true}
}

// serve speaks SMTP (RFC 5321) with one client.
func (o *office) serve() {
	conn, err := o.Accept()
	if err != nil {
		return
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-o.hangUp:
		case <-over:
		}
		_ = conn.Close()
	}()
	in := bufio.NewScanner(conn)
	say := func(line string) { _, _ = fmt.Fprint(conn, line, "\r\n") }
	say("220 office")
	for in.Scan() {
		verb := strings.ToUpper(in.Text())
		switch {
		case strings.HasPrefix(verb, "EHLO"):
			say("250-office")
			say("250 AUTH PLAIN")
		case strings.HasPrefix(verb, "AUTH"):
			o.authenticated.Store(true)
			say("235 welcome")
		case strings.HasPrefix(verb, "RCPT") && o.refuses != "":
			say(o.refuses)
		case verb == "DATA":
			say("354 go on")
			var text strings.Builder
			for in.Scan() && in.Text() != "." {
				text.WriteString(in.Text() + "\n")
			}
			o.letters <- text.String()
			say("250 taken")
		case verb == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

var letter = account.Mail{To: "ada@example.com", Subject: "Confirm", Text: "Your code is 123456.", Code: "123456"}

func TestSMTP(t *testing.T) {
	o, s := newOffice(t, "")
	if err := s.Send(t.Context(), &letter); err != nil {
		t.Fatal(err)
	}
	got := <-o.letters
	for _, want := range []string{"From: <exchange@example.com>", "To: <ada@example.com>", "Subject: Confirm", "Your code is 123456."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the letter:\n%s", want, got)
		}
	}
}

func TestRefusedLetter(t *testing.T) {
	_, s := newOffice(t, "550 nobody")
	if err := s.Send(t.Context(), &letter); err == nil || strings.Contains(err.Error(), letter.Code) {
		t.Errorf("got %v", err)
	}
}

func TestNoPlainText(t *testing.T) {
	o, s := newOffice(t, "")
	s.Plain, s.User, s.Password = false, "user", "s3cret"
	if err := s.Send(t.Context(), &letter); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	if o.authenticated.Load() {
		t.Error("the password went over a connection that is not encrypted")
	}
}

func TestServerThatIsAway(t *testing.T) {
	o, s := newOffice(t, "")
	_ = o.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Send(ctx, &letter); err == nil {
		t.Error("a letter was sent to nobody")
	}
}

func TestNone(t *testing.T) {
	var e *bourse.Error
	if err := (mail.None{}).Send(t.Context(), &letter); !errors.As(err, &e) || e.Code != bourse.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestBox(t *testing.T) {
	now := bourse.Time(0)
	b := mail.NewBox(func() bourse.Time { now++; return now })
	if _, ok := b.Last("ada@example.com"); ok {
		t.Error("an empty box has a letter")
	}
	for i := range 10_001 {
		m := account.Mail{To: fmt.Sprint(i), Code: "1"}
		if err := errors.Join(b.Send(t.Context(), &m), b.Send(t.Context(), &account.Mail{To: m.To, Code: "2"})); err != nil {
			t.Fatal(err)
		}
	}
	if m, ok := b.Last("10000"); !ok || m.Code != "2" {
		t.Errorf("the last letter is %+v", m)
	}
	if _, ok := b.Last("0"); ok {
		t.Error("the box grows without end")
	}

	for range 10 {
		if err := b.Send(t.Context(), &account.Mail{To: "ada@example.com"}); err != nil {
			t.Fatal(err)
		}
	}
	if list := b.Letters("ada@example.com"); len(list) != 8 || list[0].Time != now || list[7].Time != now-7 {
		t.Errorf("%d letters, want the last 8, newest first: %+v", len(list), list)
	}
}

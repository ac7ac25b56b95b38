package mail_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/mail"
)

// held is a mailer that holds each letter until the test lets it go.
type held struct{ carried chan account.Mail }

func (h held) Send(ctx context.Context, m *account.Mail) error {
	select {
	case h.carried <- *m:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// queue returns a queue before a mailer that is held, and what ends it.
func queue(t *testing.T, failed func(error)) (*mail.Queue, chan account.Mail, func()) {
	carried := make(chan account.Mail)
	q := mail.NewQueue(held{carried}, time.After, failed)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); q.Run(ctx) }()
	return q, carried, func() { cancel(); <-ended }
}

// TestQueueFinishes wants letters that wait when the exchange stops to be carried.
func TestQueueFinishes(t *testing.T) {
	q, carried, end := queue(t, func(err error) { t.Error(err) })
	for i := range 10 {
		_ = q.Send(t.Context(), &account.Mail{To: fmt.Sprint(i)})
	}
	ended := make(chan struct{})
	go func() { defer close(ended); end() }()
	for n := 0; ; n++ {
		select {
		case <-carried:
		case <-ended:
			if n != 10 {
				t.Errorf("%d of 10 letters were carried", n)
			}
			return
		}
	}
}

// TestRefusedForGood wants a letter that a server refuses for good not to come again.
func TestRefusedForGood(t *testing.T) {
	_, s := newOffice(t, "550 nobody")
	failed := make(chan error, 10)
	q := mail.NewQueue(s, time.After, func(err error) { failed <- err })
	_ = q.Send(t.Context(), &letter)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); q.Run(ctx) }()
	if err := <-failed; err == nil {
		t.Error("a refusal is no error")
	}
	cancel()
	<-ended
	if len(failed) != 0 {
		t.Errorf("it was tried again: %v", <-failed)
	}
}

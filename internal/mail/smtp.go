package mail

import (
	"context"
	"fmt"
	netmail "net/mail"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/bourse-exchange/bourse/internal/account"
)

// deliverWithin bounds the server's time to accept a letter.
const deliverWithin = 8 * time.Second

// SMTP hands letters to a mail server. Safe for concurrent use.
type SMTP struct {
	// Host and Port are the server's.
	Host string
	Port int
	// From is the sender's address, Name the sender's name beside it; empty for none.
	From, Name string
	// User and Password log in to the server; empty for a server without authentication.
	User, Password string
	// Plain permits an unencrypted connection, for a server on this machine.
	Plain bool
}

// Send delivers a letter to the server.
func (s *SMTP) Send(ctx context.Context, m *account.Mail) error {
	letter := gomail.NewMsg()
	if err := letter.From((&netmail.Address{Name: s.Name, Address: s.From}).String()); err != nil {
		return fmt.Errorf("mail: sender: %w", err)
	}
	if err := letter.To(m.To); err != nil {
		return fmt.Errorf("mail: recipient: %w", err)
	}
	letter.Subject(m.Subject)
	letter.SetBodyString(gomail.TypeTextPlain, m.Text)
	client, err := gomail.NewClient(s.Host, s.options()...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, letter); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}

func (s *SMTP) options() []gomail.Option {
	policy := gomail.TLSMandatory
	if s.Plain {
		policy = gomail.NoTLS
	}
	options := []gomail.Option{gomail.WithPort(s.Port), gomail.WithTLSPolicy(policy), gomail.WithTimeout(deliverWithin)}
	if s.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(s.User), gomail.WithPassword(s.Password))
	}
	return options
}

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/mail"
)

// smtp holds the settings of the mail server.
type smtp struct {
	Address  string `help:"Mail server; without one nobody can sign up." placeholder:"HOST:PORT"`
	From     string `help:"Address that letters come from." placeholder:"EMAIL"`
	User     string `help:"Name to log in to the server with; empty for none." placeholder:"NAME"`
	Password string `help:"File with the password." name:"password-file" placeholder:"FILE"`
	Plain    bool   `help:"Speak to the server without encryption; for one on this machine."`
}

// mailer returns the mailer of an exchange with a name, or nil if there is no server.
func (s *smtp) mailer(name string) (account.Mailer, error) {
	if s.Address == "" {
		return nil, nil //nolint:nilnil // an exchange may send no mail
	}
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		return nil, fmt.Errorf("--smtp-address: %w", err)
	}

	m := &mail.SMTP{Host: host, From: s.From, Name: name, User: s.User, Plain: s.Plain}
	if m.Port, err = strconv.Atoi(port); err != nil {
		return nil, fmt.Errorf("--smtp-address: %q is no port", port)
	}
	if _, err := account.NormalizeEmail(s.From); err != nil {
		return nil, errors.New("--smtp-from is an e-mail address")
	}

	if s.Password != "" {
		text, err := os.ReadFile(s.Password)
		if err != nil {
			return nil, fmt.Errorf("--smtp-password-file: %w", err)
		}
		m.Password = strings.TrimSpace(string(text))
	}
	return m, nil
}

// people holds the settings for accounts and log-ins.
type people struct {
	Hold      time.Duration `help:"How long withdrawals wait after a change of password, address or second factor." name:"withdrawal-hold" default:"24h"`
	Captcha   bool          `help:"Ask who signs up to read a picture." default:"true" negatable:""`
	Passwords int           `help:"Wrong passwords that a client's address may send in an hour; 0 is without limit." name:"wrong-passwords-per-hour" default:"100"`
	Codes     int           `help:"Wrong codes that a client's address may send in an hour; 0 is without limit." name:"wrong-codes-per-hour" default:"20"`
	CodesADay int           `help:"Wrong mailed codes of all clients in a day, beyond which only those without one in their network may try; 0 is without limit." name:"wrong-codes-per-day" default:"1000"`
	Letters   int           `help:"Second factors, and notices, that an account is mailed in an hour; 0 is without limit." name:"letters-per-hour" default:"20"`
	Address   int           `help:"Letters that strangers may cause to an e-mail address in an hour; twice as many in a day; 0 is without limit." name:"letters-to-address-per-hour" default:"5"`
	Source    int           `help:"Letters that a client's address may cause in an hour; 0 is without limit." name:"letters-from-source-per-hour" default:"20"`
	LogIns    int           `help:"Sessions that an account may begin in an hour; 0 is without limit." name:"log-ins-per-hour" default:"100"`
	Captchas  int           `help:"Captchas that a client's address may ask for, and answer, in an hour; 0 is without limit." name:"captchas-per-hour" default:"60"`
	Hashing   int           `help:"Passwords of a client's address that are hashed or wait for it at once; 0 is without limit." name:"passwords-at-once" default:"4"`
}

// passkeys holds the settings of passkeys.
type passkeys struct {
	ID      string   `help:"Domain name that passkeys are bound to; there are none, if empty. Another name makes those that exist useless." placeholder:"NAME"`
	Origins []string `help:"Origins of the pages that may use passkeys, exact; https:// and the name, if empty." placeholder:"URL"`
}

// party returns what passkeys are bound to; nil for none.
func (k *passkeys) party() (*account.Party, error) {
	if k.ID == "" {
		if len(k.Origins) > 0 {
			return nil, errors.New("--passkeys-origins needs --passkeys-id")
		}
		return nil, nil //nolint:nilnil // an exchange may have no passkeys
	}
	origins := k.Origins
	if len(origins) == 0 {
		origins = []string{"https://" + k.ID}
	}
	party, err := account.NewParty(k.ID, origins...)
	if err != nil {
		return nil, fmt.Errorf("--passkeys-id, --passkeys-origins: %w", err)
	}
	return party, nil
}

// limits returns the limits of accounts.
func (p *people) limits() account.Limits {
	return account.Limits{
		WrongPasswords: p.Passwords, WrongCodes: p.Codes, WrongCodesInAll: p.CodesADay, Letters: p.Letters,
		LettersToAddress: p.Address, LettersBySource: p.Source, LogIns: p.LogIns, Captchas: p.Captchas,
		Hashing: p.Hashing,
	}
}

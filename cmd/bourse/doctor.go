package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/catalogue"
	"github.com/bourse-exchange/bourse/internal/certificate"
)

// doctor finds the problems that block opening an exchange. It reads the settings of
// serve.
type doctor struct {
	Config string `help:"YAML file with the settings of serve." placeholder:"FILE" required:"" type:"existingfile"`
}

// errBlocked reports that a problem blocks opening. The problem is already printed.
var errBlocked = errors.New("not ready to open")

// finding is the result of one check. An empty do means that all is well; otherwise do is
// the remedy.
type finding struct{ about, do string }

// Run makes all checks and prints their results, blocking ones first.
func (d *doctor) Run(p *program) error {
	s, err := readServe(d.Config)
	if err != nil {
		return err
	}
	findings := []finding{
		s.diskFinding(), s.clockFinding(), s.anchorFinding(), s.tlsFinding(), s.mailFinding(p.ctx),
	}
	findings = append(findings, s.listedFindings(p)...)
	findings = append(findings, s.networkFindings(p)...)

	blocks := 0
	for _, f := range findings {
		if f.do != "" {
			blocks++
			_, _ = fmt.Fprintf(p.stdout, "BLOCKS  %s: %s\n", f.about, f.do)
		}
	}

	for _, f := range findings {
		if f.do == "" {
			_, _ = fmt.Fprintf(p.stdout, "ok      %s\n", f.about)
		}
	}

	if blocks > 0 {
		return errBlocked
	}
	return nil
}

// diskFinding checks the free space of the data directory, or of its nearest existing
// parent.
func (s *serve) diskFinding() finding {
	at := string(s.Data)
	for at != filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil {
			break
		}
		at = filepath.Dir(at)
	}
	var free unix.Statfs_t
	if err := unix.Statfs(at, &free); err != nil {
		return finding{"disk", fmt.Sprintf("%v; make %s for the user that the exchange runs as", err, s.Data)}
	}
	const times = 4                          // an early warning before the limit
	have := free.Bavail * uint64(free.Bsize) // Bsize differs in type between systems
	if want := times * uint64(s.MinFree); have < want {
		return finding{"disk", fmt.Sprintf(
			"%s has %d MiB left; below min-free orders stop, so have %d MiB", at, have>>20, want>>20)}
	}
	return finding{about: "disk"}
}

// clockFinding checks that the clock is synchronised, if the system knows.
func (s *serve) clockFinding() finding {
	if synchronized, known := clockSynchronized(); known && !synchronized {
		return finding{"clock",
			"it is not kept right; run chrony or systemd-timesyncd, because orders and candles bear its time"}
	}
	return finding{about: "clock"}
}

// anchorFinding checks that the journal is anchored on another disk.
func (s *serve) anchorFinding() finding {
	const about = "anchor"
	if s.Anchoring.Anchor == "" {
		return finding{about,
			"there is none; set `anchor` to a directory on another disk, so that a journal that was cut back is noticed"}
	}
	var there, data unix.Stat_t
	if err := unix.Stat(s.Anchoring.Anchor, &there); err != nil {
		return finding{about, fmt.Sprintf("%s: %v; mount it", s.Anchoring.Anchor, err)}
	}
	if unix.Stat(filepath.Dir(string(s.Data)), &data) == nil && there.Dev == data.Dev {
		return finding{about, s.Anchoring.Anchor + " is on the disk of the data; take another one"}
	}
	return finding{about: about}
}

// tlsFinding checks the certificate for the name that clients use.
func (s *serve) tlsFinding() finding {
	const about = "certificate"
	u, err := url.Parse(s.PublicURL)
	if s.PublicURL == "" || err != nil {
		return finding{about, "set `public-url` to where clients reach the exchange"}
	}

	cert, key := s.TLSCert, s.TLSKey
	switch {
	case s.TLSDomain != "":
		cert = certificate.File(string(s.Data), s.TLSDomain)
		key = cert
		if _, err := os.Stat(cert); errors.Is(err, fs.ErrNotExist) {
			return finding{about, fmt.Sprintf(
				"the authority has not given one yet; start the exchange and let port 443 of %s reach it", s.TLSDomain)}
		}
	case cert == "":
		if u.Scheme == "https" && len(s.Proxies) > 0 {
			return finding{about: about + " (a trusted proxy's)"}
		}
		return finding{about,
			"set `tls.domain`, or `tls.cert` and `tls.key`, or `trusted-proxies` and an https `public-url` behind a proxy"}
	}

	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return finding{about, fmt.Sprintf("%v; put the certificate chain and its key there", err)}
	}
	switch now := time.Now(); {
	case now.After(pair.Leaf.NotAfter):
		return finding{about, fmt.Sprintf("it has ended on %s; renew it", pair.Leaf.NotAfter.Format(time.DateOnly))}
	case pair.Leaf.VerifyHostname(u.Hostname()) != nil:
		return finding{about, fmt.Sprintf("it is not for %s, the host of public-url", u.Hostname())}
	}
	return finding{about: about}
}

// mailFinding checks that a mail server answers: new customers need it to sign up.
func (s *serve) mailFinding(ctx context.Context) finding {
	const about, within = "mail server", 5 * time.Second
	if s.SMTP.Address == "" {
		return finding{about, "there is none, so nobody can sign up; set `smtp.address` and `smtp.from`"}
	}
	if _, err := s.SMTP.mailer(s.Brand.name()); err != nil {
		return finding{about, err.Error()}
	}
	conn, err := (&net.Dialer{Timeout: within}).DialContext(ctx, "tcp", s.SMTP.Address)
	if err != nil {
		return finding{about, fmt.Sprintf("%s does not answer: %v", s.SMTP.Address, err)}
	}
	_ = conn.Close() // nothing was sent
	return finding{about: about}
}

// listedFindings checks the catalogue of the running exchange.
func (s *serve) listedFindings(p *program) []finding {
	answer, err := admin.Call(p.ctx, string(s.Data), "catalogue/show", struct{}{})
	if err != nil {
		return []finding{{"exchange", fmt.Sprintf("%v; start it, so that what is listed can be looked at", err)}}
	}
	doc, err := catalogue.Parse(answer)
	if err != nil {
		return []finding{{"catalogue", err.Error()}}
	}

	market := finding{"markets", "none is listed and enabled; change catalogue.yaml, then: " +
		p.line("admin", "--data", string(s.Data), "catalogue", "apply", "catalogue.yaml")}
	for _, m := range doc.Markets {
		if m.Enabled {
			market.do = ""
		}
	}
	return []finding{{about: "exchange"}, market}
}

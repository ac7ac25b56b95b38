package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

type statusCmd struct {
	Dir string `arg:"" help:"Directory of a running signer." type:"path"`
}

// Run prints the status.
func (c *statusCmd) Run(p *program) error {
	s, err := operators(c.Dir).Status(p.ctx)
	if err != nil {
		return err
	}
	return p.print(s)
}

func operators(dir string) *remote.Operators {
	return &remote.Operators{Socket: filepath.Join(dir, operateFile), Now: time.Now}
}

// epoch is an epoch as INCARNATION.TERM.
type epoch signer.Epoch

// UnmarshalText reads an epoch.
func (e *epoch) UnmarshalText(text []byte) error {
	incarnation, term, _ := strings.Cut(string(text), ".")
	i, err := strconv.ParseUint(incarnation, 10, 32)
	t, err2 := strconv.ParseUint(term, 10, 64)
	if err != nil || err2 != nil || i == 0 {
		return fmt.Errorf("an epoch is like 2.0, incarnation and term, and %q is not", text)
	}
	e.Incarnation, e.Term = bourse.Incarnation(i), t
	return nil
}

type approveCmd struct {
	File     string        `arg:"" optional:"" help:"File with a payment that status lists, to sign it with --key, or with an approval, to send it with --to; standard input if empty or -." placeholder:"FILE"`
	Key      string        `help:"File of the approver's private key; the payment or the epoch is signed with it, and the approval printed." placeholder:"FILE" type:"path"`
	For      time.Duration `help:"Validity of the signature; for a payment at most 168h." default:"24h"`
	Yes      bool          `help:"Sign. Without it the fields are shown and nothing is signed."`
	To       string        `help:"Directory of a running signer; the approval is sent to its socket." placeholder:"DIR" type:"path"`
	Epoch    epoch         `help:"Sign this epoch in place of a payment, INCARNATION.TERM, such as 2.0; takes --exchange and --key." placeholder:"EPOCH"`
	Exchange exchangeID    `help:"Id of the exchange whose epoch is signed: 32 hex digits, as /spot/config shows it." placeholder:"ID"`
	Sandbox  bool          `help:"The exchange whose epoch is signed is a sandbox."`
}

// Validate refuses flags that would do nothing.
func (c *approveCmd) Validate() error {
	ofEpoch := c.Epoch != epoch{}
	switch {
	case ofEpoch && (c.Exchange == exchangeID{} || c.Key == ""):
		return errors.New("--epoch takes --exchange and --key")
	case ofEpoch && (c.File != "" || c.To != ""):
		return errors.New("--epoch reads no file and sends nothing: give the approval to adopt")
	case !ofEpoch && (c.Exchange != exchangeID{} || c.Sandbox):
		return errors.New("--exchange and --sandbox take --epoch")
	case !ofEpoch && c.Key == "" && c.To == "":
		return errors.New("an approval takes --key to be signed, --to to be sent, or both")
	}
	return nil
}

// errNoPayment refuses a file that names no payment: a signature over empty fields would approve nothing.
var errNoPayment = errors.New("the file holds no payment: copy one entry of `waiting`, which bourse-signer status prints")

var errUnsigned = errors.New("nothing was signed: compare the fields with what you know, and add --yes")

// Run shows what would be signed, signs it, and hands it over.
func (c *approveCmd) Run(p *program) error {
	if (epoch{}) != c.Epoch {
		return c.approveEpoch(p)
	}
	text, err := c.read()
	if err != nil {
		return err
	}
	var a signer.Approval
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	if a.Network == "" || a.Coin == "" || a.Amount == "" || a.Address == "" {
		return errNoPayment
	}

	if c.Key != "" {
		show(p.stderr, &a.Payment)
		key, err := c.key()
		if err != nil {
			return err
		}
		a = signer.Approve(a.Payment, key, bourse.TimeOf(time.Now().Add(c.For)))
		if err := p.print(a); err != nil {
			return err
		}
	}
	if c.To == "" {
		return nil
	}
	return operators(c.To).Approve(p.ctx, &a)
}

// key reads the approver's key, if there is consent.
func (c *approveCmd) key() (ed25519.PrivateKey, error) {
	if !c.Yes {
		return nil, errUnsigned
	}
	return readApprover(c.Key)
}

func (c *approveCmd) approveEpoch(p *program) error {
	_, err := fmt.Fprintf(p.stderr, "exchange  %x, sandbox: %t\nepoch     %s\n", c.Exchange, c.Sandbox, signer.Epoch(c.Epoch))
	if err != nil {
		return err
	}
	key, err := c.key()
	if err != nil {
		return err
	}
	x := signer.Exchange{ID: signer.ExchangeID(c.Exchange), Sandbox: c.Sandbox}
	return p.print(signer.ApproveEpoch(x, signer.Epoch(c.Epoch), key, bourse.TimeOf(time.Now().Add(c.For))))
}

// maxApproval bounds the file of an approval, in bytes.
const maxApproval = 64 << 10

func (c *approveCmd) read() ([]byte, error) {
	if c.File == "-" || c.File == "" {
		return io.ReadAll(io.LimitReader(os.Stdin, maxApproval))
	}
	return os.ReadFile(c.File)
}

// show shows all that an approval covers.
func show(w io.Writer, p *signer.Payment) {
	for _, f := range []struct {
		name  string
		value any
	}{
		{"exchange", fmt.Sprintf("%x, sandbox: %t, incarnation %d", p.Exchange, p.Sandbox, p.Incarnation)},
		{"network", fmt.Sprintf("%s, chain %s", p.Network, p.Chain)},
		{"withdrawal", fmt.Sprintf("%d, attempt %d", p.ID, p.Attempt)},
		{"coin", fmt.Sprintf("%s, %d decimals", p.Coin, p.Decimals)},
		{"amount", p.Amount}, {"address", p.Address}, {"memo", strconv.Quote(p.Memo)},
	} {
		_, _ = fmt.Fprintf(w, "%-11s %v\n", f.name, f.value)
	}
}

// readApprover reads an approver's private key.
func readApprover(path string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the approver names the path
	if err != nil {
		return nil, err
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s is no approver's key", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

type adoptCmd struct {
	Dir       string   `arg:"" help:"Directory of a stopped signer." type:"path"`
	Epoch     epoch    `help:"The epoch, INCARNATION.TERM, such as 2.0; one below the present one is refused." required:"" placeholder:"EPOCH"`
	Approvals []string `help:"File that approve --epoch printed; once for each approver, approvers.need of the settings at least." name:"approval" placeholder:"FILE" type:"path"`
	Config    string   `help:"Settings; signer.yaml in the directory, if empty." placeholder:"FILE" type:"path"`
}

// Run makes the epoch the highest one.
func (c *adoptCmd) Run(p *program) (err error) {
	settings, err := readSettings(c.Dir, c.Config)
	if err != nil {
		return err
	}
	approvers, err := settings.ApproverKeys()
	if err != nil {
		return err
	}
	var approvals []signer.Adoption
	for _, file := range c.Approvals {
		text, err := os.ReadFile(file) //nolint:gosec // the operator names the path
		if err != nil {
			return err
		}
		var a signer.Adoption
		if err := json.Unmarshal(text, &a); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		approvals = append(approvals, a)
	}

	d, release, err := hold(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	o := &signer.Options{Clock: clock, Approvers: approvers}
	if err := signer.Adopt(d, o, signer.Epoch(c.Epoch), approvals); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "the highest epoch is %s\n", signer.Epoch(c.Epoch))
	return err
}

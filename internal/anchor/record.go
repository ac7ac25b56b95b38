package anchor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// version is the version of the record's format.
	version = 1
	// maxStates bounds the heads with a state hash: at least three snapshots are kept,
	// and more while the history store lags.
	maxStates = 64
	// maxAccepted bounds the acceptances in a record; the journal has all of them.
	maxAccepted = 16
)

// Errors of a record.
var (
	// ErrNone reports that there is no record.
	ErrNone = errors.New("nothing is anchored there")
	// ErrChanged reports that a record is not the last one written.
	ErrChanged = errors.New("the record is not what was written last")

	errSum = errors.New("checksum does not match")
)

// Head is the end of a journal at a moment.
type Head struct {
	// Tip is the last frame.
	Tip journal.Tip
	// State is the state hash after it; zero if it was not computed.
	State journal.Hash
	// Voids is the number of void commands, Void the hash of the last void.
	Voids int
	Void  journal.Hash
}

// String names a head for operators.
func (h *Head) String() string { return At(h.Tip) }

// At describes the end of a journal to operators.
func At(t journal.Tip) string {
	if t.Last == 0 {
		return "no command"
	}
	return fmt.Sprintf("command %d (chain %x, %s)", t.Last, t.Chain[:8], t.Time.Std().UTC().Format(time.RFC3339))
}

// Acceptance is an operator's decision to continue with a journal that contradicts an
// anchor, or that was not anchored before.
type Acceptance struct {
	Time     bourse.Time
	Operator uint32
	Reason   string
	// Anchored is the rejected head; zero if there was none.
	Anchored journal.Tip
	// Accepted is the end of the accepted journal.
	Accepted journal.Tip
}

// Record is the anchored data of an exchange.
type Record struct {
	Identity journal.Identity
	// Newest is the newest head.
	Newest Head
	// States lists heads with a state hash, ascending.
	States []Head
	// Accepted lists the acceptances, oldest first.
	Accepted []Acceptance
}

// State returns the head with a state hash at a sequence, or nil.
func (r *Record) State(seq bourse.Seq) *Head {
	for i := range r.States {
		if r.States[i].Tip.Last == seq {
			return &r.States[i]
		}
	}
	return nil
}

// AddState adds a head with a state hash, and drops the oldest above maxStates.
func (r *Record) AddState(h Head) {
	r.States = slices.DeleteFunc(r.States, func(old Head) bool { return old.Tip.Last == h.Tip.Last })
	at := len(r.States)
	for at > 0 && r.States[at-1].Tip.Last > h.Tip.Last {
		at--
	}
	r.States = slices.Insert(r.States, at, h)
	r.States = r.States[max(0, len(r.States)-maxStates):]
}

// Accept adds an acceptance, and drops the oldest above maxAccepted.
func (r *Record) Accept(a Acceptance) {
	r.Accepted = append(r.Accepted, a)
	r.Accepted = r.Accepted[max(0, len(r.Accepted)-maxAccepted):]
}

// Clone returns a deep copy.
func (r *Record) Clone() *Record {
	c := *r
	c.States, c.Accepted = slices.Clone(r.States), slices.Clone(r.Accepted)
	return &c
}

// The form on disk.
type (
	fileRecord struct {
		Version  int              `json:"version"`
		Exchange string           `json:"exchange"`
		Sandbox  bool             `json:"sandbox"`
		Newest   fileHead         `json:"newest"`
		States   []fileHead       `json:"states"`
		Accepted []fileAcceptance `json:"accepted"`
	}
	fileHead struct {
		fileTip
		State string `json:"state,omitempty"`
		Voids int    `json:"voids"`
		Void  string `json:"void"`
	}
	fileTip struct {
		Seq   bourse.Seq `json:"seq"`
		Chain string     `json:"chain"`
		Term  uint64     `json:"term"`
		// Time is the time of the frame, in microseconds.
		Time bourse.Time `json:"time"`
	}
	fileAcceptance struct {
		Time     bourse.Time `json:"time"`
		Operator uint32      `json:"uid"`
		Reason   string      `json:"reason"`
		Anchored fileTip     `json:"anchored"`
		Accepted fileTip     `json:"accepted"`
	}
)

// bytes encodes the record: a JSON document, and a line with its SHA-256.
func (r *Record) bytes() []byte {
	f := fileRecord{
		Version: version, Exchange: hex.EncodeToString(r.Identity.Exchange[:]), Sandbox: r.Identity.Sandbox,
		Newest: outHead(&r.Newest), States: []fileHead{}, Accepted: []fileAcceptance{},
	}
	for i := range r.States {
		f.States = append(f.States, outHead(&r.States[i]))
	}
	for _, a := range r.Accepted {
		f.Accepted = append(f.Accepted, fileAcceptance{
			a.Time, a.Operator, a.Reason, outTip(a.Anchored), outTip(a.Accepted),
		})
	}

	text, err := json.MarshalIndent(&f, "", " ")
	if err != nil {
		bourse.Impossible("a record cannot be written: %v", err)
	}
	text = append(text, '\n')
	return fmt.Appendf(text, "%x\n", sha256.Sum256(text))
}

// parse decodes a record.
func parse(b []byte) (*Record, error) {
	const sumLine = 2*sha256.Size + 1
	if len(b) < sumLine {
		return nil, errSum
	}
	text := b[:len(b)-sumLine]
	if want := fmt.Appendf(nil, "%x\n", sha256.Sum256(text)); !bytes.Equal(b[len(text):], want) {
		return nil, errSum
	}

	var f fileRecord
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Version > version {
		return nil, journal.ErrNewerFormat
	}
	return f.record()
}

// record converts the form on disk.
func (f *fileRecord) record() (*Record, error) {
	p := parser{}
	r := &Record{Newest: p.head(&f.Newest)}
	r.Identity.Sandbox = f.Sandbox
	p.hex(r.Identity.Exchange[:], f.Exchange)
	for i := range f.States {
		r.States = append(r.States, p.head(&f.States[i]))
	}
	for _, a := range f.Accepted {
		r.Accepted = append(r.Accepted, Acceptance{a.Time, a.Operator, a.Reason, p.tip(a.Anchored), p.tip(a.Accepted)})
	}
	return r, p.err
}

func outTip(t journal.Tip) fileTip {
	return fileTip{t.Last, hex.EncodeToString(t.Chain[:]), t.Term, t.Time}
}

func outHead(h *Head) fileHead {
	out := fileHead{fileTip: outTip(h.Tip), Voids: h.Voids, Void: hex.EncodeToString(h.Void[:])}
	if h.State != (journal.Hash{}) {
		out.State = hex.EncodeToString(h.State[:])
	}
	return out
}

// parser decodes hashes and keeps the first error.
type parser struct{ err error }

func (p *parser) hex(into []byte, text string) {
	b, err := hex.DecodeString(text)
	if err == nil && len(b) != len(into) {
		err = fmt.Errorf("%q is no hash of %d bytes", text, len(into))
	}
	if p.err == nil {
		p.err = err
	}
	copy(into, b)
}

func (p *parser) tip(f fileTip) journal.Tip {
	t := journal.Tip{Last: f.Seq, Term: f.Term, Time: f.Time}
	p.hex(t.Chain[:], f.Chain)
	return t
}

func (p *parser) head(f *fileHead) Head {
	h := Head{Tip: p.tip(f.fileTip), Voids: f.Voids}
	p.hex(h.Void[:], f.Void)
	if f.State != "" {
		p.hex(h.State[:], f.State)
	}
	return h
}

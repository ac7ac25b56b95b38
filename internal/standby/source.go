package standby

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// The paths of a node port.
const (
	helloPath    = "/hello"
	framesPath   = "/frames"
	statesPath   = "/states"
	voidsPath    = "/voids"
	accountsPath = "/accounts"
	secretsPath  = "/secrets"
)

const (
	// lookEvery is the time between two looks at the journal for more frames.
	lookEvery = 2 * time.Millisecond
	// keptAlive is the time after which an idle stream sends a frame of length zero.
	keptAlive = time.Second
	// writeWithin bounds the time in which a follower takes a piece of an answer.
	writeWithin = 10 * time.Second
	// piece is the size of a write to a follower, in bytes.
	piece = 64 << 10
	// farBehind is the number of commands beyond which a stream is paced, pacedBytes and
	// pacedEvery its pace: 32 MiB a second leave disk and processors to trading.
	farBehind  = 100_000
	pacedBytes = 1 << 20
	pacedEvery = time.Second / 32
	// mostFollowers bounds the streams at a time, one for each certificate: each may hold an
	// unpacked segment in memory.
	mostFollowers = 2
	// seenFor is how long a follower counts as there after its stream ended.
	seenFor = 30 * time.Minute
)

// SourceOptions are the parts of a source.
type SourceOptions struct {
	// Hello returns the current Hello. All that was acknowledged before the call, by this node or by another one, is in its Seq. An
	// error means that the node cannot tell.
	Hello func(context.Context) (Hello, error)
	// Files is the journal, which is durable up to Durable.
	Files   *journal.Files
	Durable func() bourse.Seq
	Voids   *journal.VoidList
	// CompareEvery is the interval of the states that followers compare.
	CompareEvery bourse.Time
	// StateForm is the version of the form of states that is hashed.
	StateForm uint32
	// Accounts and Secrets are copied; Accounts is nil if they are on a server.
	Accounts, Secrets *Part
	Clock             func() time.Time
	After             func(time.Duration) <-chan time.Time
	Log               *slog.Logger
}

// Source serves an exchange to its followers. Safe for concurrent use.
type Source struct {
	SourceOptions
	states *States

	mu sync.Mutex
	// streams ends the stream of each follower by its name; seen is the time of the last end.
	streams map[string]*stream
	seen    time.Time
}

// stream is a stream of frames that is being served. sent is the last command handed over.
type stream struct {
	end  context.CancelFunc
	sent atomic.Uint64
}

// NewSource returns a source.
func NewSource(o SourceOptions) *Source {
	s := &Source{SourceOptions: o, streams: map[string]*stream{}}
	s.states = NewStates(s.Followed, o.StateForm)
	s.states.SetInterval(o.CompareEvery)
	return s
}

// Frame notes the state after a frame for followers. Frames come in order.
func (s *Source) Frame(tip *journal.Tip, hash func() [32]byte) { s.states.Frame(tip, hash) }

// hello answers with the node's Hello, and the interval that followers take over.
func (s *Source) hello(w http.ResponseWriter, r *http.Request) {
	h, err := s.Hello(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	h.CompareEvery = s.CompareEvery
	answer(w, h)
}

// Handler returns the handler of the node port.
func (s *Source) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+helloPath, s.hello)
	mux.HandleFunc("GET "+statesPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, s.states.List()) })
	mux.HandleFunc("GET "+voidsPath, func(w http.ResponseWriter, _ *http.Request) { answer(w, s.Voids.All()) })
	mux.HandleFunc("GET "+framesPath, s.frames)
	mux.HandleFunc("GET "+secretsPath, func(w http.ResponseWriter, r *http.Request) { s.part(s.Secrets, w, r) })
	mux.HandleFunc("GET "+accountsPath, func(w http.ResponseWriter, r *http.Request) { s.part(s.Accounts, w, r) })
	return mux
}

func answer(w http.ResponseWriter, a any) {
	text, err := json.Marshal(a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(sumHeader, sumOf(text))
	_, _ = w.Write(text) // the follower may be gone
}

// sumOf returns the checksum of an answer.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Followed reports whether a follower is there, or was lately.
func (s *Source) Followed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams) > 0 || !s.seen.IsZero() && s.Clock().Sub(s.seen) < seenFor
}

// Followers returns the number of streams.
func (s *Source) Followers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

// frames serves the frames after a command until the follower goes.
func (s *Source) frames(w http.ResponseWriter, r *http.Request) {
	after, chain, err := position(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	own, err := s.begin(r, cancel)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer s.end(r, own)

	f := &sending{Source: s, out: newPatient(ctx, w, s.Clock), chain: chain, at: after, sent: &own.sent}
	if err := f.find(); err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	w.Header().Set("Connection", "close") // a stream that ended holds no connection
	stop := context.AfterFunc(ctx, f.out.cut)
	defer stop()
	err = errors.Join(f.send(ctx), f.reader.Close())
	if ctx.Err() == nil {
		s.Log.Warn("a standby's stream ended", slog.String("follower", nameOf(r)), slog.Any("error", err))
	}
}

// position returns the end of the follower's copy.
func position(r *http.Request) (after bourse.Seq, chain journal.Hash, err error) {
	n, err := strconv.ParseUint(r.FormValue("after"), 10, 64)
	if err != nil {
		return 0, chain, errors.New("after is no sequence")
	}
	b, err := hex.DecodeString(r.FormValue("chain"))
	if err != nil || len(b) != len(chain) {
		return 0, chain, errors.New("chain is no hash")
	}
	return bourse.Seq(n), journal.Hash(b), nil
}

// nameOf returns the name of a follower: that of its certificate, or of a plain link.
func nameOf(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return "plain"
	}
	return r.TLS.PeerCertificates[0].Subject.String()
}

// begin counts a follower's stream. It ends the one that the follower had, which may be dead.
func (s *Source) begin(r *http.Request, cancel context.CancelFunc) (*stream, error) {
	name := nameOf(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.streams[name]
	if old == nil && len(s.streams) >= mostFollowers {
		return nil, fmt.Errorf("%d others follow already", len(s.streams))
	}
	if old != nil {
		old.end()
	}

	own := &stream{end: cancel}
	s.streams[name] = own
	return own, nil
}

// end forgets a stream, unless another one has its place.
func (s *Source) end(r *http.Request, own *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := nameOf(r); s.streams[name] == own {
		delete(s.streams, name)
	}
	s.seen = s.Clock()
}

// Drain waits until all frames are handed to the followers that take them, or ctx ends.
func (s *Source) Drain(ctx context.Context) {
	for ctx.Err() == nil && s.owes() {
		select {
		case <-ctx.Done():
		case <-s.After(lookEvery):
		}
	}
}

// owes reports whether a follower has not been sent all.
func (s *Source) owes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.streams {
		if bourse.Seq(one.sent.Load()) < s.Durable() {
			return true
		}
	}
	return false
}

// The reasons for which a copy cannot go on from a source.
var (
	// ErrDiverged means that the source does not have the copy's last frame.
	ErrDiverged = errors.New("the copy is not of this journal")
	// ErrAhead means that the copy has commands that the source does not have.
	ErrAhead = errors.New("the copy is ahead of the source")
	// ErrState means that copy and source have different states after the same command.
	ErrState = errors.New("the state differs")
)

// refusals are the errors of a stream's begin by status.
var refusals = map[int]error{
	http.StatusConflict: ErrDiverged, http.StatusPreconditionFailed: ErrAhead, http.StatusGone: journal.ErrCompacted,
}

func statusOf(err error) int {
	for status, refusal := range refusals {
		if errors.Is(err, refusal) {
			return status
		}
	}
	return http.StatusInternalServerError
}

// sending is a stream of frames to one follower.
type sending struct {
	*Source
	out    *patient
	reader journal.Reader
	// at and chain are the command and the hash of the last frame that the follower has.
	at    bourse.Seq
	chain journal.Hash
	buf   []byte
	// paced counts the bytes since the last pause, looks those at a journal without more frames.
	paced, looks int
	// sent is the last command that was handed to the connection.
	sent *atomic.Uint64
}

// find opens the journal behind the follower's last frame, which must be the journal's.
func (f *sending) find() error {
	if f.at > f.Durable() {
		return fmt.Errorf("%w: it ends at %d, the source at %d", ErrAhead, f.at, f.Durable())
	}
	stub, err := f.Files.Stub()
	if err != nil {
		return err
	}
	from := max(f.at, 1)
	pruned := stub != nil && stub.Seq == f.at && stub.Chain == f.chain
	if pruned {
		from = f.at + 1
	}
	if f.reader, err = f.Files.ReadBehind(from, f.Durable); err != nil || f.at == 0 || pruned {
		return err
	}

	b, err := f.reader.Next()
	if err == nil && (b.Last() != f.at || b.Chain != f.chain) {
		err = fmt.Errorf("%w: it ends at %d with another frame", ErrDiverged, f.at)
	}
	if err != nil {
		return errors.Join(err, f.reader.Close())
	}
	return nil
}

// send sends frames as they become durable.
func (f *sending) send(ctx context.Context) error {
	for ctx.Err() == nil {
		b, err := f.reader.Next()
		switch {
		case err == nil:
			f.looks = 0
			err = f.frame(ctx, b)
		case errors.Is(err, io.EOF):
			if err = f.out.Flush(); err == nil {
				f.sent.Store(uint64(f.at))
				err = f.wait(ctx)
			}
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// wait waits for the next look at the journal. A frame of length zero tells that the stream lives.
func (f *sending) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.After(lookEvery):
	}
	if f.looks++; f.looks < int(keptAlive/lookEvery) {
		return nil
	}
	f.looks = 0
	_, err := f.out.Write(make([]byte, sizeBytes))
	return err
}

// frame sends a frame.
func (f *sending) frame(ctx context.Context, b *journal.Batch) error {
	out := journal.Frame{
		First: b.First, Count: b.Count, Term: b.Term, Time: b.Time, Previous: f.chain, Commands: b.Commands,
	}
	var chain journal.Hash
	if f.buf, chain = out.Append(f.buf[:0]); chain != b.Chain {
		return fmt.Errorf("the frame of command %d is read otherwise the second time", b.First)
	}
	f.at, f.chain = b.Last(), chain
	if _, err := f.out.Write(f.buf); err != nil {
		return err
	}

	if f.paced += len(f.buf); f.paced < pacedBytes || f.at+farBehind > f.Durable() {
		return nil
	}
	f.paced = 0
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-f.After(pacedEvery):
		return nil
	}
}

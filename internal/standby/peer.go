package standby

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// The bounds of what a node asks another.
const (
	// dialWithin bounds a connection, askWithin a short question.
	dialWithin = 2 * time.Second
	askWithin  = 3 * time.Second
	// mostAnswer bounds the answer to a short question, in bytes.
	mostAnswer = 1 << 20
)

// Peer is another node's port. Safe for concurrent use.
type Peer struct {
	// Address is HOST:PORT.
	Address string
	base    string
	// client asks; stream has a connection of its own, for frames.
	client, stream *http.Client
}

// NewPeer returns the node at an address. It connects when it is asked something.
func NewPeer(address string, c *Credentials) (*Peer, error) {
	config, err := c.Client(address)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if config != nil {
		scheme = "https"
	}
	return &Peer{
		Address: address, base: scheme + "://" + address, client: newClient(config, false), stream: newClient(config, true),
	}, nil
}

// newClient returns an HTTP client of a node port. One that is alone keeps no idle connection.
func newClient(config *tls.Config, alone bool) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: (&net.Dialer{Timeout: dialWithin}).DialContext, TLSClientConfig: config,
			TLSHandshakeTimeout: dialWithin, ResponseHeaderTimeout: time.Minute, MaxIdleConnsPerHost: 4,
			DisableKeepAlives: alone, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a node redirects nobody") },
	}
}

// Close closes the idle connections.
func (p *Peer) Close() { p.client.CloseIdleConnections() }

// Hello asks the node for its Hello.
func (p *Peer) Hello(ctx context.Context) (h Hello, err error) { return h, p.ask(ctx, helloPath, &h) }

// States asks for the node's states.
func (p *Peer) States(ctx context.Context) (list []State, err error) {
	return list, p.ask(ctx, statesPath, &list)
}

// Voids asks for the commands that are out of effect.
func (p *Peer) Voids(ctx context.Context) (list []journal.Void, err error) {
	return list, p.ask(ctx, voidsPath, &list)
}

// ask asks a short question.
func (p *Peer) ask(ctx context.Context, path string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r, err := p.get(ctx, p.client, path, nil)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err == nil && sumOf(text) != r.Header.Get(sumHeader) {
		err = errSum
	}
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return fmt.Errorf("%s%s: %w", p.Address, path, err)
	}
	return nil
}

// get asks for a path. Any status but 200 and 304 is an error.
func (p *Peer) get(ctx context.Context, by *http.Client, path string, head http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	if head != nil {
		request.Header = head
	}
	r, err := by.Do(request)
	if err != nil {
		return nil, err
	}
	if r.StatusCode == http.StatusOK || r.StatusCode == http.StatusNotModified {
		return r, nil
	}

	text, err := io.ReadAll(io.LimitReader(r.Body, mostAnswer))
	if err := errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	if refusal := refusals[r.StatusCode]; refusal != nil {
		return nil, fmt.Errorf("%w: the source says: %s", refusal, bytes.TrimSpace(text))
	}
	return nil, fmt.Errorf("%s%s: %s: %s", p.Address, path, r.Status, bytes.TrimSpace(text))
}

// frames opens the stream of the frames behind a tip.
func (p *Peer) frames(ctx context.Context, tip *journal.Tip) (io.ReadCloser, error) {
	after := url.Values{"after": {strconv.FormatUint(uint64(tip.Last), 10)}, "chain": {hex.EncodeToString(tip.Chain[:])}}
	r, err := p.get(ctx, p.stream, framesPath+"?"+after.Encode(), nil)
	if err != nil {
		return nil, err
	}
	return r.Body, nil
}

// copied is a copy of a part.
type copied struct {
	// stamp names the content. The journal has all that it refers to from seq on.
	stamp string
	seq   bourse.Seq
}

// errSum says that bytes changed on the way.
var errSum = errors.New("the bytes changed on the way")

// part copies a part to a new, durable file, unless its stamp is the one given: then the copy is
// nil. ErrDisk if the file cannot be written.
func (p *Peer) part(ctx context.Context, path, stamp string, to incoming) (c *copied, err error) {
	r, err := p.get(ctx, p.client, path, http.Header{"If-None-Match": {stamp}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Body.Close()) }()
	if r.StatusCode == http.StatusNotModified {
		return nil, nil
	}

	seq, err := strconv.ParseUint(r.Header.Get(seqHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", p.Address, path, err)
	}
	sum, err := to.save(r.Body)
	if err == nil && sum != r.Header.Get(sumHeader) {
		err = errSum
	}
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", p.Address, path, err)
	}
	return &copied{r.Header.Get("ETag"), bourse.Seq(seq)}, nil
}

// incoming is the file for a part on its way.
type incoming struct {
	disk disk.Disk
	name string
}

// save writes a part's bytes, and returns their SHA-256. ErrDisk if the file cannot be written.
func (i incoming) save(from io.Reader) (sum string, err error) {
	h, read := sha256.New(), &reading{from: from}
	err = disk.Write(i.disk, i.name, func(f disk.File) error {
		b := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), piece)
		if _, err := io.Copy(io.MultiWriter(h, b), read); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil && read.failed == nil {
		err = ownDisk(err)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// reading is a reader that remembers its failure.
type reading struct {
	from   io.Reader
	failed error
}

// Read implements [io.Reader].
func (r *reading) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}
	return n, err
}

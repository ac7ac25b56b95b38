package standby

import (
	"bufio"
	"bytes"
	"cmp"
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
	"strings"
	"sync/atomic"
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

// Peer is another node's port, or those of the nodes of a cluster, of which one leads and answers. Safe for concurrent use.
type Peer struct {
	ports []*port
	// at is the index of the port that is asked.
	at atomic.Int32
}

// port is a node port. Safe for concurrent use.
type port struct {
	// address is HOST:PORT.
	address, base string
	// client asks; stream has a connection of its own, for frames.
	client, stream *http.Client
}

// Addresses returns the addresses of a list, which commas separate.
func Addresses(list string) (addresses []string) {
	for address := range strings.SplitSeq(list, ",") {
		addresses = append(addresses, strings.TrimSpace(address))
	}
	return addresses
}

// NewPeer returns the node at an address, or the nodes at a list of them. It connects when it is asked something.
func NewPeer(addresses string, c *Credentials) (*Peer, error) {
	p := new(Peer)
	for _, address := range Addresses(addresses) {
		config, err := c.Client(address)
		if err != nil {
			return nil, err
		}
		scheme := "http"
		if config != nil {
			scheme = "https"
		}
		p.ports = append(p.ports, &port{
			address: address, base: scheme + "://" + address, client: newClient(config, false), stream: newClient(config, true),
		})
	}
	return p, nil
}

// port returns the port that is asked.
func (p *Peer) port() *port { return p.ports[p.at.Load()] }

// Address returns the address that is asked.
func (p *Peer) Address() string { return p.port().address }

// Several reports whether the peer has more than one address.
func (p *Peer) Several() bool { return len(p.ports) > 1 }

// Find asks all addresses at once for a Hello. From then on the first one is asked whose Hello fits. If there is none, and all have
// answered, the error is that of one which does not fit. Otherwise the one that fits may be away, and no error is wrapped that [Final]
// would take for the last word.
func (p *Peer) Find(ctx context.Context, fits func(*Hello) error) (Hello, error) {
	type answer struct {
		at         int
		hello      Hello
		err, unfit error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer, len(p.ports))
	for i, one := range p.ports {
		go func() {
			a := answer{at: i}
			if a.err = one.ask(ctx, helloPath, &a.hello); a.err == nil {
				a.unfit = fits(&a.hello)
			}
			answers <- a
		}()
	}

	var unreached, unfit error
	for range p.ports {
		a := <-answers
		if a.err == nil && a.unfit == nil {
			p.at.Store(int32(a.at))
			return a.hello, nil
		}
		unreached, unfit = errors.Join(unreached, a.err), cmp.Or(unfit, a.unfit)
	}
	if unfit != nil && unreached != nil {
		return Hello{}, fmt.Errorf("%w; another address answers, and does not fit: %s", unreached, unfit.Error())
	}
	return Hello{}, cmp.Or(unfit, unreached)
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
func (p *Peer) Close() {
	for _, one := range p.ports {
		one.client.CloseIdleConnections()
	}
}

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
	return p.port().ask(ctx, path, answer)
}

func (p *port) ask(ctx context.Context, path string, answer any) error {
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
		return fmt.Errorf("%s%s: %w", p.address, path, err)
	}
	return nil
}

// get asks for a path. Any status but 200 and 304 is an error.
func (p *port) get(ctx context.Context, by *http.Client, path string, head http.Header) (*http.Response, error) {
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
	return nil, fmt.Errorf("%s%s: %s: %s", p.address, path, r.Status, bytes.TrimSpace(text))
}

// frames opens the stream of the frames behind a tip.
func (p *Peer) frames(ctx context.Context, tip *journal.Tip) (io.ReadCloser, error) {
	after := url.Values{"after": {strconv.FormatUint(uint64(tip.Last), 10)}, "chain": {hex.EncodeToString(tip.Chain[:])}}
	at := p.port()
	r, err := at.get(ctx, at.stream, framesPath+"?"+after.Encode(), nil)
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
	at := p.port()
	r, err := at.get(ctx, at.client, path, http.Header{"If-None-Match": {stamp}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Body.Close()) }()
	if r.StatusCode == http.StatusNotModified {
		return nil, nil
	}

	seq, err := strconv.ParseUint(r.Header.Get(seqHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", at.address, path, err)
	}
	sum, err := to.save(r.Body)
	if err == nil && sum != r.Header.Get(sumHeader) {
		err = errSum
	}
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", at.address, path, err)
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

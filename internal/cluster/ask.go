package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

const (
	// mostSaid bounds the answer to a question, in bytes.
	mostSaid = 4 << 20
	// mostFile is more than a journal's file has, in bytes: nothing of what another node says is made room for unseen.
	mostFile = 2 << 30
	// pieceWithin bounds the time for a piece of a file of another node.
	pieceWithin = 10 * time.Second
)

// Asker asks other nodes at their node ports, with a node's key. Safe for concurrent use.
type Asker struct{ own tls.Certificate }

// NewAsker returns an asker with a certificate and its key.
func NewAsker(own tls.Certificate) *Asker { return &Asker{own} }

// OpenAsker returns the asker of a node's data directory.
func OpenAsker(data string) (*Asker, error) {
	own, err := tls.LoadX509KeyPair(filepath.Join(data, certFile), filepath.Join(data, keyFile))
	return &Asker{own}, err
}

// client returns a client whose connections are to a member. The caller closes its idle connections.
func (a *Asker) client(m *Member) (*http.Client, error) {
	config, err := pinned.Config(a.own, m.Pin)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{protocolNodes}
	return &http.Client{Transport: &http.Transport{
		DisableCompression: true,
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, helloWithin)
			defer cancel()
			return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", m.Address)
		},
	}}, nil
}

// Ask asks a member a question. about has the node that a question concerns; it is empty for others.
func (a *Asker) Ask(ctx context.Context, m *Member, question string, about Numbered) ([]byte, error) {
	body, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	client, err := a.client(m)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://node/"+question, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("node %d: %w", Number(m.Node), err)
	}
	said, err := read(answer)
	if err != nil {
		return nil, fmt.Errorf("node %d: %w", Number(m.Node), err)
	}
	return said, nil
}

// read reads an answer. That for a file which is not there is fs.ErrNotExist.
func read(answer *http.Response) ([]byte, error) {
	said, err := io.ReadAll(io.LimitReader(answer.Body, mostSaid))
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	switch text := strings.TrimSpace(string(said)); answer.StatusCode {
	case http.StatusOK:
		return said, nil
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", text, fs.ErrNotExist)
	default:
		return nil, errors.New(text)
	}
}

// Others returns the journals of the other nodes of a configuration, as this node reads them over their node ports.
func (a *Asker) Others(c *Config) Others {
	return func(use func([]*journal.Files) error) error {
		id, err := c.Identity()
		if err != nil {
			return err
		}
		var list []*journal.Files
		for i := range c.Nodes {
			if m := &c.Nodes[i]; m.Node != c.Node {
				d, err := a.Disk(m)
				if err != nil {
					return err
				}
				defer func() { _ = d.Close() }() // it was only read
				list = append(list, journal.NewFiles(d, id))
			}
		}
		return use(list)
	}
}

// Disk returns the journal's files of a member's disk, which can be read alone.
func (a *Asker) Disk(m *Member) (*Remote, error) {
	client, err := a.client(m)
	return &Remote{client: client, of: Number(m.Node)}, err
}

// Remote is the disk of another node, as far as its journal is there. It implements [disk.Disk], and writes nothing.
type Remote struct {
	disk.Disk // nil: nothing else is asked of it
	client    *http.Client
	of        uint64
}

// Close closes the connections.
func (r *Remote) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// get asks for a path.
func (r *Remote) get(at string) (b []byte, header http.Header, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), pieceWithin)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://node/"+at, nil) //nolint:gosec // the connection is to a member by its pin, whatever the path
	if err != nil {
		return nil, nil, err
	}
	answer, err := r.client.Do(q) //nolint:gosec // as above
	if err == nil {
		header = answer.Header
		b, err = read(answer)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("node %d: %w", r.of, err)
	}
	return b, header, nil
}

// List implements [disk.Disk].
func (r *Remote) List(dir string) (names []string, err error) {
	b, _, err := r.get(dir)
	if err != nil {
		return nil, err
	}
	return names, json.Unmarshal(b, &names)
}

// Open implements [disk.Disk].
func (r *Remote) Open(name string) (disk.File, error) {
	f := &remoteFile{disk: r, name: name}
	_, err := f.fetch(0)
	return f, err
}

// remoteFile is a file of another node. It keeps the piece that was read last.
type remoteFile struct {
	disk.File // nil: nothing else is asked of it
	disk      *Remote
	name      string

	mu    sync.Mutex
	from  int64
	piece []byte
	size  int64
}

// fetch returns the bytes of the file from an offset on, as far as a piece has them.
func (f *remoteFile) fetch(from int64) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end := f.from + int64(len(f.piece)); from >= f.from && from < end {
		return f.piece[from-f.from:], nil
	}
	b, header, err := f.disk.get(f.name + "?from=" + url.QueryEscape(strconv.FormatInt(from, 10)))
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(header.Get(sizeHeader), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("node %d: %s has no size: %w", f.disk.of, f.name, err)
	}
	if size < 0 || size > mostFile || size-min(from, size) < int64(len(b)) {
		return nil, fmt.Errorf("node %d: %s has %d bytes, of which %d come behind %d", f.disk.of, f.name, size, len(b), from)
	}
	f.from, f.piece, f.size = from, b, size
	return b, nil
}

// ReadAt implements [disk.File].
func (f *remoteFile) ReadAt(b []byte, from int64) (n int, err error) {
	for n < len(b) {
		piece, err := f.fetch(from + int64(n))
		if err != nil {
			return n, err
		}
		if len(piece) == 0 {
			return n, io.EOF
		}
		n += copy(b[n:], piece)
	}
	return n, nil
}

// Size implements [disk.File].
func (f *remoteFile) Size() (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.size, nil
}

// Close implements [disk.File].
func (f *remoteFile) Close() error { return nil }

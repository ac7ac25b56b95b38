package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// knock has a new machine bring a token to a node.
func (n *lone) knock(t *testing.T, text string, number uint64) (*cluster.Admission, error) {
	t.Helper()
	token, err := cluster.ParseToken(text)
	want(t, err)
	c, cert, key, err := cluster.Prepare(number, time.Now())
	want(t, err)
	c.Address, c.Listen = "127.0.0.1:2", "127.0.0.1:3"
	c.Pin = strings.Repeat("ab", 32) // the connection's key counts
	own, err := tls.X509KeyPair(cert, key)
	want(t, err)
	a, err := cluster.Knock(t.Context(), n.Port(), token, c, own)
	if err == nil {
		if m := a.Config.Newest(number); m == nil || m.Pin != pinned.Pin(own.Leaf) {
			t.Errorf("the node joins as %+v", m)
		}
	}
	return a, err
}

// token makes a token.
func (n *lone) token(t *testing.T) string {
	t.Helper()
	o, err := n.Token()
	want(t, err)
	return o.Token
}

// TestToken lets one node in with a token, once, under the key of its connection, and hands it what all nodes have alike. A token that
// is spent, has ended, or is another leader's lets nobody in.
func TestToken(t *testing.T) {
	n := newLone(t)
	refused := func(why, text, says string) {
		t.Helper()
		if a, err := n.knock(t, text, 3); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "may be") {
			t.Errorf("%s lets a node in as %+v, or says %v", why, a, err)
		}
	}
	first, second := n.token(t), n.token(t)
	a, err := n.knock(t, first, 2)
	want(t, err)
	if len(a.Secrets) != 1 || string(a.Secrets[0].Bytes) != "secret" {
		t.Errorf("it gets %+v", a.Secrets)
	}
	refused("a token that is spent", first, "it is spent")
	refused("a token of nobody", strings.Repeat("00", 16)+second[32:], "it is spent")
	refused("a token of another node", second[:33]+strings.Repeat("00", 32), pinned.ErrPin.Error())

	n.ahead.Store(int64(cluster.TokenFor))
	refused("a token that has ended", second, "it has ended")
	refused("a token that has ended, beside another one,", second+n.token(t)[:0], "it has ended")
	for _, text := range []string{"", "00", second[:40], second + "00", strings.Replace(second, ".", "-", 1)} {
		if _, err := cluster.ParseToken(text); err == nil {
			t.Errorf("%q is a token", text)
		}
	}
}

// TestKnocksWithoutAnAnswer has a leader end while a node knocks: the node may be a member, and is told so.
func TestKnocksWithoutAnAnswer(t *testing.T) {
	own := newProof(t)
	config, err := pinned.TLS(own.cert, own.key, own.pin)
	want(t, err)
	config.NextProtos = []string{cluster.ProtocolJoin}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	want(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	token, err := cluster.ParseToken(strings.Repeat("00", 16) + "." + own.pin)
	want(t, err)
	cert, err := tls.LoadX509KeyPair(own.cert, own.key)
	want(t, err)
	_, err = cluster.Knock(t.Context(), listener.Addr().String(), token, cluster.Newcomer{Number: 2}, cert)
	if err == nil || !strings.Contains(err.Error(), "may be a member now") {
		t.Errorf("a node whose admission nobody confirms is told %v", err)
	}
}

// TestTokensAreBounded wants no token beyond a few that are not spent, until they end.
func TestTokensAreBounded(t *testing.T) {
	n := newLone(t)
	for range cluster.MostTokens {
		n.token(t)
	}
	if o, err := n.Token(); err == nil {
		t.Errorf("one token more: %+v", o)
	}
	n.ahead.Store(int64(cluster.TokenFor))
	n.token(t)
}

// TestStrangersHaveNoProtocol wants a key that is no member's to be refused for everything: while no token is there also for a join,
// and with one for all but a join, in which garbage spends no token.
func TestStrangersHaveNoProtocol(t *testing.T) {
	n := newLone(t)
	own := newProof(t)
	offered := ""
	try := func(protocols ...string) error {
		config, err := pinned.TLS(own.cert, own.key, n.Config().Member(1).Pin)
		want(t, err)
		config.NextProtos = protocols
		conn, err := tls.Dial("tcp", n.Port(), config)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		_, _ = conn.Write([]byte("POST /status HTTP/1.1\r\nHost: node\r\nContent-Length: 2\r\n\r\n{}"))
		said, err := io.ReadAll(conn)
		if err == nil && !bytes.Contains(said, []byte("error")) {
			t.Errorf("%q, %q: a stranger is told %q", offered, protocols, said)
		}
		return err
	}
	closed := [][]string{
		nil, {"h2"}, {"http/1.1"}, {cluster.ProtocolNodes}, {cluster.ProtocolJoin, cluster.ProtocolNodes}, {cluster.ProtocolJoin, "h2"},
	}
	for _, protocols := range append(closed, []string{cluster.ProtocolJoin}) {
		if try(protocols...) == nil {
			t.Errorf("without a token a stranger speaks %q", protocols)
		}
	}
	offered = n.token(t)
	for _, protocols := range closed {
		if try(protocols...) == nil {
			t.Errorf("with a token for somebody a stranger speaks %q", protocols)
		}
	}
	_ = try(cluster.ProtocolJoin)
	_, err := n.knock(t, offered, 2)
	want(t, err)
}

// TestNodesAskEachOther has a new member ask the leader, and read its journal and nothing else of its disk. Once it has left it is
// answered nothing.
func TestNodesAskEachOther(t *testing.T) {
	n := newLone(t)
	want(t, os.MkdirAll(filepath.Join(n.data, "accounts"), 0o700))
	want(t, os.WriteFile(filepath.Join(n.data, "accounts", "seed"), []byte("secret"), 0o600))
	token, err := cluster.ParseToken(n.token(t))
	want(t, err)
	c, cert, key, err := cluster.Prepare(2, time.Now())
	want(t, err)
	c.Address, c.Listen = "127.0.0.1:2", "127.0.0.1:3"
	own, err := tls.X509KeyPair(cert, key)
	want(t, err)
	a, err := cluster.Knock(t.Context(), n.Port(), token, c, own)
	want(t, err)
	asker, leader := cluster.NewAsker(own), *a.Config.Newest(1)
	leader.Address = n.Port() // its configuration has port 0

	var config cluster.Config
	said, err := asker.Ask(t.Context(), &leader, cluster.AskConfig, cluster.Numbered{})
	want(t, err)
	want(t, json.Unmarshal(said, &config))
	if config.Newest(2) == nil {
		t.Errorf("the leader knows %+v", config)
	}
	if said, err := asker.Ask(t.Context(), &leader, cluster.AskLeave, cluster.Numbered{Node: 7}); err == nil || !strings.Contains(err.Error(), "no node 7") {
		t.Errorf("node 7 leaves: %s, %v", said, err)
	}

	far, err := asker.Disk(&leader)
	want(t, err)
	defer func() { _ = far.Close() }()
	names, err := far.List(journal.LiveDir)
	want(t, err)
	for _, name := range names {
		name = journal.LiveDir + "/" + name
		near, err := disk.ReadFile(n.disk, name)
		want(t, err)
		if got, err := disk.ReadFile(far, name); err != nil || len(near) != len(got) {
			t.Errorf("%s has %d bytes here, and %d there, %v", name, len(near), len(got), err)
		}
	}
	for _, name := range []string{"accounts/seed", "cluster.key", "journal/../accounts/seed", "journal/..%2faccounts%2fseed", "/etc/passwd"} {
		if f, err := far.Open(name); err == nil {
			t.Errorf("%s is open to a member: %v", name, f)
		}
	}
	if _, err := far.Open("archive/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}

	_, err = n.Leave(t.Context(), 2)
	want(t, err)
	if names, err := far.List(journal.LiveDir); err == nil {
		t.Errorf("a node that left reads %v", names)
	}
}

// TestSizesThatNoFileHas reads files of a node that tells impossible sizes, or sends more bytes than it tells.
func TestSizesThatNoFileHas(t *testing.T) {
	own := newProof(t)
	config, err := pinned.TLS(own.cert, own.key, own.pin)
	want(t, err)
	config.NextProtos = []string{cluster.ProtocolNodes}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	want(t, err)
	s := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Bourse-Size", path.Base(r.URL.Path))
			if r.URL.Path != "/journal/-2" {
				_, _ = io.WriteString(w, "piece")
			}
		}),
	}
	go func() { _ = s.Serve(plainly{listener}) }()
	defer func() { _ = s.Close() }()

	cert, err := tls.LoadX509KeyPair(own.cert, own.key)
	want(t, err)
	far, err := cluster.NewAsker(cert).Disk(&cluster.Member{Node: 1, Address: listener.Addr().String(), Pin: own.pin})
	want(t, err)
	defer func() { _ = far.Close() }()
	for _, size := range []string{"-1", "-2", "4", "1152921504606846976", "9223372036854775808", "x"} {
		if b, err := disk.ReadFile(far, journal.LiveDir+"/"+size); err == nil {
			t.Errorf("a file of %s bytes is read: %q", size, b)
		}
	}
	if b, err := disk.ReadFile(far, journal.LiveDir+"/5"); err != nil || string(b) != "piece" {
		t.Errorf("a file of 5 bytes is %q: %v", b, err)
	}
}

// plainly is a listener whose connections do not say that they are TLS, as a node's do not.
type plainly struct{ net.Listener }

// Accept waits for a connection.
func (p plainly) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	return struct{ net.Conn }{c}, err
}

// timed records the deadline of an answer, and whether a part of it was written without one.
type timed struct {
	*httptest.ResponseRecorder
	deadline time.Time
	early    bool
}

// SetWriteDeadline is for [http.ResponseController].
func (w *timed) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

// Write writes a part.
func (w *timed) Write(b []byte) (int, error) {
	w.early = w.early || w.deadline.IsZero()
	return w.ResponseRecorder.Write(b)
}

// TestPiecesArePaced wants a rest behind each piece of a file that a node sends, no more than two pieces at a time, and an end of those
// that nobody reads.
func TestPiecesArePaced(t *testing.T) {
	n := newLone(t)
	want(t, os.WriteFile(filepath.Join(n.data, journal.LiveDir, "large"), make([]byte, 3<<20), 0o600))
	rests := make(chan chan time.Time)
	n.rests.Store(&rests)
	handler := n.Handler()
	get := func(ctx context.Context) *timed {
		w := &timed{ResponseRecorder: httptest.NewRecorder()}
		handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/journal/large?from=1", nil))
		return w
	}

	answers := make(chan *timed)
	var resting []chan time.Time
	for range 2 {
		go func() { answers <- get(t.Context()) }()
		resting = append(resting, <-rests)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 20 { // a place would be taken half of the time
		if w := get(gone); w.Body.Len() > 0 {
			t.Fatal("a third piece is sent beside two")
		}
	}
	for _, rest := range resting {
		rest <- time.Time{}
		w := <-answers
		if w.Body.Len() != 1<<20 || w.Header().Get("Bourse-Size") != "3145728" {
			t.Errorf("a piece of %d bytes, %v", w.Body.Len(), w.Header())
		}
		if w.early || time.Until(w.deadline) > cluster.PieceWithin {
			t.Errorf("a node that reads nothing of a piece keeps its place until %v", w.deadline)
		}
	}
}

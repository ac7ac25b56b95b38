package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse/internal/pinned"
)

const (
	// tokenFor is a token's lifetime, mostTokens bounds the tokens that are not spent.
	tokenFor   = time.Hour
	mostTokens = 8
	// secretSize is the size of a token's secret, in bytes.
	secretSize = 16
	// mostKnock and mostWelcome bound the messages of a node that joins and of the leader, in bytes.
	mostKnock   = 16 << 10
	mostWelcome = 1 << 20
	// admittedWithin bounds the time in which a leader admits a node with a token.
	admittedWithin = 10 * time.Second
)

// Token lets one node join, once, while the leader that made it leads. Its text is all that a new machine needs.
type Token struct {
	secret [secretSize]byte
	// pin names the leader's key, so that the new machine trusts no other one.
	pin string
}

var errToken = errors.New("a token is what `bourse cluster token` prints")

// ParseToken reads a token's text.
func ParseToken(text string) (t Token, err error) {
	secret, pin, ok := strings.Cut(strings.TrimSpace(text), ".")
	b, err := hex.DecodeString(secret)
	if p, bad := hex.DecodeString(pin); !ok || err != nil || len(b) != secretSize || bad != nil || len(p) != sha256.Size {
		return t, errToken
	}
	return Token{[secretSize]byte(b), pin}, nil
}

// String returns the token's text.
func (t Token) String() string { return hex.EncodeToString(t.secret[:]) + "." + t.pin }

// Offer is a token that a leader has made.
type Offer struct {
	Token string `json:"token"`
	// Until is when the token ends, unless it is spent before, or another node leads.
	Until time.Time `json:"until"`
	// Address is the leader's node port.
	Address string `json:"address"`
}

// tokens are the hashes of the secrets of a leader's tokens that are not spent. They are in memory alone, so that they end with the
// process. Safe for concurrent use.
type tokens struct {
	mu   sync.Mutex
	list []offered
}

// offered is a token that is not spent.
type offered struct {
	sum   [sha256.Size]byte
	until time.Time
}

var errTokens = fmt.Errorf("%d tokens are not spent: use one, or wait until they end", mostTokens)

// add makes a secret.
func (t *tokens) add(now time.Time) (secret [secretSize]byte, until time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.expire(now); len(t.list) >= mostTokens {
		return secret, until, errTokens
	}
	if _, err := rand.Read(secret[:]); err != nil {
		return secret, until, err
	}
	until = now.Add(tokenFor)
	t.list = append(t.list, offered{sha256.Sum256(secret[:]), until})
	return secret, until, nil
}

// any reports whether a token is not spent.
func (t *tokens) any(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	return len(t.list) > 0
}

// spend reports whether a secret is that of a token, which it spends.
func (t *tokens) spend(secret []byte, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.expire(now)
	sum := sha256.Sum256(secret)
	i := slices.IndexFunc(t.list, func(o offered) bool { return subtle.ConstantTimeCompare(o.sum[:], sum[:]) == 1 })
	if i < 0 {
		return false
	}
	t.list = slices.Delete(t.list, i, i+1)
	return true
}

// expire forgets the tokens that have ended. It is called under mu.
func (t *tokens) expire(now time.Time) {
	t.list = slices.DeleteFunc(t.list, func(o offered) bool { return !now.Before(o.until) })
}

var errSandbox = errors.New("the nodes of a sandbox are on one machine, and join by `bourse cluster join --data`")

// Token makes a token. Only the leader does, and admits the node that brings it.
func (n *Node) Token() (*Offer, error) {
	switch {
	case n.secrets == nil:
		return nil, errSandbox
	case !n.Log.Status().Open:
		return nil, ErrNotLeader
	}
	config := n.Config()
	own := config.Member(config.Node)
	secret, until, err := n.tokens.add(n.clock())
	if err != nil {
		return nil, err
	}
	return &Offer{Token: Token{secret, own.Pin}.String(), Until: until, Address: own.Address}, nil
}

// forNewcomers returns the choice of the node port's configuration: while a token is not spent it takes any key for
// protocolJoin, and for nothing else.
func (t *Transport) forNewcomers(port *tls.Config) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	if t.Expects == nil {
		return nil
	}
	open := port.Clone()
	open.NextProtos, open.GetConfigForClient, open.VerifyConnection = []string{protocolJoin}, nil, nil
	return func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if slices.Equal(h.SupportedProtos, open.NextProtos) && t.Expects() {
			return open, nil
		}
		return nil, nil //nolint:nilnil // the configuration of members
	}
}

// knock is the message of a node that joins. The connection proves its key.
type knock struct {
	Proof    []byte   `json:"proof"`
	Newcomer Newcomer `json:"newcomer"`
}

// welcome is the leader's answer.
type welcome struct {
	Error     string     `json:"error,omitempty"`
	Admission *Admission `json:"admission,omitempty"`
}

// Secret is a file beside the journal that all nodes of a cluster have alike.
type Secret struct {
	Name  string `json:"name"`
	Bytes []byte `json:"bytes"`
}

var errSpent = errors.New("the token is none of this leader's: it is spent, it has ended, or another node has led meanwhile. " +
	"`bourse cluster token` on the leader's machine makes another one")

// errMayBe is for an attempt whose outcome is unknown: the change of the members may be committed yet.
var errMayBe = errors.New("the node may be a member now: if `bourse cluster status` shows it, join again with another token, without " +
	"--listen and --address")

// welcome admits a node that brings a token.
func (n *Node) welcome(ctx context.Context, conn *tls.Conn) {
	answer := welcome{}
	a, err := n.letIn(ctx, conn)
	if answer.Admission = a; err != nil {
		answer.Error = err.Error()
	}
	if conn.SetDeadline(n.clock().Add(helloWithin)) == nil {
		_ = json.NewEncoder(conn).Encode(&answer) // the other end may be gone
		_ = conn.CloseWrite()                     // as above
	}
}

// letIn reads a node's message, spends its token and admits it under the key of its connection. The token is spent also if the
// node cannot be admitted.
func (n *Node) letIn(ctx context.Context, conn *tls.Conn) (*Admission, error) {
	var k knock
	if err := json.NewDecoder(io.LimitReader(conn, mostKnock)).Decode(&k); err != nil {
		return nil, err
	}
	if !n.tokens.spend(k.Proof, n.clock()) {
		return nil, errSpent
	}
	secrets, err := n.secrets()
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, admittedWithin)
	defer cancel()
	k.Newcomer.Pin = pinOf(conn)
	a, err := n.Admit(ctx, k.Newcomer)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, fmt.Errorf("%w: %w", errMayBe, err)
	case err != nil:
		return nil, err
	}
	a.Secrets = secrets
	return a, nil
}

// Knock asks the leader at an address to admit the node that has a certificate with its key.
func Knock(ctx context.Context, address string, t Token, n Newcomer, own tls.Certificate) (*Admission, error) {
	config, err := pinned.Config(own, t.pin)
	if err != nil {
		return nil, err
	}
	config.NextProtos = []string{protocolJoin}
	ctx, cancel := context.WithTimeout(ctx, admittedWithin+2*helloWithin)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, knockError(address, err)
	}
	defer func() { _ = conn.Close() }() // everything was read
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	if err := json.NewEncoder(conn).Encode(&knock{t.secret[:], n}); err != nil {
		return nil, knockError(address, err)
	}
	var w welcome
	if err := json.NewDecoder(io.LimitReader(conn, mostWelcome)).Decode(&w); err != nil {
		if err = knockError(address, err); !errors.Is(err, errSpent) {
			err = fmt.Errorf("%w: %w", errMayBe, err)
		}
		return nil, err
	}
	if w.Error != "" || w.Admission == nil {
		return nil, fmt.Errorf("the leader at %s: %s", address, w.Error)
	}

	a := w.Admission
	for i := range a.Config.Nodes {
		if m := &a.Config.Nodes[i]; m.Pin == t.pin {
			a.From, err = NewAsker(own).Disk(m)
			return a, err
		}
	}
	return nil, fmt.Errorf("the leader at %s is no member", address)
}

// knockError explains an answer that is none.
func knockError(address string, err error) error {
	alert := (*net.OpError)(nil)
	switch {
	case errors.As(err, &alert) && alert.Op == "remote error":
		return fmt.Errorf("%s lets no node join now: %w", address, errSpent)
	case errors.Is(err, pinned.ErrPin):
		return fmt.Errorf("%s is not the node that made the token: name the leader's node port: %w", address, err)
	default:
		return fmt.Errorf("%s: %w", address, err)
	}
}

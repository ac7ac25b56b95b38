package remote

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// olderRequest is what a signer of a build without cold storage reads first on a connection.
type olderRequest struct {
	N     uint64 `json:"n"`
	Hello *struct {
		Exchange    signer.ExchangeID  `json:"exchange"`
		Sandbox     bool               `json:"sandbox"`
		Incarnation bourse.Incarnation `json:"incarnation"`
		Term        uint64             `json:"term"`
		Networks    []struct {
			Name  bourse.Symbol `json:"name"`
			Chain string        `json:"chain"`
			Keys  string        `json:"keys"`
		} `json:"networks"`
	} `json:"hello,omitzero"`
	Look *struct{} `json:"look,omitzero"`
}

// answerAsOlder answers the connections of a listener as a build without cold storage does: what it cannot read
// ends the connection.
func answerAsOlder(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		var r olderRequest
		if readFrame(c, &r) == nil {
			a := &reply{N: r.N, Greeting: &greeting{}}
			if r.Look != nil {
				a = &reply{N: r.N, Looked: &signer.Status{}}
			}
			_ = writeFrame(c, a) // the client may have left
		}
		_ = c.Close()
	}
}

// TestOlderSigner sets cold storage while the signer is of a build that knows none. The error says what is to be done.
func TestOlderSigner(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "signer")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		answerAsOlder(l)
	}()
	defer func() {
		_ = l.Close()
		<-ended
	}()

	for cold, want := range map[string]error{"": nil, "wpkh(xpub)": errNoCold} {
		c := NewClient(Options{
			Address: Address{Socket: socket}, Now: time.Now, Networks: map[bourse.NetworkID]signer.Account{1: {Name: "BTC", Cold: cold}},
		})
		if err := c.Greet(t.Context()); !errors.Is(err, want) {
			t.Errorf("with cold storage %q: %v", cold, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	gone := Options{Address: Address{Socket: socket + "2"}, Networks: map[bourse.NetworkID]signer.Account{1: {Cold: "wpkh(xpub)"}}, Now: time.Now}
	if _, _, err := gone.connect(t.Context()); !errors.Is(err, ErrAway) || errors.Is(err, errNoCold) {
		t.Errorf("without a signer: %v", err)
	}
}

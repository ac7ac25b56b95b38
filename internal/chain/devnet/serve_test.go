package devnet_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// FuzzCall asks a node anything: it answers, and its chain stays as it is.
func FuzzCall(f *testing.F) {
	for _, text := range []string{
		`{"id":1,"method":"head","params":{}}`,
		`{"id":1,"method":"block","params":{"height":1}}`,
		`{"id":1,"method":"block","params":{"height":-1}}`,
		`{"id":1,"method":"nonce","params":{"address":"","coin":""}}`,
		`{"id":1,"method":"balance","params":null}`,
		`{"id":1,"method":"broadcast","params":{"raw":"e30="}}`,
		`{"id":1,"method":"estimate","params":{"raw":""}}`,
		`{"id":1,"method":"no","params":{}}`,
		`{}`, ``, `[]`, `null`,
	} {
		f.Add([]byte(text))
	}
	now, p := bourse.Time(1e15), devnet.Lookup("ETH")
	n, err := devnet.Open(memdisk.New(1), p, options(p, at(&now)))
	if err != nil {
		f.Fatal(err)
	}
	head := n.Head()
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, err := n.Call(context.Background(), text)
		if err != nil || !bytes.HasPrefix(answer, []byte(`{"id":`)) {
			t.Errorf("answers %q, %v", answer, err)
		}
		if n.Head() != head {
			t.Error("the chain changed")
		}
	})
}

// FuzzDecode reads anything: what is read is exactly what was written.
func FuzzDecode(f *testing.F) {
	for _, symbol := range []bourse.Symbol{"BTC", "ETH"} {
		p, now := devnet.Lookup(symbol), bourse.Time(1e15)
		n, err := devnet.Open(memdisk.New(1), p, options(p, at(&now)))
		if err != nil {
			f.Fatal(err)
		}
		block, err := n.Call(context.Background(), []byte(`{"id":1,"method":"block","params":{"height":1}}`))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(block)
	}
	f.Add([]byte(`{"network":"ETH","nonce":0,"gas":1,"price":18446744073709551615,"outputs":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range devnet.Networks() {
			codec := devnet.NewCodec(p, devnet.NewKeys(p, seed).Public())
			if d, err := codec.Decode(raw); err == nil && len(d.Pays) == 0 {
				t.Errorf("decodes %q as %v", raw, d)
			}
		}
	})
}

// TestHealthAge: a head that is too old is no network that works.
func TestHealthAge(t *testing.T) {
	now, p := bourse.Time(1e15), devnet.Lookup("BTC")
	n := open(t, memdisk.New(1), options(p, at(&now)), "BTC")
	c := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), n, devnet.ClientOptions{Clock: at(&now), MaxAge: bourse.Minute})
	for _, step := range []struct {
		later     bourse.Time
		operating bool
	}{{0, true}, {bourse.Minute, true}, {1, false}} {
		now += step.later
		h, err := c.Health(t.Context())
		if err != nil || h.Operating != step.operating || (h.Reason == "") != step.operating {
			t.Errorf("after %d: %v, %v", step.later, h, err)
		}
	}
}

// TestHold lets a caller decide how long an answer takes.
func TestHold(t *testing.T) {
	now, p := bourse.Time(1e15), devnet.Lookup("BTC")
	n := open(t, memdisk.New(1), options(p, at(&now)), "BTC")
	faults := devnet.NewFaults(n)
	c := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), faults, devnet.ClientOptions{})
	held := 0
	faults.Hold(func(context.Context) error { held++; return nil })
	if _, err := c.Health(t.Context()); err != nil || held != 1 {
		t.Errorf("held %d times, %v", held, err)
	}
	cause := errors.New("line noise")
	faults.Hold(func(context.Context) error { return cause })
	if _, err := c.Health(t.Context()); !errors.Is(err, chain.ErrSilent) || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	faults.Clear()
	if _, err := c.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestInjectCounts: a fault ends after its calls, and only its method's count.
func TestInjectCounts(t *testing.T) {
	now, p := bourse.Time(1e15), devnet.Lookup("ETH")
	n := open(t, memdisk.New(1), options(p, at(&now)), "ETH")
	faults := devnet.NewFaults(n)
	c := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), faults, devnet.ClientOptions{})
	faults.Inject(devnet.Garbage, devnet.MethodBlock, 2)
	for i, want := range []error{chain.ErrOdd, chain.ErrOdd, nil} {
		if _, err := c.Health(t.Context()); err != nil {
			t.Errorf("health: %v", err)
		}
		if _, err := c.Block(t.Context(), 1); !errors.Is(err, want) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

package remote_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// TestLook asks the signer what it has, while the exchange uses it: neither epoch nor pins change, and
// nothing else is answered on the connection.
func TestLook(t *testing.T) {
	r := newRig(t)
	honest := r.client(r.of(1, 5))
	if err := errors.Join(honest.Greet(t.Context()), honest.Greet(t.Context())); err != nil {
		t.Fatal(err)
	}
	before := r.local.Status()
	got, err := remote.Look(t.Context(), &r.address, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if got.Exchange != sandbox.ID || got.Term != 5 || len(got.Networks) != 2 || got.Networks[0].Keys != r.networks[btc-10].Public {
		t.Errorf("the signer says %+v", got)
	}
	if after := r.local.Status(); after.Term != before.Term || after.Exchange != before.Exchange {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if _, _, err := honest.After(t.Context(), btc, 0); err != nil {
		t.Error(err)
	}

	c := r.dial()
	if _, err := c.Write(append(frame(`{"n":1,"look":{}}`), frame(`{"n":2,"signed":{"network":"BTC","after":0}}`)...)); err != nil {
		t.Fatal(err)
	}
	answered(t, c)
	var closed net.Error
	if n, err := io.Copy(io.Discard, c); n > 0 || errors.As(err, &closed) && closed.Timeout() {
		t.Errorf("%d more bytes are answered, %v", n, err)
	}
	r.end()
	if _, err := remote.Look(t.Context(), &r.address, time.Now); !errors.Is(err, remote.ErrAway) {
		t.Errorf("without a signer: %v", err)
	}
	r.listen()
}

// TestGreet tells at once whether exchange and signer fit.
func TestGreet(t *testing.T) {
	r := newRig(t)
	for name, c := range map[string]struct {
		change func(*remote.Options)
		want   error
	}{
		"right":            {func(*remote.Options) {}, nil},
		"another exchange": {func(o *remote.Options) { o.Exchange.ID[0]++ }, signer.ErrExchange},
		"other keys": {func(o *remote.Options) {
			a := o.Networks[btc]
			a.Public += "0"
			o.Networks[btc] = a
		}, signer.ErrKeys},
		"a cold storage that the signer does not have": {func(o *remote.Options) {
			a := o.Networks[btc]
			a.Cold = "wpkh(…)"
			o.Networks[btc] = a
		}, signer.ErrKeys},
		"another chain": {func(o *remote.Options) {
			a := o.Networks[btc]
			a.Chain = "devnet:LTC"
			o.Networks[btc] = a
		}, signer.ErrKeys},
	} {
		o := r.of(1, 1)
		c.change(&o)
		if err := r.client(o).Greet(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

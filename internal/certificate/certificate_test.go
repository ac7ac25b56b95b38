package certificate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/big"
	"testing"
	"testing/synctest"
	"time"
)

// made returns a certificate that is good for a duration.
func made(t *testing.T, good time.Duration) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(good)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// TestRun follows an authority that fails, is asked again by Reload, and succeeds: each
// request has its moment, and Left has the life of what was shown.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		answers := []error{errors.New("first"), errors.New("second"), errors.New("third"), nil, nil}
		c := made(t, 90*24*time.Hour)
		s := &Source{log: slog.New(slog.DiscardHandler), now: make(chan struct{}, 1)}
		s.ask = func(context.Context) (*tls.Certificate, error) {
			err := answers[len(asked)]
			asked = append(asked, time.Since(began))
			if err != nil {
				return nil, err
			}
			return c, nil
		}

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx) }()

		time.Sleep(20 * time.Second) // within the minute of the first failure
		if _, err := s.handshake(&tls.ClientHelloInfo{}); !errors.Is(err, errNoCertificate) || s.Left() != 0 {
			t.Errorf("without a certificate: %v, good for %s", err, s.Left())
		}
		s.Reload()
		time.Sleep(time.Hour)
		if s.Left() == 0 {
			t.Error("the certificate is not shown")
		}
		s.Reload()
		time.Sleep(time.Second)

		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []time.Duration{
			0, failureKept, // not at 20 s: the manager would answer with the first failure
			failureKept + 2*firstRetry, failureKept + 6*firstRetry, // the pause doubles
			20*time.Second + time.Hour, // after a success, Reload asks at once
		}
		if len(asked) != len(want) {
			t.Fatalf("asked at %v, want %v", asked, want)
		}
		for i := range want {
			if asked[i] != want[i] {
				t.Errorf("request %d came at %s, want %s", i, asked[i], want[i])
			}
		}
	})
}

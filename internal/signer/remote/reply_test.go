package remote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// FuzzReply lets a signer answer anything, once: the exchange takes what answers its question, and no
// question goes on for ever.
func FuzzReply(f *testing.F) {
	for _, text := range []string{
		`{"n":1,"greeting":{"networks":[]}}`, `{"n":1,"error":{"code":"spent","text":"no"}}`, `{}`, `null`, ``, `{"n":1}`,
		`{"n":1,"made":{"record":1,"kind":1,"id":7,"raw":"AAEC"}}`,
		`{"n":1,"record":{"entries":[{"record":1,"kind":1,"id":7,"raw":"AA=="}],"more":true}}`,
		`{"n":1,"record":{"entries":[],"more":true}}`, `{"n":1,"record":{"entries":[{"record":2}]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > MaxFrame {
			return
		}
		for name, ask := range map[string]func(*Client) error{
			"sign": func(c *Client) error {
				want := signer.Expect{Kind: bourse.SignedWithdrawal, ID: 7}
				s, err := c.Sign(t.Context(), chain.Unsigned{Raw: []byte{1}}, want)
				if err != nil && (s.Raw != nil || s.Record != 0) {
					t.Errorf("signed %v, and %v", s, err)
				}
				return err
			},
			"after": func(c *Client) error {
				_, list, err := c.After(t.Context(), 0, 0)
				for i := range list {
					if list[i].Record != uint64(i+1) {
						t.Errorf("entry %d is number %d", i+1, list[i].Record)
					}
				}
				return err
			},
			"void": func(c *Client) error { return c.Void(t.Context(), 0, 7) },
		} {
			err := ask(answeredBy(t, text))
			if refusal := new(RefusalError); err != nil && !errors.Is(err, ErrAway) && !errors.Is(err, errAnswer) &&
				!errors.As(err, &refusal) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

// answeredBy returns a client whose hello was answered, and whose first request is answered by a frame.
func answeredBy(t *testing.T, text []byte) *Client {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	go func() {
		defer func() { _ = theirs.Close() }()
		if readFrame(theirs, new(request)) != nil {
			return
		}
		_, _ = theirs.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), bytes.Clone(text)...))
	}()
	c := NewClient(Options{
		Address: Address{Socket: t.TempDir() + "/none"}, Now: time.Now,
		Networks: map[bourse.NetworkID]signer.Account{0: {Name: "BTC"}},
	})
	c.conn = ours
	t.Cleanup(func() { _ = c.Close() })
	return c
}

package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse/internal/history"
)

const (
	// mostAnswer bounds the part of an answer's body that is read, and mostHeader its header, in
	// bytes. Nothing of it is used; it is read so that the connection can be used again.
	mostAnswer = 16 << 10
	mostHeader = 16 << 10
	// idleFor is how long an unused connection stays open.
	idleFor = time.Minute
)

// newClient returns the client for endpoints. It follows no redirects and uses no proxy. The bounds of
// time here end connections that no delivery waits for; post bounds deliveries.
func newClient(o *Options) *http.Client {
	dialer := &net.Dialer{Timeout: o.Patience, Control: o.Rules.control}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: o.Patience, MaxResponseHeaderBytes: mostHeader,
			IdleConnTimeout: idleFor, MaxIdleConnsPerHost: 1, DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// message is the body of a delivery.
type message struct {
	ID       string         `json:"id"`
	Sequence uint64         `json:"sequence"`
	Time     string         `json:"time"`
	Kind     string         `json:"kind"`
	Data     jsontext.Value `json:"data"`
}

// messageOf returns the delivery of a bulletin. Its id is the bulletin's place, the same for all
// endpoints and in every repetition.
func messageOf(b *history.Bulletin, sequence uint64) message {
	return message{
		ID: fmt.Sprintf("evt_%d_%d", b.Seq, b.Place), Sequence: sequence, Time: b.Time.Std().Format(time.RFC3339Nano),
		Kind: b.Kind.String(), Data: jsontext.Value(b.Data),
	}
}

// statusError reports an answer that is not 2xx.
type statusError int

// Error names the status.
func (s statusError) Error() string {
	if s >= 300 && s < 400 {
		return fmt.Sprintf("the endpoint answered %d; redirects are not followed", int(s))
	}
	return fmt.Sprintf("the endpoint answered %d", int(s))
}

// errLate is the error of a delivery that takes longer than Patience.
var errLate = errors.New("the endpoint did not answer in time")

// post makes a delivery within Patience. Any answer but 2xx is an error.
func (s *Service) post(ctx context.Context, to string, key []byte, m *message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := s.After(s.Patience)
	go func() {
		select {
		case <-over:
			cancel(errLate)
		case <-ctx.Done():
		}
	}()

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the URL is malformed")
	}
	at := s.Clock().Unix()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "webhooks/1")
	request.Header.Set("Webhook-Id", m.ID)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(at, 10))
	request.Header.Set("Webhook-Signature", sign(key, m.ID, at, body))

	answer, err := s.client.Do(request)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLate):
		return errLate
	case err != nil:
		return withoutURL(err)
	}
	_, _ = io.CopyN(io.Discard, answer.Body, mostAnswer) // whatever it says, the status counts
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return statusError(answer.StatusCode)
	}
	return nil
}

// withoutURL removes the URL from the client's error: its path may be a secret of the receiver.
func withoutURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Timeout() {
			return errLate
		}
		return of.Err
	}
	return err
}

// cause returns the text of a failure: short and on one line, because parts of it may be the
// endpoint's.
func cause(err error) string {
	text := strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, err.Error()), "?")
	if len(text) > mostCause {
		text = strings.ToValidUTF8(text[:mostCause], "")
	}
	return text
}

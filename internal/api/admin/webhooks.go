package admin

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/webhook"
)

// webhookAnswer shows an endpoint to operators, without its secret.
type webhookAnswer struct {
	ID webhook.ID `json:"webhook"`
	// URL is whole for owners in person and on the socket. Others see scheme and host, because receivers put secrets
	// into paths.
	URL       string   `json:"url"`
	Kinds     []string `json:"kinds"`
	Created   int64    `json:"created"`
	Delivered uint64   `json:"delivered"`
	// Lag is the age of the bulletin that is being delivered, in seconds.
	Lag int64 `json:"lag,omitzero"`
	// Failing is the time of the first failure since the last delivery, Failure the text of the
	// last one.
	Failing int64  `json:"failing_since,omitzero"`
	Failure string `json:"failure,omitempty"`
	// Disabled is the time when deliveries ended, and Cause tells why.
	Disabled int64  `json:"disabled,omitzero"`
	Cause    string `json:"cause,omitempty"`
}

// describeWebhook shows an endpoint to whom a request is from.
func (s *Server) describeWebhook(ctx context.Context, e *webhook.State) webhookAnswer {
	url := e.Stub()
	if s.maySeeURLs(orderOf(ctx)) {
		url = e.URL
	}
	return webhookAnswer{
		ID: e.ID, URL: url, Kinds: e.Kinds, Created: e.Created.Seconds(), Delivered: e.Delivered, Lag: e.Lag.Seconds(),
		Failing: e.Failing.Seconds(), Failure: e.Failure, Disabled: e.Disabled.Seconds(), Cause: e.Cause,
	}
}

// maySeeURLs reports whether a request may add webhooks: it is an owner's in person, or the machine's socket's.
func (s *Server) maySeeURLs(o *order) bool {
	if o.by == 0 {
		return true
	}
	by, found := s.Operators.ByID(o.by)
	return found && !o.byKey && by.Role >= s.RoleOf("webhook/add")
}

type webhookAddArgs struct {
	URL   string `json:"url"`
	Kinds string `json:"kinds"`
}

// webhookAdd registers an endpoint. Its secret is in this answer alone. The note has no URL,
// because its path may be a secret of the receiver.
func (s *Server) webhookAdd(ctx context.Context, a webhookAddArgs) (any, error) {
	kinds, err := webhook.ParseKinds(a.Kinds)
	if err != nil {
		return nil, err
	}
	host, err := s.Webhooks.Check(a.URL)
	if err != nil {
		return nil, err
	}
	if err := s.note(ctx, fmt.Sprintf("webhook add %s of %s", kinds, host)); err != nil {
		return nil, err
	}

	state, secret, err := s.Webhooks.Add(ctx, a.URL, kinds)
	return struct {
		webhookAnswer
		Secret string `json:"secret"`
	}{s.describeWebhook(ctx, &state), string(secret)}, err
}

// webhookList lists the endpoints.
func (s *Server) webhookList(ctx context.Context, _ struct{}) (any, error) {
	rows := []webhookAnswer{}
	for _, state := range s.Webhooks.All() {
		rows = append(rows, s.describeWebhook(ctx, &state))
	}
	return struct {
		Webhooks []webhookAnswer `json:"webhooks"`
	}{rows}, nil
}

type webhookArgs struct {
	ID webhook.ID `json:"webhook"`
}

// webhookEnable delivers again to an endpoint that was disabled.
func (s *Server) webhookEnable(ctx context.Context, a webhookArgs) (any, error) {
	if err := s.note(ctx, fmt.Sprintf("webhook enable %d", a.ID)); err != nil {
		return nil, err
	}
	state, err := s.Webhooks.Enable(ctx, a.ID)
	return s.describeWebhook(ctx, &state), err
}

// webhookRemove ends deliveries to an endpoint.
func (s *Server) webhookRemove(ctx context.Context, a webhookArgs) (any, error) {
	if err := s.note(ctx, fmt.Sprintf("webhook remove %d", a.ID)); err != nil {
		return nil, err
	}
	return a, s.Webhooks.Remove(ctx, a.ID)
}

// webhookTest makes a delivery without an event. It changes nothing, but an operator's has a note,
// which keeps the reason.
func (s *Server) webhookTest(ctx context.Context, a webhookArgs) (any, error) {
	if orderOf(ctx).by != 0 {
		if err := s.note(ctx, fmt.Sprintf("webhook test %d", a.ID)); err != nil {
			return nil, err
		}
	}
	return struct {
		ID    webhook.ID `json:"webhook"`
		Taken bool       `json:"taken"`
	}{a.ID, true}, s.Webhooks.Test(ctx, a.ID)
}

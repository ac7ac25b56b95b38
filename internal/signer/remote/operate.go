package remote

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/bourse-exchange/bourse/internal/signer"
)

// Status is a signer's state, for its operators.
type Status struct {
	signer.Status

	// Waiting are the payments that want approvals.
	Waiting []signer.Payment `json:"waiting"`
}

// ServeOperators answers operators until ctx ends.
func (s *Server) ServeOperators(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, func(_ context.Context, c *visitor) error {
		return s.answerAll(c, func(r *request) (*reply, error) {
			answer := &reply{N: r.N}
			switch {
			case r.Status != nil:
				answer.Status = &Status{s.Local.Status(), s.Local.Waiting()}
			case r.Approve != nil:
				if err := s.Local.Approve(r.Approve); err != nil {
					answer.Error = failureOf(err)
				}
			default:
				return nil, fmt.Errorf("%w: not a request of operators", errFrame)
			}
			return answer, nil
		})
	})
}

// Operators asks a signer through its operators' socket.
type Operators struct {
	// Socket is the path of the socket.
	Socket string
	Now    func() time.Time
}

// Status asks for the signer's status.
func (o *Operators) Status(ctx context.Context) (*Status, error) {
	r, err := o.ask(ctx, &request{Status: &struct{}{}})
	if err == nil && r.Status == nil {
		err = errAnswer
	}
	if err != nil {
		return nil, err
	}
	return r.Status, nil
}

// Approve hands an approval to the signer.
func (o *Operators) Approve(ctx context.Context, a *signer.Approval) error {
	_, err := o.ask(ctx, &request{Approve: a})
	return err
}

func (o *Operators) ask(ctx context.Context, r *request) (*reply, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", o.Socket)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return exchange(c, r, o.Now().Add(askWithin))
}

package admin

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/operator"
)

// operatorKeyAnswer shows an operator's key without its secret.
type operatorKeyAnswer struct {
	ID        operator.KeyID    `json:"key"`
	Operator  bourse.OperatorID `json:"operator"`
	Name      string            `json:"name"`
	Scope     string            `json:"scope"`
	Addresses []string          `json:"addresses,omitempty"`
	Created   int64             `json:"created"`
	Expires   int64             `json:"expires"`
	// Used is absent for a key that was never used.
	Used int64 `json:"used,omitzero"`
}

func describeOperatorKey(k *operator.Key) operatorKeyAnswer {
	d := operatorKeyAnswer{
		ID: k.ID, Operator: k.Operator, Name: k.Name, Scope: k.Scope.String(), Created: k.Created.Seconds(),
		Expires: k.Expires.Seconds(), Used: k.Used.Seconds(),
	}
	for _, p := range k.Addresses {
		d.Addresses = append(d.Addresses, p.String())
	}
	return d
}

// operatorKeys lists the operators' keys that have not ended.
func (s *Server) operatorKeys(ctx context.Context, _ struct{}) (any, error) {
	keys, err := s.Operators.Keys(ctx)
	list := make([]operatorKeyAnswer, len(keys))
	for i := range keys {
		list[i] = describeOperatorKey(&keys[i])
	}
	return struct {
		Keys []operatorKeyAnswer `json:"keys"`
	}{list}, err
}

type operatorMakeKeyArgs struct {
	Name  string `json:"name"`
	Scope string `json:"scope"`
	// Addresses are the networks that the key may be used from; none means any.
	Addresses []string `json:"addresses,omitempty"`
	// Days is the key's life; zero is the longest.
	Days int `json:"days,omitzero"`
}

// operatorMakeKey makes a key of the calling operator. Its secret is in this answer alone.
func (s *Server) operatorMakeKey(ctx context.Context, a operatorMakeKeyArgs) (any, error) {
	by := orderOf(ctx).by
	if by == 0 {
		return nil, bourse.Errorf(bourse.CodeRefused, "operators make their keys in the console")
	}
	scope, known := operator.ParseKeyScope(a.Scope)
	if !known {
		return nil, bourse.Errorf(bourse.CodeInvalid, "scope: read or operate")
	}
	if a.Days == 0 {
		a.Days = operator.MaxKeyDays
	}
	var from []netip.Prefix
	if len(a.Addresses) > 0 {
		var err error
		if from, err = account.ParseAddresses(strings.Join(a.Addresses, ",")); err != nil {
			return nil, err
		}
	}

	k := operator.Key{Operator: by, Name: a.Name, Scope: scope, Addresses: from}
	secret, err := s.Operators.MakeKey(ctx, &k, a.Days, func(k *operator.Key) error {
		return s.note(ctx, fmt.Sprintf("operator make-key %d --scope %s --days %d", k.ID, k.Scope, a.Days))
	})
	return struct {
		operatorKeyAnswer
		Secret string `json:"secret"`
	}{describeOperatorKey(&k), string(secret)}, err
}

type operatorEndKeyArgs struct {
	Key operator.KeyID `json:"key"`
}

// operatorEndKey ends a key: operators their own, owners and the machine's socket any.
func (s *Server) operatorEndKey(ctx context.Context, a operatorEndKeyArgs) (any, error) {
	ctx = context.WithoutCancel(ctx) // once the note is in the journal, the key has to be removed too
	return a, s.Operators.EndKey(ctx, orderOf(ctx).by, a.Key, func() error {
		return s.note(ctx, fmt.Sprintf("operator end-key %d", a.Key))
	})
}

type operatorArgs struct {
	Operator bourse.OperatorID `json:"operator"`
}

// operatorLogOut ends the sessions and keys of an operator: operators their own, owners and the
// machine's socket any operator's.
func (s *Server) operatorLogOut(ctx context.Context, a operatorArgs) (any, error) {
	ctx = context.WithoutCancel(ctx) // once the note is in the journal, the access has to end too
	return a, s.Operators.EndAccess(ctx, orderOf(ctx).by, a.Operator, func() error {
		return s.note(ctx, fmt.Sprintf("operator log-out %d", a.Operator))
	})
}

package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// order is the operator in whose name a request orders commands, and the outcome.
type order struct {
	// by is zero for the machine's socket. reason is empty there, unless the glass is broken.
	by     bourse.OperatorID
	reason string
	// byKey is set if it came by an operator's key, which may order only commands that need no act.
	byKey bool
	// acts are those of the request that wait.
	acts []actAnswer
}

// orderKey is the context key of a request's order.
type orderKey struct{}

func orderOf(ctx context.Context) *order {
	if o, ok := ctx.Value(orderKey{}).(*order); ok {
		return o
	}
	return new(order)
}

// DoAs carries out a verb in the name of an operator: its commands are ordered as acts. If acts wait for a
// second operator, they are the answer. A key orders only commands that need no act. The errors are
// *bourse.Errors and those of the parts.
func (s *Server) DoAs(ctx context.Context, who *operator.Orderer, name string, args jsontext.Value) (any, error) {
	return s.carryOut(ctx, s.verb(name).do, args, &order{by: who.By, reason: who.Text(), byKey: who.Key != 0})
}

// carryOut answers a verb's operation. What waits is the answer, if anything does.
func (s *Server) carryOut(ctx context.Context, do operation, args jsontext.Value, o *order) (any, error) {
	args, err := s.numbered(ctx, args)
	if err != nil {
		return nil, err
	}
	result, err := do(context.WithValue(ctx, orderKey{}, o), args)
	if err == nil && len(o.acts) > 0 {
		return struct {
			Acts []actAnswer `json:"acts"`
		}{o.acts}, nil
	}
	return result, err
}

// takeGlass removes the member break_glass, the reason for which the glass is broken, from the
// arguments. All verbs of the socket take it.
func takeGlass(args jsontext.Value) (jsontext.Value, *order, error) {
	var members map[string]jsontext.Value
	o := new(order)
	broken := json.Unmarshal(args, &members) == nil && members["break_glass"] != nil
	if !broken {
		return args, o, nil
	}
	err := json.Unmarshal(members["break_glass"], &o.reason)
	if err != nil || o.reason == "" || len(o.reason) > bourse.MaxActReason {
		return nil, nil, bourse.Errorf(bourse.CodeInvalid, "break_glass: must be a reason of at most %d bytes", bourse.MaxActReason)
	}
	delete(members, "break_glass")
	rest, err := json.Marshal(members)
	return rest, o, err
}

var errOperatorsOnly = bourse.Errorf(bourse.CodeRefused, "%s: the exchange has owners, and its operators order this in "+
	"the console; --break-glass REASON orders it from here, to be carried out in 24 hours", bourse.OperatorsOnly)

// closed returns an operation that is refused to the socket once commands of operators come as acts alone: it is no
// act that could wait.
func (s *Server) closed(do operation) operation {
	return func(ctx context.Context, args jsontext.Value) (any, error) {
		if orderOf(ctx).by == 0 && s.Operators.Guarded() {
			return nil, bourse.Errorf(bourse.CodeRefused,
				"%s: the exchange has owners, and this is not done from here any more", bourse.OperatorsOnly)
		}
		return do(ctx, args)
	}
}

// order orders a command in the name of an operator, or as a break-glass act.
func (s *Server) order(ctx context.Context, o *order, cmd *bourse.Command) (sequencer.Result, error) {
	act, err := s.Operators.Order(ctx, o.by, o.reason, cmd)
	if err == nil && act.Status == bourse.ActWaits {
		o.acts = append(o.acts, s.describeAct(&act))
	}
	return sequencer.Result{Seq: act.ID}, err
}

// actAnswer is an act that waits.
type actAnswer struct {
	ID bourse.Seq `json:"act"`
	// By is the operator who ordered it; zero for a break-glass act.
	By     bourse.OperatorID `json:"by,omitzero"`
	What   string            `json:"command"`
	Reason string            `json:"reason"`
	Digest string            `json:"digest"`
	Due    string            `json:"due"`
	// Outdated is the sequence of the command that changed the subject of the act while it waited; zero if none did.
	Outdated bourse.Seq `json:"outdated,omitzero"`
	// Email is the address that a reset gives an account, or that of the operator to add.
	Email string `json:"email,omitempty"`
}

func (s *Server) describeAct(a *bourse.Act) actAnswer {
	d := actAnswer{
		ID: a.ID, By: a.By[0], What: a.What, Reason: a.Reason, Digest: hex.EncodeToString(a.Digest[:]),
		Due: a.Due.Std().UTC().Format(time.RFC3339Nano), Outdated: a.Outdated,
	}
	if cmd, reset := operator.ResetOf(a); reset {
		d.Email = s.Accounts.AwaitedEmail(cmd.Access.Digest)
	}
	return d
}

// operatorActs lists the waiting acts, oldest first.
func (s *Server) operatorActs(ctx context.Context, _ struct{}) (any, error) {
	acts := s.View.Acts()
	joins, err := s.Operators.Newcomers(ctx, acts)
	if err != nil {
		return nil, err
	}
	list := make([]actAnswer, len(acts))
	for i := range acts {
		list[i] = s.describeAct(&acts[i])
		if email := joins[acts[i].ID]; email != "" {
			list[i].Email = email
		}
	}
	return struct {
		Acts []actAnswer `json:"acts"`
	}{list}, nil
}

type operatorInviteArgs struct {
	Email string `json:"email"`
	Name  string `json:"name,omitempty"`
	Role  string `json:"role"`
}

// operatorInvite makes an invitation, which is accepted in the console.
func (s *Server) operatorInvite(ctx context.Context, a operatorInviteArgs) (any, error) {
	role, known := bourse.ParseOperatorRole(a.Role)
	if !known {
		return nil, bourse.Errorf(bourse.CodeInvalid, "unknown role %q", a.Role)
	}
	if err := s.note(ctx, fmt.Sprintf("operator invite --role %s", role)); err != nil {
		return nil, err
	}

	i := operator.Invitation{Email: a.Email, Name: a.Name, Role: role, By: orderOf(ctx).by, Reason: orderOf(ctx).reason}
	code, err := s.Operators.Invite(ctx, &i)
	return struct {
		Email   string `json:"email"`
		Role    string `json:"role"`
		Code    string `json:"code"`
		Expires string `json:"expires"`
	}{i.Email, role.String(), string(code), i.Expires.Std().UTC().Format(time.RFC3339)}, err
}

// operatorList lists the operators.
func (s *Server) operatorList(ctx context.Context, _ struct{}) (any, error) {
	type answer struct {
		ID      bourse.OperatorID `json:"operator"`
		Role    string            `json:"role"`
		Enabled bool              `json:"enabled"`
		Email   string            `json:"email,omitempty"`
		Name    string            `json:"name,omitempty"`
		// Fingerprint is that of the passkey, which the operator was shown.
		Fingerprint string `json:"fingerprint,omitempty"`
	}
	listed, err := s.Operators.List(ctx)
	list := make([]answer, len(listed))
	for i := range listed {
		o := &listed[i]
		list[i] = answer{o.ID, o.Role.String(), o.Enabled, o.Email, o.Name, o.Fingerprint}
	}
	return struct {
		Operators []answer `json:"operators"`
	}{list}, err
}

type operatorChangeArgs struct {
	ID bourse.OperatorID `json:"operator"`
	// Role is empty to leave it, and Enabled nil.
	Role    string `json:"role,omitempty"`
	Enabled *bool  `json:"enabled,omitempty"`
}

// operatorChange changes an operator's role, or ends or restores its powers.
func (s *Server) operatorChange(ctx context.Context, a operatorChangeArgs) (any, error) {
	operators := s.View.Operators()
	if a.ID == 0 || int(a.ID) > len(operators) {
		return nil, bourse.Errorf(bourse.CodeNotFound, "unknown operator %d", a.ID)
	}
	def := operators[a.ID-1]
	if a.Enabled != nil {
		def.Enabled = *a.Enabled
	}
	if a.Role != "" {
		var known bool
		if def.Role, known = bourse.ParseOperatorRole(a.Role); !known {
			return nil, bourse.Errorf(bourse.CodeInvalid, "unknown role %q", a.Role)
		}
	}
	a.Role, a.Enabled = def.Role.String(), &def.Enabled

	_, err := s.noted(ctx, fmt.Sprintf("operator change %d --role %s --enabled %t", a.ID, a.Role, def.Enabled), &bourse.Command{
		Kind: bourse.CommandChangeOperator, Operators: &bourse.OperatorCommand{Define: def},
	})
	return a, err
}

type withdrawalsLimitArgs struct {
	Asset  bourse.Symbol `json:"asset"`
	Amount string        `json:"amount"`
}

// withdrawalsLimit sets how much of an asset one operator approves alone in a day.
func (s *Server) withdrawalsLimit(ctx context.Context, a withdrawalsLimitArgs) (any, error) {
	asset, amount, err := s.amount(a.Asset, a.Amount)
	if err != nil {
		return nil, err
	}

	_, err = s.noted(ctx, fmt.Sprintf("withdrawals limit %s %s", a.Asset, a.Amount),
		&bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: asset.ID, Amount: amount})
	return a, err
}

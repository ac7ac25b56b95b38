package main

import "encoding/json"

// broken adds the reason for breaking the glass to the arguments of a verb.
func broken(args any, reason string) (map[string]any, error) {
	b, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, err
	}
	members["break_glass"] = reason
	return members, nil
}

type operatorInvite struct {
	Email string `arg:"" help:"E-mail address." json:"email"`
	Role  string `help:"viewer, operator or owner." enum:"viewer,operator,owner" default:"owner" json:"role"`
	Name  string `help:"The person's name." json:"name"`
}

// Run invites an operator.
func (c *operatorInvite) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/invite", c) }

type operatorList struct{}

// Run lists the operators.
func (*operatorList) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/list", struct{}{}) }

type operatorChange struct {
	Operator uint16 `arg:"" help:"Operator's id." json:"operator"`
	Role     string `help:"viewer, operator or owner; unchanged, if empty." enum:",viewer,operator,owner" default:"" json:"role,omitempty"`
	Disable  bool   `help:"End the operator's powers." json:"-"`
	Enabled  bool   `json:"enabled" kong:"-"`
}

// Run changes an operator.
func (c *operatorChange) Run(p *program, a *adminCmd) error {
	c.Enabled = !c.Disable
	return p.ask(a, "operator/change", c)
}

type operatorActs struct{}

// Run lists the waiting acts.
func (*operatorActs) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/acts", struct{}{}) }

type operatorKeys struct{}

// Run lists the operators' keys.
func (*operatorKeys) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/keys", struct{}{}) }

type operatorEndKey struct {
	Key uint32 `arg:"" help:"Key's id, as operator keys shows it." json:"key"`
}

// Run ends an operator's key.
func (c *operatorEndKey) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/end-key", c) }

type operatorLogOut struct {
	Operator uint16 `arg:"" help:"Operator's id." json:"operator"`
}

// Run ends an operator's sessions and keys.
func (c *operatorLogOut) Run(p *program, a *adminCmd) error { return p.ask(a, "operator/log-out", c) }

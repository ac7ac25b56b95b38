package main

// withdrawalCmd lists and decides withdrawals.
type withdrawalCmd struct {
	List    withdrawalList    `cmd:"" help:"Show the withdrawals that are not over, oldest first."`
	Approve withdrawalApprove `cmd:"" help:"Let a withdrawal go."`
	Deny    withdrawalDeny    `cmd:"" help:"Cancel a withdrawal that was not sent."`
	Replace withdrawalReplace `cmd:"" help:"Have a withdrawal signed anew, because what was signed can never be mined."`
	Release withdrawalRelease `cmd:"" help:"Give a withdrawal's money back, because what was signed can never be mined."`
	Paid    withdrawalPaid    `cmd:"" help:"Mark a withdrawal as paid by a transaction that is on the chain in place of the one that was given up."`
}

type withdrawalList struct {
	After uint64 `help:"The number next of an earlier answer, to go on behind it." json:"after"`
	Limit int    `default:"200" help:"How many are shown, 200 at most." json:"limit"`
}

// Run lists withdrawals.
func (c *withdrawalList) Run(p *program, a *adminCmd) error { return p.ask(a, "withdrawal/list", c) }

// withdrawal is the withdrawal argument of a verb.
type withdrawal struct {
	ID uint64 `arg:"" name:"xid" help:"Withdrawal." json:"xid"`
}

type (
	withdrawalApprove struct{ withdrawal }
	withdrawalDeny    struct{ withdrawal }
	withdrawalReplace struct{ withdrawal }
	withdrawalRelease struct{ withdrawal }
)

// Run approves a withdrawal.
func (c *withdrawalApprove) Run(p *program, a *adminCmd) error {
	return p.ask(a, "withdrawal/approve", c)
}

// Run denies a withdrawal.
func (c *withdrawalDeny) Run(p *program, a *adminCmd) error { return p.ask(a, "withdrawal/deny", c) }

// Run replaces a withdrawal's transaction.
func (c *withdrawalReplace) Run(p *program, a *adminCmd) error {
	return p.ask(a, "withdrawal/replace", c)
}

// Run releases a withdrawal whose transaction can never be mined.
func (c *withdrawalRelease) Run(p *program, a *adminCmd) error {
	return p.ask(a, "withdrawal/release", c)
}

// withdrawalPaid marks a withdrawal as paid.
type withdrawalPaid struct {
	withdrawal
	Tx string `arg:"" help:"The transaction on the chain." json:"tx"`
}

// Run marks the withdrawal.
func (c *withdrawalPaid) Run(p *program, a *adminCmd) error { return p.ask(a, "withdrawal/paid", c) }

// withdrawalsCmd pauses and resumes a network's withdrawals.
type withdrawalsCmd struct {
	Pause  withdrawalsPause  `cmd:"" help:"Let no withdrawal of a network go."`
	Resume withdrawalsResume `cmd:"" help:"Let a network's withdrawals go, whoever stopped them."`
	Limit  withdrawalsLimit  `cmd:"" help:"Set how much of an asset one operator approves alone in a day."`
}

type (
	withdrawalsPause  struct{ onNetwork }
	withdrawalsResume struct{ onNetwork }
)

// Run pauses a network's withdrawals.
func (c *withdrawalsPause) Run(p *program, a *adminCmd) error { return c.pause(p, a, true) }

// Run resumes a network's withdrawals.
func (c *withdrawalsResume) Run(p *program, a *adminCmd) error { return c.pause(p, a, false) }

func (c *onNetwork) pause(p *program, a *adminCmd, on bool) error {
	return p.ask(a, "withdrawals/pause", map[string]any{"network": c.Network, "paused": on})
}

type withdrawalsLimit struct {
	Asset  string `arg:"" help:"Asset." json:"asset"`
	Amount string `arg:"" help:"Amount." json:"amount"`
}

// Run sets the limit of approvals.
func (c *withdrawalsLimit) Run(p *program, a *adminCmd) error {
	return p.ask(a, "withdrawals/limit", c)
}

type depositsParked struct{}

// Run lists the deposits that need an operator.
func (*depositsParked) Run(p *program, a *adminCmd) error {
	return p.ask(a, "deposits/parked", struct{}{})
}

type depositAssign struct {
	Deposit uint64 `arg:"" help:"Number of the deposit, as deposits parked shows it." json:"deposit"`
	ofAccount
}

// Run assigns a deposit.
func (c *depositAssign) Run(p *program, a *adminCmd) error { return p.ask(a, "deposit/assign", c) }

package main

// devnetCmd controls the embedded networks of a sandbox from the outside.
type devnetCmd struct {
	Mine    devnetMine    `cmd:"" help:"Put blocks on top of a network's chain."`
	Send    devnetSend    `cmd:"" help:"Pay from the outside world."`
	Address devnetAddress `cmd:"" help:"Make an address of the outside world."`
	Balance devnetBalance `cmd:"" help:"Show what an address has on the chain."`
	Reorg   devnetReorg   `cmd:"" help:"Replace the last blocks by as many and one more."`
	Stop    devnetStop    `cmd:"" help:"Make a network's node silent."`
	Start   devnetStart   `cmd:"" help:"Let a network's node answer again."`
	Lag     devnetLag     `cmd:"" help:"Let a network's node fall behind by some blocks; 0 lets it catch up."`
}

// onNetwork is the network argument of a verb.
type onNetwork struct {
	Network string `arg:"" help:"Network, as BTC." json:"network"`
}

type devnetMine struct {
	onNetwork
	Blocks int `arg:"" optional:"" help:"How many." default:"1" json:"blocks"`
}

// Run mines blocks.
func (c *devnetMine) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/mine", c) }

type devnetSend struct {
	onNetwork
	Address string `arg:"" help:"To whom." json:"address"`
	Asset   string `arg:"" help:"Asset." json:"asset"`
	Amount  string `arg:"" help:"Amount." json:"amount"`
	Memo    string `help:"Memo, on networks that have one." json:"memo"`
}

// Run pays.
func (c *devnetSend) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/send", c) }

type devnetAddress struct{ onNetwork }

// Run creates an address.
func (c *devnetAddress) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/address", c) }

type devnetBalance struct {
	onNetwork
	Address string `arg:"" help:"Whose." json:"address"`
	Asset   string `arg:"" help:"Asset." json:"asset"`
}

// Run shows a balance.
func (c *devnetBalance) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/balance", c) }

type devnetReorg struct {
	onNetwork
	Depth int  `arg:"" help:"How many blocks." json:"depth"`
	Drop  bool `help:"Forget the transactions that were in them." json:"drop"`
}

// Run reorganises a chain.
func (c *devnetReorg) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/reorg", c) }

type devnetStop struct{ onNetwork }

// Run stops a node.
func (c *devnetStop) Run(p *program, a *adminCmd) error {
	return p.ask(a, "devnet/stop", map[string]any{"network": c.Network, "stopped": true})
}

type devnetStart struct{ onNetwork }

// Run starts a node.
func (c *devnetStart) Run(p *program, a *adminCmd) error {
	return p.ask(a, "devnet/stop", map[string]any{"network": c.Network})
}

type devnetLag struct {
	onNetwork
	Blocks int `arg:"" help:"How many." json:"blocks"`
}

// Run lets a node fall behind.
func (c *devnetLag) Run(p *program, a *adminCmd) error { return p.ask(a, "devnet/lag", c) }

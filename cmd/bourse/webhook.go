package main

// webhooks holds the settings of webhooks.
type webhooks struct {
	Private bool `help:"Let webhooks be at addresses that are not public, as on the exchange's own network."`
}

type webhookAdd struct {
	URL   string `arg:"" name:"url" help:"Address that takes the deliveries, https://HOST/PATH." json:"url"`
	Kinds string `help:"What to deliver, by kind or by area." default:"account,deposit,withdrawal,network,market" json:"kinds" placeholder:"KIND,..."`
}

// Run registers an endpoint.
func (c *webhookAdd) Run(p *program, a *adminCmd) error { return p.ask(a, "webhook/add", c) }

type webhookList struct{}

// Run lists the endpoints.
func (*webhookList) Run(p *program, a *adminCmd) error { return p.ask(a, "webhook/list", struct{}{}) }

// ofWebhook is the endpoint argument of a verb.
type ofWebhook struct {
	ID uint64 `arg:"" name:"webhook" help:"Webhook's id." json:"webhook"`
}

type (
	webhookEnable struct{ ofWebhook }
	webhookRemove struct{ ofWebhook }
	webhookTest   struct{ ofWebhook }
)

// Run delivers again to an endpoint.
func (c *webhookEnable) Run(p *program, a *adminCmd) error { return p.ask(a, "webhook/enable", c) }

// Run removes an endpoint.
func (c *webhookRemove) Run(p *program, a *adminCmd) error { return p.ask(a, "webhook/remove", c) }

// Run makes a delivery that tells of nothing.
func (c *webhookTest) Run(p *program, a *adminCmd) error { return p.ask(a, "webhook/test", c) }

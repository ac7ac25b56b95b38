package main

import (
	"time"

	"github.com/bourse-exchange/bourse/internal/watch"
)

// watchCmd shows a market.
type watchCmd struct {
	Pair string `arg:"" help:"Pair, as BTC/USDT."`
	URL  string `help:"Address of the exchange." default:"http://127.0.0.1:8080" placeholder:"URL"`
}

// pageEvery is the least time between two updates of a page.
const pageEvery = 100 * time.Millisecond

// Run shows the market until it is told to stop.
func (c *watchCmd) Run(p *program) error {
	return watch.Run(p.ctx, watch.Options{
		URL: c.URL, Pair: c.Pair, Out: p.stdout, Terminal: p.pretty, Every: pageEvery,
	})
}

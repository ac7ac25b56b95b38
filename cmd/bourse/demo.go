package main

import (
	"os"

	"github.com/bourse-exchange/bourse/internal/demo"
)

// demoCmd demonstrates the promises of an exchange.
type demoCmd struct {
	Crash demoCrash `cmd:"" help:"Kill an exchange of its own while it trades, and show what is left; 20 seconds."`
}

type demoCrash struct{}

// Run demonstrates a crash.
func (*demoCrash) Run(p *program) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return demo.Crash(p.ctx, demo.Options{Program: self, Out: p.stdout, TradeFor: demo.TradeFor})
}

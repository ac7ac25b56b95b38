package main

import (
	"github.com/bourse-exchange/bourse/internal/bench"
)

type benchCmd struct {
	Core benchCore `cmd:"" help:"Run a workload through the whole engine, on one thread."`
}

type benchCore struct {
	Workload string `required:"" type:"existingfile" help:"File of a workload; FILE.json beside it has the totals it must reach."`
	JSON     bool   `name:"json" help:"Print one JSON object, also on a terminal."`
}

// Run measures the core.
func (c *benchCore) Run(p *program) error {
	w, err := bench.Load(c.Workload)
	if err != nil {
		return err
	}
	r, err := bench.Core(w)
	if err != nil {
		return err
	}
	p.pretty = p.pretty && !c.JSON
	return p.print(r)
}

package main

import (
	"time"

	"github.com/bourse-exchange/bourse/internal/bench"
)

type benchCmd struct {
	Core    benchCore    `cmd:"" help:"Run a workload through the whole engine, on one thread."`
	Durable benchDurable `cmd:"" help:"Run a workload through journal, engine and views, at a rate."`
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

type benchDurable struct {
	Workload string        `required:"" type:"existingfile" help:"File of a workload."`
	Dir      string        `help:"Directory on the disk to measure; a temporary one is made in it." default:"." type:"existingdir"`
	Rate     int           `help:"Commands a second." default:"100000"`
	For      time.Duration `help:"How long, at most." default:"10s"`
	JSON     bool          `name:"json" help:"Print one JSON object, also on a terminal."`
}

// Run measures the durable line.
func (c *benchDurable) Run(p *program) error {
	w, err := bench.Load(c.Workload)
	if err != nil {
		return err
	}
	r, err := bench.Durable(w, c.Dir, c.Rate, c.For)
	if err != nil {
		return err
	}
	p.pretty = p.pretty && !c.JSON
	return p.print(r)
}

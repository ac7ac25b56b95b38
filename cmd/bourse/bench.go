package main

import (
	"errors"
	"os"
	"runtime/pprof"
	"time"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/bench"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/sandbox"
)

type benchCmd struct {
	Profile string `help:"File for a profile of this process's CPU, as the compiler takes it." placeholder:"FILE" env:"-"`
	profile *os.File

	Core     benchCore     `cmd:"" help:"Run a workload through the whole engine, on one thread."`
	Durable  benchDurable  `cmd:"" help:"Run a workload through journal, engine and views, at a rate."`
	REST     benchREST     `cmd:"" name:"rest" help:"Place orders over HTTP, each connection as fast as it gets answers."`
	Entry    benchEntry    `cmd:"" help:"Place orders over one WebSocket that does not wait for answers, beside orders over HTTP."`
	Stream   benchStream   `cmd:"" help:"Deliver the messages of an order book to many subscribers."`
	Screen   benchScreen   `cmd:"" help:"Change a book at a rate, without subscribers, and told by the streams for screens and for programs."`
	Replay   benchReplay   `cmd:"" help:"Kill a process that wrote a workload into its journal, and start where it was."`
	Snapshot benchSnapshot `cmd:"" help:"Trade while a snapshot of many open orders is taken."`
	History  benchHistory  `cmd:"" help:"Write history into SQL, with a backlog and while trading goes on."`
	Standby  benchStandby  `cmd:"" help:"Place orders at a rate, and look how far a standby is behind."`
	Cluster  benchCluster  `cmd:"" help:"Place orders and read books at a sandbox of three nodes and at one of one node, and look how far a replica is behind."`
	Start    benchStart    `cmd:"" help:"Start exchanges in empty directories."`
	Write    benchWrite    `cmd:"" hidden:"" help:"Carry a workload into a journal and wait to be killed."`
	Exchange benchExchange `cmd:"" help:"Run the exchange that rest and stream measure: a sandbox whose limits are counted and never reached."`
}

// AfterApply starts the profile, if requested.
func (c *benchCmd) AfterApply() (err error) {
	if c.Profile == "" {
		return nil
	}
	if c.profile, err = os.Create(c.Profile); err != nil {
		return err
	}
	return pprof.StartCPUProfile(c.profile)
}

// AfterRun stops the profile.
func (c *benchCmd) AfterRun() error {
	if c.profile == nil {
		return nil
	}
	pprof.StopCPUProfile()
	return c.profile.Close()
}

type benchCore struct {
	Workload []string `required:"" type:"existingfile" help:"File of a workload; FILE.json beside it has the totals it must reach. Several give the last one's speed over the first one's as well."`
	JSON     bool     `name:"json" help:"Print one JSON object, also on a terminal."`
}

// Run measures the core.
func (c *benchCore) Run(p *program) error {
	list := make([]*bench.Workload, len(c.Workload))
	for i, path := range c.Workload {
		w, err := bench.Load(path)
		if err != nil {
			return err
		}
		list[i] = w
	}
	r, err := bench.Cores(list)
	if err == nil && len(list) == 1 {
		return p.tell(r.Runs[0], nil, c.JSON)
	}
	return p.tell(r, err, c.JSON)
}

type benchDurable struct {
	Workload string        `required:"" type:"existingfile" help:"File of a workload."`
	Dir      string        `help:"Directory on the disk to measure; a temporary one is made in it." default:"." type:"existingdir"`
	Rate     int           `help:"Commands a second." default:"100000"`
	For      time.Duration `help:"How long, at most." default:"10s"`
	JSON     bool          `name:"json" help:"Print one JSON object, also on a terminal."`
}

// Run measures the durable pipeline.
func (c *benchDurable) Run(p *program) error {
	w, err := bench.Load(c.Workload)
	if err != nil {
		return err
	}
	r, err := bench.Durable(w, c.Dir, c.Rate, c.For)
	return p.tell(r, err, c.JSON)
}

// tell prints a measurement or returns its error.
func (p *program) tell(report any, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	p.pretty = p.pretty && !asJSON
	return p.print(report)
}

// benchTarget selects the measured server.
type benchTarget struct {
	Dir  string `help:"Directory on the disk to measure; an exchange gets a temporary one in it." default:"." type:"existingdir"`
	To   string `help:"Measure what listens there instead of an exchange of its own: an anchor that takes any key." placeholder:"HOST:PORT"`
	PID  int    `name:"pid" help:"Its process, for its CPU." placeholder:"PID"`
	JSON bool   `name:"json" help:"Print one JSON object, also on a terminal."`
}

func (t *benchTarget) target() *bench.Target {
	if t.To == "" {
		return nil
	}
	return &bench.Target{Address: t.To, PID: t.PID}
}

type benchREST struct {
	benchTarget
	Connections int           `help:"How many connections ask at the same time." default:"64"`
	Batch       int           `help:"How many orders are in a request; at most 50." default:"1"`
	Sign        string        `help:"Kind of keys that sign the requests, hmac or ed25519; by default each shows its key." enum:",hmac,ed25519" default:"" placeholder:"KIND"`
	For         time.Duration `help:"How long." default:"10s"`
}

// Run measures orders over HTTP.
func (c *benchREST) Run(p *program) error {
	plan := bench.RESTPlan{Connections: c.Connections, Batch: c.Batch, Sign: c.Sign, For: c.For}
	if c.Sign != "" && (c.Batch > 1 || c.To != "") {
		return errors.New("--sign is for single orders of an exchange of its own")
	}
	r, err := bench.REST(p.ctx, c.Dir, c.target(), plan)
	return p.tell(r, err, c.JSON)
}

type benchEntry struct {
	workplace
	Connections int           `help:"How many connections place orders over HTTP." default:"64"`
	For         time.Duration `help:"How long, each." default:"10s"`
}

// Run measures orders over one WebSocket.
func (c *benchEntry) Run(p *program) error {
	r, err := bench.Entry(p.ctx, c.Dir, c.Connections, c.For)
	return p.tell(r, err, c.JSON)
}

type benchStream struct {
	benchTarget
	Subscribers int           `help:"How many connections listen." default:"1000"`
	Burst       int           `help:"How many orders are placed at once, for one message each." default:"64"`
	For         time.Duration `help:"How long." default:"10s"`
}

// Run measures the stream of a book.
func (c *benchStream) Run(p *program) error {
	r, err := bench.Stream(p.ctx, c.Dir, c.target(),
		bench.StreamPlan{Subscribers: c.Subscribers, Burst: c.Burst, For: c.For})
	return p.tell(r, err, c.JSON)
}

type benchScreen struct {
	workplace
	Subscribers int           `help:"How many connections listen." default:"100"`
	Rate        int           `help:"Changes of levels a second." default:"10000"`
	For         time.Duration `help:"How long, for each stream." default:"5s"`
}

// Run measures the streams of a book.
func (c *benchScreen) Run(p *program) error {
	r, err := bench.Screen(p.ctx, c.Dir, bench.ScreenPlan{Subscribers: c.Subscribers, Rate: c.Rate, For: c.For})
	return p.tell(r, err, c.JSON)
}

// workplace selects the measured disk and the form of the output.
type workplace struct {
	Dir  string `help:"Directory on the disk to measure; a temporary one is made in it." default:"." type:"existingdir"`
	JSON bool   `name:"json" help:"Print one JSON object, also on a terminal."`
}

type benchReplay struct {
	workplace
	Workload string `required:"" type:"existingfile" help:"File of a workload."`
}

// Run measures the start after a crash.
func (c *benchReplay) Run(p *program) error {
	r, err := bench.Replay(p.ctx, c.Workload, c.Dir)
	return p.tell(r, err, c.JSON)
}

type benchWrite struct {
	Workload string `required:"" type:"existingfile" help:"File of a workload."`
	Dir      string `required:"" help:"Empty directory for the journal." type:"existingdir"`
}

// Run writes the journal.
func (c *benchWrite) Run(p *program) error {
	w, err := bench.Load(c.Workload)
	if err != nil {
		return err
	}
	r, err := bench.Write(w, c.Dir)
	if err != nil {
		return err
	}
	if err := p.print(r); err != nil {
		return err
	}
	<-p.ctx.Done()
	return nil
}

type benchSnapshot struct {
	workplace
	Orders int           `help:"How many orders rest." default:"1000000"`
	Rate   int           `help:"Commands a second." default:"50000"`
	Pairs  int           `help:"How many pairs of windows, one without a snapshot and one with it." default:"5"`
	Window time.Duration `help:"How long each window is." default:"1m"`
}

// Run measures the effect of snapshots on trading.
func (c *benchSnapshot) Run(p *program) error {
	r, err := bench.Snapshot(p.ctx, c.Dir, c.Orders, bench.Windows{Rate: c.Rate, Pairs: c.Pairs, Each: c.Window})
	return p.tell(r, err, c.JSON)
}

type benchHistory struct {
	workplace
	Workload string        `required:"" type:"existingfile" help:"File of a workload."`
	Store    string        `help:"PostgreSQL database without a history, instead of a file." placeholder:"URL"`
	Backlog  int           `help:"Commands whose history is written at once." default:"500000"`
	Rate     int           `help:"Commands a second in the windows." default:"20000"`
	Pairs    int           `help:"How many pairs of windows, one without history and one with it." default:"3"`
	Window   time.Duration `help:"How long each window is." default:"10s"`
}

// Run measures the history.
func (c *benchHistory) Run(p *program) error {
	w, err := bench.Load(c.Workload)
	if err != nil {
		return err
	}
	r, err := bench.History(p.ctx, w, bench.Place{Dir: c.Dir, Store: c.Store}, c.Backlog,
		bench.Windows{Rate: c.Rate, Pairs: c.Pairs, Each: c.Window})
	return p.tell(r, err, c.JSON)
}

type benchStandby struct {
	workplace
	Rate int           `help:"Orders a second." default:"20000"`
	For  time.Duration `help:"How long." default:"10s"`
}

// Run measures the lag of a standby.
func (c *benchStandby) Run(p *program) error {
	r, err := bench.Standby(p.ctx, c.Dir, c.Rate, c.For)
	return p.tell(r, err, c.JSON)
}

type benchCluster struct {
	workplace
	Connections int           `help:"How many connections ask at the same time." default:"64"`
	Rate        int           `help:"Orders a second while the lag is read." default:"20000"`
	For         time.Duration `help:"How long, each." default:"10s"`
}

// Run measures three nodes beside one.
func (c *benchCluster) Run(p *program) error {
	r, err := bench.Cluster(p.ctx, c.Dir, bench.ClusterPlan{Connections: c.Connections, Rate: c.Rate, For: c.For})
	return p.tell(r, err, c.JSON)
}

type benchStart struct {
	workplace
	Rounds  int `help:"How many exchanges, one after the other." default:"3"`
	Streams int `help:"How many idle WebSockets each of them gets." default:"2000"`
}

// Run measures starts.
func (c *benchStart) Run(p *program) error {
	r, err := bench.Start(p.ctx, c.Dir, c.Rounds, c.Streams)
	return p.tell(r, err, c.JSON)
}

type benchExchange struct {
	Data   place  `help:"Directory of everything that lasts; made if missing." required:""`
	Listen string `help:"Address to listen on; port 0 takes any." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Nodes  string `help:"Address of a node port, which a standby follows; none, if empty." placeholder:"HOST:PORT"`
}

// Run runs the exchange until it is told to stop.
func (c *benchExchange) Run(p *program) error {
	never := api.Rate{PerSecond: 1e9, Burst: 1e9}
	each := api.Rates{Reads: never, Orders: never, Cancels: never, Frames: never, Subscriptions: never}
	source := api.SourceRates{Requests: never, Frames: never, Subscriptions: never}
	o := &node.Options{
		Data: string(c.Data), Listen: c.Listen, MetricsListen: "127.0.0.1:0",
		Limits: api.Limits{Account: each, Source: source, FailedAuth: never}, Serving: func(string, string) {},
		Cluster: node.Cluster{Listen: c.Nodes, CompareEvery: 10 * time.Minute},
	}
	surround(o, sandbox.Options{})
	return p.exchange(new(logging), o)
}

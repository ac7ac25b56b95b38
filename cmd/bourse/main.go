package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// cli is the command line.
type cli struct {
	Dev     dev        `cmd:"" help:"Run a sandbox: demo markets, simulated traders, money out of nothing."`
	Watch   watchCmd   `cmd:"" help:"Show a market while it trades: its book and its trades."`
	Demo    demoCmd    `cmd:"" help:"Show what an exchange promises."`
	Init    initCmd    `cmd:"" help:"Write settings, a catalogue and a unit file to begin with."`
	Doctor  doctor     `cmd:"" help:"Say what still blocks opening an exchange; exit 1 if anything does."`
	Serve   serve      `cmd:"" help:"Run a production exchange."`
	Network networkCmd `cmd:"" help:"Networks of nodes of your own."`
	Admin   adminCmd   `cmd:"" help:"Operate the exchange that runs on a data directory."`
	Journal journalCmd `cmd:"" help:"Look into a journal, of a running or a stopped exchange."`
	Backup  backup     `cmd:"" help:"Copy the data of an exchange while it runs."`
	Restore restore    `cmd:"" help:"Check a backup and make a data directory of it."`
	Follow  follow     `cmd:"" help:"Keep a standby: a verified copy of an exchange on another machine."`
	Promote promote    `cmd:"" help:"Make a standby the exchange, when the other machine is gone."`
	Cluster clusterCmd `cmd:"" help:"Operate a cluster of nodes."`
	Store   storeCmd   `cmd:"" help:"Databases of history and accounts."`
	Texts   textsCmd   `cmd:"" help:"Print the pages' English texts, or those that a translation lacks."`
	Bench   benchCmd   `cmd:"" help:"Measure."`
	Version version    `cmd:"" help:"Print the version."`

	// file is the configuration file, if any.
	file configFile

	Print versionFlag `name:"version" short:"V" env:"-" help:"Print the version."`
}

// The exit codes besides 0.
const (
	exitFailed  = 1
	exitUsage   = 2
	exitDamaged = 3
)

// program holds the process's environment for the commands.
type program struct {
	// ctx ends with SIGTERM or SIGINT.
	ctx            context.Context
	stdout, stderr io.Writer
	// pretty is true if stdout is a terminal.
	pretty bool
	// self is the name the program was called by.
	self string
	args []string
}

func main() {
	spread()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{
		ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, pretty: isTerminal(os.Stdout),
		self: os.Args[0], args: os.Args[1:],
	}
	os.Exit(p.run())
}

// run runs the command line and returns the exit code.
func (p *program) run() int {
	if len(p.args) == 0 {
		return p.report(p.overview())
	}

	var c cli
	parser, err := newParser(&c)
	if err != nil {
		return p.report(err)
	}
	parser.Stdout, parser.Stderr = p.stdout, p.stderr

	command, err := parser.Parse(p.args)
	if err != nil {
		return p.misused(c.file.locate(err, p.args))
	}
	return p.report(command.Run(p))
}

func newParser(c *cli) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("bourse"),
		kong.Description("A spot exchange with its wallet, in one binary."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.DefaultEnvars("BOURSE"),
		kong.Configuration(c.file.load),
	)
}

// report prints an error and returns its exit code.
func (p *program) report(err error) int {
	var damage *journal.DamageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errViolations), errors.Is(err, errBlocked), errors.Is(err, errProblems):
		return exitFailed // the report is already printed
	case errors.Is(err, journal.ErrCut):
		_, _ = fmt.Fprintf(p.stderr, "bourse: %v\nDelete nothing; see docs/runbook.md.\n", err)
		return exitDamaged
	case errors.As(err, &damage):
		_, _ = fmt.Fprintf(p.stderr, "bourse: %v\nNothing was changed. Restore a backup, or see docs/runbook.md.\n",
			err)
		return exitDamaged
	default:
		_, _ = fmt.Fprintf(p.stderr, "bourse: %v\n", err)
		return exitFailed
	}
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bourse-exchange/bourse"
)

// cli is the command line.
type cli struct {
	Init     initCmd     `cmd:"" help:"Make a signer's directory: its seed, its pins and its first settings."`
	Run      runCmd      `cmd:"" help:"Sign what the exchange asks for, within the limits of the settings."`
	Status   statusCmd   `cmd:"" help:"Show a running signer's pins, its number of signatures by network, and the payments that wait for approvals."`
	Approve  approveCmd  `cmd:"" help:"Sign a payment or an epoch with an approver's key, or send an approval to a running signer."`
	Adopt    adoptCmd    `cmd:"" help:"Raise the epoch of a stopped signer, to a new incarnation of the exchange or by more than 1,000 terms."`
	Offline  offlineCmd  `cmd:"" help:"Keys of cold storage, on a machine without a network."`
	Approver approverCmd `cmd:"" help:"Make an approver's key."`
	Certify  certifyCmd  `cmd:"" help:"Make a key and a certificate for TLS, for either side, and print the pin of the key."`
}

// The exit codes besides 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// program holds the process's environment for the commands.
type program struct {
	// ctx ends with SIGTERM or SIGINT.
	ctx            context.Context
	stdout, stderr io.Writer
	args           []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{ctx: ctx, stdout: os.Stdout, stderr: os.Stderr, args: os.Args[1:]}
	os.Exit(p.run())
}

// run runs the command line and returns the exit code.
func (p *program) run() int {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("bourse-signer"),
		kong.Description("Holds the keys of an exchange's money, and signs within its own limits."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(p.stdout, p.stderr),
	)
	if err != nil {
		return p.report(err)
	}
	command, err := parser.Parse(p.args)
	if err != nil {
		_ = p.report(err)
		return exitUsage
	}
	return p.report(command.Run(p))
}

// report prints an error and returns its exit code.
func (p *program) report(err error) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(p.stderr, "bourse-signer: %v\n", err)
	return exitFailed
}

// print prints an answer as JSON.
func (p *program) print(answer any) error {
	e := json.NewEncoder(p.stdout)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}

// clock returns the machine's time.
func clock() bourse.Time { return bourse.TimeOf(time.Now()) }

package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// clustering holds how an exchange speaks to its standby.
type clustering struct {
	Listen string   `help:"Address of the node port, which a standby follows; none, if empty." placeholder:"HOST:PORT"`
	Proof  proof    `embed:""`
	Peers  []string `help:"Node ports of machines that may have become the exchange in place of this one, which then does not serve." placeholder:"HOST:PORT"`

	Compare pause `help:"Time between two states that standby and exchange compare, up to 1h; each costs a snapshot's time on the thread behind trading." name:"compare-every" default:"10m"`
}

func (c *clustering) options() node.Cluster {
	return node.Cluster{
		Listen: c.Listen, Credentials: c.Proof.credentials(), Peers: c.Peers, CompareEvery: time.Duration(c.Compare),
	}
}

// proof holds the files that prove a node to another.
type proof struct {
	CA   string `help:"File with the certificate of the operators' own authority, PEM. Nodes without one are a sandbox's, on one machine." placeholder:"FILE"`
	Cert string `help:"File with the node's certificate, PEM; its names are the hosts that others dial." placeholder:"FILE"`
	Key  string `help:"File with the certificate's key, PEM." placeholder:"FILE"`
}

func (p *proof) credentials() standby.Credentials {
	return standby.Credentials{CA: p.CA, Cert: p.Cert, Key: p.Key}
}

// follow keeps a standby.
type follow struct {
	Source string `arg:"" help:"Node port of the exchange, HOST:PORT: its cluster-listen. Of three machines those of all, separated by commas."`
	Dir    string `arg:"" type:"path" help:"Data directory of the standby; empty or missing at first."`

	Cluster  proof   `embed:"" prefix:"cluster-"`
	Accounts string  `help:"PostgreSQL database of accounts and keys, if the exchange's are on a server; they are copied otherwise." placeholder:"URL"`
	Metrics  string  `help:"Address of metrics; none are served, if empty." name:"metrics-listen" placeholder:"HOST:PORT"`
	Log      logging `embed:"" prefix:"log-"`

	Segment   size   `help:"Size of the journal's files." name:"segment-size" default:"64MiB" hidden:""`
	Snapshots uint64 `help:"Commands between two snapshots." name:"snapshot-every" default:"2000000" hidden:""`
}

// Run follows until it is told to stop.
func (c *follow) Run(p *program) error {
	return node.Follow(p.ctx, node.FollowOptions{
		Source: c.Source, Data: c.Dir, Credentials: c.Cluster.credentials(), OpenLog: openCopy, Accounts: c.Accounts,
		MetricsListen: c.Metrics, SegmentSize: int64(c.Segment), SnapshotEvery: c.Snapshots, Version: versionText(),
		Log: c.Log.logger(p, new(slog.LevelVar)), Following: func() {},
	})
}

// openCopy opens the copy of a journal on files of the data directory.
func openCopy(d disk.Disk, o journal.Options) (standby.CopyLog, *journal.Recovery, error) {
	return filelog.Open(d, o)
}

// promote makes a standby the exchange.
type promote struct {
	Dir string `arg:"" type:"existingdir" help:"Data directory of the standby; its bourse follow has ended."`

	Gone     bool   `help:"A person has looked: the source does not run, and will not start again by itself." name:"source-is-gone"`
	Cluster  proof  `embed:"" prefix:"cluster-"`
	Accounts string `help:"PostgreSQL database of accounts and keys, if they are on a server." placeholder:"URL"`
}

// Run promotes the standby.
func (c *promote) Run(p *program) error {
	outcome, err := standby.Promote(p.ctx, standby.PromoteOptions{
		Dir: c.Dir, Credentials: c.Cluster.credentials(), Gone: c.Gone, Remote: c.Accounts != "",
		Fence: func(to bourse.Incarnation) error { return fence(p.ctx, c.Accounts, to) },
	})
	if err != nil {
		return err
	}
	return p.print(outcome)
}

// fence keeps all incarnations below one from the accounts.
func fence(ctx context.Context, url string, to bourse.Incarnation) error {
	return accounts.Fence(ctx, url, to)
}

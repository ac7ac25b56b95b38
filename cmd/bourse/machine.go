package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/standby"
)

// isNode reports whether a directory is that of a node of a cluster.
func isNode(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, cluster.ConfigFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// machine runs a node of a cluster whose nodes are on machines of their own. A deposed leader replaces itself by a new program in
// the same process.
func (p *program) machine(l *logging, o *node.Options) error {
	config, err := readConfig(o.Data)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	asker, err := cluster.OpenAsker(o.Data)
	if err != nil {
		return err
	}
	if err := p.adopt(o.Data, config, asker); err != nil {
		return err
	}
	back := &returning{program: p, data: o.Data, number: cluster.Number(config.Node), own: o.Data, reach: asker.Others(config)}

	err = p.serving(l, o, func() error {
		return node.RunMember(p.ctx, node.MemberOptions{Options: *o, Turned: func(string) {}})
	})
	if inJournal(err) {
		err = back.mended(err)
	}
	if errors.Is(err, node.ErrDeposed) {
		if p.ctx.Err() == nil {
			return p.anew()
		}
		return nil // it was to end anyway, and the new process would not know
	}
	return err
}

// adopt brings the members of a node's configuration up to those that another node knows: while it was away, all that it knew may
// have been replaced. A node that knows of none later is not asked twice.
func (p *program) adopt(data string, own *cluster.Config, asker *cluster.Asker) error {
	d, err := disk.Open(data)
	if err != nil {
		return err
	}
	at := &members{program: p, data: place(data), config: own, asker: asker}
	for _, n := range own.Numbers() {
		if n == cluster.Number(own.Node) {
			continue
		}
		if c := at.configOf(n); c != nil {
			err = errors.Join(err, own.Adopt(d, c))
		}
	}
	return errors.Join(err, d.Close())
}

// mended mends a damaged journal with the entries of the other nodes, and returns node.ErrDeposed if the process is to begin again.
// Only a person makes a node anew that may have forgotten acknowledged entries.
func (r *returning) mended(cause error) error {
	err := r.mendOrWait(cause)
	if err == nil || errors.Is(err, journal.ErrInUse) {
		return node.ErrDeposed // a log that is still open is not any more in a process that begins again
	}
	if r.ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("node %d may have forgotten what it has acknowledged, and does not vote again: move %s away, and let the node join "+
		"anew under its number with a token of the leader (`bourse cluster token`): %w", r.number, r.own, err)
}

// clusterInit makes the first node of a cluster.
type clusterInit struct {
	Data    place   `help:"Data directory of the first node; empty or missing, for a new exchange." xor:"where" required:""`
	From    place   `help:"Data directory of an exchange on one node, whose process has ended: it becomes the first node." xor:"where" required:""`
	Node    uint64  `help:"Number of the node, up to 7." default:"1" placeholder:"N"`
	Machine machine `embed:""`
}

// made is the answer to cluster init.
type made struct {
	Node     uint64 `json:"node"`
	Exchange string `json:"exchange"`
	Listen   string `json:"listen"`
	Address  string `json:"address"`
}

// Run makes the node. It is the only way to a new cluster: all other nodes join.
func (c *clusterInit) Run(p *program) error {
	if err := checkNumber(c.Node); err != nil {
		return err
	}
	if err := c.Machine.resolve(); err != nil {
		return err
	}
	dir, begin := string(c.From), c.convert
	if c.From == "" {
		dir, begin = string(c.Data), c.found
		if err := vacant(dir); err != nil {
			return err
		}
	}
	if isNode(dir) {
		return fmt.Errorf("%s is a node of a cluster already: start it with `bourse serve`", dir)
	}

	config := cluster.Config{Epoch: 1, Nodes: []cluster.Member{{Node: c.Node, Address: c.Machine.Address, Listen: c.Machine.Listen}}}
	d, err := disk.Open(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(begin(d, &config), d.Close()); err != nil {
		return err
	}
	return p.print(made{c.Node, config.Exchange, c.Machine.Listen, c.Machine.Address})
}

// found makes the first node of a new exchange.
func (c *clusterInit) found(d *disk.Dir, config *cluster.Config) error {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	config.Exchange = hex.EncodeToString(id[:])
	if err := node.MakeSecrets(d); err != nil {
		return err
	}
	return cluster.Found(*config, []disk.Disk{d}, time.Now(), 0)
}

// convert makes the first node of the exchange in a directory.
func (c *clusterInit) convert(d *disk.Dir, config *cluster.Config) error {
	identity, exists, err := journal.Identify(d)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("%s has no journal: a new exchange begins with --data", c.From)
	case identity.Sandbox:
		return fmt.Errorf("%s: %w: `bourse dev --nodes 3` makes a sandbox of three nodes", c.From, journal.ErrSandbox)
	}
	switch role, err := standby.ReadRole(d); {
	case err != nil:
		return err
	case role.Follows != "":
		return fmt.Errorf("%s is a standby: `bourse promote` makes it the exchange", c.From)
	}
	switch err := sqlstore.Bind(string(c.From), ""); {
	case err == nil:
		return fmt.Errorf("the accounts of %s are in a file, and the nodes of a cluster share them: copy them by "+
			"`bourse store move` to a PostgreSQL database that all nodes reach, and start the exchange once with `accounts` set to its URL",
			c.From)
	case !errors.Is(err, sqlstore.ErrElsewhere):
		return err
	}

	// A journal of one node that was cut short by a crash is whole once it was opened. One that is a cluster's already was begun
	// by an earlier call.
	log, _, err := filelog.Open(d, journal.Options{Identity: identity})
	if err == nil {
		err = log.Close()
	}
	if err != nil && !errors.Is(err, journal.ErrReplica) {
		return err
	}
	if err := node.MakeSecrets(d); err != nil {
		return err
	}
	config.Exchange = hex.EncodeToString(identity.Exchange[:])
	return cluster.Continue(*config, d, time.Now(), 0)
}

// clusterToken lets a node of another machine join.
type clusterToken struct {
	Data place `help:"Data directory of the node that leads." required:""`
}

// offered is the answer to cluster token.
type offered struct {
	cluster.Offer
	// Join is the command for the new machine. The person there fills in the capitals.
	Join string `json:"join"`
}

// Run asks the leader, which answers on its own machine alone: a token makes a member.
func (c *clusterToken) Run(p *program) error {
	answer, err := admin.Call(p.ctx, string(c.Data), "cluster/token", struct{}{})
	if err != nil {
		return err
	}
	var o offered
	if err := json.Unmarshal(answer, &o.Offer); err != nil {
		return err
	}
	o.Join = "bourse cluster join " + o.Address + " DIR --token " + o.Token + " --node N --listen HOST:PORT --address HOST:PORT"
	return p.print(o)
}

// arrive lets the leader at an address admit this machine's node, and makes its data directory.
func (c *clusterJoin) arrive(p *program) error {
	token, err := cluster.ParseToken(c.Token)
	if err != nil {
		return fmt.Errorf("--token: %w", err)
	}
	if err := checkNumber(c.Node); err != nil {
		return err
	}
	if c.Machine.Listen != "" || c.Machine.Address != "" {
		if err := c.Machine.resolve(); err != nil {
			return err
		}
	}
	if err := vacant(c.Dir); err != nil {
		return err
	}

	n, cert, key, err := cluster.Prepare(c.Node, time.Now())
	if err != nil {
		return err
	}
	n.Address, n.Listen, n.Replaces, n.Running = c.Machine.Address, c.Machine.Listen, c.Replaces, c.Running
	own, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	a, err := cluster.Knock(p.ctx, c.Leader, token, n, own)
	if err != nil {
		return err
	}
	if err := c.settle(p, a, cert, key); err != nil {
		return fmt.Errorf("node %d is a member now, and its directory could not be made: mend the cause, and join again with another token, "+
			"without --listen and --address: %w", c.Node, err)
	}

	m := a.Config.Member(a.Config.Node)
	return p.print(joined{
		Joined: c.Node, Nodes: a.Config.Numbers(), Listen: m.Listen, Address: m.Address, Start: p.line("serve", "--data", c.Dir),
	})
}

// settle makes the data directory of an admitted node.
func (c *clusterJoin) settle(p *program, a *cluster.Admission, cert, key []byte) error {
	d, err := disk.Open(c.Dir)
	if err != nil {
		return err
	}
	if err = node.KeepSecrets(d, a.Secrets); err == nil {
		err = (&returning{program: p, number: c.Node, own: c.Dir}).settle(d, a, cert, key)
	}
	return errors.Join(err, d.Close())
}

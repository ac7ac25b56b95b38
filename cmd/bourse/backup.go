package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse"
	backups "github.com/bourse-exchange/bourse/internal/backup"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/sqlstore/move"
)

type backup struct {
	Dir  string `arg:"" type:"existingdir" help:"Data directory, of a running or a stopped exchange, or of a node whose cluster runs."`
	Dest string `arg:"" type:"path" help:"Directory for the copy; empty or missing."`

	Accounts string `help:"PostgreSQL database of the accounts, if they are on a server; they are copied to a file." placeholder:"URL"`
}

// Run takes a backup.
func (c *backup) Run(p *program) error {
	from := backups.Source{Dir: c.Dir, Accounts: c.copyAccounts}
	switch config, err := readConfig(c.Dir); {
	case err == nil:
		from.Cluster = c.cluster(p, config.Sandbox)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	m, err := backups.Take(p.ctx, from, c.Dest, time.Now())
	if err != nil {
		return err
	}
	return p.print(summary(m))
}

// cluster returns the parts of a node's backup outside its data directory.
func (c *backup) cluster(p *program, sandbox bool) *backups.Cluster {
	common := c.Dir // that of a node on a machine of its own
	if sandbox {
		common = filepath.Join(filepath.Dir(filepath.Clean(c.Dir)), commonDir)
	}
	return &backups.Cluster{
		Common: common, OpenLog: openCopy, After: time.After,
		Seq: func() (bourse.Seq, error) {
			leader, err := p.leaderOf(place(c.Dir))
			if err == nil && !leader.Ready { // its commit may be behind the last leader's
				err = fmt.Errorf("node %d does not serve now; take the backup in a moment", leader.Node)
			}
			if err != nil {
				return 0, fmt.Errorf("a backup of a node reaches as far as the leader has applied: %w", err)
			}
			return leader.Seq, nil
		},
	}
}

// copyAccounts copies the accounts to a file, from the data directory or from a server.
func (c *backup) copyAccounts(ctx context.Context, from, to string) error {
	if c.Accounts != "" {
		_, err := move.Store(ctx, accounts.Kind, c.Accounts, to, func(string, string, int64, int64) {})
		return err
	}
	if err := sqlstore.Bind(c.Dir, ""); err != nil {
		return err
	}
	return accounts.Backup(ctx, from, to)
}

type restore struct {
	Src string `arg:"" type:"existingdir" help:"Directory of a backup."`
	Dir string `arg:"" type:"path" help:"Data directory to make; empty or missing."`
}

// Run restores a backup.
func (c *restore) Run(p *program) error {
	m, err := backups.Install(c.Src, c.Dir)
	if err != nil {
		return err
	}
	return p.print(summary(m))
}

// summary returns a manifest without its files.
func summary(m *backups.Manifest) map[string]any {
	return map[string]any{
		"exchange": m.Exchange, "sandbox": m.Sandbox, "taken": m.Taken,
		"seq": m.Seq, "chain": m.Chain, "state_hash": m.StateHash, "voids": m.Voids, "files": len(m.Files),
	}
}

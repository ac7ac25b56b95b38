package main

import (
	"time"

	backups "github.com/bourse-exchange/bourse/internal/backup"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

type backup struct {
	Dir  string `arg:"" type:"existingdir" help:"Data directory, of a running or a stopped exchange."`
	Dest string `arg:"" type:"path" help:"Directory for the copy; empty or missing."`
}

// Run takes a backup.
func (c *backup) Run(p *program) error {
	m, err := backups.Take(p.ctx, c.Dir, c.Dest, time.Now(), accounts.Backup)
	if err != nil {
		return err
	}
	return p.print(summary(m))
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

// summary is a manifest without its files.
func summary(m *backups.Manifest) map[string]any {
	return map[string]any{
		"exchange": m.Exchange, "sandbox": m.Sandbox, "taken": m.Taken,
		"seq": m.Seq, "state_hash": m.StateHash, "files": len(m.Files),
	}
}

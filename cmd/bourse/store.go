package main

import (
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/sqlstore/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/move"
)

type storeCmd struct {
	Move storeMove `cmd:"" help:"Copy history or accounts to another database, and verify every row."`
}

type storeMove struct {
	From  string  `required:"" placeholder:"PLACE" help:"A file, or the URL of a PostgreSQL database."`
	To    string  `required:"" placeholder:"PLACE" help:"The same. What is there is replaced, unless it has rows that FROM has not."`
	Store string  `enum:"history,accounts,auto" default:"auto" help:"Which store: history or accounts; by default what the file is called."`
	Log   logging `embed:"" prefix:"log-"`
}

// Run moves a store.
func (c *storeMove) Run(p *program) error {
	kind, err := c.kind()
	if err != nil {
		return err
	}
	log, last := c.Log.logger(p, new(slog.LevelVar)), time.Now()
	rows, err := move.Store(p.ctx, kind, c.From, c.To, func(doing, table string, done, total int64) {
		if now := time.Now(); now.Sub(last) >= time.Second {
			last = now
			log.Info("moving", slog.String("doing", doing), slog.String("table", table),
				slog.Int64("done", done), slog.Int64("total", total))
		}
	})
	if err != nil {
		return err
	}
	return p.print(map[string]any{"moved": rows})
}

// kind returns the selected kind of store.
func (c *storeMove) kind() (sqlstore.Kind, error) {
	for _, name := range [...]string{c.Store, filepath.Base(c.From), filepath.Base(c.To)} {
		switch name {
		case "history", "history.db":
			return history.Kind, nil
		case "accounts", "accounts.db":
			return accounts.Kind, nil
		}
	}
	return sqlstore.Kind{}, errors.New("say with --store whether it is the history or the accounts")
}

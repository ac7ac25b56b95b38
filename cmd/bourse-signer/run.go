package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/peer"
	"github.com/bourse-exchange/bourse/internal/pinned"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
	"github.com/bourse-exchange/bourse/internal/signer/vault"
)

type runCmd struct {
	Dir      string   `arg:"" help:"Directory of the signer." type:"path"`
	Config   string   `help:"Settings; signer.yaml in the directory, if empty." placeholder:"FILE" type:"path"`
	Identity string   `help:"age identity file that decrypts the seed." placeholder:"FILE" type:"path"`
	Seal     sealing  `embed:""`
	Socket   string   `help:"Unix socket for the exchange." placeholder:"PATH" type:"path"`
	Users    []userID `help:"Users that may use the socket, by id or name; the signer's own if empty." name:"uid" placeholder:"USER"`
	Listen   string   `help:"Address for an exchange on another machine, with TLS." placeholder:"HOST:PORT"`
	Cert     string   `help:"Certificate of the signer, PEM." placeholder:"FILE" type:"path"`
	Key      string   `help:"Key of the certificate, PEM." placeholder:"FILE" type:"path"`
	Pins     []string `help:"Pin of the exchange's key; of three machines those of all, separated by commas." name:"pin" placeholder:"HEX"`
}

// Run runs the signer until it is told to stop.
func (c *runCmd) Run(p *program) (err error) {
	if (c.Socket == "") == (c.Listen == "") {
		return errors.New("the exchange reaches the signer by --socket or by --listen, one of them")
	}
	d, release, err := hold(c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()

	local, err := c.open(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, local.Close()) }()
	return c.serve(p, local)
}

// hold opens a signer's directory for one process at a time, until it is released.
func hold(dir string) (d *disk.Dir, release func() error, err error) {
	if d, err = disk.OpenExisting(dir); err != nil {
		return nil, nil, err
	}
	lock, err := d.Lock(lockFile)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	return d, func() error { return errors.Join(lock.Close(), d.Close()) }, nil
}

// open reads seed and settings, and opens the record.
func (c *runCmd) open(d disk.Disk) (*signer.Local, error) {
	settings, err := readSettings(c.Dir, c.Config)
	if err != nil {
		return nil, err
	}
	sealed, err := disk.ReadFile(d, seedFile)
	if err != nil {
		return nil, err
	}
	lock := &vault.Lock{Passphrase: c.Seal.Passphrase, Identity: c.Identity}
	seed, err := lock.Open(sealed)
	if err != nil {
		return nil, err
	}

	numbers, err := signer.Number(d, settings.Names())
	if err != nil {
		return nil, err
	}
	networks, err := settings.Open(seed, numbers)
	if err != nil {
		return nil, err
	}
	approvers, err := settings.ApproverKeys()
	if err != nil {
		return nil, err
	}
	return signer.Open(d, signer.Options{Networks: networks, Clock: clock, Approvers: approvers})
}

// readSettings reads a file of settings; settingsFile in the signer's directory, if path is empty.
func readSettings(dir, path string) (*vault.Settings, error) {
	if path == "" {
		path = filepath.Join(dir, settingsFile)
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the path
	if err != nil {
		return nil, err
	}
	settings, err := vault.ReadSettings(f)
	return settings, errors.Join(err, f.Close())
}

// serve answers the exchange and the operators until the process is told to stop.
func (c *runCmd) serve(p *program, local *signer.Local) error {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(p.stderr, nil))
	s := &remote.Server{Local: local, Now: time.Now, Log: log, Admit: c.admit}
	l, err := c.listen(ctx)
	if err != nil {
		return err
	}
	own := &remote.Server{Local: local, Now: time.Now, Log: log, Admit: admitOnly(userID(os.Getuid()))}
	operators, err := listenUnix(ctx, filepath.Join(c.Dir, operateFile), 0o600)
	if err != nil {
		return errors.Join(err, l.Close())
	}

	log.Info("signing", slog.String("address", l.Addr().String()))
	ended := make(chan error, 2)
	go func() { ended <- s.Serve(ctx, l) }()
	go func() { ended <- own.ServeOperators(ctx, operators) }()
	err = <-ended
	cancel()
	return errors.Join(err, <-ended)
}

// listen opens the exchange's listener.
func (c *runCmd) listen(ctx context.Context) (net.Listener, error) {
	if c.Socket != "" {
		// The socket's mode lets every user of the machine connect. admit asks the kernel for the user at
		// the other end, and refuses users that --uid does not name.
		return listenUnix(ctx, c.Socket, 0o666)
	}
	if len(c.Pins) == 0 {
		return nil, errors.New("--listen takes --pin: bourse-signer certify prints it for the exchange's key")
	}
	config, err := pinned.TLS(c.Cert, c.Key, c.Pins...)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, config), nil
}

// admit takes the users of the socket that are named; TLS has compared the key.
func (c *runCmd) admit(conn net.Conn) error {
	if c.Socket == "" {
		return nil
	}
	if len(c.Users) == 0 {
		return admitOnly(userID(os.Getuid()))(conn)
	}
	return admitOnly(c.Users...)(conn)
}

// userID is the id of a user of this machine, which may be named on the command line.
type userID uint32

// UnmarshalText reads an id, or looks a name up.
func (id *userID) UnmarshalText(text []byte) error {
	number := string(text)
	if named, err := user.Lookup(number); err == nil {
		number = named.Uid
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return fmt.Errorf("this machine has no user %q", text)
	}
	*id = userID(n)
	return nil
}

func admitOnly(ids ...userID) func(net.Conn) error {
	return func(conn net.Conn) error {
		id, err := peer.UID(conn)
		if err == nil && !slices.Contains(ids, userID(id)) {
			err = fmt.Errorf("user %d may not use this socket", id)
		}
		return err
	}
}

// listenUnix opens a socket in place of a stale one: the caller holds the signer's lock.
func listenUnix(ctx context.Context, path string, mode fs.FileMode) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is there and is no socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := peer.Listen(ctx, path)
	if err != nil {
		return nil, err
	}
	// The mode is set afterwards, because a socket is made without the bits of the process's umask.
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

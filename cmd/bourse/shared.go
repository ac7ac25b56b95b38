package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/peer"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

const (
	// networksSocket and signerSocket are the sockets in commonDir at which the parent of a sandbox's nodes
	// serves the embedded networks and their signer.
	networksSocket = "networks.sock"
	signerSocket   = "signer.sock"
	// parentLock is locked by the parent of the nodes.
	parentLock = "parent.lock"
	// maxSocket is the length of the longest path of a Unix socket on Linux, in bytes.
	maxSocket = 107
	// blocksEvery is the time between two looks whether a block is due.
	blocksEvery = 300 * time.Millisecond
)

// checkShared refuses settings that do not go with several nodes.
func (d *dev) checkShared() error {
	has := d.Remote != remoteSigner{}
	switch longest := filepath.Join(string(d.Data), commonDir, networksSocket); {
	case len(d.Signer) > 0:
		return errors.New("--signer-limits are of a signer in the exchange's process, and several nodes have none")
	case d.Real != "" && !has:
		return errors.New("--networks of several nodes takes a signer in a process of its own: --signer-socket or --signer-url")
	case d.Real == "" && has:
		return errors.New("the embedded networks of several nodes have a signer of their own; one in another process goes with --networks")
	case d.Real == "" && len(longest) > maxSocket:
		return fmt.Errorf("--data: %s is too long for a socket; use a shorter path", longest)
	}
	return nil
}

// share connects a node to the networks and the signer that its parent serves in a directory.
func (d *dev) share(o *node.Options, common string) {
	o.Common = common
	if d.Real == "" {
		o.Sandbox.Host = filepath.Join(common, networksSocket)
		o.Signer = &remote.Address{Socket: filepath.Join(common, signerSocket)}
	}
}

// shared has what the nodes of a sandbox share beside their accounts: the embedded networks and the signer.
// They outlive each leader, and have one writer whichever node leads.
type shared struct {
	host    *sandbox.Host
	signer  *signer.Local
	log     *slog.Logger
	sockets struct{ networks, signer net.Listener }
	closers []io.Closer
}

// openShared opens the networks and the signer of an exchange in a directory, and their sockets. A second parent
// of the same nodes is refused.
func openShared(ctx context.Context, dir string, x signer.Exchange, block time.Duration, log *slog.Logger) (_ *shared, err error) {
	s := &shared{log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	common, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, common)
	lock, err := common.Lock(parentLock)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, lock)

	keys, err := s.openSigner(filepath.Join(dir, signer.Dir), x)
	if err != nil {
		return nil, err
	}
	if s.host, err = sandbox.OpenHost(&sandbox.HostOptions{
		Dir: filepath.Join(dir, "devnet"), Signer: keys, Clock: sharedClock, BlockTime: bourse.Time(block.Microseconds()),
	}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.host)

	if s.sockets.networks, err = listenOwn(ctx, filepath.Join(dir, networksSocket)); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.sockets.networks)
	if s.sockets.signer, err = listenOwn(ctx, filepath.Join(dir, signerSocket)); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.sockets.signer)
	return s, nil
}

func sharedClock() bourse.Time { return bourse.TimeOf(time.Now()) }

// openSigner opens the signer in a directory, and pins a new one to the exchange. It returns the networks
// that it signs for.
func (s *shared) openSigner(dir string, x signer.Exchange) (map[bourse.Symbol]signer.Network, error) {
	d, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, d)
	if _, err := signer.ReadPins(d); errors.Is(err, fs.ErrNotExist) {
		err = signer.Create(d, x, signer.Epoch{Incarnation: 1})
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}

	keys, err := sandbox.Keys(d)
	if err != nil {
		return nil, err
	}
	numbers, err := signer.Number(d, slices.Sorted(maps.Keys(keys)))
	if err != nil {
		return nil, err
	}
	networks := map[bourse.NetworkID]signer.Network{}
	for name, n := range keys {
		networks[numbers[name]] = n
	}
	if s.signer, err = signer.Open(d, signer.Options{Networks: networks, Clock: sharedClock}); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.signer)
	return keys, nil
}

// listenOwn opens a socket of this user in place of a stale one: the caller holds the lock.
func listenOwn(ctx context.Context, path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return peer.Listen(ctx, path)
}

// run serves until ctx ends.
func (s *shared) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	networks := &http.Server{Handler: s.host.Handler(), ReadHeaderTimeout: 5 * time.Second}
	keys := &remote.Server{Local: s.signer, Now: time.Now, Log: s.log}
	ended := make(chan error, 2)
	go func() { ended <- networks.Serve(s.sockets.networks) }()
	go func() { ended <- keys.Serve(ctx, s.sockets.signer) }()

	err := s.makeBlocks(ctx, ended)
	cancel()
	return errors.Join(err, networks.Close())
}

// makeBlocks makes the networks' blocks until ctx ends, or a server has ended.
func (s *shared) makeBlocks(ctx context.Context, ended <-chan error) error {
	tick := time.NewTicker(blocksEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case <-tick.C:
		}
		if err := s.host.Tick(); err != nil {
			return err
		}
	}
}

// Close closes everything, the last opened first.
func (s *shared) Close() error {
	var errs []error
	for _, c := range slices.Backward(s.closers) {
		if err := c.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

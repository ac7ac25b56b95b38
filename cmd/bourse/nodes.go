package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/signer"
)

const (
	// mostNodes bounds the nodes of a sandbox.
	mostNodes = 7
	// commonDir is the directory of accounts and their secrets, which all nodes share, below --data.
	commonDir = "common"
	// endWithin bounds the time in which a node ends before it is killed.
	endWithin = 12 * time.Second
	// againAfter is the pause before a node that ended is started again.
	againAfter = time.Second
)

// nodeDir returns the data directory of a node.
func nodeDir(data string, node uint64) string {
	return filepath.Join(data, strconv.FormatUint(node, 10))
}

// nodeLine is the line that a node prints when it begins to serve in a role.
type nodeLine struct {
	Node   uint64 `json:"node"`
	PID    int    `json:"pid"`
	Listen string `json:"listen"`
	Role   string `json:"role"`
}

// member runs one node of a sandbox of several. A deposed leader replaces itself by a new program in the
// same process.
func (d *dev) member(p *program) error {
	if d.Below {
		p.ctx = untilInputEnds(p.ctx)
	}
	dir := nodeDir(string(d.Data), d.Node)
	back := &returning{program: p, data: string(d.Data), number: d.Node, segment: int64(d.Segment)}
	config, err := back.config()
	if err != nil {
		return err
	}
	common := filepath.Join(string(d.Data), commonDir)
	if err := os.MkdirAll(common, 0o700); err != nil {
		return err
	}
	if err := d.checkShared(); err != nil {
		return err
	}
	d.Data = place(dir)
	o, err := d.options()
	if err != nil {
		return err
	}
	d.share(o, common)
	if o.MetricsListen, err = portOf(d.Metrics, d.Node); err != nil {
		return fmt.Errorf("--metrics-listen: %w", err)
	}

	listen := config.Member(config.Node).Listen
	o.Listen = listen
	id, err := config.Identity()
	if err != nil {
		return err
	}
	err = p.serving(&d.Log, o, func() error {
		return node.RunMember(p.ctx, node.MemberOptions{Options: *o, Others: back.withOthers(id), Turned: func(role string) {
			_ = p.print(nodeLine{d.Node, os.Getpid(), listen, role}) // the parent may be gone
		}})
	})
	if inJournal(err) {
		err = back.repair(err)
	}
	switch {
	case !errors.Is(err, node.ErrDeposed):
		return err
	case p.ctx.Err() == nil:
		return p.anew()
	default:
		return nil // it was to end anyway, and the new process would not know
	}
}

// anew runs the program again from its beginning, in the same process.
func (p *program) anew() error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(path, append([]string{p.self}, p.args...), os.Environ()) //nolint:gosec // the program itself
}

// untilInputEnds returns a context that is canceled when the standard input ends. The parent closes it to end all nodes,
// so the cause is node.ErrAllEnd.
func untilInputEnds(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // any end is the end
		cancel(node.ErrAllEnd)
	}()
	return ctx
}

// readConfig reads the configuration of a node.
func readConfig(dir string) (*cluster.Config, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err // disk.Open would make it
	}
	on, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	c, err := cluster.LoadConfig(on)
	return c, errors.Join(err, on.Close())
}

// configs yields the nodes in a sandbox's directory, by number, with their configurations.
func configs(data string) iter.Seq2[uint64, *cluster.Config] {
	return func(yield func(uint64, *cluster.Config) bool) {
		for n := range uint64(mostNodes) {
			if c, err := readConfig(nodeDir(data, n+1)); err == nil && !yield(n+1, c) {
				return
			}
		}
	}
}

// hasNodes reports whether a directory is that of a sandbox of several nodes.
func hasNodes(data string) bool {
	for range configs(data) {
		return true
	}
	return false
}

// family runs a sandbox of several nodes, and ends them all when it ends.
func (d *dev) family(p *program) error {
	if d.Nodes < 1 || d.Nodes > mostNodes {
		return fmt.Errorf("--nodes takes 1 to %d", mostNodes)
	}
	if err := d.checkShared(); err != nil {
		return err
	}
	config, err := d.found()
	if err != nil {
		return err
	}
	numbers := config.Numbers()
	if n := len(numbers); n != d.Nodes {
		return fmt.Errorf("%s has %d nodes, not %d", d.Data, n, d.Nodes)
	}

	f := &family{program: p, dev: d, lines: make(chan nodeLine), ended: make(chan *child), failed: make(chan error, 1)}
	stop, err := f.shareWith(config)
	if err != nil {
		return err
	}
	defer stop()
	defer f.end()
	for _, n := range numbers {
		if err := f.start(n); err != nil {
			return err
		}
	}
	return f.watch()
}

// found returns the configuration of the nodes, and makes those that are not there. If there is another
// number of them than --nodes, it makes none.
func (d *dev) found() (*cluster.Config, error) {
	var known *cluster.Config
	there := 0
	for _, c := range configs(string(d.Data)) {
		there++
		if known == nil || c.Newer(known) {
			known = c
		}
	}
	if known != nil && (there >= d.Nodes || known.Changed > 0 || len(known.Numbers()) != d.Nodes) {
		return known, nil
	}
	return d.create(known)
}

// create makes the nodes. It goes on with nodes that an earlier call has made in part, one of which may be
// known; if they have run, it makes none.
func (d *dev) create(known *cluster.Config) (*cluster.Config, error) {
	addresses, err := d.addresses()
	if err != nil {
		return nil, err
	}
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	var dirs []disk.Disk
	defer func() {
		for _, on := range dirs {
			_ = on.(io.Closer).Close() // everything is durable
		}
	}()
	c := cluster.Config{Sandbox: true, Epoch: 1}
	for n := range uint64(d.Nodes) {
		on, err := disk.Open(nodeDir(string(d.Data), n+1))
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, on)
		if made, ok, err := journal.Identify(on); err != nil {
			return nil, err
		} else if ok {
			id = made.Exchange
		}
		c.Nodes = append(c.Nodes, cluster.Member{Node: n + 1, Listen: addresses[2*n], Address: addresses[2*n+1]})
	}
	c.Exchange = hex.EncodeToString(id[:])
	err = cluster.Found(c, dirs, time.Now(), int64(d.Segment))
	if errors.Is(err, cluster.ErrUsed) && known != nil {
		return known, nil // the others admit it, once one of them leads
	}
	return &c, err
}

// addresses returns two addresses for each node: that of clients, with the ports from --listen's on, and
// that of the other nodes, with a free port.
func (d *dev) addresses() (list []string, err error) {
	host, port, err := net.SplitHostPort(d.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	first, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}

	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // held to find another one for each
		}
	}()
	hold := func(host, port string) error {
		l, err := listenAt(host, port)
		if err == nil {
			held, list = append(held, l), append(list, l.Addr().String())
		}
		return err
	}
	for n := range uint64(d.Nodes) {
		at := strconv.FormatUint(first+n, 10)
		if first == 0 {
			at = anyPort
		}
		if err := errors.Join(hold(host, at), hold("127.0.0.1", anyPort)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// child is a node's process.
type child struct {
	*exec.Cmd
	node uint64
	// input is the node's standard input. It ends with this process, and the node ends with it.
	input io.WriteCloser
	err   error
}

// family are the processes of a sandbox's nodes.
type family struct {
	*program
	dev      *dev
	children []*child
	// lines receives the lines that the nodes print.
	lines chan nodeLine
	// failed receives the error with which the server of the shared networks and signer ends.
	failed chan error
	// ended receives each child once its process has ended.
	ended chan *child
	// last is the newest line of each node. told is true once they were printed.
	last []nodeLine
	told bool
}

// shareWith serves the embedded networks and their signer to the nodes, until stop.
func (f *family) shareWith(config *cluster.Config) (stop func(), err error) {
	if f.dev.Real != "" {
		return func() {}, nil
	}
	id, err := config.Identity()
	if err != nil {
		return nil, err
	}
	s, err := openShared(f.ctx, filepath.Join(string(f.dev.Data), commonDir), signer.Exchange{ID: id.Exchange, Sandbox: true},
		time.Duration(f.dev.Block), f.dev.Log.logger(f.program, new(slog.LevelVar)))
	if err != nil {
		return nil, fmt.Errorf("what the nodes share: %w", err)
	}

	ctx, cancel := context.WithCancel(context.WithoutCancel(f.ctx)) // the nodes end first
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.run(ctx); err != nil {
			f.failed <- err
		}
	}()
	return func() {
		cancel()
		<-done
		if err := s.Close(); err != nil {
			_, _ = fmt.Fprintf(f.stderr, "bourse: what the nodes shared: %v\n", err)
		}
	}, nil
}

// start starts a node.
func (f *family) start(node uint64) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	words := slices.DeleteFunc(slices.Clone(f.args), func(w string) bool {
		return strings.HasPrefix(w, "--nodes=") || w == "--restart"
	})
	if i := slices.Index(words, "--nodes"); i >= 0 {
		words = slices.Delete(words, i, i+2)
	}
	c := &child{node: node, Cmd: exec.Command(path, append(words, "--below", "--node="+strconv.FormatUint(node, 10))...)} //nolint:gosec,noctx // the program itself, which ends with its input
	c.Stderr = f.stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the parent, which ends them in order
	if c.input, err = c.StdinPipe(); err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}

	f.children = append(f.children, c)
	go func() {
		for text := bufio.NewScanner(out); text.Scan(); {
			var l nodeLine
			if json.Unmarshal(text.Bytes(), &l) == nil && l.Node == node {
				f.lines <- l
			}
		}
		c.err = c.Wait()
		f.ended <- c
	}()
	return nil
}

// watch runs until the program is told to stop, or no node is left. Once there is a leader it prints a
// line for each node.
func (f *family) watch() error {
	again := make(chan uint64)
	for {
		select {
		case <-f.ctx.Done():
			return nil
		case err := <-f.failed:
			return fmt.Errorf("what the nodes share: %w", err)
		case l := <-f.lines:
			if err := f.take(l); err != nil {
				return err
			}
		case c := <-f.ended:
			f.forget(c)
			_, _ = fmt.Fprintf(f.stderr, "bourse: node %d has ended: %v\n", c.node, c.err)
			if f.dev.Restart {
				time.AfterFunc(againAfter, func() { again <- c.node })
			} else if len(f.children) == 0 {
				return errors.New("no node is left")
			}
		case n := <-again:
			if err := f.start(n); err != nil {
				return err
			}
		}
	}
}

// forget removes a process that has ended.
func (f *family) forget(c *child) {
	f.children = slices.DeleteFunc(f.children, func(other *child) bool { return other == c })
}

// take notes a node's line. Once all nodes have printed one and there is a leader, it prints them.
func (f *family) take(l nodeLine) error {
	f.last = slices.DeleteFunc(f.last, func(other nodeLine) bool { return other.Node == l.Node })
	f.last = append(f.last, l)
	if f.told || len(f.last) < f.dev.Nodes ||
		!slices.ContainsFunc(f.last, func(l nodeLine) bool { return l.Role == "leader" }) {
		return nil
	}
	f.told = true
	slices.SortFunc(f.last, func(a, b nodeLine) int { return int(a.Node) - int(b.Node) })
	for _, l := range f.last {
		if err := json.NewEncoder(f.stdout).Encode(l); err != nil {
			return err
		}
	}
	return nil
}

// end ends the nodes: the leader first, which needs the others for what it has begun.
func (f *family) end() {
	leader := slices.IndexFunc(f.children, func(c *child) bool {
		return slices.ContainsFunc(f.last, func(l nodeLine) bool { return l.Node == c.node && l.Role == "leader" })
	})
	if leader >= 0 {
		f.stop(f.children[leader : leader+1])
	}
	f.stop(f.children)
}

// stop ends nodes, and waits for them.
func (f *family) stop(now []*child) {
	for _, c := range now {
		_ = c.input.Close() // it may have ended
	}
	left := len(f.children) - len(now)
	late := time.After(endWithin)
	for len(f.children) > left {
		select {
		case <-f.lines:
		case c := <-f.ended:
			f.forget(c)
		case <-late:
			for _, c := range f.children {
				_ = c.Process.Kill() // it may have ended
			}
		}
	}
}

package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/needs"
)

var ringStalls = flag.Int("cluster.stalls", 3, "how often TestClusterStalls lets a node's disk hang")

// hangs are the ways in which a disk hangs, by the calls that strace delays. A delay of a call is longer than a round.
var hangs = []struct{ name, calls, delay string }{
	{"stall of writes", "pwrite64,write,ftruncate,fallocate,fdatasync,fsync", "600000000"},
	{"stall of syncs", "fdatasync,fsync", "600000000"},
	{"crawl of syncs", "fdatasync,fsync", "700000"},
}

// stalling returns the fault of a disk that hangs: a node's writes, or syncs, do not return until it ends, or each takes
// longer than an election. The accounts are not on that disk, because nodes of one machine share their file.
func (x *trial) stalling() blow {
	kind := hangs[x.rng.IntN(len(hangs))]
	var mend func()
	return blow{
		name:  kind.name,
		begin: func(n *ringNode) { mend = n.hang(x.t, kind.calls, kind.delay) },
		end:   func(*ringNode) { mend() },
	}
}

// hang delays calls on the files of a node by so many microseconds each, until mend is called.
func (n *ringNode) hang(t *testing.T, calls, delay string) (mend func()) {
	t.Helper()
	how := []string{"-e", "trace=" + calls, "-e", "inject=" + calls + ":delay_enter=" + delay}
	for _, file := range files(t, n.dir) {
		how = append(how, "-P", file)
	}
	return meddle(t, n.cmd.Process.Pid, how...)
}

// files lists the files of a directory that a process has.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			list = append(list, path)
		}
		return nil // a file that went away meanwhile needs no stall
	})
	must(t, err)
	return list
}

// TestClusterStalls lets the disks of nodes hang, under the traders and followers of TestClusterKills, until another node
// leads. A leader whose disk hangs sends nothing, so that it is replaced.
func TestClusterStalls(t *testing.T) {
	needs.Program(t, "strace")
	x := newTrial(t, nil)
	for range *ringStalls {
		x.suffer(x.stalling())
	}
	x.finish("stalls")
}

// TestHungLeader asks a leader whose disk hangs: it is not ready, answers no read, ends its streams, and refuses orders as not taken,
// all without waiting for its disk, and is a replica once that goes on.
func TestHungLeader(t *testing.T) {
	needs.Program(t, "strace")
	r := newRing(t, rand.New(rand.NewPCG(1, 1)), nil)
	old := r.leader()
	_, key := r.operator().member("someone", "USDT", takerHas)
	stream, err := net.Dial("tcp", strings.TrimPrefix(old.url, "http://"))
	must(t, err)
	defer func() { _ = stream.Close() }()
	_, err = io.WriteString(stream, "GET /stream HTTP/1.1\r\nHost: "+strings.TrimPrefix(old.url, "http://")+"\r\nConnection: Upgrade\r\n"+
		"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	must(t, err)
	mend := old.hang(t, hangs[1].calls, hangs[1].delay)
	r.probe(key, "after", time.Now())
	within(t, patience, "the old leader not to be ready", func() bool {
		answer, err := http.Get(old.url + "/readyz")
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusServiceUnavailable
	})
	if s := r.status(old); s == nil || s.Role != "stalled" {
		t.Errorf("the old leader's status: %+v", s)
	}

	must(t, stream.SetReadDeadline(time.Now().Add(patience)))
	if said, err := io.ReadAll(stream); err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 101 ") {
		t.Errorf("a stream gets %q, and does not end: %v", said, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	api, err := client.New(old.url, client.Options{Key: key})
	must(t, err)
	defer api.Close()
	refused := (*client.Error)(nil)
	if _, err := api.Place(ctx, probing("late")); !errors.As(err, &refused) || refused.Code != "UNAVAILABLE" {
		t.Errorf("an order: %v", err)
	}
	for _, err := range api.Balances(ctx) {
		if !errors.As(err, &refused) || refused.Code != "TIMEOUT" {
			t.Errorf("balances: %v", err)
		}
	}
	mend()
	within(t, patience, "a replica", func() bool { return old.role.Load() == "replica" })
	r.level()
}

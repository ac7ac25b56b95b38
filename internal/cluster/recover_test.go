package cluster_test

import (
	"bytes"
	"errors"
	"log/slog"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// founded returns the first of three nodes that have not run.
func founded(t *testing.T) (disk.Disk, *cluster.Config) {
	t.Helper()
	c := cluster.Config{Exchange: "04020000000000000000000000000000", Sandbox: true, Epoch: 1}
	var dirs []disk.Disk
	for n := range uint64(3) {
		c.Nodes = append(c.Nodes, cluster.Member{Node: n + 1, Address: "127.0.0.1:1", Listen: "127.0.0.1:1"})
		d, err := disk.Open(t.TempDir())
		want(t, err)
		t.Cleanup(func() { _ = d.Close() })
		dirs = append(dirs, d)
	}
	want(t, cluster.Found(c, dirs, time.Now(), 256<<10))
	config, err := cluster.LoadConfig(dirs[0])
	want(t, err)
	return dirs[0], config
}

// TestRecoverIsAStranger recovers a node. It has another id, key and epoch than the others know, all that it was is
// kept, and it does not start before its recovery has ended, which a second call ends with the same key.
func TestRecoverIsAStranger(t *testing.T) {
	d, before := founded(t)
	extent, err := cluster.Inspect(d, before)
	want(t, err)
	if !extent.Votes || !slices.Equal(extent.Voters, []uint64{1, 2, 3}) || extent.Last.Index != 1 || extent.Commit != extent.Last {
		t.Errorf("the log of a new node reaches %+v", extent)
	}
	files := []string{cluster.ConfigFile, "cluster.crt", "cluster.key", journal.VoterFile}
	segments, err := d.List(journal.LiveDir)
	want(t, err)
	files = append(files, path.Join(journal.LiveDir, segments[slices.IndexFunc(segments, func(name string) bool { return path.Ext(name) == ".seg" })]))
	was := map[string][]byte{}
	for _, name := range files {
		was[name], err = disk.ReadFile(d, name)
		want(t, err)
	}

	_, first, err := cluster.Recover(d, before, extent, time.Now())
	want(t, err)
	cut, err := cluster.LoadConfig(d)
	want(t, err)
	_, err = cluster.Open(t.Context(), &cluster.Parts{Disk: d, Log: slog.New(slog.DiscardHandler)}, cut, journal.Options{})
	if !errors.Is(err, cluster.ErrRecovering) {
		t.Errorf("a node starts whose recovery has not ended: %v", err)
	}
	again, err := cluster.Inspect(d, cut)
	want(t, err)
	after, second, err := cluster.Recover(d, cut, again, time.Now())
	want(t, err)
	want(t, after.Save(d))
	if first.Pin != second.Pin || first.Kept != second.Kept || second.Extent.Last != extent.Last {
		t.Errorf("a second call goes on with %+v, the first one had %+v", second, first)
	}

	own := after.Member(after.Node)
	if own == nil || len(after.Nodes) != 1 || cluster.Number(own.Node) != 1 || before.Member(own.Node) != nil || own.Pin == before.Member(1).Pin {
		t.Errorf("the node goes on as %+v of %+v", own, after)
	}
	if after.Epoch != 2 || !after.Newer(before) || before.Newer(after) {
		t.Errorf("the node goes on in epoch %d, as the others", after.Epoch)
	}
	for name, text := range was {
		if kept, err := disk.ReadFile(d, path.Join(first.Kept, name)); err != nil || !bytes.Equal(kept, text) {
			t.Errorf("%s is not kept as it was: %v", name, err)
		}
	}
}

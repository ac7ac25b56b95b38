package main

import (
	"flag"
	"io/fs"
	"path/filepath"
	"testing"
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
		name: kind.name,
		begin: func(n *ringNode) {
			how := []string{"-e", "trace=" + kind.calls, "-e", "inject=" + kind.calls + ":delay_enter=" + kind.delay}
			for _, file := range files(x.t, n.dir) {
				how = append(how, "-P", file)
			}
			mend = meddle(x.t, n.cmd.Process.Pid, how...)
		},
		end: func(*ringNode) { mend() },
	}
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
	x := newTrial(t, nil)
	for range *ringStalls {
		x.suffer(x.stalling())
	}
	x.finish("stalls")
}

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk returns a directory on a disk of its own.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("this test mounts a small disk, which root may (or a container with CAP_SYS_ADMIN): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// ballast writes a file until there are only so many bytes left.
func ballast(t *testing.T, dir, name string, leave uint64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for chunk := make([]byte, 64<<10); ; {
		var s syscall.Statfs_t
		if err := syscall.Statfs(dir, &s); err != nil {
			t.Fatal(err)
		}
		free := s.Bavail * uint64(s.Bsize)
		if free <= leave {
			break
		}
		if _, err := f.Write(chunk[:min(uint64(len(chunk)), free-leave)]); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// full is an exchange on a small disk, with a customer who has orders to cancel.
type full struct {
	*server
	*trader
	disk, ballast string
	open          []uint64
}

func newFull(t *testing.T) *full {
	t.Helper()
	f := &full{disk: smallDisk(t, "24m")}
	f.server = start(t, filepath.Join(f.disk, "data"), short...)
	_, key := f.customer("someone")
	f.trader = newTrader(key, rand.New(rand.NewPCG(1, 1)))
	f.most = 100
	f.trade(f.url)
	for range 60 {
		a, err := f.place()
		if err != nil || !a.Success {
			t.Fatalf("%v %s", err, a.Error)
		}
		f.open = append(f.open, a.Obid)
	}
	return f
}

// place places an order that nobody takes.
func (f *full) place() (answer, error) {
	f.n++
	order := f.order(fmt.Sprintf("f%d", f.n))
	order["side"], order["price"], order["amount"] = "BUY", "100", "1"
	a, err := post(http.DefaultClient, f.url, "/spot/open_orders/new", order)
	if err == nil && a.Success {
		f.took(order, a)
	}
	return a, err
}

// cancelOne cancels an order that is open.
func (f *full) cancelOne() error {
	id := f.open[0]
	f.open = f.open[1:]
	return f.cancel(http.DefaultClient, f.url, id)
}

// TestFullDisk fills the disk: new orders are refused before it is full, cancels
// are taken; when there is room again, so are orders; and nothing is lost.
func TestFullDisk(t *testing.T) {
	f := newFull(t)
	f.ballast = ballast(t, f.disk, "ballast", 300<<10)
	within(t, 10*time.Second, "refused", func() bool {
		a, err := f.place()
		if err != nil {
			t.Fatal(err)
		}
		return !a.Success && strings.Contains(a.Error, "disk is nearly full")
	})
	for range 20 {
		if err := f.cancelOne(); err != nil {
			t.Fatalf("a cancel on a disk that is nearly full: %v", err)
		}
	}
	if f.cancels == 0 {
		t.Error("no cancel was taken")
	}
	if err := os.Remove(f.ballast); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "taken again", func() bool {
		a, err := f.place()
		return err == nil && a.Success
	})
	f.kill()
	f.start()
	f.check(t, f.url)
	f.audit()
	f.kill() // so that the disk can go
}

// TestDiskWithoutAByte leaves the disk no room at all: the exchange goes on with
// what it has made ready, or stops with a reason; with room again it starts, and
// nothing is lost.
func TestDiskWithoutAByte(t *testing.T) {
	f := newFull(t)
	f.ballast = ballast(t, f.disk, "ballast", 0)
	alive := true
	for len(f.open) > 0 && alive {
		alive = f.cancelOne() == nil
	}
	for i := 0; i < 200 && alive; i++ { // more than the segments that are ready
		_, err := f.place()
		alive = err == nil
	}
	f.end(1)
	f.sober(f.cmd.ProcessState.ExitCode())
	if err := os.Remove(f.ballast); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.check(t, f.url)
	f.audit()
	f.kill()
}

package memdisk_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// TestContract tests the disk in memory and the operating system's with one suite.
func TestContract(t *testing.T) {
	kinds := map[string]func(t *testing.T) disk.Disk{
		"memory": func(*testing.T) disk.Disk { return memdisk.New(1) },
		"system": func(t *testing.T) disk.Disk {
			d, err := disk.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return d
		},
	}
	cases := map[string]func(t *testing.T, d disk.Disk){
		"bytes": testBytes, "length": testLength, "names": testNames, "rename": testRename, "directories": testDirectories,
		"names stay inside": testInside, "open files": testOpenFiles, "locks": testLocks, "free": testFree,
	}
	for kind, fresh := range kinds {
		for name, test := range cases {
			t.Run(kind+"/"+name, func(t *testing.T) { test(t, fresh(t)) })
		}
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func ok(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

func fails(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
	}
}

// put creates a file with these bytes.
func put(t *testing.T, d disk.Disk, name, text string) disk.File {
	t.Helper()
	f := must(d.Create(name))(t)
	write(t, f, text, 0)
	return f
}

func write(t *testing.T, f disk.File, text string, off int64) {
	t.Helper()
	if n, err := f.WriteAt([]byte(text), off); n != len(text) || err != nil {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(text), err)
	}
}

func holds(t *testing.T, d disk.Disk, name, text string) {
	t.Helper()
	if b := must(disk.ReadFile(d, name))(t); string(b) != text {
		t.Errorf("%s holds %q, not %q", name, b, text)
	}
}

func testBytes(t *testing.T, d disk.Disk) {
	f := put(t, d, "a", "hello")
	write(t, f, "J", 0)
	write(t, f, "!", 8)
	b := make([]byte, 20)
	n, err := f.ReadAt(b, 0)
	if string(b[:n]) != "Jello\x00\x00\x00!" {
		t.Errorf("read %q", b[:n])
	}
	wants(t, "reading beyond the end", err, io.EOF)
	if n, err := f.ReadAt(b[:2], 1); n != 2 || err != nil || string(b[:2]) != "el" {
		t.Errorf("read %q: %v", b[:n], err)
	}
	n, err = f.ReadAt(b, 100)
	if n != 0 {
		t.Errorf("read %d bytes behind the end", n)
	}
	wants(t, "reading behind the end", err, io.EOF)
	_, err = f.ReadAt(b, -1)
	fails(t, "reading before the beginning", err)
	_, err = f.WriteAt(b, -1)
	fails(t, "writing before the beginning", err)
	ok(t, f.Sync(), f.Close())
	_, err = f.WriteAt(b, 0)
	wants(t, "writing to a closed file", err, fs.ErrClosed)
	wants(t, "closing a closed file", f.Close(), fs.ErrClosed)
	holds(t, d, "a", "Jello\x00\x00\x00!")
}

func testLength(t *testing.T, d disk.Disk) {
	f := put(t, d, "a", "0123456789")
	ok(t, f.Truncate(4), f.Truncate(6))
	if size := must(f.Size())(t); size != 6 {
		t.Errorf("size is %d", size)
	}
	holds(t, d, "a", "0123\x00\x00")
	ok(t, f.Truncate(2000))
	if b := must(disk.ReadFile(d, "a"))(t); len(b) != 2000 || !bytes.Equal(b[4:], make([]byte, 1996)) {
		t.Errorf("a file of 2000 bytes has %d, or they are not zero", len(b))
	}
	fails(t, "a length below zero", f.Truncate(-1))
	ok(t, f.Close())
}

func testNames(t *testing.T, d disk.Disk) {
	_, err := d.Open("a")
	wants(t, "opening what is missing", err, fs.ErrNotExist)
	_, err = d.Edit("a")
	wants(t, "editing what is missing", err, fs.ErrNotExist)
	wants(t, "removing what is missing", d.Remove("a"), fs.ErrNotExist)
	_, err = d.Create("x/a")
	wants(t, "creating in a missing directory", err, fs.ErrNotExist)
	ok(t, put(t, d, "b", "").Close(), put(t, d, "a", "1").Close())
	_, err = d.Create("a")
	wants(t, "creating what is there", err, fs.ErrExist)
	f := must(d.Edit("a"))(t)
	write(t, f, "2", 0)
	ok(t, f.Close())
	f = must(d.Open("a"))(t)
	_, err = f.WriteAt([]byte("3"), 0)
	fails(t, "writing to a file opened for reading", err)
	ok(t, f.Close())
	holds(t, d, "a", "2")
	if names := must(d.List("."))(t); !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("the names are %q", names)
	}
	ok(t, d.Remove("a"))
	_, err = d.Open("a")
	wants(t, "opening what was removed", err, fs.ErrNotExist)
}

func testRename(t *testing.T, d disk.Disk) {
	wants(t, "renaming what is missing", d.Rename("a", "b"), fs.ErrNotExist)
	ok(t, d.MkdirAll("x"))
	ok(t, put(t, d, "a", "1").Close(), put(t, d, "b", "2").Close())
	ok(t, d.Rename("a", "b"))
	holds(t, d, "b", "1")
	ok(t, d.Rename("b", "x/c"), d.Rename("x/c", "x/c"))
	holds(t, d, "x/c", "1")
	if names := must(d.List("."))(t); !slices.Equal(names, []string{"x"}) {
		t.Errorf("the names are %q", names)
	}
	wants(t, "renaming into a missing directory", d.Rename("x/c", "y/c"), fs.ErrNotExist)
	ok(t, put(t, d, "a", "1").Close())
	fails(t, "renaming over a directory", d.Rename("a", "x"))
	ok(t, d.SyncDir("."), d.SyncDir("x"))
}

func testDirectories(t *testing.T, d disk.Disk) {
	ok(t, d.MkdirAll("x/y"), d.MkdirAll("x/y"), d.MkdirAll("x"))
	ok(t, put(t, d, "x/y/a", "1").Close(), put(t, d, "x/b", "").Close())
	if names := must(d.List("x"))(t); !slices.Equal(names, []string{"b", "y"}) {
		t.Errorf("the names are %q", names)
	}
	_, err := d.List("z")
	wants(t, "listing what is missing", err, fs.ErrNotExist)
	wants(t, "syncing what is missing", d.SyncDir("z"), fs.ErrNotExist)
	fails(t, "removing a directory with a file", d.Remove("x/y"))
	ok(t, d.Remove("x/y/a"), d.Remove("x/y"), d.SyncDir("x"))
	fails(t, "a directory below a file", d.MkdirAll("x/b/c"))
	if names := must(d.List("x"))(t); !slices.Equal(names, []string{"b"}) {
		t.Errorf("the names are %q", names)
	}
}

func testInside(t *testing.T, d disk.Disk) {
	for _, name := range []string{"../a", "/a", "x/../../a"} {
		_, err := d.Create(name)
		fails(t, "creating "+name, err)
		_, err = d.Open(name)
		fails(t, "opening "+name, err)
		fails(t, "making "+name, d.MkdirAll(name))
		fails(t, "removing "+name, d.Remove(name))
	}
}

func testOpenFiles(t *testing.T, d disk.Disk) {
	f, g := put(t, d, "a", "1"), must(d.Open("a"))(t)
	ok(t, d.Rename("a", "b"), d.Remove("b"))
	write(t, f, "2", 0)
	b := make([]byte, 1)
	if _, err := g.ReadAt(b, 0); err != nil || b[0] != '2' {
		t.Errorf("an open file that has lost its name holds %q: %v", b, err)
	}
	ok(t, f.Sync(), f.Close(), g.Close())
}

func testLocks(t *testing.T, d disk.Disk) {
	l := must(d.Lock("LOCK"))(t)
	_, err := d.Lock("LOCK")
	wants(t, "locking what is locked", err, disk.ErrLocked)
	other := must(d.Lock("OTHER"))(t)
	ok(t, l.Close(), other.Close())
	ok(t, must(d.Lock("LOCK"))(t).Close())
	holds(t, d, "LOCK", "")
}

func testFree(t *testing.T, d disk.Disk) {
	if free := must(d.Free())(t); free == 0 {
		t.Error("an empty disk is full")
	}
}

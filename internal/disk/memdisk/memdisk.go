package memdisk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// root is the name of the directory itself.
const root = "."

// node is a file or a directory, under any number of names.
type node struct {
	dir bool
	content
}

// change is a change of names that is not durable before the SyncDir of dir.
type change struct {
	dir string
	// name gets the node; if node is nil, the change only removes from.
	name string
	node *node
	// from, if not empty, loses the node gone at the same moment.
	from string
	gone *node
}

// apply makes the change in a table of names.
func (c *change) apply(names map[string]*node) {
	if c.from != "" && names[c.from] == c.gone {
		delete(names, c.from)
	}
	if c.node != nil {
		names[c.name] = c.node
	}
}

// Disk is a directory in memory. Safe for concurrent use.
type Disk struct {
	mu sync.Mutex
	// names is the running process's view, durable the names that survive any crash;
	// pending are the changes between them, in order.
	names, durable map[string]*node
	pending        []change
	locks          map[string]bool
	chance         *rand.PCG
	faults
}

var _ disk.Disk = (*Disk)(nil)

// New returns an empty disk. The seed determines all random choices.
func New(seed uint64) *Disk {
	top := &node{dir: true}
	return &Disk{
		names:   map[string]*node{root: top},
		durable: map[string]*node{root: top},
		locks:   map[string]bool{},
		chance:  rand.NewPCG(seed, seed^0x9e3779b97f4a7c15),
		faults:  faults{capacity: math.MaxInt64},
	}
}

// rand returns the random source. The caller holds mu.
func (d *Disk) rand() *rand.Rand {
	return rand.New(d.chance) //nolint:gosec // a test's chances must repeat
}

// Open opens a file for reading.
func (d *Disk) Open(name string) (disk.File, error) { return d.open(OpOpen, name, false) }

// Edit opens a file that exists for reading and writing.
func (d *Disk) Edit(name string) (disk.File, error) { return d.open(OpEdit, name, true) }

func (d *Disk) open(kind OpKind, name string, write bool) (disk.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(name)
	if err == nil && n.dir {
		err = syscall.EISDIR
	}
	if err := errors.Join(err, d.count(Op{Kind: kind, Name: name})); err != nil {
		return nil, fail(kind, name, err)
	}
	return &file{disk: d, node: n, name: name, write: write}, nil
}

// Create makes an empty file. It fails if the file exists.
func (d *Disk) Create(name string) (disk.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.count(Op{Kind: OpCreate, Name: name}); err != nil {
		return nil, fail(OpCreate, name, err)
	}
	n, err := d.create(name)
	if err != nil {
		return nil, fail(OpCreate, name, err)
	}
	return &file{disk: d, node: n, name: name, write: true}, nil
}

// create adds a new file.
func (d *Disk) create(name string) (*node, error) {
	if err := d.vacant(name); err != nil {
		return nil, err
	}
	n := new(node)
	d.change(change{dir: path.Dir(name), name: name, node: n})
	return n, nil
}

// vacant returns an error unless name can be created.
func (d *Disk) vacant(name string) error {
	if err := d.directory(path.Dir(name)); err != nil {
		return err
	}
	if _, err := d.find(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return nil
}

// change makes a change that is not durable yet.
func (d *Disk) change(c change) {
	c.apply(d.names)
	d.pending = append(d.pending, c)
}

// find returns the node of a name.
func (d *Disk) find(name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	n, ok := d.names[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return n, nil
}

// directory returns an error unless name is a directory.
func (d *Disk) directory(name string) error {
	n, err := d.find(name)
	if err == nil && !n.dir {
		err = syscall.ENOTDIR
	}
	return err
}

// Rename renames a file, and replaces the target if it exists.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.count(Op{Kind: OpRename, Name: from}); err != nil {
		return fail(OpRename, from, err)
	}

	n, err := d.find(from)
	if err == nil && n.dir {
		err = syscall.EISDIR
	}
	if err != nil {
		return fail(OpRename, from, err)
	}

	if err := d.vacant(to); err != nil {
		if there := d.names[to]; !errors.Is(err, fs.ErrExist) || there.dir {
			return fail(OpRename, to, err)
		}
	}

	if from != to {
		d.change(change{dir: path.Dir(to), name: to, node: n, from: from, gone: n})
	}
	return nil
}

// Remove removes a file or an empty directory.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.count(Op{Kind: OpRemove, Name: name}); err != nil {
		return fail(OpRemove, name, err)
	}
	n, err := d.find(name)
	switch {
	case err != nil:
		return fail(OpRemove, name, err)
	case name == root:
		return fail(OpRemove, name, fs.ErrInvalid)
	case n.dir && len(d.list(name)) > 0:
		return fail(OpRemove, name, syscall.ENOTEMPTY)
	}
	d.change(change{dir: path.Dir(name), from: name, gone: n})
	return nil
}

// MkdirAll makes a directory and its parents. Each is durable only after the SyncDir of
// its own parent.
func (d *Disk) MkdirAll(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !fs.ValidPath(dir) {
		return fail(OpMkdir, dir, fs.ErrInvalid)
	}
	if err := d.count(Op{Kind: OpMkdir, Name: dir}); err != nil {
		return fail(OpMkdir, dir, err)
	}

	for end := 0; end < len(dir); {
		part, _, _ := strings.Cut(dir[end:], "/")
		name := dir[:end+len(part)]
		end += len(part) + 1
		if err := d.directory(name); errors.Is(err, fs.ErrNotExist) {
			d.change(change{dir: path.Dir(name), name: name, node: &node{dir: true}})
		} else if err != nil {
			return fail(OpMkdir, name, err)
		}
	}
	return nil
}

// List returns the names in a directory, ascending.
func (d *Disk) List(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.directory(dir)
	if err := errors.Join(err, d.count(Op{Kind: OpList, Name: dir})); err != nil {
		return nil, fail(OpList, dir, err)
	}
	return d.list(dir), nil
}

func (d *Disk) list(dir string) []string {
	names, above := []string{}, dir+"/"
	if dir == root {
		above = ""
	}
	for name := range d.names {
		inside, is := strings.CutPrefix(name, above)
		if is && inside != root && !strings.Contains(inside, "/") {
			names = append(names, inside)
		}
	}
	slices.Sort(names)
	return names
}

// SyncDir makes the names in a directory durable.
func (d *Disk) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.directory(dir)
	if err := errors.Join(err, d.count(Op{Kind: OpSyncDir, Name: dir})); err != nil {
		return fail(OpSyncDir, dir, err)
	}

	left := d.pending[:0]
	for _, c := range d.pending {
		if c.dir == dir {
			c.apply(d.durable)
		} else {
			left = append(left, c)
		}
	}
	clear(d.pending[len(left):])
	d.pending = left
	return nil
}

// Free returns how many more bytes may be written.
func (d *Disk) Free() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return uint64(max(d.capacity-d.used(), 0)), nil
}

// used returns the total size of all named files.
func (d *Disk) used() int64 {
	sum := int64(0)
	for _, n := range d.names {
		sum += int64(len(n.bytes))
	}
	return sum
}

// over returns by how much files that grow by grow bytes exceed the capacity. Without a
// capacity it avoids summing thousands of files.
func (d *Disk) over(grow int64) int64 {
	if d.capacity == math.MaxInt64 {
		return 0
	}
	return d.used() + grow - d.capacity
}

// Lock locks a file.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.count(Op{Kind: OpLock, Name: name}); err != nil {
		return nil, fail(OpLock, name, err)
	}

	if d.locks[name] {
		return nil, fail(OpLock, name, disk.ErrLocked)
	}

	n, err := d.find(name)
	if errors.Is(err, fs.ErrNotExist) {
		n, err = d.create(name)
	}
	if err == nil && n.dir {
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, fail(OpLock, name, err)
	}

	d.locks[name] = true
	return &lock{disk: d, name: name}, nil
}

// lock is a held lock.
type lock struct {
	disk *Disk
	name string
	done bool
}

// Close releases the lock.
func (l *lock) Close() error {
	l.disk.mu.Lock()
	defer l.disk.mu.Unlock()
	if l.done {
		return fs.ErrClosed
	}
	l.done = true
	delete(l.disk.locks, l.name)
	return nil
}

// fail wraps an error in the form of the operating system's.
func fail(kind OpKind, name string, err error) error {
	if kind == OpSync || kind == OpSyncDir {
		err = fmt.Errorf("%w: %w", disk.ErrSync, err)
	}
	return &fs.PathError{Op: kind.String(), Path: name, Err: err}
}

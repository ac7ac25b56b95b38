package memdisk

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
)

const (
	// sector is the atomic write unit of a device, in bytes.
	sector = 512
	// maxImages bounds the remembered images of a sector between two syncs: the durable
	// one and the latest overwritten ones.
	maxImages = 4
)

// content is the bytes of a file, and the images that a crash may put in their place.
type content struct {
	// bytes is the running process's view, size the durable length. Shared bytes,
	// which a copy of the disk uses too, are cloned before a change.
	bytes  []byte
	shared bool
	size   int
	// images has, for each sector changed since the last Sync, its overwritten images:
	// the durable one first.
	images map[int][][]byte
	// doomed are the sectors that a failed Sync gave up: a later Sync makes them durable
	// only if they were written again.
	doomed map[int]bool
}

// at returns the current image of a sector.
func (c *content) at(index int) []byte {
	image := make([]byte, sector)
	if from := index * sector; from < len(c.bytes) {
		copy(image, c.bytes[from:])
	}
	return image
}

// remember saves the images of the sectors in a range before they change.
func (c *content) remember(from, to int) {
	if c.images == nil {
		c.images = map[int][][]byte{}
	}
	for i := from / sector; i*sector < to; i++ {
		list := append(c.images[i], c.at(i))
		if len(list) > maxImages {
			list = slices.Delete(list, 1, 2)
		}
		c.images[i] = list
		delete(c.doomed, i)
	}
}

// own clones shared bytes before a change.
func (c *content) own() {
	if c.shared {
		c.bytes, c.shared = slices.Clone(c.bytes), false
	}
}

// writeAt writes b at off, with zeros in any gap.
func (c *content) writeAt(b []byte, off int) {
	c.remember(off, off+len(b))
	c.own()
	c.lengthen(off + len(b))
	copy(c.bytes[off:], b)
}

func (c *content) lengthen(size int) {
	if size > len(c.bytes) {
		c.bytes = append(c.bytes, make([]byte, size-len(c.bytes))...)
	}
}

func (c *content) truncate(size int) {
	c.own()
	if size < len(c.bytes) {
		c.remember(size, len(c.bytes))
		c.bytes = c.bytes[:size]
	}
	c.lengthen(size)
}

// sync makes everything durable except the doomed sectors.
func (c *content) sync() {
	c.size = len(c.bytes)
	for i := range c.images {
		if !c.doomed[i] {
			delete(c.images, i)
		}
	}
}

// giveUp is a failed sync.
func (c *content) giveUp() {
	if c.doomed == nil {
		c.doomed = map[int]bool{}
	}
	for i := range c.images {
		c.doomed[i] = true
	}
}

// clone returns a copy that shares no mutable state.
func (c *content) clone() content {
	c.shared = true
	n := content{bytes: c.bytes, shared: true, size: c.size}
	for i, list := range c.images {
		if n.images == nil {
			n.images = map[int][][]byte{}
		}
		n.images[i] = slices.Clone(list)
	}
	for i := range c.doomed {
		if n.doomed == nil {
			n.doomed = map[int]bool{}
		}
		n.doomed[i] = true
	}
	return n
}

// survive returns the content after a crash.
func (c *content) survive(r *rand.Rand) content {
	size := c.size
	switch low, high := min(c.size, len(c.bytes)), max(c.size, len(c.bytes)); r.IntN(3) {
	case 0:
		size = len(c.bytes)
	case 1:
		size = low + r.IntN(high-low+1)
	}

	if size == len(c.bytes) && len(c.images) == 0 {
		c.shared = true
		return content{bytes: c.bytes, shared: true, size: size}
	}

	out := make([]byte, size)
	copy(out, c.bytes)
	for _, i := range sortedKeys(c.images) {
		list := c.images[i]
		pick := r.IntN(len(list) + 1)
		if from := i * sector; pick < len(list) && from < size {
			copy(out[from:min(from+sector, size)], list[pick])
		}
	}
	return content{bytes: out, size: size}
}

type file struct {
	disk   *Disk
	node   *node
	name   string
	write  bool
	closed bool
}

// ready returns an error if the file cannot be used.
func (f *file) ready(write bool) error {
	switch {
	case f.closed:
		return fs.ErrClosed
	case write && !f.write:
		return syscall.EBADF
	default:
		return nil
	}
}

// ReadAt reads at an offset, and sees writes that are not synced.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := errors.Join(f.ready(false), negative(off))
	if err := errors.Join(err, f.disk.count(Op{Kind: OpRead, Name: f.name, Offset: off, Size: len(b)})); err != nil {
		return 0, fail(OpRead, f.name, err)
	}

	if off >= int64(len(f.node.bytes)) {
		if len(b) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}

	n := copy(b, f.node.bytes[off:])
	f.disk.flip(b[:n])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes at an offset. Only a sync makes the bytes durable.
func (f *file) WriteAt(b []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := errors.Join(f.ready(true), negative(off)); err != nil {
		return 0, fail(OpWrite, f.name, err)
	}

	n := len(b)
	err := f.disk.count(Op{Kind: OpWrite, Name: f.name, Offset: off, Size: len(b)})
	if err != nil {
		n = f.disk.short(err, len(b))
	}

	if grow := off + int64(n) - int64(len(f.node.bytes)); grow > 0 {
		if over := f.disk.over(grow); over > 0 {
			n, err = max(n-int(over), 0), errors.Join(err, syscall.ENOSPC)
		}
	}

	if n > 0 {
		f.node.writeAt(b[:n], int(off))
	}

	if err != nil {
		return n, fail(OpWrite, f.name, err)
	}
	return n, nil
}

// Size returns the file's length in bytes.
func (f *file) Size() (int64, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return int64(len(f.node.bytes)), f.ready(false)
}

// Truncate shortens the file, or extends it with zeros.
func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := errors.Join(f.ready(true), negative(size))
	if err == nil {
		err = f.disk.count(Op{Kind: OpTruncate, Name: f.name, Offset: size})
	}
	if err == nil && f.disk.over(size-int64(len(f.node.bytes))) > 0 {
		err = syscall.ENOSPC
	}
	if err != nil {
		return fail(OpTruncate, f.name, err)
	}
	f.node.truncate(int(size))
	return nil
}

// Sync makes the file's bytes and length durable.
func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.ready(false); err != nil {
		return fail(OpSync, f.name, err)
	}
	if err := f.disk.count(Op{Kind: OpSync, Name: f.name}); err != nil {
		f.node.giveUp()
		return fail(OpSync, f.name, err)
	}
	f.node.sync()
	return nil
}

// Close releases the file.
func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.closed {
		return fail(OpClose, f.name, fs.ErrClosed)
	}
	f.closed = true
	return nil
}

func negative(n int64) error {
	if n < 0 {
		return fs.ErrInvalid
	}
	return nil
}

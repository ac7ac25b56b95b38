package node

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	// reserveName is a file of zeros. It keeps room on the disk for the next start:
	// the databases cannot be opened, not even for reading, without a few pages of it.
	reserveName = "reserve"
	// reserveSize is the room that a start takes, several times over, in bytes.
	reserveSize = 512 << 10
)

// release gives the reserve to what follows.
func (n *Node) release() error {
	if err := n.disk.Remove(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n.kept = 0
	return nil
}

// keep makes the reserve as large as the disk allows. It is called again until the
// reserve is whole.
func (n *Node) keep() {
	if n.kept >= reserveSize {
		return
	}
	if err := n.fill(); err != nil && !isFull(err) {
		n.Log.Error("cannot keep room for the next start", slog.Any("error", err))
	}
}

// fill writes what is missing of the reserve. It need not be durable: what counts is
// the room that it takes.
func (n *Node) fill() error {
	file, err := n.disk.Edit(reserveName)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = n.disk.Create(reserveName)
	}
	if err != nil {
		return err
	}

	err = n.lengthen(file)
	return errors.Join(err, file.Close())
}

func (n *Node) lengthen(file disk.File) error {
	for piece := make([]byte, 4<<10); n.kept < reserveSize; {
		written, err := file.WriteAt(piece, n.kept)
		n.kept += int64(written)
		if err != nil {
			return err
		}
	}
	return nil
}

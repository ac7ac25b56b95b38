package node

import (
	"errors"
	"io/fs"
	"log/slog"

	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	// reserveName is a file of zeros that keeps disk space for the next start: the
	// databases cannot be opened, not even for reading, without a few free pages.
	reserveName = "reserve"
	// reserveSize is several times the space that a start takes, in bytes.
	reserveSize = 512 << 10
)

// releaseRoom removes the reserve, so that the start has its room.
func (n *Node) releaseRoom() error {
	if err := n.disk.Remove(reserveName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	n.roomKept = 0
	return nil
}

// keepRoom makes the reserve as large as the disk allows. It is called again until the
// reserve is whole.
func (n *Node) keepRoom() {
	if n.roomKept >= reserveSize {
		return
	}
	if err := n.fillRoom(); err != nil && !disk.IsFull(err) {
		n.Log.Error("cannot keep room for the next start", slog.Any("error", err))
	}
}

// fillRoom writes the missing part of the reserve. It need not be durable: only its space
// counts.
func (n *Node) fillRoom() error {
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
	for piece := make([]byte, 4<<10); n.roomKept < reserveSize; {
		written, err := file.WriteAt(piece, n.roomKept)
		n.roomKept += int64(written)
		if err != nil {
			return err
		}
	}
	return nil
}

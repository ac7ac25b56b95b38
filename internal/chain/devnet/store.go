package devnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// logName is the file of a network.
const logName = "chain.log"

// headBytes is the size of a record's length and checksum.
const headBytes = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is one change of a network. Its fields apply in order.
type record struct {
	// Cut removes the blocks above a height.
	Cut *uint64 `json:"cut,omitempty"`
	// Block is added; its transactions leave the pool.
	Block *block `json:"block,omitempty"`
	// Empty adds empty blocks with these times. Most blocks are empty, and a start reads
	// all of them.
	Empty []int64 `json:"empty,omitempty"`
	// Pool replaces the pending transactions.
	Pool *[][]byte `json:"pool,omitempty"`
	// Tx becomes pending.
	Tx []byte `json:"tx,omitempty"`
	// Given counts an address of NewAddress.
	Given bool `json:"given,omitempty"`
}

// store is the append-only log of a network. append makes records durable; a record that
// a crash left incomplete is cut off.
type store struct {
	file disk.File
	size int64
}

// openStore opens or creates the log in a directory and passes its records to each.
func openStore(d disk.Disk, each func(*record) error) (*store, error) {
	f, err := disk.EditOrCreate(d, logName)
	if err != nil {
		return nil, err
	}
	s := &store{file: f}
	if err := s.replay(each); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", logName, err), f.Close())
	}
	return s, nil
}

func (s *store) replay(each func(*record) error) error {
	size, err := s.file.Size()
	if err != nil {
		return err
	}
	b := make([]byte, size)
	if size > 0 {
		if n, err := s.file.ReadAt(b, 0); n < len(b) {
			return err
		}
	}

	for {
		payload := next(b[s.size:])
		if payload == nil {
			return s.file.Truncate(s.size)
		}
		r := &record{}
		if err := json.Unmarshal(payload, r, json.RejectUnknownMembers(true)); err != nil {
			return fmt.Errorf("record at %d: %w", s.size, err)
		}
		if err := each(r); err != nil {
			return fmt.Errorf("record at %d: %w", s.size, err)
		}
		s.size += int64(headBytes + len(payload))
	}
}

// next returns the payload of the first record; nil if there is no complete one.
func next(b []byte) []byte {
	if len(b) < headBytes {
		return nil
	}
	n, sum := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	b = b[headBytes:]
	if n == 0 || uint64(n) > uint64(len(b)) || crc32.Checksum(b[:n], castagnoli) != sum {
		return nil
	}
	return b[:n]
}

// append makes a record durable.
func (s *store) append(r *record) error {
	payload, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	b = append(b, payload...)
	if _, err := s.file.WriteAt(b, s.size); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.size += int64(len(b))
	return nil
}

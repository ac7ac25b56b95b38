package hdkeys

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"io/fs"
	"log/slog"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// File keeps the programs of accounts, so that a start reads them in place of deriving them. It has a record for each
// account from 1 on: the program, and a tag. The tag is a keyed hash of account and program, whose key is the hash of
// the chain and of the exchange's public keys: a record cannot be made without the keys, and a record of other keys, of
// another chain or of another account is none.
//
// A file is good up to its first bad record. It is never synced: what a crash leaves out or tears is derived again. A
// file that cannot be read or written is left alone, and costs a start its time. A nil File keeps nothing.
type File struct {
	file disk.File
	mac  hash.Hash
	log  *slog.Logger
	// count is the number of records. A record may be bad until it is read.
	count uint32
}

const (
	programSize = 20
	tagSize     = 8
	recordSize  = programSize + tagSize
	// domain begins the text whose hash is the key of the tags. It has the version of the form.
	domain = "bourse addresses 1"
)

// OpenFile opens the file with this name, or makes it, for the addresses of a chain that are derived from these public
// keys. It returns nil if that fails.
func OpenFile(d disk.Disk, name, chain, keys string, log *slog.Logger) *File {
	key := sha256.Sum256([]byte(domain + "\x00" + chain + "\x00" + keys))
	f := &File{mac: hmac.New(sha256.New, key[:]), log: log}
	var err error
	if f.file, err = d.Edit(name); errors.Is(err, fs.ErrNotExist) {
		f.file, err = d.Create(name)
	}
	if err != nil {
		f.giveUp(err)
		return nil
	}
	size, err := f.file.Size()
	if err != nil {
		f.giveUp(err)
		return nil
	}
	f.count = uint32(min(size/recordSize, hardened-1))
	return f
}

// close closes the file, which keeps nothing from then on.
func (f *File) close() error {
	if f == nil || f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.count = nil, 0
	return err
}

// giveUp leaves the file alone.
func (f *File) giveUp(err error) {
	f.log.Warn("the file of derived addresses cannot be used: the next start derives them again", slog.Any("error", err))
	_ = f.close() // nothing in it is needed
}

// tag returns the tag of an account's program.
func (f *File) tag(account uint32, program []byte) []byte {
	f.mac.Reset()
	_, _ = f.mac.Write(binary.LittleEndian.AppendUint32(nil, account)) // a hash takes everything
	_, _ = f.mac.Write(program)
	return f.mac.Sum(nil)[:tagSize]
}

// read reads programs of the accounts from one on into a buffer, and returns how many are good. Fewer than the file
// has are good if it is damaged, and the rest is cut off.
func (f *File) read(from uint32, programs [][programSize]byte) int {
	if f == nil || f.file == nil || from > f.count {
		return 0
	}
	n := min(len(programs), int(f.count-from)+1)
	records := make([]byte, n*recordSize)
	if _, err := f.file.ReadAt(records, offset(from)); err != nil && !errors.Is(err, io.EOF) {
		f.giveUp(err)
		return 0
	}
	for i := range programs[:n] {
		record := records[i*recordSize:][:recordSize]
		account := from + uint32(i)
		if !hmac.Equal(record[programSize:], f.tag(account, record[:programSize])) {
			f.log.Warn("derived addresses are damaged, cut off or of other keys: they are derived again",
				slog.Uint64("from", uint64(account)), slog.Uint64("to", uint64(f.count)))
			f.cut(account - 1)
			return i
		}
		programs[i] = [programSize]byte(record)
	}
	return n
}

// cut shortens the file to a number of accounts.
func (f *File) cut(count uint32) {
	if f == nil || f.file == nil {
		return
	}
	f.count = count
	if err := f.file.Truncate(offset(count + 1)); err != nil {
		f.giveUp(err)
	}
}

// write appends the programs of the accounts from one on, which follows the last of the file.
func (f *File) write(from uint32, programs [][programSize]byte) {
	if f == nil || f.file == nil || from != f.count+1 {
		return
	}
	records := make([]byte, 0, len(programs)*recordSize)
	for i := range programs {
		records = append(records, programs[i][:]...)
		records = append(records, f.tag(from+uint32(i), programs[i][:])...)
	}
	if _, err := f.file.WriteAt(records, offset(from)); err != nil {
		f.giveUp(err)
		return
	}
	f.count += uint32(len(programs))
}

// offset returns where an account's record begins.
func offset(account uint32) int64 { return int64(account-1) * recordSize }

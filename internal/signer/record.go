package signer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// logName is the signer's record: one line for each transaction, with a checksum in eight
// hex digits, a space, and JSON.
const logName = "signed.log"

// entry is a signed transaction of any kind.
type entry struct {
	purpose
	// Kind is zero for withdrawals.
	Kind bourse.SignedKind `json:"kind,omitzero"`
	Hash digest            `json:"hash"`
	Coin chain.CoinID      `json:"coin"`
	// Amount and Cost are in decimal digits; Cost is empty in records of older builds.
	Amount string `json:"amount"`
	Cost   string `json:"cost,omitempty"`
	// Time is in microseconds since 1970.
	Time int64 `json:"time"`
	// Raw is the signed transaction.
	Raw []byte `json:"raw"`
	// Purpose is the hash of the payment; zero for other kinds than withdrawals, and in records
	// of older builds.
	Purpose digest `json:"purpose,omitzero"`
	// Further is true for an attempt that does not exclude the earlier ones.
	Further bool `json:"further,omitzero"`
	// Payer is the source on networks of accounts; nil in records of older builds.
	Payer *payer `json:"payer,omitzero"`
	// Parts are the withdrawals of a joined transaction: ID is the first, and Amount what counts against the limits.
	Parts []part `json:"parts,omitempty"`
	// Void ends the withdrawal; the entry is no transaction and has no number.
	Void bool `json:"void,omitzero"`
}

// purpose identifies a withdrawal's attempt.
type purpose struct {
	Network bourse.NetworkID `json:"network"`
	ID      bourse.WalletID  `json:"id"`
	Attempt uint32           `json:"attempt"`
}

// place is the position of a line in the record, without its newline.
type place struct{ offset, length int64 }

// digest is a hash in hex.
type digest [32]byte

// MarshalText writes lower-case hex digits.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads exactly as many hex digits as a hash has.
func (d *digest) UnmarshalText(b []byte) error { return unhex(d[:], b, "a hash") }

// unhex reads exactly as many hex digits as fill to; what names it in the error.
func unhex(to, digits []byte, what string) error {
	if len(digits) != hex.EncodedLen(len(to)) {
		return fmt.Errorf("not %s", what)
	}
	_, err := hex.Decode(to, digits)
	return err
}

func (e *entry) amount() bourse.Amount { return mustParse(e.Amount) }

func (e *entry) cost() bourse.Amount {
	if e.Cost == "" {
		return bourse.Amount{}
	}
	return mustParse(e.Cost)
}

// mustParse returns an amount that parseLine has read.
func mustParse(s string) bourse.Amount {
	a, err := bourse.ParseAmount(s, 0)
	if err != nil {
		bourse.Impossible("amount %q in the signer's record", s)
	}
	return a
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// line encodes an entry as a line of the record.
func (e *entry) line() ([]byte, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return seal(text), nil
}

// seal makes a line of text, with its checksum.
func seal(text []byte) []byte {
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text)
}

// unseal returns the text of a line without its newline.
func unseal(b []byte) (text []byte, ok bool) {
	sum, text, found := bytes.Cut(b, []byte(" "))
	return text, found && string(sum) == fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli))
}

// parseLine decodes a line, without its newline.
func parseLine(b []byte) (e entry, ok bool) {
	text, ok := unseal(b)
	if !ok {
		return entry{}, false
	}
	if json.Unmarshal(text, &e, json.RejectUnknownMembers(true)) != nil {
		return entry{}, false
	}
	_, err := bourse.ParseAmount(e.Amount, 0)
	if err == nil && e.Cost != "" {
		_, err = bourse.ParseAmount(e.Cost, 0)
	}
	return e, err == nil && e.Kind <= bourse.SignedCool && (e.Kind == 0 || e.Kind.HasID()) == (e.ID > 0) && e.checkParts()
}

// log is the signer's record on disk.
type log struct {
	file disk.File
	size int64
}

// openLog opens or creates the record in a directory and passes its entries to each. A
// last line that a crash left unfinished, or with a hole, is cut off: its signature never
// left.
func openLog(d disk.Disk, each func(entry, []byte, place)) (*log, error) {
	f, err := disk.EditOrCreate(d, logName)
	if err != nil {
		return nil, err
	}
	l := &log{file: f}
	text, err := disk.ReadFile(d, logName)
	if err == nil {
		err = l.read(text, each)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

func (l *log) read(text []byte, each func(entry, []byte, place)) error {
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		e, ok := parseLine(line)
		if !whole || !ok && len(rest) == 0 && hasHole(line) {
			break
		}
		if !ok {
			return fmt.Errorf("%s is damaged at byte %d", logName, l.size)
		}
		each(e, line, place{l.size, int64(len(line))})
		l.size += int64(len(line)) + 1
		text = rest
	}
	return l.file.Truncate(l.size)
}

// hasHole reports whether a part of a line was never written: sectors reach the disk in
// any order, and a missing one reads as zeros. No valid line contains zeros, and decay
// does not produce them.
func hasHole(line []byte) bool { return bytes.IndexByte(line, 0) >= 0 }

// entry reads a line again.
func (l *log) entry(at place) (entry, error) {
	line := make([]byte, at.length)
	if n, err := l.file.ReadAt(line, at.offset); n < len(line) {
		return entry{}, err
	}
	e, ok := parseLine(line)
	if !ok {
		return entry{}, fmt.Errorf("%s is damaged at byte %d", logName, at.offset)
	}
	return e, nil
}

// append makes an entry durable, and returns its line without the newline.
func (l *log) append(e *entry) ([]byte, place, error) {
	line, err := e.line()
	if err != nil {
		return nil, place{}, err
	}
	if _, err := l.file.WriteAt(line, l.size); err != nil {
		return nil, place{}, err
	}
	if err := l.file.Sync(); err != nil {
		return nil, place{}, err
	}
	at := place{l.size, int64(len(line)) - 1}
	l.size += int64(len(line))
	return line[:at.length], at, nil
}

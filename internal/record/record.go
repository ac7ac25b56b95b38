package record

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// headerSize is the bytes in front of a record's body.
const headerSize = 6

// versionOf returns the version in which the bodies of a kind are written and
// read. Each journal begins with a genesis, so one that holds other versions of
// any kind is refused at its first record.
func versionOf(kind bourse.CommandKind) uint8 {
	switch kind {
	case bourse.CommandCreateKey, bourse.CommandTransfer, bourse.CommandDefineMarket,
		bourse.CommandCreateAccount, bourse.CommandChangeKey, bourse.CommandRevokeKey:
		return 2
	case bourse.CommandSecureAccount, bourse.CommandWithdraw:
		return 3
	case bourse.CommandGenesis:
		return 4
	default:
		return 1
	}
}

// ErrMalformed says that bytes are not records that this program wrote.
var ErrMalformed = errors.New("malformed record")

// NewerError says that a record was written by a newer program.
type NewerError struct {
	Kind    bourse.CommandKind
	Version uint8
}

// Error names the record's kind and version.
func (e *NewerError) Error() string {
	return fmt.Sprintf("record kind %d version %d was written by a newer program; this one reads up to kind %d version %d",
		e.Kind, e.Version, bourse.LastCommandKind, versionOf(e.Kind))
}

// OlderError says that a record was written by an older program.
type OlderError struct {
	Kind    bourse.CommandKind
	Version uint8
}

// Error names the record's kind and version.
func (e *OlderError) Error() string {
	return fmt.Sprintf("record kind %d version %d was written by an older program; this one reads version %d",
		e.Kind, e.Version, versionOf(e.Kind))
}

// Append appends the record of a command, without its Seq and Time, which are
// the journal's. The command must have passed its Check.
func Append(dst []byte, c *bourse.Command) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, byte(c.Kind), versionOf(c.Kind))
	dst = appendBody(dst, c)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-headerSize))
	return dst
}

// Decode reads the first record of b into c, all of whose other fields become
// zero, and returns how many bytes it took. The errors are ErrMalformed,
// *NewerError and *OlderError.
func Decode(b []byte, c *bourse.Command) (int, error) {
	body, whole := first(b)
	if !whole || b[5] == 0 {
		return 0, ErrMalformed
	}
	kind, v := bourse.CommandKind(b[4]), b[5]
	switch known := versionOf(kind); {
	case kind > bourse.LastCommandKind || v > known:
		return 0, &NewerError{kind, v}
	case v < known:
		return 0, &OlderError{kind, v}
	}
	*c = bourse.Command{}
	c.Kind = kind
	var ok bool
	switch kind {
	case bourse.CommandPlace:
		ok = decodePlace(body, c)
	case bourse.CommandCancel:
		ok = decodeCancel(body, c)
	default:
		ok = decodeBody(body, c)
	}
	if !ok || c.Check() != nil {
		return 0, ErrMalformed
	}
	return headerSize + len(body), nil
}

// first returns the body of the first record of b, and whether b has all of it.
func first(b []byte) (body []byte, whole bool) {
	if len(b) < headerSize {
		return nil, false
	}
	size := binary.LittleEndian.Uint32(b)
	if uint64(size) > uint64(len(b)-headerSize) {
		return nil, false
	}
	return b[headerSize : headerSize+int(size)], true
}

// The flags of a Place say which of its optional fields follow.
const (
	flagPostOnly = 1 << iota
	flagStop
	flagTotal
	flagClientID
	flagsKnown = 1<<iota - 1
)

const placeSize = 27

func appendPlace(dst []byte, c *bourse.Command) []byte {
	p := &c.Place
	flags := byte(0)
	if p.PostOnly {
		flags |= flagPostOnly
	}
	if p.Stop != 0 {
		flags |= flagStop
	}
	if !p.Total.IsZero() {
		flags |= flagTotal
	}
	if p.ClientID.Given() {
		flags |= flagClientID
	}
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(c.Account))
	dst = le.AppendUint16(dst, uint16(p.Market))
	dst = append(dst, byte(p.Side), byte(p.Type), byte(p.TIF), byte(p.SelfTrade), flags)
	dst = le.AppendUint64(dst, uint64(p.Price))
	dst = le.AppendUint64(dst, uint64(p.Lots))
	if flags&flagStop != 0 {
		dst = le.AppendUint64(dst, uint64(p.Stop))
	}
	if flags&flagTotal != 0 {
		dst = le.AppendUint64(dst, p.Total.Lo)
		dst = le.AppendUint64(dst, p.Total.Hi)
	}
	if flags&flagClientID != 0 {
		id := p.ClientID.String()
		dst = append(dst, byte(len(id)))
		dst = append(dst, id...)
	}
	return dst
}

func decodePlace(b []byte, c *bourse.Command) bool {
	if len(b) < placeSize {
		return false
	}
	le := binary.LittleEndian
	p := &c.Place
	c.Account, p.Market = bourse.AccountID(le.Uint32(b)), bourse.MarketID(le.Uint16(b[4:]))
	p.Side, p.Type, p.TIF = bourse.Side(b[6]), bourse.OrderType(b[7]), bourse.TimeInForce(b[8])
	p.SelfTrade = bourse.SelfTradeMode(b[9])
	flags := b[10]
	p.PostOnly = flags&flagPostOnly != 0
	p.Price, p.Lots = bourse.Price(le.Uint64(b[11:])), bourse.Lots(le.Uint64(b[19:]))
	b = b[placeSize:]
	if flags&^flagPostOnly == 0 {
		return len(b) == 0
	}
	return flags&^flagsKnown == 0 && decodeOptional(b, flags, p)
}

func decodeOptional(b []byte, flags byte, p *bourse.Place) bool {
	r := reader{b: b}
	if flags&flagStop != 0 {
		p.Stop = bourse.Price(r.uint64())
		r.bad = r.bad || p.Stop == 0
	}
	if flags&flagTotal != 0 {
		p.Total = r.amount()
		r.bad = r.bad || p.Total.IsZero()
	}
	if flags&flagClientID != 0 {
		id, err := bourse.ParseClientID(string(r.take(int(r.uint8()))))
		p.ClientID = id
		r.bad = r.bad || err != nil
	}
	return r.done()
}

func decodeCancel(b []byte, c *bourse.Command) bool {
	if len(b) != 12 {
		return false
	}
	c.Account = bourse.AccountID(binary.LittleEndian.Uint32(b))
	c.Order = bourse.OrderID(binary.LittleEndian.Uint64(b[4:]))
	return true
}

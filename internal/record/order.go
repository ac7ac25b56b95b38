package record

import (
	"encoding/binary"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// Orders and cancels are nearly all commands: they are written and read by hand, at fixed
// offsets. Rare fields of orders follow, by the codec.

// The flags of a new order tell which of its optional fields follow.
const (
	flagPostOnly = 1 << iota
	flagStop
	flagTotal
	flagClientID
	flagsKnown = 1<<iota - 1
)

const placeSize = 27

func appendPlace(dst []byte, c *bourse.Command) []byte {
	p := &c.NewOrder

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
	if !p.ClientID.IsZero() {
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
		dst = le.AppendUint32(dst, uint32(len(id)))
		dst = append(dst, id...)
	}
	return dst
}

func decodePlace(b []byte, c *bourse.Command) bool {
	if len(b) < placeSize {
		return false
	}
	le := binary.LittleEndian
	p := &c.NewOrder
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

func decodeOptional(b []byte, flags byte, p *bourse.NewOrder) bool {
	r := codec.NewReader(b)
	if flags&flagStop != 0 {
		codec.Uint64(r, &p.Stop)
		r.Want(p.Stop != 0)
	}
	if flags&flagTotal != 0 {
		r.Amount(&p.Total)
		r.Want(!p.Total.IsZero())
	}
	if flags&flagClientID != 0 {
		r.ClientID(&p.ClientID)
		r.Want(!p.ClientID.IsZero())
	}
	return r.Done()
}

func appendCancel(dst []byte, c *bourse.Command) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(c.Account))
	return binary.LittleEndian.AppendUint64(dst, uint64(c.Order))
}

func decodeCancel(b []byte, c *bourse.Command) bool {
	if len(b) != 12 {
		return false
	}
	c.Account = bourse.AccountID(binary.LittleEndian.Uint32(b))
	c.Order = bourse.OrderID(binary.LittleEndian.Uint64(b[4:]))
	return true
}

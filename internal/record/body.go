package record

import (
	"encoding/binary"

	"github.com/bourse-exchange/bourse"
)

// appendBody appends the fields that a command's kind reads.
func appendBody(dst []byte, c *bourse.Command) []byte {
	if c.Kind == bourse.CommandPlace {
		return appendPlace(dst, c)
	}
	w := writer{dst}
	switch c.Kind {
	case bourse.CommandCancel:
		w.uint32(uint32(c.Account))
		w.uint64(uint64(c.Order))
	case bourse.CommandCancelAll:
		w.uint32(uint32(c.Account))
		w.uint16(uint16(c.MarketID))
	case bourse.CommandGenesis:
		w.bytes(c.Genesis.Exchange[:])
		w.bool(c.Genesis.Sandbox)
		w.uint32(c.Genesis.Rules)
	case bourse.CommandSetRules:
		w.uint32(c.Rules)
	case bourse.CommandNote:
		w.uint32(c.Operator)
		w.text(c.Text)
	case bourse.CommandDefineAsset:
		w.asset(c.Asset)
	case bourse.CommandDefineNetwork:
		w.network(c.Network)
	case bourse.CommandDefineNetworkAsset:
		w.networkAsset(c.NetworkAsset)
	case bourse.CommandDefineMarket:
		w.market(c.Market)
	case bourse.CommandSetMarketState:
		w.uint16(uint16(c.MarketID))
		w.uint8(uint8(c.State))
	case bourse.CommandCredit:
		w.uint32(uint32(c.Account))
		w.uint16(uint16(c.AssetID))
		w.amount(c.Amount)
	case bourse.CommandTick, bourse.CommandContinue, bourse.CommandSweepFees:
	default:
		if !w.account(c) && !w.wallet(c) {
			bourse.Impossible("no record for command kind %d", c.Kind)
		}
	}
	return w.b
}

// account appends the fields that a command about an account reads, and reports
// whether it is one.
func (w *writer) account(c *bourse.Command) bool {
	switch c.Kind {
	case bourse.CommandCreateAccount:
		w.bytes(c.Token[:])
		w.person(c.Access)
	case bourse.CommandFreezeAccount:
		w.uint32(uint32(c.Account))
		w.bool(c.On)
	case bourse.CommandSetAccountFees:
		w.uint32(uint32(c.Account))
		w.bool(c.On)
		w.uint32(uint32(c.Maker))
		w.uint32(uint32(c.Taker))
		w.uint8(c.Level)
	case bourse.CommandCreateKey:
		w.uint32(uint32(c.Account))
		w.bytes(c.Token[:])
		w.access(c.Access)
	case bourse.CommandChangeKey:
		w.uint32(uint32(c.Account))
		w.uint64(uint64(c.Key))
		w.access(c.Access)
	case bourse.CommandSecureAccount:
		w.uint32(uint32(c.Account))
		w.uint64(uint64(c.Hold))
		w.uint64(uint64(c.Key))
		w.bool(c.On)
		w.person(c.Access)
	case bourse.CommandOpenSession:
		w.uint32(uint32(c.Account))
		w.access(c.Access)
	case bourse.CommandSetPerson:
		w.uint32(uint32(c.Account))
		w.bytes(c.Access.Digest[:])
	case bourse.CommandRevokeKey:
		w.uint64(uint64(c.Key))
	default:
		return false
	}
	return true
}

// decodeBody is the inverse of appendBody; false means malformed.
func decodeBody(b []byte, c *bourse.Command) bool {
	r := reader{b: b}
	switch c.Kind {
	case bourse.CommandCancelAll:
		c.Account, c.MarketID = bourse.AccountID(r.uint32()), bourse.MarketID(r.uint16())
	case bourse.CommandGenesis:
		c.Genesis = new(bourse.Genesis)
		copy(c.Genesis.Exchange[:], r.take(16))
		c.Genesis.Sandbox, c.Genesis.Rules = r.bool(), r.uint32()
	case bourse.CommandSetRules:
		c.Rules = r.uint32()
	case bourse.CommandNote:
		c.Operator, c.Text = r.uint32(), r.text()
	case bourse.CommandDefineAsset:
		c.Asset = r.asset()
	case bourse.CommandDefineNetwork:
		c.Network = r.network()
	case bourse.CommandDefineNetworkAsset:
		c.NetworkAsset = r.networkAsset()
	case bourse.CommandDefineMarket:
		c.Market = r.market()
	case bourse.CommandSetMarketState:
		c.MarketID, c.State = bourse.MarketID(r.uint16()), bourse.MarketState(r.uint8())
	case bourse.CommandCreateAccount:
		copy(c.Token[:], r.take(16))
		c.Access = r.person()
	case bourse.CommandFreezeAccount:
		c.Account, c.On = bourse.AccountID(r.uint32()), r.bool()
	case bourse.CommandSetAccountFees:
		c.Account, c.On = bourse.AccountID(r.uint32()), r.bool()
		c.Maker, c.Taker, c.Level = bourse.Rate(r.uint32()), bourse.Rate(r.uint32()), r.uint8()
	case bourse.CommandCreateKey:
		c.Account = bourse.AccountID(r.uint32())
		copy(c.Token[:], r.take(16))
		c.Access = r.access()
	case bourse.CommandChangeKey:
		c.Account, c.Key = bourse.AccountID(r.uint32()), bourse.KeyID(r.uint64())
		c.Access = r.access()
	case bourse.CommandSecureAccount:
		c.Account, c.Hold = bourse.AccountID(r.uint32()), bourse.Time(r.uint64())
		c.Key, c.On = bourse.KeyID(r.uint64()), r.bool()
		c.Access = r.person()
	case bourse.CommandOpenSession:
		c.Account = bourse.AccountID(r.uint32())
		c.Access = r.access()
	case bourse.CommandSetPerson:
		c.Account = bourse.AccountID(r.uint32())
		c.Access = new(bourse.Access)
		copy(c.Access.Digest[:], r.take(len(c.Access.Digest)))
	case bourse.CommandRevokeKey:
		c.Key = bourse.KeyID(r.uint64())
	case bourse.CommandCredit:
		c.Account, c.AssetID, c.Amount = bourse.AccountID(r.uint32()), bourse.AssetID(r.uint16()), r.amount()
	case bourse.CommandTick, bourse.CommandContinue, bourse.CommandSweepFees:
	default:
		return r.wallet(c)
	}
	return r.done()
}

func (w *writer) access(a *bourse.Access) {
	w.bytes(a.Digest[:])
	w.uint64(uint64(a.Expires))
}

func (r *reader) access() *bourse.Access {
	a := new(bourse.Access)
	copy(a.Digest[:], r.take(len(a.Digest)))
	a.Expires = bourse.Time(r.uint64())
	return a
}

// person writes the digest of a person's row, if there is one.
func (w *writer) person(a *bourse.Access) {
	w.bool(a != nil)
	if a != nil {
		w.bytes(a.Digest[:])
	}
}

func (r *reader) person() *bourse.Access {
	if !r.bool() {
		return nil
	}
	a := new(bourse.Access)
	copy(a.Digest[:], r.take(len(a.Digest)))
	return a
}

func (w *writer) asset(a *bourse.Asset) {
	w.text(string(a.Symbol))
	w.text(a.Name)
	w.uint8(a.Scale)
	w.bool(a.Enabled)
	w.bool(a.Experimental)
}

func (r *reader) asset() *bourse.Asset {
	return &bourse.Asset{
		Symbol: bourse.Symbol(r.text()), Name: r.text(), Scale: r.uint8(),
		Enabled: r.bool(), Experimental: r.bool(),
	}
}

func (w *writer) network(n *bourse.Network) {
	w.text(string(n.Symbol))
	w.text(n.Name)
	w.text(n.MemoName)
	w.bool(n.Enabled)
	w.bool(n.Experimental)
}

func (r *reader) network() *bourse.Network {
	return &bourse.Network{
		Symbol: bourse.Symbol(r.text()), Name: r.text(), MemoName: r.text(),
		Enabled: r.bool(), Experimental: r.bool(),
	}
}

func (w *writer) networkAsset(n *bourse.NetworkAsset) {
	w.uint16(uint16(n.Asset))
	w.uint16(uint16(n.Network))
	w.uint8(n.Precision)
	w.uint32(n.Confirms)
	w.text(n.Contract)
	w.amount(n.MinDeposit)
	w.amount(n.MinWithdrawal)
	w.amount(n.FeeMin)
	w.amount(n.FeeMax)
	w.bool(n.Enabled)
}

func (r *reader) networkAsset() *bourse.NetworkAsset {
	return &bourse.NetworkAsset{
		Asset: bourse.AssetID(r.uint16()), Network: bourse.NetworkID(r.uint16()),
		Precision: r.uint8(), Confirms: r.uint32(), Contract: r.text(),
		MinDeposit: r.amount(), MinWithdrawal: r.amount(), FeeMin: r.amount(), FeeMax: r.amount(),
		Enabled: r.bool(),
	}
}

// market writes what defines a market; its id, pair, state and units follow
// from the state that the command meets.
func (w *writer) market(m *bourse.Market) {
	w.uint16(uint16(m.Base))
	w.uint16(uint16(m.Quote))
	w.uint8(m.BasePrecision)
	w.uint8(m.QuotePrecision)
	w.bool(m.Enabled)
	w.uint8(uint8(m.SelfTrade))
	w.amount(m.MinOrder)
	w.uint64(uint64(m.InitialPrice))
	w.uint64(uint64(m.MaxPrice))
	w.uint32(uint32(m.Maker))
	w.uint32(uint32(m.Taker))
	w.uint32(uint32(m.Collar))
	w.uint32(uint32(m.Band))
}

func (r *reader) market() *bourse.Market {
	return &bourse.Market{
		Base: bourse.AssetID(r.uint16()), Quote: bourse.AssetID(r.uint16()),
		BasePrecision: r.uint8(), QuotePrecision: r.uint8(), Enabled: r.bool(),
		SelfTrade: bourse.SelfTradeMode(r.uint8()), MinOrder: r.amount(),
		InitialPrice: bourse.Price(r.uint64()), MaxPrice: bourse.Price(r.uint64()),
		Maker: bourse.Rate(r.uint32()), Taker: bourse.Rate(r.uint32()), Collar: bourse.Rate(r.uint32()),
		Band: bourse.Rate(r.uint32()),
	}
}

// writer appends fields.
type writer struct{ b []byte }

func (w *writer) uint8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) uint16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }
func (w *writer) uint32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *writer) uint64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) bytes(b []byte)  { w.b = append(w.b, b...) }

func (w *writer) bool(v bool) {
	if v {
		w.uint8(1)
	} else {
		w.uint8(0)
	}
}

func (w *writer) amount(a bourse.Amount) {
	w.uint64(a.Lo)
	w.uint64(a.Hi)
}

func (w *writer) text(s string) {
	w.uint16(uint16(len(s)))
	w.b = append(w.b, s...)
}

// reader takes fields; after the first mistake it returns zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) done() bool { return !r.bad && len(r.b) == 0 }

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.b, r.bad = nil, true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) bool() bool {
	v := r.uint8()
	r.bad = r.bad || v > 1
	return v == 1
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) amount() bourse.Amount {
	lo := r.uint64()
	return bourse.Amount{Hi: r.uint64(), Lo: lo}
}

func (r *reader) text() string { return string(r.take(int(r.uint16()))) }

package record

import "github.com/bourse-exchange/bourse"

// extras writes what withdrawals and transfers end with.
func (w *writer) extras(f *bourse.Withdraw) {
	w.bytes(f.Once.Key[:])
	w.bytes(f.Once.Body[:])
}

func (r *reader) extras(f *bourse.Withdraw) {
	copy(f.Once.Key[:], r.take(len(f.Once.Key)))
	copy(f.Once.Body[:], r.take(len(f.Once.Body)))
}

// What a request for money to leave has said for itself.
const (
	alone = iota
	withFactor
	again
)

func (w *writer) standing(f *bourse.Withdraw) {
	switch {
	case f.Again:
		w.uint8(again)
	case f.Factor:
		w.uint8(withFactor)
	default:
		w.uint8(alone)
	}
}

func (r *reader) standing(f *bourse.Withdraw) {
	v := r.uint8()
	f.Factor, f.Again = v == withFactor, v == again
	r.bad = r.bad || v > again
}

func (w *writer) transfer(account bourse.AccountID, f *bourse.Withdraw) {
	w.uint32(uint32(account))
	w.uint32(uint32(f.Internal))
	w.uint16(uint16(f.Asset))
	w.amount(f.Amount)
	w.standing(f)
	w.bytes(f.Message[:])
	w.extras(f)
}

func (r *reader) transfer() *bourse.Withdraw {
	f := &bourse.Withdraw{
		Internal: bourse.AccountID(r.uint32()), Asset: bourse.AssetID(r.uint16()), Amount: r.amount(),
	}
	r.standing(f)
	copy(f.Message[:], r.take(len(f.Message)))
	r.extras(f)
	return f
}

package record

import "github.com/bourse-exchange/bourse"

// extras writes what the second version of a withdrawal adds, and what a transfer
// has of it.
func (w *writer) extras(f *bourse.Withdraw) {
	w.uint64(uint64(f.NotBefore))
	w.bytes(f.Once.Key[:])
	w.bytes(f.Once.Body[:])
}

func (r *reader) extras(f *bourse.Withdraw) {
	f.NotBefore = bourse.Time(r.uint64())
	copy(f.Once.Key[:], r.take(len(f.Once.Key)))
	copy(f.Once.Body[:], r.take(len(f.Once.Body)))
}

func (w *writer) transfer(account bourse.AccountID, f *bourse.Withdraw) {
	w.uint32(uint32(account))
	w.uint32(uint32(f.Internal))
	w.uint16(uint16(f.Asset))
	w.amount(f.Amount)
	w.bool(f.Factor)
	w.bytes(f.Message[:])
	w.extras(f)
}

func (r *reader) transfer() *bourse.Withdraw {
	f := &bourse.Withdraw{
		Internal: bourse.AccountID(r.uint32()), Asset: bourse.AssetID(r.uint16()), Amount: r.amount(), Factor: r.bool(),
	}
	copy(f.Message[:], r.take(len(f.Message)))
	r.extras(f)
	return f
}

package hdkeys

import (
	"crypto/hmac"
	"crypto/sha512"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
)

// BenchmarkWatch derives the addresses of new accounts, which each start does for all of them.
func BenchmarkWatch(b *testing.B) {
	f := &Form{Network: "a network", Purpose: 84, CoinType: 0, Versions: &chaincfg.MainNetParams}
	private, err := f.Derive(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	public := private.Public()
	o := NewOwners(func(index uint32) (p [20]byte) {
		copy(p[:], fingerprint(public.Key(index).SerializeCompressed()))
		return p
	})
	var last uint32
	for b.Loop() {
		last++
		o.Watch(last)
	}
}

// BenchmarkAnchor is the least that a derivation does: a hash and a multiplication on the curve.
func BenchmarkAnchor(b *testing.B) {
	key := make([]byte, 32)
	for b.Loop() {
		h := hmac.New(sha512.New, key)
		_, _ = h.Write(key)
		sum := h.Sum(nil)
		var scalar btcec.ModNScalar
		scalar.SetByteSlice(sum[:32])
		var point btcec.JacobianPoint
		btcec.ScalarBaseMultNonConst(&scalar, &point)
		point.ToAffine()
	}
}

package hdkeys

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse/internal/disk"
)

// BenchmarkStart watches a million accounts whose addresses are in the file. It reports the CPU time of a start, and
// beside it the derivations in a second of CPU in the same run. The file has hashes of account ids, which are there in
// a second, and a start derives as many addresses as it does of true ones.
func BenchmarkStart(b *testing.B) {
	const accounts, derivations = 1_000_000, 2000
	derive := programs(b)
	hashed := func(index uint32) [20]byte {
		h := sha256.Sum256(binary.LittleEndian.AppendUint32(nil, index))
		return [20]byte(h[:])
	}
	d, err := disk.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	start := func(program func(uint32) [20]byte) {
		log := slog.New(slog.DiscardHandler)
		o := NewOwners(program)
		o.Keep(OpenFile(d, "BTC", "a chain", "public keys", log), log)
		o.Watch(accounts)
		if err := o.Close(); err != nil {
			b.Fatal(err)
		}
	}
	start(hashed)

	began := cpu(b)
	for index := range uint32(derivations) {
		derive(index)
	}
	derived := cpu(b) - began

	began = cpu(b)
	times := 0
	for b.Loop() {
		start(func(index uint32) [20]byte {
			derive(index)
			return hashed(index)
		})
		times++
	}
	b.ReportMetric((cpu(b)-began).Seconds()/float64(times), "cpu-s/start")
	b.ReportMetric(derivations/derived.Seconds(), "derivations/cpu-s")
	if err := d.Close(); err != nil {
		b.Error(err)
	}
}

// programs returns the derivation of programs by BIP 32.
func programs(b *testing.B) func(uint32) [20]byte {
	f := &Form{Network: "a network", Purpose: 84, CoinType: 0, Versions: &chaincfg.MainNetParams}
	private, err := f.Derive(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	public := private.Public()
	return func(index uint32) [20]byte { return [20]byte(address.Hash160(public.Key(index).SerializeCompressed())) }
}

// cpu returns the CPU time of the process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWatch derives the addresses of new accounts.
func BenchmarkWatch(b *testing.B) {
	o := NewOwners(programs(b))
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

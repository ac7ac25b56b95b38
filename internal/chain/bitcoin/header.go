package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/big"

	"golang.org/x/crypto/scrypt"

	"github.com/bourse-exchange/bourse/internal/chain"
)

const (
	// headerSize is the length of a block's header, in bytes.
	headerSize = 80
	// interval is the number of blocks between two changes of the difficulty.
	interval = 2016
)

// header is the part of a block that its hash covers.
type header struct {
	hash   chain.Hash
	parent chain.Hash
	root   chain.Hash
	// time is in seconds since 1970.
	time uint32
	bits uint32
	raw  [headerSize]byte
}

// double is the hash of the network: SHA-256 twice.
func double(b []byte) chain.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

// parseHeader reads a header; false if b has another length.
func parseHeader(b []byte) (h header, ok bool) {
	if len(b) != headerSize {
		return h, false
	}
	copy(h.raw[:], b)
	h.hash = double(b)
	copy(h.parent[:], b[4:])
	copy(h.root[:], b[36:])
	h.time, h.bits = binary.LittleEndian.Uint32(b[68:]), binary.LittleEndian.Uint32(b[72:])
	return h, true
}

var errWork = errors.New("a header without the work that it claims")

// checkWork checks that a header's hash is below the target that its bits state, and the
// target not above the network's limit.
func (p *Params) checkWork(h *header) error {
	target, ok := expand(h.bits)
	limit, _ := expand(p.limit)
	if !ok || target.Cmp(limit) > 0 {
		return errWork
	}

	work := h.hash
	if p.litecoin {
		key, err := scrypt.Key(h.raw[:], h.raw[:], 1024, 1, 1, len(work))
		if err != nil {
			return err
		}
		copy(work[:], key)
	}
	if number(work).Cmp(target) > 0 {
		return errWork
	}
	return nil
}

// expand returns the target of a header's bits: a mantissa of 23 bits and a sign, times a
// power of 256. It is false for targets that are negative, zero or beyond 256 bits.
func expand(bits uint32) (*big.Int, bool) {
	size, mantissa := int(bits>>24), bits&0x7fffff
	target := big.NewInt(int64(mantissa))
	if size <= 3 {
		target.Rsh(target, uint(8*(3-size)))
	} else {
		target.Lsh(target, uint(8*(size-3)))
	}
	return target, bits&0x800000 == 0 && target.Sign() > 0 && target.BitLen() <= 256
}

// compress is the inverse of expand; it drops the bits that do not fit.
func compress(target *big.Int) uint32 {
	size := (target.BitLen() + 7) / 8
	mantissa := new(big.Int)
	if size <= 3 {
		mantissa.Lsh(target, uint(8*(3-size)))
	} else {
		mantissa.Rsh(target, uint(8*(size-3)))
	}
	m := uint32(mantissa.Uint64())
	if m&0x800000 != 0 { // this bit is the sign
		m, size = m>>8, size+1
	}
	return m | uint32(size)<<24
}

// retarget returns the bits of the first block of a period: those of the block before, times
// the time that the period took by its intended time, between a quarter and fourfold.
func (p *Params) retarget(bits uint32, took int64) uint32 {
	took = min(max(took, p.timespan/4), p.timespan*4)
	target, _ := expand(bits)
	limit, _ := expand(p.limit)

	// Litecoin computes with 256 bits, and halves large targets so that they fit.
	halved := p.litecoin && target.BitLen() > limit.BitLen()-1
	if halved {
		target.Rsh(target, 1)
	}
	target.Mul(target, big.NewInt(took))
	target.Div(target, big.NewInt(p.timespan))
	if halved {
		target.Lsh(target, 1)
	}

	if target.Cmp(limit) > 0 {
		target = limit
	}
	return compress(target)
}

// firstOf returns the height of the block whose time begins the period that a block at height
// ends. Litecoin's begins one block earlier, but for the first.
func (p *Params) firstOf(height uint64) uint64 {
	if p.litecoin && height > interval {
		return height - interval - 1
	}
	return height - interval
}

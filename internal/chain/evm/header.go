package evm

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// header is the part of a block that its hash covers, as a node answers it. The fields from
// BaseFee on came with later versions of the network; each version has those of the earlier ones.
type header struct {
	Hash             digest    `json:"hash"`
	Parent           digest    `json:"parentHash"`
	Uncles           digest    `json:"sha3Uncles"`
	Miner            data      `json:"miner"`
	State            digest    `json:"stateRoot"`
	Transactions     digest    `json:"transactionsRoot"`
	Receipts         digest    `json:"receiptsRoot"`
	Bloom            data      `json:"logsBloom"`
	Difficulty       quantity  `json:"difficulty"`
	Number           quantity  `json:"number"`
	GasLimit         quantity  `json:"gasLimit"`
	GasUsed          quantity  `json:"gasUsed"`
	Time             quantity  `json:"timestamp"`
	Extra            data      `json:"extraData"`
	Mix              digest    `json:"mixHash"`
	Nonce            data      `json:"nonce"`
	BaseFee          *quantity `json:"baseFeePerGas"`
	Withdrawals      *digest   `json:"withdrawalsRoot"`
	BlobGas          *quantity `json:"blobGasUsed"`
	ExcessBlobGas    *quantity `json:"excessBlobGas"`
	BeaconRoot       *digest   `json:"parentBeaconBlockRoot"`
	Requests         *digest   `json:"requestsHash"`
	BlockAccessLists *digest   `json:"blockAccessListHash"`
}

// encode returns the bytes whose hash is the block's.
func (h *header) encode() []byte {
	var b []byte
	for _, s := range [][]byte{
		h.Parent[:], h.Uncles[:], h.Miner, h.State[:], h.Transactions[:], h.Receipts[:], h.Bloom, h.Difficulty,
		h.Number, h.GasLimit, h.GasUsed, h.Time, h.Extra, h.Mix[:], h.Nonce,
	} {
		b = appendString(b, s)
	}
	for _, s := range []*quantity{h.BaseFee, word(h.Withdrawals), h.BlobGas, h.ExcessBlobGas,
		word(h.BeaconRoot), word(h.Requests), word(h.BlockAccessLists)} {
		if s == nil {
			break
		}
		b = appendString(b, *s)
	}
	return list(b)
}

// word returns a digest as a string to encode, or nil.
func word(d *digest) *quantity {
	if d == nil {
		return nil
	}
	s := quantity(d[:])
	return &s
}

// check checks that the header has its hash, and numbers that can be.
func (h *header) check() error {
	height, fits := h.Number.uint64()
	seconds, also := h.Time.uint64()
	switch {
	case keccak(h.encode()) != chain.Hash(h.Hash):
		return odd("a header that does not have its hash")
	case !fits || !also || height > math.MaxInt64 || seconds > math.MaxInt64/uint64(bourse.Second):
		return odd("a header of a height or time that cannot be")
	case h.BaseFee != nil && len(*h.BaseFee) > 8:
		return odd("a base fee that cannot be")
	}
	return nil
}

// height returns the block's height.
func (h *header) height() uint64 {
	n, _ := h.Number.uint64() // checked
	return n
}

// when returns the block's time.
func (h *header) when() bourse.Time {
	seconds, _ := h.Time.uint64() // checked
	return bourse.Time(seconds) * bourse.Second
}

// baseFee returns the price of gas that is burned; zero on networks that burn none.
func (h *header) baseFee() uint64 {
	if h.BaseFee == nil {
		return 0
	}
	n, _ := h.BaseFee.uint64() // checked
	return n
}

// ref names the block.
func (h *header) ref() chain.BlockRef {
	return chain.BlockRef{Height: h.height(), Hash: chain.Hash(h.Hash)}
}

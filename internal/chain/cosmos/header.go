package cosmos

import (
	"crypto/sha256"
	"math/bits"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// blockID names a block. Its parts are how nodes send it to each other.
type blockID struct {
	Hash  digest `json:"hash"`
	Parts struct {
		Total uint32 `json:"total"`
		Hash  digest `json:"hash"`
	} `json:"parts"`
}

// header is a block's header, all of whose fields are in its hash.
type header struct {
	Version struct {
		Block number `json:"block"`
		App   number `json:"app"`
	} `json:"version"`
	Chain          string    `json:"chain_id"`
	Height         number    `json:"height"`
	Time           time.Time `json:"time"`
	Last           blockID   `json:"last_block_id"`
	LastCommit     digest    `json:"last_commit_hash"`
	Data           digest    `json:"data_hash"`
	Validators     digest    `json:"validators_hash"`
	NextValidators digest    `json:"next_validators_hash"`
	Consensus      digest    `json:"consensus_hash"`
	App            digest    `json:"app_hash"`
	LastResults    digest    `json:"last_results_hash"`
	Evidence       digest    `json:"evidence_hash"`
	Proposer       digest    `json:"proposer_address"`
}

// hash returns the root of the header's fields.
func (h *header) hash() chain.Hash {
	parts := appendBytes(appendNumber(nil, 1, uint64(h.Last.Parts.Total)), 2, h.Last.Parts.Hash)
	if len(h.Last.Parts.Hash) == 0 {
		parts = appendNumber(nil, 1, uint64(h.Last.Parts.Total))
	}
	last := appendBytes(appendText(nil, 1, string(h.Last.Hash)), 2, parts)
	moment := appendSigned(appendSigned(nil, 1, h.Time.Unix()), 2, int64(h.Time.Nanosecond()))
	leaves := [][]byte{
		appendNumber(appendNumber(nil, 1, uint64(h.Version.Block)), 2, uint64(h.Version.App)),
		appendText(nil, 1, h.Chain), appendNumber(nil, 1, uint64(h.Height)), moment, last,
	}
	for _, d := range []digest{
		h.LastCommit, h.Data, h.Validators, h.NextValidators, h.Consensus, h.App, h.LastResults, h.Evidence, h.Proposer,
	} {
		leaves = append(leaves, appendText(nil, 1, string(d)))
	}
	return rootOf(leaves)
}

// check compares the header with the hash that the node names it by.
func (h *header) check(id *blockID) error {
	if named, ok := id.Hash.hash(); !ok || named != h.hash() {
		return describe(uint64(h.Height), "it does not have its hash")
	}
	return nil
}

// appendSigned appends a number that may be negative; zero is left out.
func appendSigned(b []byte, field protowire.Number, v int64) []byte {
	return appendNumber(b, field, uint64(v))
}

// ref names the header's block.
func (h *header) ref() chain.BlockRef {
	return chain.BlockRef{Height: uint64(h.Height), Hash: h.hash()}
}

// when returns the time of the header.
func (h *header) when() bourse.Time { return bourse.TimeOf(h.Time) }

// parent returns the hash of the block below; zero for the first.
func (h *header) parent() (parent chain.Hash) {
	copy(parent[:], h.Last.Hash)
	return parent
}

// rootOf returns the root of a tree of leaves, as RFC 6962 has it.
func rootOf(leaves [][]byte) chain.Hash {
	switch n := len(leaves); n {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return sha256.Sum256(append([]byte{0}, leaves[0]...))
	default:
		half := 1 << (bits.Len(uint(n-1)) - 1)
		left, right := rootOf(leaves[:half]), rootOf(leaves[half:])
		return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
	}
}

package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/chain"
)

var (
	errBlock      = errors.New("not a block")
	errMutated    = errors.New("a Merkle tree that holds a branch twice")
	errRoot       = errors.New("transactions that are not the header's")
	errCommitment = errors.New("witnesses that are not the block's")
)

// rawBlock is a block in the bytes that it was read from. Its header and transactions agree.
type rawBlock struct {
	header
	txs    []rawTx
	hashes []chain.Hash
}

// parseBlock reads a block and checks that its transactions are its header's.
func (p *Params) parseBlock(b []byte, own *owner) (*rawBlock, error) {
	if len(b) < headerSize {
		return nil, errBlock
	}
	out := &rawBlock{}
	out.header, _ = parseHeader(b[:headerSize])
	c := &cursor{b: b, at: headerSize}
	count := c.count()
	if count == 0 || count > uint64(len(b))/minTxSize {
		return nil, errBlock
	}

	out.txs = make([]rawTx, 0, count)
	out.hashes = make([]chain.Hash, 0, count)
	witnessed := false
	for range count {
		t := c.tx(own)
		if c.bad {
			return nil, errBlock
		}
		witnessed = witnessed || t.witness != nil
		out.txs, out.hashes = append(out.txs, t), append(out.hashes, t.hash())
	}
	if extended := p.litecoin && out.txs[count-1].mweb; !extended && c.at != len(b) {
		return nil, errBlock
	}

	root, err := merkleRoot(bytes.Clone(flat(out.hashes)))
	switch {
	case err != nil:
		return nil, err
	case root != out.root:
		return nil, errRoot
	case witnessed:
		return out, out.checkCommitment()
	}
	return out, nil
}

// minTxSize is the length of the shortest transaction, in bytes: one input, no output.
const minTxSize = 4 + 1 + 41 + 1 + 4

// flat returns hashes one after the other.
func flat(hashes []chain.Hash) []byte {
	b := make([]byte, 0, 32*len(hashes))
	for i := range hashes {
		b = append(b, hashes[i][:]...)
	}
	return b
}

// merkleRoot returns the root of a tree with these leaves, whose bytes it overwrites. A level of
// odd length repeats its last hash, so that a list which ends in a repetition has the same
// root as the list without: such lists are refused (CVE-2012-2459).
func merkleRoot(level []byte) (chain.Hash, error) {
	for len(level) > 32 {
		next := level[:0]
		for i := 0; i < len(level); i += 64 {
			pair := [64]byte{}
			copy(pair[:32], level[i:])
			copy(pair[32:], level[i:i+32])
			if i+32 < len(level) {
				copy(pair[32:], level[i+32:])
				if [32]byte(pair[:32]) == [32]byte(pair[32:]) {
					return chain.Hash{}, errMutated
				}
			}
			h := double(pair[:])
			next = append(next, h[:]...)
		}
		level = next
	}
	return chain.Hash(level), nil
}

// commitmentPrefix begins the coinbase's output with the commitment to the witnesses (BIP 141).
var commitmentPrefix = []byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}

// checkCommitment checks that the coinbase commits to the witnesses.
func (b *rawBlock) checkCommitment() error {
	_, outputs := b.txs[0].parts()
	var committed []byte
	for _, o := range outputs {
		if len(o.script) >= 38 && bytes.HasPrefix(o.script, commitmentPrefix) {
			committed = o.script[6:38]
		}
	}
	w := &cursor{b: b.txs[0].witness}
	items, reserved := w.count(), w.bytes()
	if committed == nil || items != 1 || len(reserved) != 32 {
		return errCommitment
	}

	leaves := make([]byte, 32, 32*len(b.txs)) // the coinbase's own hash counts as zero
	for i := range b.txs[1:] {
		h := b.fullHash(i + 1)
		leaves = append(leaves, h[:]...)
	}
	root, err := merkleRoot(leaves)
	if err != nil {
		return err
	}
	if got := double(append(root[:], reserved...)); !bytes.Equal(got[:], committed) {
		return errCommitment
	}
	return nil
}

// fullHash returns the hash of a transaction with its witness, which without one is its name.
func (b *rawBlock) fullHash(i int) chain.Hash {
	if b.txs[i].witness == nil {
		return b.hashes[i]
	}
	return b.txs[i].fullHash()
}

// height returns the height in the coinbase (BIP 34); false if it has none.
func (b *rawBlock) height() (uint64, bool) {
	inputs, _ := b.txs[0].parts()
	script := inputs[0].script
	if len(script) == 0 {
		return 0, false
	}
	switch n := script[0]; {
	case n == 0:
		return 0, true
	case n > 0x50 && n <= 0x60:
		return uint64(n - 0x50), true
	case n > 5 || int(n) >= len(script):
		return 0, false
	default:
		var h uint64
		for i := range n {
			h |= uint64(script[1+i]) << (8 * i)
		}
		return h, true
	}
}

func describe(height uint64, err error) error {
	return fmt.Errorf("%w: block %d: %w", chain.ErrOdd, height, err)
}

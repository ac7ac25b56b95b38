package evm

import "github.com/bourse-exchange/bourse/internal/chain"

// rootOf returns the root of the Merkle-Patricia trie that maps the numbers from zero, in RLP, to
// these values: the form in which a header covers its transactions and receipts.
func rootOf(values [][]byte) chain.Hash {
	leaves := make([]leaf, len(values))
	for i := range values {
		leaves[i] = leaf{nibbles(appendUint(nil, uint64(i))), values[i]}
	}
	return keccak(node(sorted(leaves), 0))
}

// leaf is a value of a trie, and its key in half bytes.
type leaf struct {
	key   []byte
	value []byte
}

func nibbles(b []byte) []byte {
	n := make([]byte, 0, 2*len(b))
	for _, c := range b {
		n = append(n, c>>4, c&15)
	}
	return n
}

// sorted returns leaves by their keys. Encoded, the numbers from 1 to 127 are one byte each, zero
// is 0x80, and larger ones follow.
func sorted(leaves []leaf) []leaf {
	if len(leaves) == 0 {
		return nil
	}
	few := min(len(leaves), rlpString)
	list := append(make([]leaf, 0, len(leaves)), leaves[1:few]...)
	return append(append(list, leaves[0]), leaves[few:]...)
}

// node returns the encoding of the node above these leaves, which share the first at half bytes
// of their keys. The keys are in order, and none begins another.
func node(leaves []leaf, at int) []byte {
	if len(leaves) == 0 {
		return appendString(nil, nil)
	}
	first, last := leaves[0].key, leaves[len(leaves)-1].key
	if len(leaves) == 1 {
		return list(appendString(appendString(nil, path(first[at:], true)), leaves[0].value))
	}

	fork := at
	for first[fork] == last[fork] {
		fork++
	}
	if fork > at {
		return list(append(appendString(nil, path(first[at:fork], false)), reference(node(leaves, fork))...))
	}

	var content []byte
	for nibble := range byte(16) {
		n := 0
		for n < len(leaves) && leaves[n].key[at] == nibble {
			n++
		}
		content = append(content, reference(node(leaves[:n], at+1))...)
		leaves = leaves[n:]
	}
	return list(appendString(content, nil)) // no key ends at a fork
}

// reference returns a node's encoding as its parent has it: itself if it is short, else its hash.
func reference(encoded []byte) []byte {
	if len(encoded) < wordSize {
		return encoded
	}
	h := keccak(encoded)
	return appendString(nil, h[:])
}

// path returns part of a key in whole bytes: its first half byte tells whether a value ends it, and
// whether a half byte follows in the first byte.
func path(nibbles []byte, ends bool) []byte {
	head := byte(0)
	if ends {
		head = 2
	}
	if len(nibbles)%2 == 1 {
		nibbles = append([]byte{head | 1}, nibbles...)
	} else {
		nibbles = append([]byte{head, 0}, nibbles...)
	}
	b := make([]byte, len(nibbles)/2)
	for i := range b {
		b[i] = nibbles[2*i]<<4 | nibbles[2*i+1]
	}
	return b
}

package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// cursor reads bytes in order. After an error it returns zeros, and bad stays true.
type cursor struct {
	b   []byte
	at  int
	bad bool
}

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)-c.at) {
		c.bad, c.at = true, len(c.b)
		return nil
	}
	from := c.at
	c.at += int(n)
	return c.b[from:c.at:c.at]
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// peek returns the next byte without reading it.
func (c *cursor) peek() byte {
	if c.at < len(c.b) {
		return c.b[c.at]
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads a number of variable length, which must have the shortest form.
func (c *cursor) count() uint64 {
	var n, least uint64
	switch first := c.byte(); first {
	case 0xfd:
		if b := c.take(2); b != nil {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		least = 0xfd
	case 0xfe:
		n, least = uint64(c.uint32()), 1<<16
	case 0xff:
		n, least = c.uint64(), 1<<32
	default:
		return uint64(first)
	}
	c.bad = c.bad || n < least
	return n
}

// bytes reads a number and as many bytes.
func (c *cursor) bytes() []byte { return c.take(c.count()) }

// Flags of the byte that follows a transaction's marker.
const (
	flagWitness = 1
	flagMWEB    = 8
)

// rawTx is a transaction in the bytes that it was read from.
type rawTx struct {
	version, locktime []byte
	// body has the inputs and outputs with their counts.
	body []byte
	// witness has the inputs' witnesses; nil if the transaction has none.
	witness []byte
	inputs  uint64
	// mweb is true for Litecoin's integrating transaction, after which a block has an extension
	// block.
	mweb bool
	// touches is true if an output pays, or a witness is of, a program that own knows.
	touches bool
}

// owner tells which witness programs are the exchange's.
type owner struct {
	// key reports whether a P2WPKH program is.
	key func(program *[20]byte) bool
	// script reports whether a P2WSH program is; nil if none is. All have scripts of scriptSize bytes.
	script     func(program *[32]byte) bool
	scriptSize int
}

// pays reports whether an output's script is one of the exchange's.
func (o *owner) pays(script []byte) bool {
	if to, ok := witnessKeyHash(script); ok {
		return o.key(to)
	}
	to, ok := witnessScriptHash(script)
	return ok && o.script != nil && o.script(to)
}

// spends returns the script of the output that an input's witness unlocks, if it can be the exchange's: a P2WPKH witness has
// two items and ends in a key, and a P2WSH one ends in the script.
func (o *owner) spends(items uint64, last []byte) (script []byte) {
	switch {
	case items == 2 && len(last) == keySize:
		if to := [20]byte(hash160(last)); o.key(&to) {
			return keyHashScript(to)
		}
	case o.script != nil && items > 0 && len(last) == o.scriptSize:
		if to := sha256.Sum256(last); o.script(&to) {
			return scriptHashScript(to)
		}
	}
	return nil
}

// tx reads a transaction.
func (c *cursor) tx(own *owner) (t rawTx) {
	t.version = c.take(4)
	var flags byte
	if c.peek() == 0 { // the marker: no transaction has zero inputs
		c.take(1)
		flags = c.byte()
		c.bad = c.bad || flags&(flagWitness|flagMWEB) == 0 || flags&^(flagWitness|flagMWEB) != 0
	}

	from := c.at
	t.inputs = c.count()
	c.bad = c.bad || t.inputs == 0
	for i := uint64(0); i < t.inputs && !c.bad; i++ {
		c.take(36)
		c.bytes()
		c.take(4)
	}
	outputs := c.count()
	for i := uint64(0); i < outputs && !c.bad; i++ {
		c.take(8)
		t.touches = own.pays(c.bytes()) || t.touches
	}
	t.body = c.b[from:c.at]

	if flags&flagWitness != 0 {
		c.witnesses(&t, own)
	}
	if flags&flagMWEB != 0 {
		// In a block only the integrating transaction has this flag, with an empty part.
		t.mweb = true
		c.bad = c.bad || c.byte() != 0
	}
	t.locktime = c.take(4)
	return t
}

// witnesses reads the inputs' witnesses. The last item tells the address that the input spends from.
func (c *cursor) witnesses(t *rawTx, own *owner) {
	from := c.at
	for i := uint64(0); i < t.inputs && !c.bad; i++ {
		items, last := c.count(), []byte(nil)
		for n := uint64(0); n < items && !c.bad; n++ {
			last = c.bytes()
		}
		t.touches = t.touches || !c.bad && own.spends(items, last) != nil
	}
	t.witness = c.b[from:c.at]
}

// keySize is the length of a compressed public key, in bytes.
const keySize = 33

// hash returns the transaction's name, which covers no witness.
func (t *rawTx) hash() chain.Hash {
	h := sha256.New()
	h.Write(t.version)
	h.Write(t.body)
	h.Write(t.locktime)
	return finish(h.Sum(nil))
}

// fullHash returns the hash of a transaction with its witness.
func (t *rawTx) fullHash() chain.Hash {
	h := sha256.New()
	h.Write(t.version)
	h.Write([]byte{0, flagWitness})
	h.Write(t.body)
	h.Write(t.witness)
	h.Write(t.locktime)
	return finish(h.Sum(nil))
}

func finish(once []byte) chain.Hash { return sha256.Sum256(once) }

// txInput is an input with the number of its witness's items and the last one.
type txInput struct {
	spent    chain.Outpoint
	script   []byte
	sequence uint32
	items    uint64
	last     []byte
}

type txOutput struct {
	amount uint64
	script []byte
}

// parts returns a transaction's inputs and outputs. It is called for transactions that were
// read without an error.
func (t *rawTx) parts() (inputs []txInput, outputs []txOutput) {
	c := &cursor{b: t.body}
	inputs = make([]txInput, c.count())
	for i := range inputs {
		in := &inputs[i]
		copy(in.spent.Tx[:], c.take(32))
		in.spent.Index, in.script, in.sequence = c.uint32(), c.bytes(), c.uint32()
	}
	outputs = make([]txOutput, c.count())
	for i := range outputs {
		outputs[i].amount, outputs[i].script = c.uint64(), c.bytes()
	}

	if t.witness != nil {
		w := &cursor{b: t.witness}
		for i := range inputs {
			inputs[i].items = w.count()
			for range inputs[i].items {
				inputs[i].last = w.bytes()
			}
		}
	}
	return inputs, outputs
}

var errTx = errors.New("not a transaction")

// parseTx reads a transaction that b holds, and nothing else.
func parseTx(b []byte) (rawTx, error) {
	c := &cursor{b: b}
	t := c.tx(&owner{key: func(*[20]byte) bool { return false }})
	if c.bad || c.at != len(b) {
		return rawTx{}, errTx
	}
	return t, nil
}

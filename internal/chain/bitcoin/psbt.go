package bitcoin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"
)

// psbtMagic begins a partially signed transaction (BIP 174).
const psbtMagic = "psbt\xff"

// maxPSBT bounds a partially signed transaction, in bytes: it has whole previous transactions.
const maxPSBT = 4 << 20

// Types of the keys that are read and written. All others are left out.
const (
	globalTx      = 0x00
	globalVersion = 0xfb

	inPrevious          = 0x00
	inSpent             = 0x01
	inSignature         = 0x02
	inScript            = 0x05
	inPath              = 0x06
	inFinalScript       = 0x07
	inFinalWitness      = 0x08
	outScript           = 0x01
	outPath             = 0x02
	endOfMap       byte = 0x00
)

var (
	errPSBT        = errors.New("not a partially signed transaction of version 0 (BIP 174)")
	errPSBTVersion = errors.New("the PSBT has another version than 0: export it as version 0")
	errPSBTLength  = errors.New("the PSBT is longer than 4 MiB: send the final transaction")
)

// psbt is a partially signed transaction.
type psbt struct {
	// tx has no signatures.
	tx      *wire.MsgTx
	inputs  []psbtInput
	outputs []psbtOutput
}

// psbtInput is a PSBT's data of an input: for its signers, and by them.
type psbtInput struct {
	// previous is the whole previous transaction without its witnesses; spent is its output.
	previous []byte
	spent    *wire.TxOut
	// script is that whose hash a P2WSH output has.
	script []byte
	paths  []keyPath
	// signatures are by public keys.
	signatures []signature
	// final is a complete witness.
	final wire.TxWitness
}

// psbtOutput tells signers that an output is theirs.
type psbtOutput struct {
	script []byte
	paths  []keyPath
}

// keyPath is a public key with its path from the seed that has the fingerprint.
type keyPath struct {
	key         []byte
	fingerprint [4]byte
	path        []uint32
}

// signature is a signature by a public key.
type signature struct{ key, value []byte }

// value returns the path's form in a PSBT.
func (k *keyPath) value() []byte {
	b := slices.Clone(k.fingerprint[:])
	for _, step := range k.path {
		b = binary.LittleEndian.AppendUint32(b, step)
	}
	return b
}

// encode writes the PSBT.
func (p *psbt) encode() []byte {
	var tx bytes.Buffer
	_ = p.tx.SerializeNoWitness(&tx) // a buffer takes everything
	b := appendPair([]byte(psbtMagic), []byte{globalTx}, tx.Bytes())
	b = append(b, endOfMap)
	for i := range p.inputs {
		b = p.inputs[i].append(b)
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		if o.script != nil {
			b = appendPair(b, []byte{outScript}, o.script)
		}
		b = append(appendPaths(b, outPath, o.paths), endOfMap)
	}
	return b
}

func (in *psbtInput) append(b []byte) []byte {
	if in.previous != nil {
		b = appendPair(b, []byte{inPrevious}, in.previous)
	}
	if in.spent != nil {
		value := binary.LittleEndian.AppendUint64(nil, uint64(in.spent.Value))
		b = appendPair(b, []byte{inSpent}, appendBytes(value, in.spent.PkScript))
	}
	for _, s := range in.signatures {
		b = appendPair(b, append([]byte{inSignature}, s.key...), s.value)
	}
	if in.script != nil {
		b = appendPair(b, []byte{inScript}, in.script)
	}
	b = appendPaths(b, inPath, in.paths)
	if in.final != nil {
		witness := appendCount(nil, uint64(len(in.final)))
		for _, item := range in.final {
			witness = appendBytes(witness, item)
		}
		b = appendPair(b, []byte{inFinalWitness}, witness)
	}
	return append(b, endOfMap)
}

func appendPaths(b []byte, kind byte, paths []keyPath) []byte {
	for i := range paths {
		b = appendPair(b, append([]byte{kind}, paths[i].key...), paths[i].value())
	}
	return b
}

func appendPair(b, key, value []byte) []byte { return appendBytes(appendBytes(b, key), value) }

func appendBytes(b, value []byte) []byte {
	return append(appendCount(b, uint64(len(value))), value...)
}

// appendCount writes a number of variable length in its shortest form.
func appendCount(b []byte, n uint64) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n < 1<<16:
		return binary.LittleEndian.AppendUint16(append(b, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(b, 0xfe), uint32(n))
	}
}

// pair is a key with its value.
type pair struct{ key, value []byte }

// pairs reads a map to its end. A key that comes twice is malformed.
func (c *cursor) pairs() (list []pair) {
	seen := map[string]bool{}
	for !c.bad {
		key := c.bytes()
		if c.bad || len(key) == 0 {
			return list
		}
		p := pair{key, c.bytes()}
		c.bad = c.bad || seen[string(key)]
		seen[string(key)] = true
		list = append(list, p)
	}
	return nil
}

// parsePSBT reads a PSBT to its last byte. Keys that are not known here are left out.
func parsePSBT(b []byte) (*psbt, error) {
	if len(b) > maxPSBT {
		return nil, errPSBTLength
	}
	rest, ok := bytes.CutPrefix(b, []byte(psbtMagic))
	if !ok {
		return nil, errPSBT
	}
	c, p := &cursor{b: rest}, &psbt{}
	for _, g := range c.pairs() {
		switch {
		case len(g.key) == 1 && g.key[0] == globalTx:
			if p.tx, ok = parseUnsigned(g.value); !ok {
				return nil, errPSBT
			}
		case len(g.key) == 1 && g.key[0] == globalVersion && !bytes.Equal(g.value, make([]byte, 4)):
			return nil, errPSBTVersion
		}
	}
	if c.bad || p.tx == nil {
		return nil, errPSBT
	}

	for range p.tx.TxIn {
		in, ok := parseInput(c.pairs())
		if !ok || c.bad {
			return nil, errPSBT
		}
		p.inputs = append(p.inputs, in)
	}
	for range p.tx.TxOut {
		out, ok := parseOutput(c.pairs())
		if !ok || c.bad {
			return nil, errPSBT
		}
		p.outputs = append(p.outputs, out)
	}
	if c.at != len(rest) {
		return nil, errPSBT
	}
	return p, nil
}

// parseTransaction reads a transaction. The cheap reader comes first: the other one makes room for as many inputs as the
// bytes claim.
func parseTransaction(b []byte) (*wire.MsgTx, bool) {
	t, err := parseTx(b)
	if err != nil || t.mweb {
		return nil, false
	}
	tx := &wire.MsgTx{}
	return tx, tx.Deserialize(bytes.NewReader(b)) == nil
}

// parseUnsigned reads a transaction that has no signature yet.
func parseUnsigned(b []byte) (*wire.MsgTx, bool) {
	tx, ok := parseTransaction(b)
	if !ok || tx.HasWitness() {
		return nil, false
	}
	return tx, !slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return len(in.SignatureScript) > 0 })
}

func parseInput(list []pair) (in psbtInput, ok bool) {
	for _, p := range list {
		kind, rest := p.key[0], p.key[1:]
		good := true
		switch {
		case kind == inSignature:
			in.signatures = append(in.signatures, signature{rest, p.value})
		case kind == inPath:
			var path keyPath
			path, good = parseKeyPath(rest, p.value)
			in.paths = append(in.paths, path)
		case len(rest) > 0: // of a kind that is not known, or malformed
		case kind == inPrevious:
			in.previous = p.value
		case kind == inSpent:
			in.spent, good = parseSpent(p.value)
		case kind == inScript:
			in.script = p.value
		case kind == inFinalScript:
			good = len(p.value) == 0 // outputs of cold storage have none
		case kind == inFinalWitness:
			in.final, good = parseWitness(p.value)
		}
		if !good {
			return in, false
		}
	}
	return in, true
}

func parseOutput(list []pair) (out psbtOutput, ok bool) {
	for _, p := range list {
		kind, rest := p.key[0], p.key[1:]
		switch {
		case kind == outPath:
			path, good := parseKeyPath(rest, p.value)
			if !good {
				return out, false
			}
			out.paths = append(out.paths, path)
		case kind == outScript && len(rest) == 0:
			out.script = p.value
		}
	}
	return out, true
}

func parseKeyPath(key, value []byte) (k keyPath, ok bool) {
	if len(value) < 4 || len(value)%4 != 0 {
		return k, false
	}
	k.key, k.fingerprint = key, [4]byte(value)
	for at := 4; at < len(value); at += 4 {
		k.path = append(k.path, binary.LittleEndian.Uint32(value[at:]))
	}
	return k, true
}

func parseSpent(value []byte) (*wire.TxOut, bool) {
	c := &cursor{b: value}
	amount, script := c.uint64(), c.bytes()
	return &wire.TxOut{Value: int64(amount), PkScript: script}, !c.bad && c.at == len(value) && amount <= most
}

func parseWitness(value []byte) (w wire.TxWitness, ok bool) {
	c := &cursor{b: value}
	for n := c.count(); n > 0 && !c.bad; n-- {
		w = append(w, c.bytes())
	}
	return w, !c.bad && c.at == len(value)
}

// readSigned reads PSBTs and transactions from what people bring: the bytes of one PSBT, or texts in hexadecimal digits
// or base64 with blanks between them.
func readSigned(signed []byte) (list []*psbt, err error) {
	texts := [][]byte{signed}
	if !bytes.HasPrefix(signed, []byte(psbtMagic)) {
		texts = bytes.Fields(signed)
		for i, text := range texts {
			b, err := hex.DecodeString(string(text))
			if err != nil {
				b, err = base64.StdEncoding.DecodeString(string(text))
			}
			if err != nil {
				return nil, errSigned
			}
			texts[i] = b
		}
	}
	for _, b := range texts {
		p, err := parsePSBT(b)
		if tx, ok := parseTransaction(b); errors.Is(err, errPSBT) && ok {
			p, err = finished(tx), nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, errSigned
	}
	return list, nil
}

// finished returns a final transaction as a PSBT with complete witnesses.
func finished(tx *wire.MsgTx) *psbt {
	p := &psbt{tx: tx, inputs: make([]psbtInput, len(tx.TxIn)), outputs: make([]psbtOutput, len(tx.TxOut))}
	for i, in := range tx.TxIn {
		p.inputs[i].final, in.Witness = in.Witness, nil
	}
	return p
}

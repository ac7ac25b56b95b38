package bitcoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

var _ chain.ColdStorage = (*Client)(nil)

var (
	errSigned      = errors.New("neither a PSBT nor a transaction, in base64 or hexadecimal digits")
	errNoCold      = errors.New("the settings name no cold storage")
	errTogether    = errors.New("these are signatures of different transactions")
	errColdInput   = errors.New("it spends an output that is not in cold storage, or that a transaction spends already")
	errColdOutput  = errors.New("it pays an address that is neither the hot wallet's nor one of cold storage's first 1,000")
	errColdHotPay  = errors.New("it pays the hot wallet's address not once")
	errColdCost    = errors.New("it costs more than the highest fee rate of the settings allows")
	errColdLong    = errors.New("it spends more outputs than an act has room for: move less at a time")
	errBrought     = errors.New("too many signatures of an input: send each only once")
	errColdWitness = errors.New("signatures are missing")
)

const (
	// weightOutpoint has an input's outpoint, empty script and sequence.
	weightOutpoint = 4 * (36 + 1 + 4)
	// maxThawed bounds the envelope of a transaction from cold storage and the names of its inputs in the journal, in
	// bytes: the command that has both is in an act.
	maxThawed = bourse.MaxActRecord - 256
	// sizeOutpoint is the size of an input's name in the journal.
	sizeOutpoint = 36
)

// inputWitness returns the largest size of an input's witness.
func (c *Cold) inputWitness() int {
	if c.need == 0 {
		return weightInput - weightOutpoint
	}
	script := c.witnessScript(0)
	return 1 + 1 + c.need*(1+72) + len(appendBytes(nil, script))
}

// pathsOf returns the public keys of address n with their paths.
func (c *Cold) pathsOf(n uint32) (list []keyPath) {
	for i := range c.keys {
		k := &c.keys[i]
		list = append(list, keyPath{k.child(n), k.fingerprint, append(k.path[:len(k.path):len(k.path)], n)})
	}
	return list
}

// scriptCode returns the script that signatures of address n cover: the witness script, or that of the P2WPKH output.
func (c *Cold) scriptCode(n uint32) []byte {
	if c.need == 0 {
		return c.script(n)
	}
	return c.witnessScript(n)
}

// output describes an output of address n to signers.
func (c *Cold) output(n uint32) psbtOutput {
	o := psbtOutput{paths: c.pathsOf(n)}
	if c.need > 0 {
		o.script = c.witnessScript(n)
	}
	return o
}

// Draft returns a transaction from cold storage to the hot wallet, for people to sign. It spends the first of the
// payment's inputs that are enough, and that exclude what it replaces. Change goes to the address after the first input's.
func (c *Client) Draft(ctx context.Context, p *chain.Payment) (chain.Draft, error) {
	if c.cold == nil || p.Coin != c.params.Coin {
		return chain.Draft{}, errNoCold
	}
	if p.Amount.Less(bourse.Units(dustDestination)) {
		return chain.Draft{}, bourse.Errorf(bourse.CodeInvalid, "the network does not carry less than %d units", dustDestination)
	}
	b, err := c.bid(ctx, p.Replaces)
	if err != nil {
		return chain.Draft{}, err
	}

	t, err := c.thaw(p, &b)
	if err != nil {
		return chain.Draft{}, err
	}
	cost, err := t.cost()
	if err != nil {
		return chain.Draft{}, err
	}
	text, err := c.describe(ctx, t)
	return chain.Draft{PSBT: text, Cost: cost}, err
}

// thaw makes the transaction of a draft.
func (c *Client) thaw(p *chain.Payment, b *bid) (*payment, error) {
	var replaced []*payment
	for _, raw := range p.Replaces {
		t, err := c.params.open(raw)
		if err != nil {
			return nil, err
		}
		replaced = append(replaced, t)
	}

	sum, witness := bourse.Amount{}, c.cold.inputWitness()
	size := envelopeHead + 4*weightOutput
	for n := 1; n <= min(len(p.Inputs), chain.MaxInputs); n++ {
		if sum, size = sum.PlusOrMax(p.Inputs[n-1].Amount), size+envelopeInput+weightOutpoint/4+witness+sizeOutpoint; size > maxThawed {
			return nil, errColdLong
		}
		t := &payment{tx: wire.NewMsgTx(txVersion), inputs: p.Inputs[:n], cold: true}
		if excludesAll(t.inputs, replaced) && c.pay(t, sum, p.Amount, b, witness) {
			if weight := weightBase + n*(weightOutpoint+witness) + 2*weightOutput; costOf(weight, c.options.Cap).Less(b.least(weight)) {
				return nil, chain.ErrCost
			}
			return t, nil
		}
	}
	return nil, chain.ErrFunds
}

// excludesAll reports whether inputs share one with each transaction.
func excludesAll(inputs []chain.Input, replaced []*payment) bool {
	for _, old := range replaced {
		shared := false
		for i := range old.inputs {
			for j := range inputs {
				shared = shared || old.inputs[i].Outpoint == inputs[j].Outpoint
			}
		}
		if !shared {
			return false
		}
	}
	return true
}

// pay adds inputs and outputs to a draft; false if sum does not cover amount and cost.
func (c *Client) pay(t *payment, sum, amount bourse.Amount, b *bid, witness int) bool {
	change := c.cold.script((t.inputs[0].Owner - c.shape.Cold + 1) % chain.ColdAddresses)
	weight := weightBase + len(t.inputs)*(weightOutpoint+witness) + 4*(8+1+22)
	rest, enough := sum.Sub(amount)
	if !enough || rest.Less(b.costOf(weight)) || sum.Hi > 0 {
		return false
	}

	for i := range t.inputs {
		at := wire.OutPoint{Hash: chainhash.Hash(t.inputs[i].Tx), Index: t.inputs[i].Index}
		t.tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: txSequence})
	}
	t.tx.AddTxOut(&wire.TxOut{Value: int64(amount.Lo), PkScript: c.hotScript()})
	if left, some := rest.Sub(b.costOf(weight + 4*(8+1+len(change)))); some && !left.Less(leastChange(b.rate)) {
		t.tx.AddTxOut(&wire.TxOut{Value: int64(left.Lo), PkScript: change})
	}
	return true
}

// hotScript returns the script of the hot wallet's address.
func (c *Codec) hotScript() []byte { return keyHashScript(c.keys.program(chain.IndexHot)) }

// describe returns the PSBT of a draft. Each output that it spends must be as in the journal.
func (c *Client) describe(ctx context.Context, t *payment) ([]byte, error) {
	p := &psbt{tx: t.tx}
	for i := range t.inputs {
		in := &t.inputs[i]
		previous, err := c.previous(ctx, in.Tx)
		if err != nil {
			return nil, err
		}
		number := in.Owner - c.shape.Cold
		_, outputs := previous.parts()
		if in.Index >= uint32(len(outputs)) || !bytes.Equal(outputs[in.Index].script, c.cold.script(number)) ||
			bourse.Units(outputs[in.Index].amount) != in.Amount {
			return nil, odd("output %d of %s is not the one of cold storage that the journal has", in.Index, formatHash(in.Tx))
		}
		out := c.cold.output(number)
		p.inputs = append(p.inputs, psbtInput{
			previous: bytes.Join([][]byte{previous.version, previous.body, previous.locktime}, nil),
			spent:    &wire.TxOut{Value: int64(in.Amount.Lo), PkScript: c.cold.script(number)},
			script:   out.script, paths: out.paths,
		})
	}
	for _, out := range t.tx.TxOut {
		index, kept := c.kept[string(out.PkScript)]
		if !kept {
			p.outputs = append(p.outputs, psbtOutput{})
			continue
		}
		p.outputs = append(p.outputs, c.cold.output(index-c.shape.Cold))
	}
	text := p.encode()
	if len(text) > maxPSBT {
		return nil, errPSBTLength
	}
	return text, nil
}

// previous asks for the transaction that made an output.
func (c *Client) previous(ctx context.Context, hash chain.Hash) (t rawTx, err error) {
	raw, err := c.askHex(ctx, "getrawtransaction", formatHash(hash), 0)
	if err != nil {
		return t, sure(err)
	}
	if t, err = parseTx(raw); err != nil || t.hash() != hash {
		return t, odd("a transaction that is not the one asked for")
	}
	return t, nil
}

// FromCold reads what people signed: PSBTs, whose signatures are put together, or the final transaction. spends returns an
// output of cold storage that a transaction may spend. The result is signed by as many as the descriptor wants, and
// moves money nowhere but to the hot wallet and back to cold storage.
func (c *Client) FromCold(signed []byte, spends func(chain.Outpoint) (chain.Input, bool)) ([]byte, error) {
	if c.cold == nil {
		return nil, errNoCold
	}
	list, err := readSigned(signed)
	if err != nil {
		return nil, err
	}
	t := &payment{tx: list[0].tx, cold: true}
	for _, p := range list[1:] {
		if p.tx.TxHash() != t.tx.TxHash() {
			return nil, errTogether
		}
	}
	if len(t.tx.TxIn) > chain.MaxInputs {
		return nil, errColdLong
	}
	for _, in := range t.tx.TxIn {
		at := chain.Outpoint{Tx: chain.Hash(in.PreviousOutPoint.Hash), Index: in.PreviousOutPoint.Index}
		from, known := spends(at)
		if !known || !c.shape.KeepsCold(from.Owner) || from.Amount.Hi > 0 {
			return nil, errColdInput
		}
		t.inputs = append(t.inputs, from)
	}
	if !t.formed() {
		return nil, errColdInput // an output twice, or of an older kind of script
	}

	if err := c.checkThawed(t.tx); err != nil {
		return nil, err
	}
	if err := c.complete(t, list); err != nil {
		return nil, err
	}
	cost, err := t.cost()
	if err != nil {
		return nil, err
	}
	weight := perVirtual*t.tx.SerializeSizeStripped() + 2 + len(t.inputs)*c.cold.inputWitness()
	if most := costOf(weight, c.options.Cap).Plus(leastChange(c.options.Cap)); most.Less(cost) {
		return nil, fmt.Errorf("%w: %s, and at most %s", errColdCost, cost.Format(decimals), most.Format(decimals))
	}
	raw := c.params.seal(t)
	if len(raw)+sizeOutpoint*len(t.inputs) > maxThawed {
		return nil, errColdLong
	}
	return raw, nil
}

// checkThawed checks that a transaction pays the hot wallet once, and else cold storage alone.
func (c *Codec) checkThawed(tx *wire.MsgTx) error {
	hot := 0
	for _, out := range tx.TxOut {
		_, kept := c.kept[string(out.PkScript)]
		switch {
		case bytes.Equal(out.PkScript, c.hotScript()):
			hot++
		case !kept:
			return errColdOutput
		}
	}
	if hot != 1 {
		return errColdHotPay
	}
	return nil
}

// complete gives each input its witness, of the signatures that people brought.
func (c *Codec) complete(t *payment, list []*psbt) error {
	hashes, missing := t.sigHashes(), 0
	for i := range t.inputs {
		var brought []signature
		for _, p := range list {
			brought = append(brought, p.inputs[i].signatures...)
			if final := p.inputs[i].final; len(final) <= c.cold.need+2 {
				for _, item := range final {
					brought = append(brought, signature{value: item}) // by whatever key
				}
			}
		}
		if len(brought) > maxBrought {
			return errBrought
		}

		number := t.inputs[i].Owner - c.shape.Cold
		good, public := c.cold.signatures(t, i, number, brought, hashes)
		want := max(1, c.cold.need)
		if len(good) < want {
			missing = max(missing, want-len(good))
			continue
		}
		if c.cold.need == 0 {
			t.tx.TxIn[i].Witness = wire.TxWitness{good[0], public}
			continue
		}
		witness := append(wire.TxWitness{nil}, good[:want]...)
		t.tx.TxIn[i].Witness = append(witness, c.cold.witnessScript(number))
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d more must sign, everything (SIGHASH_ALL) and with the keys of the setting cold", errColdWitness, missing)
	}
	return nil
}

// maxBrought bounds the signatures of an input that are looked at.
const maxBrought = 64

// signatures returns the first signature of each key of address number, in the order of its script, and the last key.
func (c *Cold) signatures(
	t *payment, i int, number uint32, brought []signature, hashes *txscript.TxSigHashes,
) (good [][]byte, public []byte) {
	script := c.scriptCode(number)
	for _, key := range c.publicKeys(number) {
		for _, s := range brought {
			if (s.key == nil || bytes.Equal(s.key, key)) && t.isSignature(i, s.value, key, script, hashes) {
				good, public = append(good, s.value), key
				break
			}
		}
	}
	return good, public
}

// signed reports whether a payment has its signatures. One with some of them, or with a wrong one, is an error, and so
// is one from cold storage without them.
func (c *Codec) signed(t *payment) (bool, error) {
	if !t.cold {
		return t.signed(c.keys)
	}
	hashes := t.sigHashes()
	for i, in := range t.tx.TxIn {
		if owner := t.inputs[i].Owner; !c.shape.KeepsCold(owner) || !c.cold.unlocks(t, i, owner-c.shape.Cold, in.Witness, hashes) {
			return false, errSignature
		}
	}
	return true, nil
}

// unlocks reports whether a witness is the one of address number.
func (c *Cold) unlocks(t *payment, i int, number uint32, w wire.TxWitness, hashes *txscript.TxSigHashes) bool {
	if c.need == 0 {
		return t.verify(i, w, [20]byte(hash160(c.keys[0].child(number))), hashes)
	}
	script := c.witnessScript(number)
	if len(w) != c.need+2 || len(w[0]) > 0 || !bytes.Equal(w[c.need+1], script) {
		return false
	}
	signatures := w[1 : c.need+1]
	for _, key := range c.publicKeys(number) {
		if len(signatures) > 0 && t.isSignature(i, signatures[0], key, script, hashes) {
			signatures = signatures[1:]
		}
	}
	return len(signatures) == 0
}

package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// A payment travels in an envelope, because its own bytes lack the amounts that it spends:
//
//	"btx" 1        4 bytes, the form
//	genesis        32 bytes, the network
//	count          1 byte, the number of inputs
//	owner, amount  4 and 8 bytes for each input, little-endian: the index of the address that
//	               holds the output, and its amount
//	transaction    as it is broadcast; unsigned, without any witness
//
// A signature covers its input's amount (BIP 143), so that a wrong one makes the transaction
// invalid. One from cold storage has another form, so that no signer takes it for a payment.
const (
	envelopeForm  = "btx\x01"
	coldForm      = "btx\x02"
	envelopeHead  = len(envelopeForm) + 32 + 1
	envelopeInput = 4 + 8
	// maxEnvelope is above the size of a payment with chain.MaxInputs inputs, in bytes.
	maxEnvelope = 64 << 10

	txVersion = 2
	// txSequence lets a payment be replaced by one with a higher fee (BIP 125).
	txSequence = wire.MaxTxInSequenceNum - 2
)

var (
	errEnvelope  = errors.New("not a payment of this network")
	errSignature = errors.New("a signature is missing or wrong")
	errSum       = errors.New("pays more than it spends")
	errOutput    = errors.New("pays a script that no address stands for")
)

// payment is a transaction of the exchange with the outputs that it spends.
type payment struct {
	tx     *wire.MsgTx
	inputs []chain.Input
	// cold is true if it spends cold storage. People signed it.
	cold bool
}

// seal returns a payment's envelope.
func (p *Params) seal(t *payment) []byte {
	var b bytes.Buffer
	if t.cold {
		b.WriteString(coldForm)
	} else {
		b.WriteString(envelopeForm)
	}
	b.Write(p.Genesis[:])
	b.WriteByte(byte(len(t.inputs)))
	for i := range t.inputs {
		b.Write(binary.LittleEndian.AppendUint32(nil, t.inputs[i].Owner))
		b.Write(binary.LittleEndian.AppendUint64(nil, t.inputs[i].Amount.Lo))
	}
	_ = t.tx.Serialize(&b) // a buffer takes everything
	return b.Bytes()
}

// open reads an envelope in the one encoding that seal makes. Nothing of the payment's effects
// is checked.
func (p *Params) open(raw []byte) (*payment, error) {
	if len(raw) > maxEnvelope {
		return nil, errEnvelope
	}
	c := &cursor{b: raw}
	form, genesis, count := c.take(uint64(len(envelopeForm))), c.take(32), int(c.byte())
	cold := string(form) == coldForm
	if c.bad || string(form) != envelopeForm && !cold || chain.Hash(genesis) != p.Genesis || count > chain.MaxInputs {
		return nil, errEnvelope
	}

	t := &payment{tx: &wire.MsgTx{}, inputs: make([]chain.Input, count), cold: cold}
	for i := range t.inputs {
		t.inputs[i].Owner, t.inputs[i].Amount, t.inputs[i].Coin = c.uint32(), bourse.Units(c.uint64()), p.Coin
	}
	if c.bad || t.tx.Deserialize(bytes.NewReader(raw[c.at:])) != nil || !t.formed() || !bytes.Equal(p.seal(t), raw) {
		return nil, errEnvelope
	}
	return t, nil
}

// formed reports whether a transaction has the fields of a payment, and names its inputs. Its signers choose version, lock time
// and sequences of one from cold storage.
func (t *payment) formed() bool {
	if !t.cold && (t.tx.Version != txVersion || t.tx.LockTime != 0) || len(t.tx.TxIn) != len(t.inputs) ||
		len(t.inputs) == 0 || len(t.tx.TxOut) == 0 {
		return false
	}
	seen := map[wire.OutPoint]bool{}
	for i, in := range t.tx.TxIn {
		at := in.PreviousOutPoint
		owner := t.inputs[i].Owner
		if seen[at] || len(in.SignatureScript) > 0 || t.inputs[i].Amount.Lo > most ||
			t.cold && !chain.IsCold(owner) || !t.cold && (in.Sequence != txSequence || !hdkeys.Derivable(owner)) {
			return false
		}
		seen[at] = true
		t.inputs[i].Outpoint = chain.Outpoint{Tx: chain.Hash(at.Hash), Index: at.Index}
	}
	for _, out := range t.tx.TxOut {
		if out.Value <= 0 || out.Value > most {
			return false
		}
	}
	return true
}

// hash returns the transaction's name, which signatures do not change.
func (t *payment) hash() chain.Hash { return chain.Hash(t.tx.TxHash()) }

// broadcastable returns the transaction's own bytes.
func (t *payment) broadcastable() []byte {
	var b bytes.Buffer
	_ = t.tx.Serialize(&b) // a buffer takes everything
	return b.Bytes()
}

// signed reports whether the payment has its signatures. One with some of them, or with a wrong
// one, is an error.
func (t *payment) signed(k *PublicKeys) (bool, error) {
	if !t.tx.HasWitness() {
		return false, nil
	}
	hashes := t.sigHashes()
	for i, in := range t.tx.TxIn {
		program := k.program(t.inputs[i].Owner)
		if !t.verify(i, in.Witness, program, hashes) {
			return false, errSignature
		}
	}
	return true, nil
}

func (t *payment) sigHashes() *txscript.TxSigHashes {
	// The outputs that are spent count for taproot alone.
	return txscript.NewTxSigHashes(t.tx, txscript.NewCannedPrevOutputFetcher(nil, 0))
}

// verify checks an input's witness: a signature of everything, in its one encoding, by the key
// that the spent output's program names.
func (t *payment) verify(i int, w wire.TxWitness, program [20]byte, hashes *txscript.TxSigHashes) bool {
	return len(w) == 2 && len(w[1]) == keySize && bytes.Equal(hash160(w[1]), program[:]) &&
		t.isSignature(i, w[0], w[1], keyHashScript(program), hashes)
}

// isSignature reports whether an input has a signature of everything, in its one encoding, by a key. script is the
// witness script, or that of a spent P2WPKH output.
func (t *payment) isSignature(i int, signature, public, script []byte, hashes *txscript.TxSigHashes) bool {
	der, isAll := bytes.CutSuffix(signature, []byte{byte(txscript.SigHashAll)})
	key, err := btcec.ParsePubKey(public)
	if !isAll || err != nil {
		return false
	}
	s, err := ecdsa.ParseDERSignature(der)
	if err != nil || !bytes.Equal(s.Serialize(), der) {
		return false
	}
	sum, err := txscript.CalcWitnessSigHash(script, hashes, txscript.SigHashAll, t.tx, i, int64(t.inputs[i].Amount.Lo))
	return err == nil && s.Verify(sum, key)
}

// cost returns the sum of the inputs above that of the outputs.
func (t *payment) cost() (bourse.Amount, error) {
	var in, out uint64 // at most 100 inputs of 2^53, and outputs in 64 KiB: no overflow
	for i := range t.inputs {
		in += t.inputs[i].Amount.Lo
	}
	for _, o := range t.tx.TxOut {
		out += uint64(o.Value)
	}
	if in < out {
		return bourse.Amount{}, errSum
	}
	return bourse.Units(in - out), nil
}

// Sign returns the signed transaction, in its envelope, and its hash.
func (k *Keys) Sign(raw []byte) (signed []byte, hash chain.Hash, err error) {
	t, err := k.params.open(raw)
	if err != nil {
		return nil, chain.Hash{}, err
	}
	if t.cold {
		return nil, chain.Hash{}, errEnvelope
	}

	hashes := t.sigHashes()
	for i, in := range t.tx.TxIn {
		private, err := k.private.Key(t.inputs[i].Owner)
		if err != nil {
			return nil, chain.Hash{}, err
		}
		script := keyHashScript([20]byte(hash160(private.PubKey().SerializeCompressed())))
		in.Witness, err = txscript.WitnessSignature(
			t.tx, hashes, i, int64(t.inputs[i].Amount.Lo), script, txscript.SigHashAll, private, true)
		private.Zero()
		if err != nil {
			return nil, chain.Hash{}, err
		}
	}
	return k.params.seal(t), t.hash(), nil
}

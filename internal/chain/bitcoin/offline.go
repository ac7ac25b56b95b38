package bitcoin

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/txscript/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Offline signs drafts with one of the keys of cold storage, on a machine without a network. It knows the descriptors of
// both wallets, and believes nothing else that a draft says.
type Offline struct {
	codec  *Codec
	master *hdkeychain.ExtendedKey
	// fingerprint is the master key's.
	fingerprint [4]byte
	maxCost     bourse.Amount
}

// Moved are the amounts that a draft moves.
type Moved struct {
	// Hot arrives at the hot wallet's address, Back goes back to cold storage, and Cost is the network's.
	Hot, Back, Cost bourse.Amount
	// Address is the hot wallet's.
	Address string
	// Signed is the number of inputs that this key signed.
	Signed int
}

var (
	errNotOurs   = errors.New("no key of the setting cold is of this seed")
	errOnePSBT   = errors.New("give one PSBT at a time")
	errNoHistory = errors.New("an input comes without its whole previous transaction, which alone tells its amount")
)

// NewOffline returns the signer that has a seed. A transaction costs at most maxCost.
func NewOffline(p *Params, seed []byte, hot *PublicKeys, cold *Cold, maxCost bourse.Amount) (*Offline, error) {
	if err := cold.Apart(hot); err != nil {
		return nil, err
	}
	master, err := hdkeychain.NewMaster(seed, p.base)
	if err != nil {
		return nil, err
	}
	o := &Offline{codec: NewCodec(p, hot), master: master, maxCost: maxCost}
	o.codec.Keep(cold)
	if o.fingerprint, err = fingerprintOf(master); err != nil {
		return nil, err
	}
	if len(o.keys()) == 0 {
		return nil, errNotOurs
	}
	return o, nil
}

// fingerprintOf returns the first bytes of the hash of a key, by which descriptors name it.
func fingerprintOf(key *hdkeychain.ExtendedKey) (f [4]byte, err error) {
	public, err := key.ECPubKey()
	if err != nil {
		return f, err
	}
	return [4]byte(hash160(public.SerializeCompressed())), nil
}

// ColdKeys returns the keys of a seed for a descriptor of cold storage: for wpkh of one key, and for wsh of several.
func ColdKeys(p *Params, seed []byte) (one, several string, err error) {
	master, err := hdkeychain.NewMaster(seed, p.base)
	if err != nil {
		return "", "", err
	}
	fingerprint, err := fingerprintOf(master)
	if err != nil {
		return "", "", err
	}
	texts := make([]string, 2)
	for i, path := range [][]uint32{{purpose, p.coinType, 0}, {48, p.coinType, 0, 2}} {
		key, origin := master, ""
		for _, step := range path {
			if key, err = key.Derive(hdkeychain.HardenedKeyStart + step); err != nil {
				return "", "", err
			}
			origin += fmt.Sprintf("/%dh", step)
		}
		public, err := key.Neuter()
		if err != nil {
			return "", "", err
		}
		texts[i] = fmt.Sprintf("[%x%s]%s/0/*", fingerprint, origin, public)
	}
	return texts[0], texts[1], nil
}

// keys returns the keys of the descriptor that are of the seed.
func (o *Offline) keys() (list []*coldKey) {
	for i := range o.codec.cold.keys {
		if k := &o.codec.cold.keys[i]; k.fingerprint == o.fingerprint {
			list = append(list, k)
		}
	}
	return list
}

// Sign adds the key's signatures to a draft, as bytes or in base64, and returns it in base64. Every input must be of cold
// storage, and every output the hot wallet's or of cold storage.
func (o *Offline) Sign(draft []byte) (signed string, m Moved, err error) {
	list, err := readSigned(draft)
	if err != nil {
		return "", m, err
	}
	if len(list) != 1 {
		return "", m, errOnePSBT
	}
	p := list[0]
	t := &payment{tx: p.tx, cold: true}
	for i := range p.inputs {
		in, err := o.input(p, i)
		if err != nil {
			return "", m, err
		}
		t.inputs = append(t.inputs, in)
	}
	if len(t.inputs) > chain.MaxInputs || !t.formed() {
		return "", m, errColdInput
	}
	if err := o.codec.checkThawed(t.tx); err != nil {
		return "", m, err
	}

	if m, err = o.moved(t); err != nil {
		return "", m, err
	}
	for i := range p.inputs {
		if err := o.signInput(t, i, &p.inputs[i]); err != nil {
			return "", m, err
		}
	}
	m.Signed = len(p.inputs)
	return base64.StdEncoding.EncodeToString(p.encode()), m, nil
}

// input returns the output that an input spends, by its previous transaction.
func (o *Offline) input(p *psbt, i int) (in chain.Input, err error) {
	at := p.tx.TxIn[i].PreviousOutPoint
	previous, err := parseTx(p.inputs[i].previous)
	if err != nil || previous.hash() != chain.Hash(at.Hash) {
		return in, errNoHistory
	}
	_, outputs := previous.parts()
	if at.Index >= uint32(len(outputs)) {
		return in, errNoHistory
	}
	out := &outputs[at.Index]
	owner, kept := o.codec.kept[string(out.script)]
	if !kept {
		return in, errColdInput
	}
	return chain.Input{
		Outpoint: chain.Outpoint{Tx: chain.Hash(at.Hash), Index: at.Index}, Owner: owner, Coin: o.codec.params.Coin,
		Amount: bourse.Units(out.amount),
	}, nil
}

// moved adds up the amounts of a transaction, and bounds its cost.
func (o *Offline) moved(t *payment) (m Moved, err error) {
	if m.Cost, err = t.cost(); err != nil {
		return m, err
	}
	if o.maxCost.Less(m.Cost) {
		return m, fmt.Errorf("it costs %s, and the setting max-cost is %s", m.Cost.Format(decimals), o.maxCost.Format(decimals))
	}
	m.Address = o.codec.Destination(chain.IndexHot).Address
	for _, out := range t.tx.TxOut {
		amount := bourse.Units(uint64(out.Value))
		if bytes.Equal(out.PkScript, o.codec.hotScript()) {
			m.Hot = m.Hot.Plus(amount)
		} else {
			m.Back = m.Back.Plus(amount)
		}
	}
	return m, nil
}

// signInput adds the seed's signatures of an input.
func (o *Offline) signInput(t *payment, i int, in *psbtInput) error {
	number := t.inputs[i].Owner - o.codec.shape.Cold
	script, hashes := o.codec.cold.scriptCode(number), t.sigHashes()
	for _, k := range o.keys() {
		key, err := o.private(k, number)
		if err != nil {
			return err
		}
		public := key.PubKey().SerializeCompressed()
		if !bytes.Equal(public, k.child(number)) {
			return errNotOurs // another seed with the same fingerprint
		}
		value, err := txscript.RawTxInWitnessSignature(
			t.tx, hashes, i, int64(t.inputs[i].Amount.Lo), script, txscript.SigHashAll, key)
		key.Zero()
		if err != nil {
			return err
		}
		in.add(signature{public, value})
	}
	return nil
}

// add adds a signature, in place of one by the same key.
func (in *psbtInput) add(s signature) {
	for i := range in.signatures {
		if bytes.Equal(in.signatures[i].key, s.key) {
			in.signatures[i] = s
			return
		}
	}
	in.signatures = append(in.signatures, s)
}

// private returns the private key of a key of the descriptor at address n.
func (o *Offline) private(k *coldKey, n uint32) (*btcec.PrivateKey, error) {
	key := o.master
	for _, step := range append(k.path[:len(k.path):len(k.path)], n) {
		var err error
		if key, err = key.Derive(step); err != nil {
			return nil, err
		}
	}
	return key.ECPrivKey()
}

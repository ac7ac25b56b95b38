package nodetest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"golang.org/x/crypto/sha3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// order is a transaction of the outside world.
type order struct {
	// from is the number of the account that pays.
	from uint32
	to   string
	// value is in units of the native coin, and data in hexadecimal digits.
	value bourse.Amount
	data  string
	// fee and tip are the prices of gas; zero for those of most payments.
	fee, tip uint64
	// gas is its limit of gas; zero for that of most payments.
	gas uint64
}

// usualGas is the limit of gas of most transactions.
const usualGas = 300_000

// submit makes a transaction pending, behind those of its account.
func (o *Ether) submit(t order) (hash chain.Hash, err error) {
	nonce, err := o.nonce(o.codec.Destination(t.from).Address)
	if err != nil {
		return hash, err
	}
	return o.submitWith(t, nonce)
}

// submitWith makes a transaction with a nonce pending.
func (o *Ether) submitWith(t order, nonce uint64) (hash chain.Hash, err error) {
	raw, hash, err := o.sign(t, nonce)
	if err != nil {
		return hash, err
	}
	return hash, o.send(raw)
}

// settled returns the number of mined transactions of an account.
func (o *Ether) settled(address string) (uint64, error) {
	var text string
	err := o.call(&text, "eth_getTransactionCount", address, "latest")
	return heightOf(text), err
}

// nonce returns the first nonce that no transaction of an account has. What waits is counted by its list,
// because geth counts a transaction only some time after it took it.
func (o *Ether) nonce(address string) (uint64, error) {
	nonce, err := o.settled(address)
	if err != nil {
		return 0, err
	}
	list, err := o.waiting()
	for i := range list {
		if strings.EqualFold(list[i].From, address) && heightOf(list[i].Nonce) == nonce {
			nonce++
		}
	}
	return nonce, err
}

const list, dynamicFee = 0xc0, 2

// fields returns the fields of a transaction that are signed.
func (t *order) fields(nonce uint64) (fields []byte, err error) {
	if t.fee == 0 {
		t.fee, t.tip = 50e9, 1e9
	}
	if t.gas == 0 {
		t.gas = usualGas
	}
	to, err := hex.DecodeString(t.to[2:])
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(t.data)
	if err != nil {
		return nil, err
	}

	for _, n := range []uint64{EtherChain, nonce, t.tip, t.fee, t.gas} {
		fields = append(fields, rlp(number(0, n))...)
	}
	for _, s := range [][]byte{to, number(t.value.Hi, t.value.Lo), data} {
		fields = append(fields, rlp(s)...)
	}
	return append(fields, list), nil // no accesses
}

// sign returns a signed transaction, by its bytes and its name. The exchange's own signer signs it, in the envelope
// that the signer wants.
func (o *Ether) sign(t order, nonce uint64) (raw string, hash chain.Hash, err error) {
	fields, err := t.fields(nonce)
	if err != nil {
		return "", hash, err
	}
	envelope := binary.LittleEndian.AppendUint32([]byte("etx\x01"), t.from)
	head := len(envelope)
	envelope = append(envelope, listed(fields)...)

	signed, hash, err := o.keys.Sign(envelope)
	if err != nil {
		return "", hash, err
	}
	return "0x" + hex.EncodeToString(signed[head:]), hash, nil
}

// listed returns a transaction of these fields.
func listed(fields []byte) []byte {
	return append(append([]byte{dynamicFee}, rlpHead(list, len(fields))...), fields...)
}

// signBy returns a transaction that a key signs. The exchange's signer refuses so much gas.
func (t *order) signBy(key *btcec.PrivateKey, nonce uint64) (raw string, err error) {
	fields, err := t.fields(nonce)
	if err != nil {
		return "", err
	}
	h := sha3.NewLegacyKeccak256()
	_, _ = h.Write(listed(fields))
	s := ecdsa.SignCompact(key, h.Sum(nil), false)
	fields = append(fields, rlp(bytes.TrimLeft([]byte{s[0] - 27}, "\x00"))...)
	for _, n := range [][]byte{s[1:33], s[33:]} {
		fields = append(fields, rlp(bytes.TrimLeft(n, "\x00"))...)
	}
	return "0x" + hex.EncodeToString(listed(fields)), nil
}

// number returns a number without leading zeros.
func number(high, low uint64) []byte {
	b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, high), low)
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return b
}

// rlp encodes a string.
func rlp(s []byte) []byte {
	const text = 0x80
	if len(s) == 1 && s[0] < text {
		return s
	}
	return append(rlpHead(text, len(s)), s...)
}

// rlpHead returns the mark and the length of a string or a list.
func rlpHead(mark byte, size int) []byte {
	const short = 55
	if size <= short {
		return []byte{mark + byte(size)}
	}
	length := number(0, uint64(size))
	return append([]byte{mark + short + byte(len(length))}, length...)
}

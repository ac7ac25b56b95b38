package nodetest

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

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
}

// gas is the limit of gas of every transaction.
const gas = 300_000

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

// sign returns a signed transaction, by its bytes and its name. The exchange's own signer signs it, in the envelope
// that the signer wants.
func (o *Ether) sign(t order, nonce uint64) (raw string, hash chain.Hash, err error) {
	if t.fee == 0 {
		t.fee, t.tip = 50e9, 1e9
	}
	to, err := hex.DecodeString(t.to[2:])
	if err != nil {
		return "", hash, err
	}
	data, err := hex.DecodeString(t.data)
	if err != nil {
		return "", hash, err
	}

	var fields []byte
	for _, n := range []uint64{EtherChain, nonce, t.tip, t.fee, gas} {
		fields = append(fields, rlp(number(0, n))...)
	}
	for _, s := range [][]byte{to, number(t.value.Hi, t.value.Lo), data} {
		fields = append(fields, rlp(s)...)
	}
	const list, dynamicFee = 0xc0, 2
	fields = append(fields, list) // no accesses
	envelope := binary.LittleEndian.AppendUint32([]byte("etx\x01"), t.from)
	head := len(envelope)
	envelope = append(append(append(envelope, dynamicFee), rlpHead(list, len(fields))...), fields...)

	signed, hash, err := o.keys.Sign(envelope)
	if err != nil {
		return "", hash, err
	}
	return "0x" + hex.EncodeToString(signed[head:]), hash, nil
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

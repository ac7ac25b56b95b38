package evm

import (
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// Types of transactions. The first has no number in its bytes.
const (
	typeLegacy = iota
	// typeAccessList is that of EIP-2930.
	typeAccessList
	// typeDynamicFee is that of EIP-1559, which ours have.
	typeDynamicFee
	// typeBlob is that of EIP-4844.
	typeBlob
	// typeSetCode is that of EIP-7702.
	typeSetCode
)

// transaction is a transaction as a node answers it. Which fields count depends on its type.
type transaction struct {
	Type           quantity        `json:"type"`
	ChainID        quantity        `json:"chainId"`
	Nonce          quantity        `json:"nonce"`
	GasPrice       quantity        `json:"gasPrice"`
	MaxTip         quantity        `json:"maxPriorityFeePerGas"`
	MaxFee         quantity        `json:"maxFeePerGas"`
	Gas            quantity        `json:"gas"`
	To             data            `json:"to"`
	Value          quantity        `json:"value"`
	Input          data            `json:"input"`
	AccessList     []access        `json:"accessList"`
	MaxBlobFee     quantity        `json:"maxFeePerBlobGas"`
	BlobHashes     []digest        `json:"blobVersionedHashes"`
	Authorizations []authorization `json:"authorizationList"`
	V              quantity        `json:"v"`
	R              quantity        `json:"r"`
	S              quantity        `json:"s"`

	// From is the node's word: the signature tells the sender.
	From  data      `json:"from"`
	Hash  digest    `json:"hash"`
	Block *digest   `json:"blockHash"`
	Index *quantity `json:"transactionIndex"`
	Above *quantity `json:"blockNumber"`
}

// access is an entry of a list of accesses.
type access struct {
	Address data     `json:"address"`
	Keys    []digest `json:"storageKeys"`
}

// authorization lets an account have code.
type authorization struct {
	ChainID quantity `json:"chainId"`
	Address data     `json:"address"`
	Nonce   quantity `json:"nonce"`
	YParity quantity `json:"yParity"`
	R       quantity `json:"r"`
	S       quantity `json:"s"`
}

var errType = errors.New("a transaction of a type that is not known")

// kind returns the transaction's type.
func (t *transaction) kind() uint64 {
	n, ok := t.Type.uint64()
	if !ok {
		return typeSetCode + 1
	}
	return n
}

// encode returns the transaction's bytes, or without its signature the bytes that it signs.
func (t *transaction) encode(signature bool) ([]byte, error) {
	if len(t.To) != 0 && len(t.To) != len(address{}) {
		return nil, errType
	}
	var b []byte
	add := func(strings ...[]byte) {
		for _, s := range strings {
			b = appendString(b, s)
		}
	}

	kind := t.kind()
	switch kind {
	case typeLegacy:
		add(t.Nonce, t.GasPrice, t.Gas, t.To, t.Value, t.Input)
		if !signature {
			if _, protected := t.parity(); protected {
				add(t.chain(), nil, nil)
			}
			return list(b), nil
		}
		add(t.V, t.R, t.S)
		return list(b), nil
	case typeAccessList:
		add(t.ChainID, t.Nonce, t.GasPrice, t.Gas, t.To, t.Value, t.Input)
		b = appendAccesses(b, t.AccessList)
	case typeDynamicFee, typeBlob, typeSetCode:
		add(t.ChainID, t.Nonce, t.MaxTip, t.MaxFee, t.Gas, t.To, t.Value, t.Input)
		b = appendAccesses(b, t.AccessList)
	default:
		return nil, errType
	}

	switch kind {
	case typeBlob:
		add(t.MaxBlobFee)
		b = appendDigests(b, t.BlobHashes)
	case typeSetCode:
		b = appendAuthorizations(b, t.Authorizations)
	}
	if signature {
		add(t.V, t.R, t.S)
	}
	return append([]byte{byte(kind)}, list(b)...), nil
}

func appendAccesses(b []byte, accesses []access) []byte {
	var content []byte
	for i := range accesses {
		content = appendList(content, appendDigests(appendString(nil, accesses[i].Address), accesses[i].Keys))
	}
	return appendList(b, content)
}

func appendDigests(b []byte, digests []digest) []byte {
	var content []byte
	for i := range digests {
		content = appendString(content, digests[i][:])
	}
	return appendList(b, content)
}

func appendAuthorizations(b []byte, authorizations []authorization) []byte {
	var content []byte
	for i := range authorizations {
		a := &authorizations[i]
		var one []byte
		for _, s := range [][]byte{a.ChainID, a.Address, a.Nonce, a.YParity, a.R, a.S} {
			one = appendString(one, s)
		}
		content = appendList(content, one)
	}
	return appendList(b, content)
}

// legacyParity is the V of a legacy transaction without a chain id (27 or 28), and protectedParity
// that of one with chain id 0 (EIP-155).
const (
	legacyParity    = 27
	protectedParity = 35
)

// parity returns the last bit of the signature's point, and whether a legacy transaction's signature
// covers a chain id.
func (t *transaction) parity() (bit byte, protected bool) {
	v, _ := t.V.uint64()
	switch {
	case t.kind() != typeLegacy:
		return byte(v & 1), true
	case v >= protectedParity:
		return byte((v - protectedParity) & 1), true
	}
	return byte((v - legacyParity) & 1), false
}

// chain returns the chain id of a legacy transaction whose signature covers one.
func (t *transaction) chain() quantity {
	v, _ := t.V.uint64()
	return ofUint((v - protectedParity) / 2)
}

// sender returns the address that signed the transaction.
func (t *transaction) sender() (from address, ok bool) {
	signed, err := t.encode(false)
	if err != nil || len(t.R) > wordSize || len(t.S) > wordSize {
		return from, false
	}
	bit, _ := t.parity()
	var s [1 + 2*wordSize]byte
	s[0] = legacyParity + bit
	copy(s[1+wordSize-len(t.R):], t.R)
	copy(s[1+2*wordSize-len(t.S):], t.S)
	return recoverSigner(s[:], keccak(signed))
}

// recoverSigner returns the address of the key that made a compact signature.
func recoverSigner(compact []byte, of chain.Hash) (address, bool) {
	key, _, err := ecdsa.RecoverCompact(compact, of[:])
	if err != nil {
		return address{}, false
	}
	return addressOf(key), true
}

// signCompact signs a hash. The signature's first byte has the bit of its point.
func signCompact(key *btcec.PrivateKey, of chain.Hash) []byte {
	return ecdsa.SignCompact(key, of[:], false)
}

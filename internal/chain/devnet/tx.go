package devnet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Bounds of a transaction.
const (
	maxTxBytes = 128 << 10
	maxOutputs = 256
)

// units is an amount on the wire: decimal digits in a string.
type units bourse.Amount

// MarshalText writes the digits.
func (u units) MarshalText() ([]byte, error) { return bourse.Amount(u).Append(nil, 0), nil }

// UnmarshalText reads digits without leading zeros.
func (u *units) UnmarshalText(b []byte) error {
	a, err := bourse.ParseAmount(string(b), 0)
	if err != nil {
		return err
	}
	if a.Format(0) != string(b) {
		return errors.New("not an amount in its shortest form")
	}
	*u = units(a)
	return nil
}

// digest is a hash on the wire: hex digits in a string.
type digest chain.Hash

// MarshalText writes lower-case hex digits.
func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads exactly as many hex digits as a hash has.
func (d *digest) UnmarshalText(b []byte) error {
	if len(b) != 2*len(d) {
		return errors.New("not a hash")
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// transaction is a payment in the network's encoding. Inputs are set on networks of
// outputs; From, Nonce, Gas and Price on networks of accounts.
type transaction struct {
	Network bourse.Symbol `json:"network"`
	Inputs  []input       `json:"inputs,omitempty"`
	From    string        `json:"from,omitempty"`
	Nonce   uint64        `json:"nonce"`
	Gas     uint64        `json:"gas"`
	Price   uint64        `json:"price"`
	Outputs []output      `json:"outputs"`
	Memo    string        `json:"memo,omitempty"`
	// Call is set if a contract makes the payments, on networks of accounts: the money
	// moves, and the block shows that it left and not where it went.
	Call bool `json:"call,omitempty"`
	// Witness has an entry for each payer, in order. Unsigned entries hold indices only.
	Witness []witness `json:"witness,omitempty"`
}

// input names a spent output and repeats its content, so that the signer knows the cost
// of the payment without a query.
type input struct {
	Tx      digest       `json:"tx"`
	Index   uint32       `json:"index"`
	Address string       `json:"address"`
	Coin    chain.CoinID `json:"coin"`
	Amount  units        `json:"amount"`
}

type output struct {
	Address string       `json:"address"`
	Coin    chain.CoinID `json:"coin"`
	Amount  units        `json:"amount"`
}

type witness struct {
	Index     uint32 `json:"index"`
	Key       []byte `json:"key,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

func (in *input) outpoint() chain.Outpoint {
	return chain.Outpoint{Tx: chain.Hash(in.Tx), Index: in.Index}
}

// encode returns the transaction's encoding. It is deterministic.
func (t *transaction) encode() []byte {
	b, err := json.Marshal(t)
	if err != nil {
		bourse.Impossible("transaction: %v", err)
	}
	return b
}

// hash returns the transaction's hash, without its signatures.
func (t *transaction) hash() chain.Hash {
	bare := *t
	bare.Witness = nil
	return sha256.Sum256(bare.encode())
}

// payers returns the addresses that must sign.
func (t *transaction) payers() []string {
	if t.From != "" {
		return []string{t.From}
	}
	payers := make([]string, len(t.Inputs))
	for i := range t.Inputs {
		payers[i] = t.Inputs[i].Address
	}
	return payers
}

// decodeExact decodes JSON that must equal the encoding of its Go value byte for byte:
// nothing unknown, missing, repeated, null or spelled differently.
func decodeExact(b []byte, v any) error {
	if err := json.Unmarshal(b, v, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, again) {
		return errors.New("not in canonical form")
	}
	return nil
}

// parseTx decodes a transaction of this network and makes every check that needs no
// state.
func (p *Params) parseTx(raw []byte) (*transaction, error) {
	if len(raw) > maxTxBytes {
		return nil, fmt.Errorf("transaction of %d bytes", len(raw))
	}
	t := &transaction{}
	if err := decodeExact(raw, t); err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	if t.Network != p.Symbol {
		return nil, fmt.Errorf("a transaction of network %s", t.Network)
	}
	if err := p.checkPayers(t); err != nil {
		return nil, err
	}
	return t, p.checkOutputs(t)
}

func (p *Params) checkPayers(t *transaction) error {
	if p.Shape.Outputs {
		if t.From != "" || t.Nonce != 0 || t.Gas != 0 || t.Price != 0 || t.Call {
			return errors.New("an account's payment on a network of outputs")
		}
		if len(t.Inputs) == 0 || len(t.Inputs) > chain.MaxInputs {
			return fmt.Errorf("%d inputs", len(t.Inputs))
		}
		seen := map[chain.Outpoint]bool{}
		for i := range t.Inputs {
			if seen[t.Inputs[i].outpoint()] {
				return errors.New("the same input twice")
			}
			seen[t.Inputs[i].outpoint()] = true
		}
	} else if t.From == "" || len(t.Inputs) > 0 || t.Gas > maxGas {
		return errors.New("not an account's payment")
	}

	for _, payer := range t.payers() {
		if err := p.checkAddress(payer); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress requires the canonical form, the only one on the wire.
func (p *Params) checkAddress(s string) error {
	to, err := p.parseAddress(s)
	if err != nil {
		return err
	}
	if p.formatAddress(to) != s {
		return errors.New("an address that is not in canonical form")
	}
	return nil
}

func (p *Params) checkOutputs(t *transaction) error {
	if len(t.Outputs) == 0 || len(t.Outputs) > maxOutputs {
		return fmt.Errorf("%d outputs", len(t.Outputs))
	}
	if memo, err := chain.ParseMemo(t.Memo); err != nil || memo != t.Memo || memo != "" && p.Shape.MemoName == "" {
		return errors.New("a memo that the network does not have")
	}

	sums := map[chain.CoinID]bourse.Amount{}
	for _, out := range t.Outputs {
		if err := p.checkAddress(out.Address); err != nil {
			return err
		}
		if _, ok := p.Shape.Coin(out.Coin); !ok {
			return fmt.Errorf("coin %q is not known", out.Coin)
		}
		sum, ok := sums[out.Coin].Add(bourse.Amount(out.Amount))
		if !ok || bourse.Amount(out.Amount).IsZero() {
			return errors.New("an output of nothing, or more than there can be")
		}
		sums[out.Coin] = sum
	}
	return nil
}

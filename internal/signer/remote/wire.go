package remote

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// request is one request; exactly one of its members after N is there. Hashes and bytes are in
// base64.
type request struct {
	// N is the request's number, which its reply repeats.
	N      uint64         `json:"n"`
	Hello  *hello         `json:"hello,omitzero"`
	Signed *signedRequest `json:"signed,omitzero"`
	Sign   *signRequest   `json:"sign,omitzero"`
	Void   *voidRequest   `json:"void,omitzero"`
	// Look stands alone on a connection, in place of hello.
	Look *struct{} `json:"look,omitzero"`
	// Status and Approve are of the operators' socket alone.
	Status  *struct{}        `json:"status,omitzero"`
	Approve *signer.Approval `json:"approve,omitzero"`
}

// reply is the answer to a request: Error, or the member that the request wants.
type reply struct {
	N        uint64       `json:"n"`
	Error    *failure     `json:"error,omitzero"`
	Greeting *greeting    `json:"greeting,omitzero"`
	Record   *recordReply `json:"record,omitzero"`
	Made     *made        `json:"made,omitzero"`
	// Looked answers look.
	Looked *signer.Status `json:"looked,omitzero"`
	Status *Status        `json:"status,omitzero"`
}

// hello is the first request of a connection.
type hello struct {
	Exchange    signer.ExchangeID  `json:"exchange"`
	Sandbox     bool               `json:"sandbox"`
	Incarnation bourse.Incarnation `json:"incarnation"`
	Term        uint64             `json:"term"`
	Networks    []account          `json:"networks"`
}

// greeting answers hello with the signer's networks.
type greeting struct {
	Networks []account `json:"networks"`
}

// account is a network with its chain, its public keys and its cold storage, whole.
type account struct {
	Name  bourse.Symbol `json:"name"`
	Chain string        `json:"chain"`
	Keys  string        `json:"keys"`
	Cold  string        `json:"cold,omitzero"`
}

type signedRequest struct {
	Network bourse.Symbol `json:"network"`
	After   uint64        `json:"after"`
}

type voidRequest struct {
	Network bourse.Symbol   `json:"network"`
	ID      bourse.WalletID `json:"id"`
}

// signRequest has the bytes of a transaction and all that they are expected to do.
type signRequest struct {
	Network bourse.Symbol     `json:"network"`
	Kind    bourse.SignedKind `json:"kind"`
	ID      bourse.WalletID   `json:"id,omitzero"`
	Attempt uint32            `json:"attempt,omitzero"`
	Coin    chain.CoinID      `json:"coin"`
	Amount  units             `json:"amount"`
	Address string            `json:"address"`
	Memo    string            `json:"memo,omitzero"`
	CostCap units             `json:"cost_cap"`
	Account uint32            `json:"account,omitzero"`
	Nonce   uint64            `json:"nonce,omitzero"`
	// With and Known are there for a joined transaction alone: a signer of an older build does not read them.
	With  []part `json:"with,omitempty"`
	Known uint64 `json:"known,omitzero"`
	Raw   []byte `json:"raw"`
}

// part is a withdrawal of a joined transaction besides the first.
type part struct {
	ID      bourse.WalletID `json:"id"`
	Amount  units           `json:"amount"`
	Address string          `json:"address"`
}

// share is the amount of a joined transaction that a withdrawal gets.
type share struct {
	ID     bourse.WalletID `json:"id"`
	Amount units           `json:"amount"`
}

// made is an entry of the record.
type made struct {
	Record uint64            `json:"record"`
	Chain  chain.Hash        `json:"chain"`
	Hash   chain.Hash        `json:"hash"`
	Kind   bourse.SignedKind `json:"kind"`
	ID     bourse.WalletID   `json:"id,omitzero"`
	Raw    []byte            `json:"raw"`
	// Shares is there for a joined transaction alone.
	Shares []share `json:"shares,omitempty"`
}

// recordReply has entries of the record, and whether more follow.
type recordReply struct {
	Chain   chain.Hash `json:"chain"`
	Entries []made     `json:"entries"`
	More    bool       `json:"more,omitzero"`
}

// units is an amount in a coin's smallest units, as decimal digits.
type units bourse.Amount

// MarshalText writes digits.
func (u units) MarshalText() ([]byte, error) { return []byte(bourse.Amount(u).Format(0)), nil }

// UnmarshalText reads digits.
func (u *units) UnmarshalText(b []byte) error {
	a, err := bourse.ParseAmount(string(b), 0)
	*u = units(a)
	return err
}

// failure is a refusal or a fault.
type failure struct {
	Code string `json:"code"`
	Text string `json:"text"`
	// ID is the withdrawal of a joined transaction that is refused.
	ID bourse.WalletID `json:"id,omitzero"`
}

// codes are the refusals that the exchange tells apart, the narrower before the wider.
var codes = []struct {
	code string
	err  error
}{
	{"another", signer.ErrAnother},
	{"mismatch", signer.ErrMismatch},
	{"costs", signer.ErrCosts},
	{"spent", signer.ErrSpent},
	{"unapproved", signer.ErrUnapproved},
	{"limit", signer.ErrLimit},
	{"rival", signer.ErrRival},
	{"nonce", signer.ErrNonce},
	{"void", signer.ErrVoid},
	{"behind", signer.ErrBehind},
	{"unrecorded", signer.ErrUnrecorded},
	{"exchange", signer.ErrExchange},
	{"epoch", signer.ErrEpoch},
	{"adopt", signer.ErrAdopt},
	{"keys", signer.ErrKeys},
	{"approval", signer.ErrApproval},
}

// failed is the code of every other error.
const failed = "failed"

// failureOf returns an error as it travels.
func failureOf(err error) *failure {
	f := &failure{Code: failed, Text: err.Error()}
	if part := new(signer.PartError); errors.As(err, &part) {
		f.ID, f.Text = part.ID, part.Err.Error()
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			f.Code = c.code
			break
		}
	}
	return f
}

// RefusalError is an error of the signer. It is the error of package signer that it unwraps to.
type RefusalError struct {
	kind error
	text string
}

// Error returns the signer's own words.
func (r *RefusalError) Error() string { return "signer: " + r.text }

// Unwrap returns the error of package signer; nil for any other.
func (r *RefusalError) Unwrap() error { return r.kind }

// err returns the error that a failure means.
func (f *failure) err() error {
	refusal := &RefusalError{nil, f.Text}
	for _, c := range codes {
		if f.Code == c.code {
			refusal.kind = c.err
		}
	}
	if f.ID != 0 {
		return &signer.PartError{ID: f.ID, Err: refusal}
	}
	return refusal
}

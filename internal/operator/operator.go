package operator

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Row is an operator's row.
type Row struct {
	Token bourse.Token
	// Email and Name are the person's; the name may be empty.
	Email, Name string
	// Credential and PublicKey are the passkey's id and key, as its ceremony gave them.
	Credential, PublicKey []byte
	Salt                  account.Salt
	Created               bourse.Time
}

// Digest returns the journal's digest of the row: everything but the time of its creation.
func (r *Row) Digest() bourse.RowDigest {
	b := append([]byte("bourse operator 1\n"), r.Salt[:]...)
	b = append(b, r.Token[:]...)
	for _, part := range [...][]byte{[]byte(r.Email), []byte(r.Name), r.Credential, r.PublicKey} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return sha256.Sum256(b)
}

// Invitation lets a person become an operator.
type Invitation struct {
	// Code is the hash of the invitation's code.
	Code        [32]byte
	Email, Name string
	Role        bourse.OperatorRole
	// Reason is set if the glass is broken for it: the operator is added by an act of nobody.
	Reason  string
	Expires bourse.Time
}

// Store keeps rows and invitations. Safe for concurrent use.
type Store interface {
	// AddInvitation adds an invitation, in place of an earlier one of its address, and removes
	// those that ended before now.
	AddInvitation(ctx context.Context, i *Invitation, now bourse.Time) error
	// TakeInvitation removes the invitation of a code and returns it; false if there is none.
	TakeInvitation(ctx context.Context, code [32]byte) (Invitation, bool, error)
	// AddOperator adds a row.
	AddOperator(ctx context.Context, r *Row) error
	// DropOperator removes a row.
	DropOperator(ctx context.Context, token bourse.Token) error
	// Operators returns all rows.
	Operators(ctx context.Context) ([]Row, error)
}

package operator

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

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
	// Synced is set if the passkey may be copied to the person's other devices.
	Synced  bool
	Salt    account.Salt
	Created bourse.Time
	// Counter is the passkey's count of signatures at its last use.
	Counter uint32
}

// Fingerprint returns 80 bits of the SHA-256 of the passkey's public key, which people compare: five groups of four
// hexadecimal digits. Another passkey with the same 80 bits takes some 2^80 tries.
func (r *Row) Fingerprint() string {
	sum := sha256.Sum256(r.PublicKey)
	return fmt.Sprintf("%X %X %X %X %X", sum[0:2], sum[2:4], sum[4:6], sum[6:8], sum[8:10])
}

// Digest returns the journal's digest of the row: everything but the time of its creation and
// the count of signatures.
func (r *Row) Digest() bourse.RowDigest {
	b := append([]byte("bourse operator 1\n"), r.Salt[:]...)
	b = append(b, r.Token[:]...)
	for _, part := range [...][]byte{[]byte(r.Email), []byte(r.Name), r.Credential, r.PublicKey} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	if r.Synced {
		b = append(b, 1)
	}
	return sha256.Sum256(b)
}

// Invitation lets a person become an operator.
type Invitation struct {
	// Code is the hash of the invitation's code, which vouches for what follows.
	Code        [32]byte
	Email, Name string
	Role        bourse.OperatorRole
	// By is the owner who invited; zero for the machine's socket.
	By bourse.OperatorID
	// Reason is the reason of the act that adds the operator: an owner's act, or a break-glass
	// act. Empty adds the operator at once.
	Reason  string
	Expires bourse.Time
}

// Store keeps rows, invitations and keys. Safe for concurrent use.
type Store interface {
	KeyStore
	// AddInvitation adds an invitation, in place of an earlier one of its address, and removes the
	// invitations that ended before now.
	AddInvitation(ctx context.Context, i *Invitation, now bourse.Time) error
	// Invitation returns the invitation of a code; false if there is none.
	Invitation(ctx context.Context, code [32]byte) (Invitation, bool, error)
	// TakeInvitation removes the invitation of a code and returns it; false if there is none.
	TakeInvitation(ctx context.Context, code [32]byte) (Invitation, bool, error)
	// AddOperator adds a row.
	AddOperator(ctx context.Context, r *Row) error
	// DropOperator removes a row.
	DropOperator(ctx context.Context, token bourse.Token) error
	// UseOperator notes the count of signatures and the time of a use of an operator's passkey.
	// False means that the count did not grow: a copy of the authenticator signed meanwhile.
	UseOperator(ctx context.Context, token bourse.Token, counter uint32, now bourse.Time) (bool, error)
	// Operators returns all rows.
	Operators(ctx context.Context) ([]Row, error)
}

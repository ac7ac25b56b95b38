package bourse

import "fmt"

// OperatorID names an operator. Ids are dense, start at one and are never reused; zero is
// none.
type OperatorID uint16

// OperatorRole is a set of permissions. A higher role includes the lower ones.
type OperatorRole uint8

// The roles of operators.
const (
	// RoleViewer reads.
	RoleViewer OperatorRole = iota + 1
	// RoleOperator does the daily work.
	RoleOperator
	// RoleOwner decides about rules, money outside of the daily work, and operators.
	RoleOwner
)

var operatorRoleWords = [...]string{"", "viewer", "operator", "owner"}

// String returns viewer, operator or owner.
func (r OperatorRole) String() string { return word(operatorRoleWords[:], r) }

// ParseOperatorRole reads viewer, operator or owner.
func ParseOperatorRole(s string) (OperatorRole, bool) {
	return parseWord[OperatorRole](operatorRoleWords[:], s)
}

// The bounds of operators and their acts. They are part of the rules: changing one changes
// the meaning of existing journals.
const (
	// MaxOperators bounds the operators that an exchange ever has.
	MaxOperators = 200
	// MaxOpenActs bounds the waiting acts of one operator, and the waiting break-glass acts.
	MaxOpenActs = 32
	// MaxActReason bounds the reason of an act, in bytes.
	MaxActReason = 500
	// MaxActRecord bounds the record of the command of an act, in bytes: a transaction from cold storage is the longest.
	MaxActRecord = 16 << 10
	// ActWait is the time after which a waiting act of an operator expires, and a break-glass
	// act is carried out.
	ActWait = Day
)

// Operator is a person who works for the exchange. Names and addresses are in the row that
// the digest covers, never in the journal.
type Operator struct {
	ID   OperatorID
	Role OperatorRole
	// Enabled is false for an operator without powers.
	Enabled bool
	// Token names the operator's row until the id is known.
	Token Token
	// Digest is the digest of the row, with the public key of the operator's passkey.
	Digest RowDigest
}

// Valid reports whether the operator is well formed, independent of the state.
func (o *Operator) Valid() bool {
	return o.Role >= RoleViewer && o.Role <= RoleOwner && o.Digest != RowDigest{}
}

// ApprovalLimit is the most of an asset that one operator approves alone in a day, in UTC.
type ApprovalLimit struct {
	Asset  AssetID
	Amount Amount
}

// ActDigest is the digest of an act: what its operators assert.
type ActDigest [32]byte

// ActStatus is the state of an act.
type ActStatus uint8

// The states of an act. Only the first is not final.
const (
	// ActWaits: a second operator has to approve it; a break-glass act waits for its time.
	ActWaits ActStatus = iota + 1
	// ActDone: its command was carried out.
	ActDone
	// ActDropped: an operator dropped it.
	ActDropped
	// ActExpired: no operator approved it in time.
	ActExpired
	// ActRefused: its time came, and its command was refused.
	ActRefused
)

var actStatusWords = [...]string{"", "waits", "done", "dropped", "expired", "refused"}

// String returns the state's word.
func (s ActStatus) String() string { return word(actStatusWords[:], s) }

// Act is a command of operators, with its reason.
type Act struct {
	// ID is the sequence of the command that ordered the act.
	ID Seq
	// By are the operator who ordered it and the one who approved or dropped it; zero for
	// none. A break-glass act came by the socket of the machine.
	By     [2]OperatorID
	Token  Token
	Digest ActDigest
	Reason string
	// Record is the record of the command.
	Record []byte
	// Due is the time at which a waiting act expires, and a break-glass act is carried out.
	Due    Time
	Status ActStatus
	// Outdated is the sequence of the command that, while the act waited, set what its own command
	// sets. The act is no longer carried out then. Zero for none.
	Outdated Seq
	// What describes the command for people. It is no part of the state.
	What string
}

// String describes the act for people.
func (a *Act) String() string {
	by, is := "nobody", a.Status.String()
	if a.By[0] != 0 {
		by = fmt.Sprintf("operator %d", a.By[0])
	}
	if second := fmt.Sprintf(" operator %d", a.By[1]); a.Status == ActDropped {
		is += " by" + second
	} else if a.By[1] != 0 {
		by += " and" + second
	}
	if a.Outdated != 0 {
		is += fmt.Sprintf(", outdated by command %d", a.Outdated)
	}
	return fmt.Sprintf("act %d of %s %s: %s: %s", a.ID, by, is, a.What, a.Reason)
}

// OperatorCommand holds the fields of the commands by and about operators, besides Token,
// AssetID and Amount.
type OperatorCommand struct {
	// By are the operator who orders the command and the one who approves it.
	By [2]OperatorID
	// Act is the act to approve or drop.
	Act    Seq
	Digest ActDigest
	Reason string
	// Record is the record of the command that an act orders.
	Record []byte
	// Define is an operator to add or to change, without its token.
	Define Operator
	// Was is the digest of the row that a reset of a person replaces.
	Was RowDigest
}

// ResetParts are the parts of a person that a reset changes.
type ResetParts uint8

// The parts of a reset.
const (
	// ResetFactors takes the second factors away.
	ResetFactors ResetParts = 1 << iota
	// ResetEmail replaces the e-mail address.
	ResetEmail

	allResets = ResetFactors | ResetEmail
)

// Valid reports whether the parts are known, and at least one.
func (p ResetParts) Valid() bool { return p != 0 && p&^allResets == 0 }

// String returns factors, email or factors,email.
func (p ResetParts) String() string {
	switch p {
	case ResetFactors:
		return "factors"
	case ResetEmail:
		return "email"
	default:
		return "factors,email"
	}
}

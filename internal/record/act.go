package record

import (
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// Authority is the power that a command needs once a production exchange has an owner.
type Authority struct {
	// Role is the role that each operator of an act needs; zero if no act orders the command.
	Role bourse.OperatorRole
	// Two is set if a second operator has to approve the act.
	Two bool
	// Limited is set if a second one has to approve only above the limit of approvals.
	Limited bool
	// Bare is set if the command needs no act: people or the exchange send it, or it only
	// stops something.
	Bare bool
	// Own is set if the exchange orders the command by itself, too, since RulesOwn. People need an act for it.
	Own bool
}

// AuthorityOf returns a command's authority.
func AuthorityOf(c *bourse.Command) Authority {
	k := find(c.Kind)
	if k == nil || k.authority == nil {
		return Authority{Bare: true}
	}
	return k.authority(c)
}

// LeastRole returns the least role of an operator whose act may order a command of a kind, whatever
// its fields are; zero if no act orders it.
func LeastRole(kind bourse.CommandKind) bourse.OperatorRole {
	least := bourse.OperatorRole(0)
	for _, on := range [...]bool{false, true} {
		for state := bourse.MarketOpen; state <= bourse.MarketDelisted; state++ {
			if role := AuthorityOf(&bourse.Command{Kind: kind, On: on, State: state}).Role; least == 0 || role < least {
				least = role
			}
		}
	}
	return least
}

func owners(*bourse.Command) Authority { return Authority{Role: bourse.RoleOwner, Two: true} }

// outbids is the authority of commands that have another transaction signed in the place of one, which spends the same.
func outbids(*bourse.Command) Authority {
	return Authority{Role: bourse.RoleOwner, Two: true, Own: true}
}

// releases is that of ending a withdrawal, which two owners order, or of giving up a transaction that is no withdrawal's.
func releases(c *bourse.Command) Authority {
	if c.Wallet == nil || c.Wallet.ID != 0 {
		return owners(c)
	}
	return outbids(c)
}

func owner(*bourse.Command) Authority { return Authority{Role: bourse.RoleOwner} }

func operator(*bourse.Command) Authority { return Authority{Role: bourse.RoleOperator} }

func freezes(c *bourse.Command) Authority {
	return Authority{Role: bourse.RoleOperator, Bare: c.On}
}

func pauses(c *bourse.Command) Authority {
	if !c.On {
		return owners(c)
	}
	return Authority{Role: bourse.RoleOperator, Bare: true}
}

func moves(c *bourse.Command) Authority {
	if c.State == bourse.MarketOpen || c.State == bourse.MarketDelisted {
		return owners(c)
	}
	return Authority{Role: bourse.RoleOperator, Bare: true}
}

func decides(c *bourse.Command) Authority {
	return Authority{Role: bourse.RoleOperator, Limited: c.On}
}

// cools bounds an operator's moves to cold storage alone as approvals are bounded: coins there pay no withdrawal.
func cools(c *bourse.Command) Authority {
	return Authority{Role: bourse.RoleOperator, Limited: c.On, Bare: !c.On}
}

// warms lets one operator bring coins back from cold storage: those who hold its keys have signed.
func warms(c *bourse.Command) Authority { return Authority{Role: bourse.RoleOperator, Bare: !c.On} }

// Ordered decodes the command of an act. False means that no act may order it, or that the
// bytes are no record.
func Ordered(record []byte, c *bourse.Command) bool {
	if len(record) < headerSize || len(record) > bourse.MaxActRecord {
		return false
	}
	k := find(bourse.CommandKind(record[4]))
	if k == nil || k.authority == nil { // an act among them would nest
		return false
	}
	n, err := Decode(record, c)
	return err == nil && n == len(record) && k.authority(c).Role != 0
}

// NewAct returns the command that orders cmd in the name of an operator, or as a break-glass act.
func NewAct(
	g *bourse.Genesis, by bourse.OperatorID, token bourse.Token, reason string, cmd *bourse.Command,
) bourse.Command {
	a := bourse.Act{Token: token, Reason: reason, Record: Append(nil, cmd)}
	return bourse.Command{Kind: bourse.CommandAct, Token: token, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{by}, Digest: ActDigest(g, by, &a), Reason: reason, Record: a.Record,
	}}
}

// ActDigest returns the digest of an act's command on an exchange.
func ActDigest(g *bourse.Genesis, by bourse.OperatorID, a *bourse.Act) bourse.ActDigest {
	c := codecs.Get().(*codec.Codec)
	c.Append([]byte("bourse act 1\n"))
	c.Fixed(g.Exchange[:])
	codec.Uint16(c, &by)
	c.Ordered(&a.Token, &a.Reason, &a.Record)
	digest := sha256.Sum256(c.Bytes())
	c.Append(nil)
	codecs.Put(c)
	return digest
}

func codeAct(c *codec.Codec, cmd *bourse.Command) {
	o := codec.New(c, &cmd.Operators)
	c.By(&o.By)
	c.Fixed(o.Digest[:])
	c.Ordered(&cmd.Token, &o.Reason, &o.Record)
}

func codeActRef(c *codec.Codec, cmd *bourse.Command) {
	o := codec.New(c, &cmd.Operators)
	c.By(&o.By)
	codec.Uint64(c, &o.Act)
	c.Fixed(o.Digest[:])
}

func isAct(c *bourse.Command) bool {
	o := c.Operators
	return o != nil && o.By[1] == 0 && len(o.Reason) > 0 && len(o.Reason) <= bourse.MaxActReason
}

// isOrdered reports whether the command of an act can be carried out. It is apart from the
// table, because it reads the table.
func isOrdered(c *bourse.Command) bool {
	return c.Kind != bourse.CommandAct || hasOrdered(c.Operators.Record)
}

// hasOrdered is never inlined: its command escapes, and the commands of traders must not
// allocate.
//
//go:noinline
func hasOrdered(record []byte) bool {
	var inner bourse.Command
	return Ordered(record, &inner)
}

func isApproval(c *bourse.Command) bool {
	o := c.Operators
	return o != nil && o.Act > 0 && o.By[0] != 0 && o.By[1] != 0
}

func isDrop(c *bourse.Command) bool {
	o := c.Operators
	return o != nil && o.Act > 0 && o.By[0] != 0 && o.By[1] == 0
}

func describeOperator(c *bourse.Command) string {
	o := &c.Operators.Define
	return fmt.Sprintf("operator=%d role=%s enabled=%t", o.ID, o.Role, o.Enabled)
}

func describeAct(c *bourse.Command) string {
	o := c.Operators
	return fmt.Sprintf("by=%d %q", o.By[0], o.Reason)
}

// describeOrdered describes the command of an act; empty for other commands.
func describeOrdered(c *bourse.Command) string {
	var inner bourse.Command
	if c.Kind != bourse.CommandAct || !Ordered(c.Operators.Record, &inner) {
		return ""
	}
	return ": " + Describe(&inner)
}

func describeActRef(c *bourse.Command) string {
	o := c.Operators
	return fmt.Sprintf("act=%d by=%d,%d", o.Act, o.By[0], o.By[1])
}

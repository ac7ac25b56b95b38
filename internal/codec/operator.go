package codec

import "github.com/bourse-exchange/bourse"

// Operator codes an operator without its id and token.
func (c *Codec) Operator(o *bourse.Operator) {
	Uint8(c, &o.Role)
	c.Bool(&o.Enabled)
	c.Fixed(o.Digest[:])
}

// By codes the operators of an act.
func (c *Codec) By(by *[2]bourse.OperatorID) {
	Uint16(c, &by[0])
	Uint16(c, &by[1])
}

// Ordered codes the order of an act, without its digest.
func (c *Codec) Ordered(token *bourse.Token, reason *string, record *[]byte) {
	c.Fixed(token[:])
	Text(c, reason, bourse.MaxActReason)
	c.Raw(record, bourse.MaxActRecord)
}

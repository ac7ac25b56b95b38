package operatorv1

import (
	"encoding/hex"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

// actFields has the digest of the act, so that an assertion over the request is one over it.
var actFields = api.Fields{"digest"}

// approve carries out a waiting act, whose second operator asks.
func (d *Desk) approve(c *v2.Call) error {
	act, digest := c.SegmentID("act"), api.Read(c.Form, "digest", parseDigest)
	if err := d.confirm(c); err != nil {
		return err
	}
	if err := d.Operators.Approve(c.Context, operatorOf(c), bourse.Seq(act), digest); err != nil {
		return err
	}
	c.Out.Uint("act", act)
	c.Out.Word("status", bourse.ActDone.String())
	return nil
}

// drop ends a waiting act.
func (d *Desk) drop(c *v2.Call) error {
	act, digest := c.SegmentID("act"), api.Read(c.Form, "digest", parseDigest)
	if err := d.confirm(c); err != nil {
		return err
	}
	if err := d.Operators.Drop(c.Context, operatorOf(c), bourse.Seq(act), digest); err != nil {
		return err
	}
	c.Out.Uint("act", act)
	c.Out.Word("status", bourse.ActDropped.String())
	return nil
}

func parseDigest(text string) (digest bourse.ActDigest, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(digest) {
		return digest, api.Invalid("digest", "must be the act's, 64 hex digits")
	}
	return bourse.ActDigest(b), nil
}

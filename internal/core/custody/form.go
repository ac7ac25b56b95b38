package custody

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// The canonical form of custody's own types. Write writes and Read reads them.

func (c *Custody) code(w *codec.Codec) {
	codec.Uint64(w, &c.lastWallet)
	codec.Uint64(w, &c.lastDeposit)
	codec.Uint32(w, &c.lastAddress)
}

func (n *Network) code(c *codec.Codec) {
	codec.Uint16(c, &n.Network)
	c.Bool(&n.Paused)
	codec.Uint8(c, &n.Halted)
	c.Bool(&n.byOutput)
	codec.Uint32(c, &n.Part)
	codec.Uint64(c, &n.top)
	codec.Uint64(c, &n.Record)
	c.Fixed(n.Chain[:])
	codec.Uint64(c, &n.Cool.ID)
	codec.Uint16(c, &n.Cool.Asset)
	c.Amount(&n.Cool.Amount)
	c.BlockRef(&n.Recount)
	c.Fixed(n.former[:])
}

func codeSigned(c *codec.Codec, s *bourse.SignedTx) {
	c.SignedTx(s)
	c.Shares(&s.Joined)
	codec.Uint8(c, &s.State)
	c.Bool(&s.Reverted)
	c.BlockRef(&s.Block)
	codec.Uint64(c, &s.Time)
}

// code codes a block without its transactions.
func (b *block) code(c *codec.Codec) {
	c.BlockRef(&b.BlockRef)
	c.Fixed(b.parent[:])
	codec.Uint64(c, &b.time)
}

// code codes a mined transaction. Signed follows from its hash; spent outputs are coded
// whole.
func (m *Mined) code(c *codec.Codec) {
	c.Fixed(m.Hash[:])
	codec.Uint8(c, &m.Was)
	c.Outflows(&m.Outflows)
	c.Unspents(&m.spent)
	c.Inflows(&m.Inflows)
	c.Transfers(&m.Postings)
}

func codeSaved(c *codec.Codec, a *bourse.SavedAddress) {
	codec.Uint32(c, &a.ID)
	codec.Uint32(c, &a.Account)
	c.SavedAddress(a)
	c.Fixed(a.Token[:])
	c.Trusts(&a.Trusts)
}

// codeNamed codes a client id, which is part of the request.
func codeNamed(c *codec.Codec, r *request[bourse.ClientID, bourse.Withdraw]) {
	c.Withdraw(&r.asked)
	r.code(c)
}

// codeKeyed codes the key of a request.
func codeKeyed(c *codec.Codec, r *request[bourse.RequestHash, bourse.RequestHash]) {
	c.Fixed(r.name[:])
	c.Fixed(r.asked[:])
	r.code(c)
}

func (r *request[N, A]) code(c *codec.Codec) {
	codec.Uint32(c, &r.account)
	c.Outcome(&r.outcome)
	codec.Uint64(c, &r.ended)
}

package codec

import "github.com/bourse-exchange/bourse"

// The least bytes of an entry of a list: the size of its zero value.
const (
	txSize       = 44
	outflowSize  = 22
	inflowSize   = 35
	outpointSize = 36
	unspentSize  = 98
	transferSize = 27
	trustSize    = 50
	shareSize    = 24
)

// BlockRef codes the height and hash of a block.
func (c *Codec) BlockRef(b *bourse.BlockRef) {
	Uint64(c, &b.Height)
	c.Fixed(b.Hash[:])
}

// BlockEffect codes the effects of a part of a block.
func (c *Codec) BlockEffect(b *bourse.BlockEffect) { c.blockEffect(b, true) }

// EarlyBlockEffect codes one whose inflows have no marks, as programs that do not know the marks do.
func (c *Codec) EarlyBlockEffect(b *bourse.BlockEffect) { c.blockEffect(b, false) }

func (c *Codec) blockEffect(b *bourse.BlockEffect, marks bool) {
	Uint16(c, &b.Network)
	c.BlockRef(&b.BlockRef)
	c.Fixed(b.Parent[:])
	Uint64(c, &b.Time)
	c.Bool(&b.ByOutput)
	Uint32(c, &b.Part)
	c.Bool(&b.More)

	txs := List(c, &b.Txs, txSize)
	for i := range txs {
		tx := &txs[i]
		c.Fixed(tx.Hash[:])
		c.Outflows(&tx.Outflows)
		c.Outpoints(&tx.Spent)
		c.inflows(&tx.Inflows, marks)
	}
}

// Outflows codes the amounts that left addresses of the exchange.
func (c *Codec) Outflows(list *[]bourse.Outflow) {
	all := List(c, list, outflowSize)
	for i := range all {
		Uint32(c, &all[i].Address)
		Uint16(c, &all[i].Asset)
		c.Amount(&all[i].Amount)
	}
}

// Inflows codes the outputs that reached addresses of the exchange.
func (c *Codec) Inflows(list *[]bourse.Inflow) { c.inflows(list, true) }

func (c *Codec) inflows(list *[]bourse.Inflow, marks bool) {
	size := inflowSize
	if !marks {
		size--
	}
	all := List(c, list, size)
	for i := range all {
		in := &all[i]
		Uint32(c, &in.Index)
		Uint16(c, &in.Asset)
		c.Amount(&in.Amount)
		Uint32(c, &in.Owner)
		Uint32(c, &in.Address)
		Text(c, &in.Memo, bourse.MaxMemo)
		if marks {
			c.Bool(&in.OverAlone)
		}
	}
}

// Outpoint codes the name of an output.
func (c *Codec) Outpoint(at *bourse.Outpoint) {
	c.Fixed(at.Tx[:])
	Uint32(c, &at.Index)
}

// Outpoints codes the names of outputs.
func (c *Codec) Outpoints(list *[]bourse.Outpoint) {
	all := List(c, list, outpointSize)
	for i := range all {
		c.Outpoint(&all[i])
	}
}

// Unspent codes an unspent output, without its network.
func (c *Codec) Unspent(u *bourse.Unspent) {
	c.Outpoint(&u.Outpoint)
	Uint16(c, &u.Asset)
	c.Amount(&u.Amount)
	Uint32(c, &u.Address)
	Uint64(c, &u.Height)
	c.Fixed(u.By[:])
}

// Unspents codes outputs, without their network.
func (c *Codec) Unspents(list *[]bourse.Unspent) {
	all := List(c, list, unspentSize)
	for i := range all {
		c.Unspent(&all[i])
	}
}

// Transfers codes postings.
func (c *Codec) Transfers(list *[]bourse.Transfer) {
	all := List(c, list, transferSize)
	for i := range all {
		t := &all[i]
		Uint8(c, &t.Kind)
		Uint32(c, &t.From)
		Uint32(c, &t.To)
		Uint16(c, &t.Asset)
		c.Amount(&t.Amount)
	}
}

// Holding codes the amount at an address, without its network.
func (c *Codec) Holding(h *bourse.Holding) {
	Uint32(c, &h.Address)
	Uint16(c, &h.Asset)
	c.Amount(&h.Amount)
}

// Nonce codes an address's next nonce, without its network.
func (c *Codec) Nonce(n *bourse.Nonce) {
	Uint32(c, &n.Address)
	Uint64(c, &n.Next)
}

// SignedTx codes a transaction of the exchange as it was signed, without what it joins; custody codes its state.
func (c *Codec) SignedTx(s *bourse.SignedTx) {
	Uint16(c, &s.Network)
	Uint8(c, &s.Kind)
	Uint64(c, &s.Wallet)
	c.Fixed(s.Tx[:])
	c.Raw(&s.Raw, bourse.MaxRaw)
	c.Outpoints(&s.Inputs)
	Uint32(c, &s.From)
	Uint64(c, &s.Nonce)
	Uint16(c, &s.Cost.Asset)
	c.Amount(&s.Cost.Amount)
}

// Shares codes the withdrawals of a joined transaction.
func (c *Codec) Shares(list *[]bourse.Share) {
	all := List(c, list, shareSize)
	for i := range all {
		Uint64(c, &all[i].Wallet)
		c.Amount(&all[i].Amount)
	}
}

// Withdraw codes a request for money to leave an account.
func (c *Codec) Withdraw(w *bourse.Withdraw) {
	Uint16(c, &w.Network)
	Uint16(c, &w.Asset)
	c.Amount(&w.Amount)
	c.Amount(&w.Fee)
	Text(c, &w.Address, bourse.MaxAddress)
	Text(c, &w.Memo, bourse.MaxMemo)
	Uint32(c, &w.Internal)
	c.Bool(&w.Factor)
	c.Bool(&w.Again)
	c.Fixed(w.Save[:])
	c.ClientID(&w.ClientID)
	c.Fixed(w.Once.Key[:])
	c.Fixed(w.Once.Body[:])
	c.Fixed(w.Message[:])
}

// Withdrawal codes a withdrawal that custody keeps.
func (c *Codec) Withdrawal(w *bourse.Withdrawal) {
	Uint64(c, &w.ID)
	Uint64(c, &w.Ordinal)
	Uint32(c, &w.Account)
	c.Withdraw(&w.Withdraw)
	Uint8(c, &w.Status)
	Uint64(c, &w.NotBefore)
	c.Bool(&w.Approved)
	c.Bool(&w.Signed)
	c.Bool(&w.Reverted)
	c.Bool(&w.Counted)
	c.Bool(&w.AtSigner)
	c.Bool(&w.Ending)
	c.Fixed(w.Tx[:])
	Uint64(c, &w.Created)
	Uint64(c, &w.Done)
}

// Deposit codes a deposit that custody keeps.
func (c *Codec) Deposit(d *bourse.Deposit) {
	Uint64(c, &d.Number)
	Uint64(c, &d.ID)
	Uint64(c, &d.Ordinal)
	Uint32(c, &d.Account)
	Uint16(c, &d.Network)
	Uint16(c, &d.Asset)
	c.Amount(&d.Amount)
	c.Fixed(d.Tx[:])
	Uint32(c, &d.Index)
	Uint32(c, &d.Address)
	Text(c, &d.Memo, bourse.MaxMemo)
	Uint8(c, &d.Status)
	c.Bool(&d.BelowMin)
	c.Bool(&d.OverLimit)
	c.Bool(&d.OverAlone)
	c.Bool(&d.Admitted)
	c.Bool(&d.Mined)
	c.BlockRef(&d.Block)
	Uint64(c, &d.Gone)
	Uint32(c, &d.Target)
	Uint64(c, &d.Created)
	Uint64(c, &d.Done)
}

// SavedAddress codes the destination of an address book's entry, without its id and
// account.
func (c *Codec) SavedAddress(a *bourse.SavedAddress) {
	Uint16(c, &a.Network)
	Uint16(c, &a.Asset)
	Text(c, &a.Address, bourse.MaxAddress)
	Text(c, &a.Memo, bourse.MaxMemo)
}

// Trusts codes the amounts that may leave to an entry without a person.
func (c *Codec) Trusts(list *[]bourse.Trust) {
	all := List(c, list, trustSize)
	for i := range all {
		t := &all[i]
		Uint16(c, &t.Asset)
		c.Amount(&t.Most)
		Uint64(c, &t.From)
		c.Amount(&t.Greater)
		Uint64(c, &t.GreaterFrom)
	}
}

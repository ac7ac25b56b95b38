package record

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

func isCustomers(c *bourse.Command) bool { return c.Account.IsCustomer() }

func isWithdrawals(c *bourse.Command) bool { return c.Wallet != nil && c.Wallet.ID > 0 }

func isTransaction(c *bourse.Command) bool {
	return c.Wallet.Network > 0 && c.Wallet.Tx != bourse.TxHash{}
}

func asksToWithdraw(c *bourse.Command) bool {
	return isCustomers(c) && c.Wallet != nil && c.Wallet.Withdraw != nil && c.Wallet.Withdraw.Valid()
}

func codeWithdraw(c *codec.Codec, cmd *bourse.Command) {
	codec.Uint32(c, &cmd.Account)
	c.Withdraw(codec.New(c, &codec.New(c, &cmd.Wallet).Withdraw))
}

// isLong reports whether a memo is longer than rules before bourse.RulesLongMemos take.
func isLong(memo string) bool { return len(memo) > bourse.MaxEarlyMemo }

// hasLateInflows reports whether a block has an inflow that version 1 of its body cannot have: a long memo, or one that
// is marked.
func hasLateInflows(c *bourse.Command) bool {
	for i := range c.Wallet.Block.Txs {
		for j := range c.Wallet.Block.Txs[i].Inflows {
			if in := &c.Wallet.Block.Txs[i].Inflows[j]; in.OverAlone || isLong(in.Memo) {
				return true
			}
		}
	}
	return false
}

func hasText(c *bourse.Command) bool { return len(c.Text) > 0 && len(c.Text) <= bourse.MaxText }

// operatorsText codes an operator's text.
func operatorsText(c *codec.Codec, cmd *bourse.Command) {
	codec.Uint32(c, &cmd.Operator)
	codec.Text(c, &cmd.Text, bourse.MaxText)
}

func codeCool(c *codec.Codec, cmd *bourse.Command) {
	c.Bool(&cmd.On)
	codec.Uint16(c, &codec.New(c, &cmd.Wallet).Network)
	codec.Uint16(c, &cmd.AssetID)
	c.Amount(&cmd.Amount)
}

func codeWarm(c *codec.Codec, cmd *bourse.Command) {
	w := codec.New(c, &cmd.Wallet)
	if c.Bool(&cmd.On); cmd.On {
		c.SignedTx(codec.New(c, &w.Signed))
	} else {
		codec.Uint16(c, &w.Network)
	}
}

func isWarm(c *bourse.Command) bool {
	if c.Wallet == nil || !c.On {
		return c.Wallet != nil && c.Wallet.Network > 0 && c.Wallet.Signed == nil
	}
	s := c.Wallet.Signed
	return c.Wallet.Network == 0 && s != nil && s.Valid() && s.Kind == bourse.SignedWarm
}

// isBySigner reports whether a transaction is of a kind that the signer signs.
func isBySigner(s *bourse.SignedTx) bool { return s != nil && s.Valid() && s.Kind != bourse.SignedWarm }

// codeEntry codes an entry of the signer's record.
func codeEntry(c *codec.Codec, cmd *bourse.Command) {
	w := codec.New(c, &cmd.Wallet)
	codec.Uint64(c, &w.Record)
	c.Fixed(w.Chain[:])
	c.SignedTx(codec.New(c, &w.Signed))
}

func isEntry(c *bourse.Command) bool {
	w := c.Wallet
	return w != nil && w.Record > 0 && w.Chain != (bourse.TxHash{}) && isBySigner(w.Signed)
}

func isCool(c *bourse.Command) bool {
	return c.Wallet != nil && c.Wallet.Network > 0 && c.On == (c.AssetID > 0) && c.On != c.Amount.IsZero()
}

func codeFollow(c *codec.Codec, cmd *bourse.Command) {
	w := codec.New(c, &cmd.Wallet)
	codec.Uint16(c, &w.Network)
	codec.Uint64(c, &w.Height)
	c.Fixed(w.Tx[:])
}

func isFollow(c *bourse.Command) bool {
	return c.Wallet != nil && isTransaction(c) && c.Wallet.Height < 1<<62
}

func codePaid(c *codec.Codec, cmd *bourse.Command) {
	w := codec.New(c, &cmd.Wallet)
	codec.Uint64(c, &w.ID)
	c.Fixed(w.Tx[:])
}

func isPaid(c *bourse.Command) bool { return isWithdrawals(c) && c.Wallet.Tx != bourse.TxHash{} }

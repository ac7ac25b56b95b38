package record

import (
	"encoding/binary"

	"github.com/bourse-exchange/bourse"
)

// wallet appends the fields that a wallet command reads, and reports whether it
// is one.
func (w *writer) wallet(c *bourse.Command) bool {
	f := c.Wallet
	switch c.Kind {
	case bourse.CommandBlock:
		w.block(f.Block)
	case bourse.CommandRewind:
		w.uint16(uint16(f.Network))
		w.uint64(f.Height)
	case bourse.CommandWithdraw:
		w.uint32(uint32(c.Account))
		w.withdraw(f.Withdraw)
		w.extras(f.Withdraw)
	case bourse.CommandTransfer:
		w.transfer(c.Account, f.Withdraw)
	case bourse.CommandCancelWithdrawal:
		w.uint32(uint32(c.Account))
		w.uint64(uint64(f.ID))
	case bourse.CommandDecideWithdrawal:
		w.bool(c.On)
		w.uint64(uint64(f.ID))
	case bourse.CommandSigned:
		w.signed(f.Signed)
	case bourse.CommandSent:
		w.uint16(uint16(f.Network))
		w.bytes(f.Tx[:])
	case bourse.CommandPauseWithdrawals:
		w.bool(c.On)
		w.uint16(uint16(f.Network))
	case bourse.CommandAssignDeposit:
		w.uint32(uint32(c.Account))
		w.uint64(uint64(f.Deposit))
	case bourse.CommandSaveAddress:
		w.uint32(uint32(c.Account))
		w.bytes(c.Token[:])
		w.savedAddress(f.Save)
	case bourse.CommandForgetAddress:
		w.uint32(uint32(c.Account))
		w.uint32(uint32(f.Address))
	case bourse.CommandReplaceWithdrawal:
		w.uint64(uint64(f.ID))
	case bourse.CommandReleaseWithdrawal:
		w.uint64(uint64(f.ID))
		w.uint16(uint16(f.Network))
		w.bytes(f.Tx[:])
	default:
		return false
	}
	return true
}

// wallet is the inverse of the writer's.
func (r *reader) wallet(c *bourse.Command) bool {
	f := new(bourse.WalletCommand)
	c.Wallet = f
	switch c.Kind {
	case bourse.CommandBlock:
		f.Block = r.block()
	case bourse.CommandRewind:
		f.Network, f.Height = bourse.NetworkID(r.uint16()), r.uint64()
	case bourse.CommandWithdraw:
		c.Account, f.Withdraw = bourse.AccountID(r.uint32()), r.withdraw()
		r.extras(f.Withdraw)
	case bourse.CommandTransfer:
		c.Account, f.Withdraw = bourse.AccountID(r.uint32()), r.transfer()
	case bourse.CommandCancelWithdrawal:
		c.Account, f.ID = bourse.AccountID(r.uint32()), bourse.WalletID(r.uint64())
	case bourse.CommandDecideWithdrawal:
		c.On, f.ID = r.bool(), bourse.WalletID(r.uint64())
	case bourse.CommandSigned:
		f.Signed = r.signed()
	case bourse.CommandSent:
		f.Network, f.Tx = bourse.NetworkID(r.uint16()), r.hash()
	case bourse.CommandPauseWithdrawals:
		c.On, f.Network = r.bool(), bourse.NetworkID(r.uint16())
	case bourse.CommandAssignDeposit:
		c.Account, f.Deposit = bourse.AccountID(r.uint32()), bourse.DepositID(r.uint64())
	case bourse.CommandSaveAddress:
		c.Account = bourse.AccountID(r.uint32())
		copy(c.Token[:], r.take(16))
		f.Save = r.savedAddress()
	case bourse.CommandForgetAddress:
		c.Account, f.Address = bourse.AccountID(r.uint32()), bourse.AddressID(r.uint32())
	case bourse.CommandReplaceWithdrawal:
		f.ID = bourse.WalletID(r.uint64())
	case bourse.CommandReleaseWithdrawal:
		f.ID, f.Network, f.Tx = bourse.WalletID(r.uint64()), bourse.NetworkID(r.uint16()), r.hash()
	default:
		return false
	}
	return r.done()
}

func (w *writer) block(b *bourse.Block) {
	w.uint16(uint16(b.Network))
	w.uint64(b.Height)
	w.bytes(b.Hash[:])
	w.bytes(b.Parent[:])
	w.uint64(uint64(b.Time))
	w.bool(b.ByOutput)
	w.uint32(b.Part)
	w.bool(b.More)
	w.uint16(uint16(len(b.Txs)))
	for i := range b.Txs {
		w.tx(&b.Txs[i])
	}
}

func (r *reader) block() *bourse.Block {
	b := &bourse.Block{
		Network:  bourse.NetworkID(r.uint16()),
		BlockRef: bourse.BlockRef{Height: r.uint64(), Hash: r.hash()}, Parent: r.hash(),
		Time: bourse.Time(r.uint64()), ByOutput: r.bool(), Part: r.uint32(), More: r.bool(),
	}
	if n := r.count(38); n > 0 {
		b.Txs = make([]bourse.Tx, n)
		for i := range b.Txs {
			r.tx(&b.Txs[i])
		}
	}
	return b
}

func (w *writer) tx(t *bourse.Tx) {
	w.bytes(t.Hash[:])
	w.uint16(uint16(len(t.Taken)))
	for i := range t.Taken {
		w.uint32(t.Taken[i].Address)
		w.uint16(uint16(t.Taken[i].Asset))
		w.amount(t.Taken[i].Amount)
	}
	w.outpoints(t.Spent)
	w.uint16(uint16(len(t.Outputs)))
	for i := range t.Outputs {
		o := &t.Outputs[i]
		w.uint32(o.Index)
		w.uint16(uint16(o.Asset))
		w.amount(o.Amount)
		w.uint32(uint32(o.Owner))
		w.uint32(o.Address)
		w.text(o.Memo)
	}
}

func (r *reader) tx(t *bourse.Tx) {
	t.Hash = r.hash()
	if n := r.count(22); n > 0 {
		t.Taken = make([]bourse.Taken, n)
		for i := range t.Taken {
			t.Taken[i] = bourse.Taken{Address: r.uint32(), Asset: bourse.AssetID(r.uint16()), Amount: r.amount()}
		}
	}
	t.Spent = r.outpoints()
	if n := r.count(32); n > 0 {
		t.Outputs = make([]bourse.Output, n)
		for i := range t.Outputs {
			t.Outputs[i] = bourse.Output{
				Index: r.uint32(), Asset: bourse.AssetID(r.uint16()), Amount: r.amount(),
				Owner: bourse.AccountID(r.uint32()), Address: r.uint32(), Memo: r.text(),
			}
		}
	}
}

func (w *writer) outpoints(list []bourse.Outpoint) {
	w.uint16(uint16(len(list)))
	for i := range list {
		w.bytes(list[i].Tx[:])
		w.uint32(list[i].Index)
	}
}

func (r *reader) outpoints() []bourse.Outpoint {
	n := r.count(36)
	if n == 0 {
		return nil
	}
	list := make([]bourse.Outpoint, n)
	for i := range list {
		list[i] = bourse.Outpoint{Tx: r.hash(), Index: r.uint32()}
	}
	return list
}

func (w *writer) withdraw(f *bourse.Withdraw) {
	w.uint16(uint16(f.Network))
	w.uint16(uint16(f.Asset))
	w.amount(f.Amount)
	w.amount(f.Fee)
	w.text(f.Address)
	w.text(f.Memo)
	w.uint32(uint32(f.Internal))
	w.standing(f)
	w.bytes(f.Save[:])
	w.text(f.ClientID.String())
}

func (r *reader) withdraw() *bourse.Withdraw {
	f := &bourse.Withdraw{
		Network: bourse.NetworkID(r.uint16()), Asset: bourse.AssetID(r.uint16()),
		Amount: r.amount(), Fee: r.amount(), Address: r.text(), Memo: r.text(),
		Internal: bourse.AccountID(r.uint32()),
	}
	r.standing(f)
	copy(f.Save[:], r.take(16))
	if id := r.text(); id != "" {
		var err error
		f.ClientID, err = bourse.ParseClientID(id)
		r.bad = r.bad || err != nil
	}
	return f
}

// signed writes what is asked for; what follows from the state is not written.
func (w *writer) signed(s *bourse.SignedTx) {
	w.uint16(uint16(s.Network))
	w.uint8(uint8(s.Kind))
	w.uint64(uint64(s.Wallet))
	w.bytes(s.Tx[:])
	w.uint32(uint32(len(s.Raw)))
	w.bytes(s.Raw)
	w.outpoints(s.Inputs)
	w.uint32(s.From)
	w.uint64(s.Nonce)
	w.uint16(uint16(s.Cost.Asset))
	w.amount(s.Cost.Amount)
}

func (r *reader) signed() *bourse.SignedTx {
	s := &bourse.SignedTx{
		Network: bourse.NetworkID(r.uint16()), Kind: bourse.SignedKind(r.uint8()),
		Wallet: bourse.WalletID(r.uint64()), Tx: r.hash(),
	}
	// The command's bytes may be reused; what it carries is kept.
	s.Raw = append([]byte(nil), r.take(int(r.uint32()))...)
	s.Inputs, s.From, s.Nonce = r.outpoints(), r.uint32(), r.uint64()
	s.Cost = bourse.AssetAmount{Asset: bourse.AssetID(r.uint16()), Amount: r.amount()}
	return s
}

// savedAddress writes what is asked for.
func (w *writer) savedAddress(a *bourse.SavedAddress) {
	w.uint16(uint16(a.Network))
	w.uint16(uint16(a.Asset))
	w.text(a.Address)
	w.text(a.Memo)
}

func (r *reader) savedAddress() *bourse.SavedAddress {
	return &bourse.SavedAddress{
		Network: bourse.NetworkID(r.uint16()), Asset: bourse.AssetID(r.uint16()),
		Address: r.text(), Memo: r.text(),
	}
}

func (r *reader) hash() (h bourse.TxHash) {
	copy(h[:], r.take(len(h)))
	return h
}

// count reads the length of a list whose entries take at least size bytes each,
// so that a malformed length asks for no more memory than there are bytes.
func (r *reader) count(size int) int {
	b := r.take(2)
	if b == nil {
		return 0
	}
	n := int(binary.LittleEndian.Uint16(b))
	if n > len(r.b)/size {
		r.b, r.bad = nil, true
		return 0
	}
	return n
}

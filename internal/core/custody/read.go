package custody

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// Around is the rest of the state that custody needs while it is restored.
type Around struct {
	Networks, Assets int
	Accounts         bourse.AccountID
	Now              bourse.Time
	// Terms reports whether an asset moves on a network.
	Terms func(bourse.NetworkID, bourse.AssetID) bool
}

// reader reads the form that Write writes, and trusts none of it.
type reader struct {
	*Custody
	c  *codec.Codec
	in Around
}

// maxTime bounds the times of a state, so that spans can be added to them.
const maxTime = bourse.Time(math.MaxInt64 / 2)

// Read restores the form that Write writes. Malformed bytes fail the codec; Check finds
// well-formed states that are impossible.
func Read(c *codec.Codec, in Around) *Custody {
	x := reader{New(), c, in}
	x.code(c)
	last := bourse.NetworkID(0)
	for n := c.Count(0); n > 0 && c.OK(); n-- {
		head := newNetwork(0)
		head.code(c)
		if !c.Want(head.Network > last && int(head.Network) < in.Networks) {
			break
		}
		last = head.Network
		x.grow(last)
		x.networks[last] = head
		x.readNetwork(head)
	}

	for n := c.Count(0); n > 0 && c.OK(); n-- {
		x.readDeposit()
	}
	for n := c.Count(0); n > 0 && c.OK(); n-- {
		x.readWithdrawal()
	}
	for n := c.Count(0); n > 0 && c.OK(); n-- {
		x.readSaved()
	}
	x.readNamed()
	x.readKeyed()
	return x.Custody
}

// past reports whether times lie between zero and now.
func (x *reader) past(times ...bourse.Time) bool {
	for _, t := range times {
		if t < 0 || t > x.in.Now {
			return false
		}
	}
	return true
}

// moves wants an asset that moves on a network, and an amount above zero.
func (x *reader) moves(n bourse.NetworkID, asset bourse.AssetID, amount bourse.Amount) {
	x.c.Want(x.in.Terms(n, asset) && !amount.IsZero())
}

func (x *reader) readNetwork(n *Network) {
	x.c.Want(n.Halted <= bourse.HaltUnknownSigned && (n.Record == 0) == (n.Chain == bourse.TxHash{}))
	if n.Cool != (bourse.CoolOrder{}) {
		x.c.Want(n.byOutput && n.Cool.ID > 0 && n.Cool.ID <= x.lastWallet)
		x.moves(n.Network, n.Cool.Asset, n.Cool.Amount)
	}
	for i := x.c.Count(0); i > 0 && x.c.OK(); i-- {
		s := x.readSigned(n.Network)
		x.c.Want(n.signed[s.Tx] == nil)
		n.signed[s.Tx] = s
		for _, at := range s.Inputs {
			if n.claims[at] == (bourse.TxHash{}) || s.State <= bourse.SignedAccepted {
				n.claims[at] = s.Tx // a mined one that was not given up has it all the same: see readMined
			}
		}
	}

	count := x.c.Count(0)
	anew := n.Recount != bourse.BlockRef{}
	x.c.Want(count <= MaxBlocks && (count > 0 || n.Part == 0 && (!n.byOutput || anew)))
	for ; count > 0 && x.c.OK(); count-- {
		x.readBlock(n)
	}
	x.c.Want(n.top >= n.Tip.Height && n.top < 1<<62 && (n.top == 0 || len(n.blocks) > 0 || anew) &&
		anew == (n.former != bourse.TxHash{}))
	x.readMoney(n)
}

// readMoney reads a network's outputs, holdings and nonces.
func (x *reader) readMoney(n *Network) {
	for i := x.c.Count(0); i > 0 && x.c.OK(); i-- {
		u := &bourse.Unspent{Network: n.Network}
		x.c.Unspent(u)
		x.moves(n.Network, u.Asset, u.Amount)
		x.c.Want(n.unspent[u.Outpoint] == nil)
		n.unspent[u.Outpoint] = u
	}

	for i := x.c.Count(0); i > 0 && x.c.OK(); i-- {
		var h bourse.Holding
		x.c.Holding(&h)
		x.moves(n.Network, h.Asset, h.Amount)
		p := place{h.Address, h.Asset}
		x.c.Want(n.holdings[p].IsZero())
		n.holdings[p] = h.Amount
	}

	for i := x.c.Count(0); i > 0 && x.c.OK(); i-- {
		var next bourse.Nonce
		x.c.Nonce(&next)
		x.c.Want(n.nonces[next.Address] == 0 && next.Next > 0 && next.Next <= 1<<62)
		n.nonces[next.Address] = next.Next
	}
}

func (x *reader) readSigned(network bourse.NetworkID) *bourse.SignedTx {
	s := new(bourse.SignedTx)
	codeSigned(x.c, s)
	x.c.Want(s.Valid() && s.Network == network && x.allotted(s) && x.past(s.Time))
	switch s.State {
	case bourse.SignedMined:
	case bourse.SignedWaiting, bourse.SignedAccepted, bourse.SignedDropped:
		x.c.Want(!s.Reverted && s.Block == bourse.BlockRef{})
	default:
		x.c.Want(false)
	}
	return s
}

// allotted reports whether the ids of a transaction were allotted.
func (x *reader) allotted(s *bourse.SignedTx) bool {
	last := s.Wallet
	for id := range s.Payees {
		last = id
	}
	return last <= x.lastWallet
}

func (x *reader) readBlock(n *Network) {
	var b block
	b.code(x.c)
	var follows bool
	if len(n.blocks) > 0 {
		follows = b.Height == n.Tip.Height+1 && b.parent == n.Tip.Hash
	} else {
		follows = b.Height < 1<<62
	}
	x.c.Want(follows && b.Height < 1<<62 && b.Hash != b.parent && b.Hash != bourse.TxHash{} && b.time >= 0)

	for i := x.c.Count(0); i > 0 && x.c.OK(); i-- {
		m := x.readMined(n)
		height, known := n.txs[m.Hash]
		x.c.Want(!known || height == b.Height && len(m.Outflows) == 0 && m.Signed == nil)
		n.txs[m.Hash] = b.Height
		b.txs = append(b.txs, m)
	}
	n.blocks = append(n.blocks, b)
	n.Tip, n.Time = b.BlockRef, b.time
}

func (x *reader) readMined(n *Network) *Mined {
	m := &Mined{TxEffect: new(bourse.TxEffect)}
	m.code(x.c)
	if m.Was != 0 {
		m.Signed = n.signed[m.Hash]
		x.c.Want(m.Signed != nil && m.Signed.State == bourse.SignedMined && m.Was <= bourse.SignedDropped &&
			m.Was != bourse.SignedMined && m.Was != bourse.SignedFinal)
		if x.c.OK() && m.Was != bourse.SignedDropped {
			n.claim(m.Signed)
		}
	} else {
		x.c.Want(n.signed[m.Hash] == nil)
	}

	for i := range m.spent {
		u := &m.spent[i]
		u.Network = n.Network
		x.moves(n.Network, u.Asset, u.Amount)
		x.c.Want(u.By == bourse.TxHash{})
		m.Spent = append(m.Spent, u.Outpoint)
	}
	b := bourse.BlockEffect{
		Network: n.Network, BlockRef: bourse.BlockRef{Hash: bourse.TxHash{1}}, ByOutput: n.byOutput,
		Txs: []bourse.TxEffect{*m.TxEffect},
	}
	x.c.Want(b.Valid())
	for i := range m.Outflows {
		x.moves(n.Network, m.Outflows[i].Asset, m.Outflows[i].Amount)
	}
	for i := range m.Inflows {
		x.moves(n.Network, m.Inflows[i].Asset, m.Inflows[i].Amount)
	}
	for i := range m.Postings {
		x.moves(n.Network, m.Postings[i].Asset, m.Postings[i].Amount)
	}
	return m
}

func (x *reader) readDeposit() {
	d := new(bourse.Deposit)
	x.c.Deposit(d)
	x.moves(d.Network, d.Asset, d.Amount)
	owned := d.Account > 0
	ok := d.Number > 0 && d.Number <= x.lastDeposit && x.deposits[d.Number] == nil &&
		d.Account <= x.in.Accounts && owned == (d.ID > 0) && owned == (d.Ordinal > 0) && d.ID <= x.lastWallet &&
		(owned || !d.OverLimit && !d.OverAlone && !d.Admitted) && (!d.OverAlone || !d.OverLimit && !d.Admitted) && d.Target > 0 &&
		d.Gone < 1<<62 && (!d.Mined || d.Gone == 0) && d.Tx != bourse.TxHash{} &&
		x.past(d.Created, d.Done)

	switch d.Status {
	case bourse.WalletPending:
		ok = ok && d.Done == 0
	case bourse.WalletCanceled:
		ok = ok && !d.Mined
	case bourse.WalletDone:
		ok = ok && owned && !d.BelowMin && !d.OverLimit && !d.OverAlone
	default:
		ok = false
	}
	if x.c.Want(ok) && x.c.Want(x.Network(d.Network).Deposit(d.Tx, d.Index) == nil) {
		x.AddDeposit(d)
	}
}

func (x *reader) readWithdrawal() {
	d := new(bourse.Withdrawal)
	x.c.Withdrawal(d)
	_, fits := d.Amount.Add(d.Fee)
	ok := fits && d.ID > 0 && d.ID <= x.lastWallet && x.withdrawals[d.ID] == nil && d.Ordinal > 0 &&
		x.asked(d.Account, &d.Withdraw) && d.Internal <= x.in.Accounts && x.past(d.Created, d.Done) &&
		(x.in.Terms(d.Network, d.Asset) || d.Transfer() && int(d.Asset) < x.in.Assets) &&
		d.NotBefore >= 0 && d.NotBefore <= maxTime && (d.NotBefore == 0 || d.Status == bourse.WalletPending) &&
		(d.Open() || d.Once.IsZero() && d.Message == bourse.Token{})

	signed := d.Tx != bourse.TxHash{}
	switch d.Status {
	case bourse.WalletPending:
		ok = ok && !d.Signed && !signed && !d.Ending
	case bourse.WalletPendingCancel:
		ok = ok && d.Ending
	case bourse.WalletProcessing:
		ok = ok && d.Approved && d.Internal == 0 && (d.Signed || !signed) && !d.Ending
	case bourse.WalletDone:
		ok = ok && d.Approved && d.Internal == 0 && d.Signed
	default:
		ok = false
	}

	ok = ok && (!d.Ending || d.AtSigner && !signed) && (!d.AtSigner || d.Internal == 0)
	if x.c.Want(ok && (d.Done != 0 || d.Status != bourse.WalletDone) && (signed || !d.Reverted)) {
		x.AddWithdrawal(d)
	}
}

// asked reports whether an account can have made a request.
func (x *reader) asked(account bourse.AccountID, w *bourse.Withdraw) bool {
	return account.IsCustomer() && account <= x.in.Accounts && w.Valid() && !w.Again
}

func (x *reader) readSaved() {
	a := new(bourse.SavedAddress)
	codeSaved(x.c, a)
	for i := range a.Trusts {
		t := &a.Trusts[i]
		x.moves(a.Network, t.Asset, t.Most)
		x.c.Want((i == 0 || a.Trusts[i-1].Asset < t.Asset) && x.isTrust(t))
	}
	if x.c.Want(a.Valid() && x.in.Terms(a.Network, a.Asset) && a.Account.IsCustomer() && a.Account <= x.in.Accounts &&
		a.ID > 0 && a.ID <= x.lastAddress && x.addresses[a.ID] == nil && x.CanSave(a) == 0) {
		x.keep(a)
	}
}

// isTrust reports whether a trust is possible: it begins at most trustAfter from now, and
// its greater amount, if any, not before it.
func (x *reader) isTrust(t *bourse.Trust) bool {
	last := x.in.Now + trustAfter
	if t.From <= 0 || t.From > last || t.GreaterFrom < 0 || t.GreaterFrom > last {
		return false
	}
	greater := t.Most.Less(t.Greater) && t.From <= t.GreaterFrom
	return greater || t.Greater.IsZero() && t.GreaterFrom == 0
}

// readNamed reads the client ids.
func (x *reader) readNamed() {
	readRequests(x, &x.named, codeNamed, func(r *request[bourse.ClientID, bourse.Withdraw]) bool {
		r.name = r.asked.ClientID
		return !r.name.IsZero() && r.asked == plain(&r.asked) && x.asked(r.account, &r.asked)
	}, func(r *request[bourse.ClientID, bourse.Withdraw], w *bourse.Withdrawal) bool {
		return w.ClientID == r.name
	})
}

// readKeyed reads the keys of requests.
func (x *reader) readKeyed() {
	readRequests(x, &x.keyed, codeKeyed, func(r *request[bourse.RequestHash, bourse.RequestHash]) bool {
		return r.account.IsCustomer() && r.account <= x.in.Accounts
	}, func(r *request[bourse.RequestHash, bourse.RequestHash], w *bourse.Withdrawal) bool {
		return w.Once == bourse.Once{Key: r.name, Body: r.asked}
	})
}

// readRequests reads the named requests. can reports whether a request is possible, bears
// whether a withdrawal carries its name.
func readRequests[N, A comparable](
	x *reader, q *requests[N, A], code func(*codec.Codec, *request[N, A]),
	can func(*request[N, A]) bool, bears func(*request[N, A], *bourse.Withdrawal) bool,
) {
	for _, open := range [...]bool{true, false} {
		last := bourse.Time(0)
		for n := x.c.Count(0); n > 0 && x.c.OK(); n-- {
			r := new(request[N, A])
			code(x.c, r)
			if !x.c.Want(can(r) && q.byName[r.requestName] == nil && open == (r.ended == 0) &&
				r.ended >= last && x.past(r.ended) && r.outcome.Status == 0 && r.outcome.Filled == 0) {
				return
			}
			last = r.ended
			q.byName[r.requestName] = r
			if open {
				w := x.withdrawals[bourse.WalletID(r.outcome.ID)]
				x.c.Want(w != nil && w.Open() && w.Account == r.account && bears(r, w) && r.outcome.Reason == 0)
				continue
			}
			x.c.Want(len(q.byAccount[r.list()]) < r.list().most())
			q.retire(r)
		}
	}
}

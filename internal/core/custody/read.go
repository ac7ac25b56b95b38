package custody

import (
	"math"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// Around is what custody needs to know of the rest of the state while it is
// restored.
type Around struct {
	Networks, Assets int
	Accounts         bourse.AccountID
	Now              bourse.Time
	// Terms reports whether an asset moves on a network.
	Terms func(bourse.NetworkID, bourse.AssetID) bool
}

// reader reads what Write wrote, and trusts none of it.
type reader struct {
	*Custody
	r  *state.Reader
	in Around
}

// maxTime bounds the times of a state, so that spans can be added to them.
const maxTime = bourse.Time(math.MaxInt64 / 2)

// Read restores what Write wrote. What is malformed fails the reader; what is
// well formed and cannot be is found by Check.
func Read(r *state.Reader, in Around) *Custody {
	x := reader{New(), r, in}
	x.lastWallet, x.lastDeposit = bourse.WalletID(r.Uint64()), bourse.DepositID(r.Uint64())
	x.lastAddress = bourse.AddressID(r.Uint32())
	last := bourse.NetworkID(0)
	for n := r.Count(57); n > 0 && r.Err() == nil; n-- {
		id := bourse.NetworkID(r.Uint16())
		if !x.want(id > last && int(id) < in.Networks) {
			break
		}
		last = id
		x.readNetwork(x.Network(id))
	}
	for n := r.Count(160); n > 0 && r.Err() == nil; n-- {
		x.readDeposit()
	}
	for n := r.Count(226); n > 0 && r.Err() == nil; n-- {
		x.readWithdrawal()
	}
	for n := r.Count(45); n > 0 && r.Err() == nil; n-- {
		x.readSaved()
	}
	x.readNamed()
	x.readKeyed()
	return x.Custody
}

func (x *reader) want(ok bool) bool {
	if !ok {
		x.r.Fail()
	}
	return ok
}

// time reads an instant that lies in the past.
func (x *reader) time() bourse.Time {
	t := bourse.Time(x.r.Uint64())
	x.want(t >= 0 && t <= x.in.Now)
	return t
}

func (x *reader) hash() (h bourse.TxHash) {
	x.r.Bytes(h[:])
	return h
}

func (x *reader) ref() bourse.BlockRef {
	return bourse.BlockRef{Height: x.r.Uint64(), Hash: x.hash()}
}

// asset reads an asset that moves on a network.
func (x *reader) asset(n bourse.NetworkID) bourse.AssetID {
	id := bourse.AssetID(x.r.Uint16())
	x.want(x.in.Terms(n, id))
	return id
}

// amount reads one that is more than zero.
func (x *reader) amount() bourse.Amount {
	a := x.r.Amount()
	x.want(!a.IsZero())
	return a
}

func (x *reader) readNetwork(n *Network) {
	n.Paused, n.Halted = x.r.Bool(), bourse.Halt(x.r.Uint8())
	n.byOutput, n.Part, n.top = x.r.Bool(), x.r.Uint32(), x.r.Uint64()
	x.want(n.Halted <= bourse.HaltStrangeSpend)
	for i := x.r.Count(134); i > 0 && x.r.Err() == nil; i-- {
		s := x.readSigned(n.Network)
		x.want(n.signed[s.Tx] == nil)
		n.signed[s.Tx] = s
		for _, at := range s.Inputs {
			if old := n.signed[n.claims[at]]; old == nil || old.State == bourse.SignedDropped {
				n.claims[at] = s.Tx
			}
		}
	}
	count := x.r.Count(80)
	x.want(count <= MaxBlocks && (count > 0 || n.Part == 0 && !n.byOutput))
	for ; count > 0 && x.r.Err() == nil; count-- {
		x.readBlock(n)
	}
	x.want(n.top >= n.Tip.Height && n.top < 1<<62 && (n.top == 0 || len(n.blocks) > 0))
	for i := x.r.Count(98); i > 0 && x.r.Err() == nil; i-- {
		u := x.readUnspent(n.Network)
		x.want(n.unspent[u.Outpoint] == nil)
		n.unspent[u.Outpoint] = &u
	}
	for i := x.r.Count(22); i > 0 && x.r.Err() == nil; i-- {
		p := place{address: x.r.Uint32(), asset: x.asset(n.Network)}
		x.want(n.holdings[p].IsZero())
		n.holdings[p] = x.amount()
	}
	for i := x.r.Count(12); i > 0 && x.r.Err() == nil; i-- {
		address, next := x.r.Uint32(), x.r.Uint64()
		x.want(n.nonces[address] == 0 && next > 0 && next <= 1<<62)
		n.nonces[address] = next
	}
}

func (x *reader) readSigned(network bourse.NetworkID) *bourse.SignedTx {
	s := &bourse.SignedTx{
		Network: network, Tx: x.hash(), Kind: bourse.SignedKind(x.r.Uint8()), Wallet: bourse.WalletID(x.r.Uint64()),
		Raw: []byte(x.r.Text(bourse.MaxRaw)),
	}
	for i := x.r.Count(36); i > 0 && x.r.Err() == nil; i-- {
		s.Inputs = append(s.Inputs, bourse.Outpoint{Tx: x.hash(), Index: x.r.Uint32()})
	}
	s.From, s.Nonce = x.r.Uint32(), x.r.Uint64()
	s.Cost = bourse.AssetAmount{Asset: bourse.AssetID(x.r.Uint16()), Amount: x.r.Amount()}
	s.State, s.Reverted, s.Block, s.Time = bourse.SignedState(x.r.Uint8()), x.r.Bool(), x.ref(), x.time()
	cmd := bourse.Command{Kind: bourse.CommandSigned, Wallet: &bourse.WalletCommand{Signed: s}}
	x.want(cmd.Check() == nil && s.Wallet <= x.lastWallet)
	switch s.State {
	case bourse.SignedMined:
	case bourse.SignedWaiting, bourse.SignedAccepted, bourse.SignedDropped:
		x.want(!s.Reverted && s.Block == bourse.BlockRef{})
	default:
		x.r.Fail()
	}
	return s
}

func (x *reader) readBlock(n *Network) {
	b := block{BlockRef: x.ref(), parent: x.hash(), time: bourse.Time(x.r.Uint64())}
	var follows bool
	if len(n.blocks) > 0 {
		follows = b.Height == n.Tip.Height+1 && b.parent == n.Tip.Hash
	} else {
		follows = b.Height < 1<<62
	}
	x.want(follows && b.Height < 1<<62 && b.Hash != b.parent && b.Hash != bourse.TxHash{} && b.time >= 0)
	for i := x.r.Count(65); i > 0 && x.r.Err() == nil; i-- {
		m := x.readMined(n)
		height, known := n.txs[m.Hash]
		x.want(!known || height == b.Height && len(m.Taken) == 0 && m.Signed == nil)
		n.txs[m.Hash] = b.Height
		b.txs = append(b.txs, m)
	}
	n.blocks = append(n.blocks, b)
	n.Tip, n.Time = b.BlockRef, b.time
}

func (x *reader) readMined(n *Network) *Mined {
	m := &Mined{Tx: &bourse.Tx{Hash: x.hash()}, Was: bourse.SignedState(x.r.Uint8())}
	if m.Was != 0 {
		m.Signed = n.signed[m.Hash]
		x.want(m.Signed != nil && m.Signed.State == bourse.SignedMined && m.Was <= bourse.SignedDropped &&
			m.Was != bourse.SignedMined && m.Was != bourse.SignedFinal)
	} else {
		x.want(n.signed[m.Hash] == nil)
	}
	for i := x.r.Count(22); i > 0 && x.r.Err() == nil; i-- {
		m.Taken = append(m.Taken, bourse.Taken{Address: x.r.Uint32(), Asset: x.asset(n.Network), Amount: x.amount()})
	}
	for i := x.r.Count(98); i > 0 && x.r.Err() == nil; i-- {
		u := x.readUnspent(n.Network)
		x.want(u.By == bourse.TxHash{})
		m.spent = append(m.spent, u)
		m.Spent = append(m.Spent, u.Outpoint)
	}
	for i := x.r.Count(34); i > 0 && x.r.Err() == nil; i-- {
		m.Outputs = append(m.Outputs, bourse.Output{
			Index: x.r.Uint32(), Asset: x.asset(n.Network), Amount: x.amount(),
			Owner: bourse.AccountID(x.r.Uint32()), Address: x.r.Uint32(), Memo: x.r.Text(bourse.MaxMemo),
		})
	}
	cmd := bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: &bourse.Block{
		Network: n.Network, BlockRef: bourse.BlockRef{Hash: bourse.TxHash{1}}, ByOutput: n.byOutput, Txs: []bourse.Tx{*m.Tx},
	}}}
	x.want(cmd.Check() == nil)
	for i := x.r.Count(27); i > 0 && x.r.Err() == nil; i-- {
		m.Postings = append(m.Postings, bourse.Transfer{
			Kind: bourse.TransferKind(x.r.Uint8()), From: bourse.AccountID(x.r.Uint32()), To: bourse.AccountID(x.r.Uint32()),
			Asset: x.asset(n.Network), Amount: x.amount(),
		})
	}
	return m
}

func (x *reader) readUnspent(n bourse.NetworkID) bourse.Unspent {
	return bourse.Unspent{
		Network: n, Outpoint: bourse.Outpoint{Tx: x.hash(), Index: x.r.Uint32()},
		Asset: x.asset(n), Amount: x.amount(), Address: x.r.Uint32(), Height: x.r.Uint64(), By: x.hash(),
	}
}

func (x *reader) readDeposit() {
	d := &bourse.Deposit{
		Number: bourse.DepositID(x.r.Uint64()), ID: bourse.WalletID(x.r.Uint64()), Ordinal: x.r.Uint64(),
		Account: bourse.AccountID(x.r.Uint32()), Network: bourse.NetworkID(x.r.Uint16()),
	}
	d.Asset, d.Amount, d.Tx, d.Index = x.asset(d.Network), x.amount(), x.hash(), x.r.Uint32()
	d.Address, d.Memo = x.r.Uint32(), x.r.Text(bourse.MaxMemo)
	d.Status, d.BelowMin, d.Mined = bourse.WalletStatus(x.r.Uint8()), x.r.Bool(), x.r.Bool()
	d.Block, d.Gone, d.Target = x.ref(), x.r.Uint64(), x.r.Uint32()
	d.Created, d.Done = x.time(), x.time()
	owned := d.Account > 0
	ok := d.Number > 0 && d.Number <= x.lastDeposit && x.deposits[d.Number] == nil &&
		d.Account <= x.in.Accounts && owned == (d.ID > 0) && owned == (d.Ordinal > 0) && d.ID <= x.lastWallet &&
		d.Target > 0 && d.Gone < 1<<62 && (!d.Mined || d.Gone == 0) && d.Tx != bourse.TxHash{}
	switch d.Status {
	case bourse.WalletPending:
		ok = ok && d.Done == 0
	case bourse.WalletCanceled:
		ok = ok && !d.Mined
	case bourse.WalletDone:
		ok = ok && owned && !d.BelowMin
	default:
		ok = false
	}
	if !x.want(ok) || !x.want(x.Network(d.Network).Deposit(d.Tx, d.Index) == nil) {
		return
	}
	x.AddDeposit(d)
}

func (x *reader) readWithdrawal() {
	d := &bourse.Withdrawal{
		ID: bourse.WalletID(x.r.Uint64()), Ordinal: x.r.Uint64(), Account: bourse.AccountID(x.r.Uint32()),
	}
	d.Withdraw = x.readAsked(d.Account)
	d.Status, d.Approved, d.Sent, d.Reverted = bourse.WalletStatus(x.r.Uint8()), x.r.Bool(), x.r.Bool(), x.r.Bool()
	d.Tx, d.Created, d.Done = x.hash(), x.time(), x.time()
	x.readWaiting(d)
	_, fits := d.Amount.Add(d.Fee)
	ok := fits && d.ID > 0 && d.ID <= x.lastWallet && x.withdrawals[d.ID] == nil && d.Ordinal > 0 &&
		d.Internal <= x.in.Accounts &&
		(x.in.Terms(d.Network, d.Asset) || d.Transfer() && int(d.Asset) < x.in.Assets)
	signed := d.Tx != bourse.TxHash{}
	switch d.Status {
	case bourse.WalletPending:
		ok = ok && !d.Sent && !signed
	case bourse.WalletProcessing:
		ok = ok && d.Approved && d.Internal == 0 && (d.Sent || !signed)
	case bourse.WalletDone:
		ok = ok && d.Approved && d.Internal == 0 && d.Sent
	default:
		ok = false
	}
	if x.want(ok && (d.Done != 0 || d.Status != bourse.WalletDone) && (signed || !d.Reverted)) {
		x.AddWithdrawal(d)
	}
}

// readWaiting reads what an open withdrawal alone has: when it may leave, the key
// of its request and its message.
func (x *reader) readWaiting(d *bourse.Withdrawal) {
	d.NotBefore = bourse.Time(x.r.Uint64())
	x.r.Bytes(d.Once.Key[:])
	x.r.Bytes(d.Once.Body[:])
	x.r.Bytes(d.Message[:])
	x.want(d.NotBefore >= 0 && d.NotBefore <= maxTime && (d.NotBefore == 0 || d.Status == bourse.WalletPending))
	x.want(d.Open() || d.Once == bourse.Once{} && d.Message == bourse.Token{})

	cmd := bourse.Command{Kind: kindOf(&d.Withdraw), Account: d.Account, Wallet: &bourse.WalletCommand{Withdraw: &d.Withdraw}}
	x.want(cmd.Check() == nil)
}

// kindOf returns the kind of the command that asks for a withdrawal.
func kindOf(w *bourse.Withdraw) bourse.CommandKind {
	if w.Transfer() {
		return bourse.CommandTransfer
	}
	return bourse.CommandWithdraw
}

func (x *reader) readAsked(account bourse.AccountID) bourse.Withdraw {
	a := bourse.Withdraw{Network: bourse.NetworkID(x.r.Uint16()), Asset: bourse.AssetID(x.r.Uint16())}
	a.Amount, a.Fee = x.r.Amount(), x.r.Amount()
	a.Address, a.Memo = x.r.Text(bourse.MaxAddress), x.r.Text(bourse.MaxMemo)
	a.Internal, a.Factor = bourse.AccountID(x.r.Uint32()), x.r.Bool()
	x.r.Bytes(a.Save[:])
	x.r.Bytes(a.ClientID[:])
	if a.ClientID.Given() {
		id, err := bourse.ParseClientID(a.ClientID.String())
		x.want(err == nil && id == a.ClientID)
	} else {
		x.want(a.ClientID == bourse.ClientID{})
	}
	cmd := bourse.Command{Kind: kindOf(&a), Account: account, Wallet: &bourse.WalletCommand{Withdraw: &a}}
	x.want(cmd.Check() == nil && account <= x.in.Accounts)
	return a
}

func (x *reader) readSaved() {
	a := &bourse.SavedAddress{
		ID: bourse.AddressID(x.r.Uint32()), Account: bourse.AccountID(x.r.Uint32()), Network: bourse.NetworkID(x.r.Uint16()),
	}
	a.Asset, a.Address, a.Memo = x.asset(a.Network), x.r.Text(bourse.MaxAddress), x.r.Text(bourse.MaxMemo)
	x.r.Bytes(a.Token[:])
	for n := x.r.Count(50); n > 0 && x.r.Err() == nil; n-- {
		a.Trusts = append(a.Trusts, x.readTrust(a))
	}
	cmd := bourse.Command{Kind: bourse.CommandSaveAddress, Account: a.Account, Wallet: &bourse.WalletCommand{Save: a}}
	if x.want(cmd.Check() == nil && a.Account <= x.in.Accounts && a.ID > 0 && a.ID <= x.lastAddress &&
		x.addresses[a.ID] == nil && x.CanSave(a) == 0) {
		x.keep(a)
	}
}

// readTrust reads the next trust in an entry.
func (x *reader) readTrust(a *bourse.SavedAddress) bourse.Trust {
	t := bourse.Trust{Asset: x.asset(a.Network), Most: x.amount(), From: x.trustTime()}
	t.Greater, t.GreaterFrom = x.r.Amount(), x.trustTime()
	if n := len(a.Trusts); n > 0 {
		x.want(a.Trusts[n-1].Asset < t.Asset)
	}
	greater := t.Most.Less(t.Greater) && t.From <= t.GreaterFrom
	x.want(t.From > 0 && (greater || t.Greater.IsZero() && t.GreaterFrom == 0))
	return t
}

// trustTime reads when a trust begins, at most trustAfter from now.
func (x *reader) trustTime() bourse.Time {
	t := bourse.Time(x.r.Uint64())
	x.want(t >= 0 && t <= x.in.Now+trustAfter)
	return t
}

// readNamed reads the client ids.
func (x *reader) readNamed() {
	readRequests(x, &x.named, 123, func(r *request[bourse.ClientID, bourse.Withdraw]) bool {
		r.asked = x.readAsked(r.account)
		r.name = r.asked.ClientID
		return r.asked.ClientID.Given() && r.asked == plain(&r.asked)
	}, func(r *request[bourse.ClientID, bourse.Withdraw], w *bourse.Withdrawal) bool {
		return w.ClientID == r.name
	})
}

// readKeyed reads the keys of requests.
func (x *reader) readKeyed() {
	readRequests(x, &x.keyed, 53, func(r *request[bourse.RequestHash, bourse.RequestHash]) bool {
		x.r.Bytes(r.name[:])
		x.r.Bytes(r.asked[:])
		return r.account.IsCustomer() && r.account <= x.in.Accounts
	}, func(r *request[bourse.RequestHash, bourse.RequestHash], w *bourse.Withdrawal) bool {
		return w.Once == bourse.Once{Key: r.name, Body: r.asked}
	})
}

// readRequests reads names of requests, size bytes each at least. what reads what
// was asked for, and bears says whether a withdrawal is the one that was.
func readRequests[N, A comparable](
	x *reader, q *requests[N, A], size int, what func(*request[N, A]) bool, bears func(*request[N, A], *bourse.Withdrawal) bool,
) {
	for _, open := range [...]bool{true, false} {
		last := bourse.Time(0)
		for n := x.r.Count(size); n > 0 && x.r.Err() == nil; n-- {
			r := new(request[N, A])
			r.account = bourse.AccountID(x.r.Uint32())
			good := what(r)
			r.outcome = bourse.Outcome{Reason: bourse.Reason(x.r.Uint8()), ID: x.r.Uint64()}
			r.ended = x.time()
			if !x.want(good && q.byName[r.requestName] == nil && open == (r.ended == 0) && r.ended >= last) {
				return
			}
			last = r.ended
			q.byName[r.requestName] = r
			if open {
				w := x.withdrawals[bourse.WalletID(r.outcome.ID)]
				x.want(w != nil && w.Open() && w.Account == r.account && bears(r, w) && r.outcome.Reason == 0)
				continue
			}
			x.want(len(q.byAccount[r.list()]) < r.list().most())
			q.retire(r)
		}
	}
}

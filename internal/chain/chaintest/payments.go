package chaintest

import (
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// plenty is a cap above every cost.
var plenty = bourse.Units(1e18)

// payment returns a withdrawal to an address outside, with the next nonce or inputs.
func (d *desk) payment(coin chain.Coin, amount bourse.Amount) *chain.Payment {
	d.Helper()
	to, err := d.Outside.NewAddress()
	d.must(err)
	nonce, err := d.Network.Nonce(d.Context(), chain.IndexHot)
	d.must(err)
	p := &chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: coin.ID, Amount: amount, To: chain.Destination{Address: to},
		From: chain.IndexHot, Nonce: nonce, CostCap: plenty, Inputs: d.inputs(coin.ID, amount),
	}
	if d.shape().MemoName != "" {
		p.To.Memo = strings.Repeat("4", bourse.MaxMemo)
	}
	return p
}

func (d *desk) prepare(p *chain.Payment) chain.Unsigned {
	d.Helper()
	u, err := d.Network.Prepare(d.Context(), p)
	d.must(err)
	return u
}

func (d *desk) sign(p *chain.Payment) ([]byte, chain.Hash) {
	d.Helper()
	raw, hash, err := d.Keys.Sign(d.prepare(p).Raw)
	d.must(err)
	return raw, hash
}

func (d *desk) broadcast(raw []byte, want chain.VerdictKind) {
	d.Helper()
	v, err := d.Network.Broadcast(d.Context(), raw)
	d.must(err)
	if v.Kind != want {
		d.Errorf("the verdict is %v, want %d", v, want)
	}
}

func (d *desk) state(raw []byte, want chain.TxStatus) chain.TxState {
	d.Helper()
	s, err := d.Network.State(d.Context(), raw)
	d.must(err)
	if s.Status != want {
		d.Errorf("the state is %v, want %d", s, want)
	}
	return s
}

func (d *desk) balance(address string, coin chain.CoinID) bourse.Amount {
	d.Helper()
	a, err := d.Network.Balance(d.Context(), address, coin)
	d.must(err)
	return a
}

// testPayment follows a withdrawal from Prepare to its confirmations.
func testPayment(d *desk) {
	for _, coin := range d.some() {
		p := d.payment(coin, amount(coin))
		u := d.prepare(p)
		d.checkDecoded(p, u.Raw, u.Cost, false)

		raw, hash, err := d.Keys.Sign(u.Raw)
		d.must(err)
		d.checkDecoded(p, raw, u.Cost, true)
		if again, other, err := d.Keys.Sign(u.Raw); err != nil || string(again) != string(raw) || other != hash {
			d.Errorf("signed again it is another: %v", err)
		}

		d.state(raw, chain.TxAbsent)
		d.broadcast(raw, chain.Accepted)
		d.state(raw, chain.TxWaiting)

		height := d.mine(1).Height
		head := d.mine(2)
		s := d.state(raw, chain.TxMined)

		if s.Block.Height != height || s.Block.Hash != d.block(height).Hash ||
			s.Confirms != head.Height-height+1 || s.Failed {
			d.Errorf("mined at %d of %d it is %v", height, head.Height, s)
		}
		if got := d.balance(p.To.Address, coin.ID); got != p.Amount {
			d.Errorf("%s of %s arrived", got.Format(0), coin.ID)
		}
		d.checkCost(d.tx(height, hash), p, u.Cost)
	}
}

// checkDecoded checks that a transaction makes the payment and nothing else.
func (d *desk) checkDecoded(p *chain.Payment, raw []byte, cost bourse.Amount, signed bool) {
	d.Helper()
	t, err := d.Network.Decode(raw)
	d.must(err)
	if t.Signed != signed || t.Cost != cost || len(t.Inputs) != len(p.Inputs) ||
		t.From != p.From || t.Nonce != p.Nonce {
		d.Errorf("decoded as %v", t)
	}
	change := d.Network.Destination(chain.IndexChange).Address
	found := 0
	for _, pay := range t.Pays {
		if pay == (chain.Pay{To: p.To, Coin: p.Coin, Amount: p.Amount}) {
			found++
		} else if !d.shape().Outputs || pay.To.Address != change {
			d.Errorf("it pays %v too", pay)
		}
	}
	if found != 1 {
		d.Errorf("it pays %d times what it should", found)
	}
}

// checkCost checks that the balance falls by the payment and at most its cost.
func (d *desk) checkCost(tx *chain.Tx, p *chain.Payment, most bourse.Amount) {
	d.Helper()
	net := bourse.Amount{}
	for _, t := range tx.Debits {
		if t.Coin == d.shape().Native {
			net = net.Plus(t.Amount)
		}
	}
	for _, g := range tx.Credits {
		if g.Coin == d.shape().Native {
			net = net.Minus(g.Amount) // payments to the exchange included
		}
	}
	if most.Less(net) || net.IsZero() != most.IsZero() {
		d.Errorf("%s cost %s, at most %s", p.Coin, net.Format(0), most.Format(0))
	}
}

// testChange checks that change belongs to the treasury and can be spent.
func testChange(d *desk) {
	coin := d.shape().Coins[0]
	raw, hash := d.sign(d.payment(coin, amount(coin)))
	d.broadcast(raw, chain.Accepted)
	height := d.mine(1).Height

	found := d.deposits(height)
	for _, f := range found {
		if f.owner.Kind != chain.OwnerTreasury {
			d.Errorf("change is %v", f)
		}
	}

	if d.tx(height, hash) == nil || (len(found) > 0) != d.shape().Outputs {
		d.Errorf("what came back is %v", found)
	}
	if len(found) > 0 { // change can be spent like any output
		p := d.payment(coin, amount(coin))
		p.Inputs = []chain.Input{{
			Outpoint: chain.Outpoint{Tx: hash, Index: found[0].index}, Owner: found[0].owner.At,
			Coin: coin.ID, Amount: found[0].sum,
		}}
		raw, _ = d.sign(p)
		d.broadcast(raw, chain.Accepted)
		d.mine(1)
		d.state(raw, chain.TxMined)
	}
}

// testSplitChange checks that change comes in as many outputs as are asked for, at the cost that Fees names, and that
// one payment spends them all.
func testSplitChange(d *desk) {
	const parts = 4
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	p.Change, p.LeastChange = parts, bourse.Units(1)
	u := d.prepare(p)
	fees, err := d.Network.Fees(d.Context(), coin.ID)
	d.must(err)
	split := fees.Split(parts)
	if most := split.Of(len(p.Inputs)); most.Less(u.Cost) || u.Cost.Less(fees.PerChange) {
		d.Errorf("it costs %s, and at most %s", u.Cost.Format(0), most.Format(0))
	}
	raw, hash, err := d.Keys.Sign(u.Raw)
	d.must(err)
	d.broadcast(raw, chain.Accepted)

	found := d.deposits(d.mine(1).Height)
	all := d.payment(coin, amount(coin))
	all.Inputs = nil
	for _, f := range found {
		all.Inputs = append(all.Inputs, chain.Input{
			Outpoint: chain.Outpoint{Tx: hash, Index: f.index}, Owner: f.owner.At, Coin: coin.ID, Amount: f.sum,
		})
	}
	if len(found) != parts {
		d.Fatalf("change came in %d outputs", len(found))
	}
	if all.Amount = found[1].sum.Plus(found[2].sum).Plus(found[3].sum); all.Amount.IsZero() {
		d.Fatal("change of nothing")
	}
	raw, _ = d.sign(all)
	d.broadcast(raw, chain.Accepted)
	d.mine(1)
	d.state(raw, chain.TxMined)
}

// testBroadcastAgain broadcasts the same bytes repeatedly.
func testBroadcastAgain(d *desk) {
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	raw, _ := d.sign(p)
	d.broadcast(raw, chain.Accepted)
	d.broadcast(raw, chain.Known)
	d.mine(1)
	d.broadcast(raw, chain.Known)

	d.mine(3)
	d.broadcast(raw, chain.Known)
	if got := d.balance(p.To.Address, coin.ID); got != p.Amount {
		d.Errorf("%s arrived", got.Format(0))
	}

	unsigned := d.prepare(d.payment(coin, amount(coin))).Raw
	if v, err := d.Network.Broadcast(d.Context(), unsigned); err == nil || v.Kind != chain.Unknown {
		d.Errorf("without a signature the verdict is %v", v)
	}
}

// testLostReply loses the answer to a broadcast: its outcome is unknown until State is
// called.
func testLostReply(d *desk) {
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	raw, _ := d.sign(p)
	d.LoseReply()

	v, err := d.Network.Broadcast(d.Context(), raw)
	d.wants("the lost reply", err, chain.ErrSilent)
	if v.Kind != chain.Unknown {
		d.Errorf("the verdict is %v", v)
	}
	d.state(raw, chain.TxWaiting)
	d.broadcast(raw, chain.Known)
	d.mine(1)
	if got := d.balance(p.To.Address, coin.ID); got != p.Amount {
		d.Errorf("%s arrived", got.Format(0))
	}
}

// testConflict prepares two payments of which only one is possible.
func testConflict(d *desk) {
	coin := d.shape().Coins[0]
	one, other := d.payment(coin, amount(coin)), d.payment(coin, amount(coin))
	other.Inputs, other.Nonce = one.Inputs, one.Nonce
	raw, _ := d.sign(one)
	lost, _ := d.sign(other)
	d.broadcast(raw, chain.Accepted)

	d.broadcast(lost, chain.Rejected)
	d.state(lost, chain.TxAbsent)
	d.mine(1)

	v, err := d.Network.Broadcast(d.Context(), lost)
	if err != nil || v.Kind != chain.Rejected && v.Kind != chain.Unknown {
		d.Errorf("the verdict is %v, %v", v, err)
	}
	d.state(lost, chain.TxConflicted)
	d.state(raw, chain.TxMined)
	if got := d.balance(other.To.Address, coin.ID); !got.IsZero() {
		d.Errorf("%s arrived of what cannot be", got.Format(0))
	}
}

// testNonceSequence broadcasts payments in the wrong order; they are mined in the right
// one. Nodes that refuse the later ones take them once they have the first.
func testNonceSequence(d *desk) {
	coin := d.shape().Coins[0]
	var raws [][]byte
	for i := range uint64(3) {
		p := d.payment(coin, amount(coin))
		p.Nonce += i
		raw, _ := d.sign(p)
		raws = append(raws, raw)
	}

	first, again, state := chain.Accepted, chain.Known, chain.TxWaiting
	if d.InOrder {
		first, again, state = chain.Rejected, chain.Rejected, chain.TxAbsent
	}
	d.broadcast(raws[2], first)
	d.broadcast(raws[1], first)
	d.mine(1)
	d.state(raws[1], state)
	d.broadcast(raws[2], again)
	d.broadcast(raws[0], chain.Accepted)
	if d.InOrder {
		d.broadcast(raws[1], chain.Accepted)
		d.broadcast(raws[2], chain.Accepted)
	}
	d.mine(1)

	for _, raw := range raws {
		d.state(raw, chain.TxMined)
	}
	if next, err := d.Network.Nonce(d.Context(), chain.IndexHot); err != nil || next != 3 {
		d.Errorf("the next nonce is %d, %v", next, err)
	}
}

// testPaymentReorganised drops a payment from the chain; the same bytes are mined again,
// once.
func testPaymentReorganised(d *desk) {
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	raw, _ := d.sign(p)
	d.broadcast(raw, chain.Accepted)
	d.mine(1)
	_, err := d.Outside.Reorg(1, true)
	d.must(err)
	d.state(raw, chain.TxAbsent)
	d.broadcast(raw, chain.Accepted)
	d.must(d.Outside.Restore())
	d.mine(1)
	d.state(raw, chain.TxMined)
	if got := d.balance(p.To.Address, coin.ID); got != p.Amount {
		d.Errorf("%s arrived", got.Format(0))
	}
}

// testCaps prepares payments above the cost cap or the balance.
func testCaps(d *desk) {
	coin := d.shape().Coins[0]
	p := d.payment(coin, amount(coin))
	if cost := d.prepare(p).Cost; !cost.IsZero() {
		p.CostCap = cost.Minus(bourse.Units(1))
		_, err := d.Network.Prepare(d.Context(), p)
		d.wants("above the cap", err, chain.ErrCost)
		p.CostCap = cost
		d.prepare(p)
	}
	p.Amount = bourse.Amount{Hi: 1 << 60}
	_, err := d.Network.Prepare(d.Context(), p)
	d.wants("above what there is", err, chain.ErrFunds)
	p.Amount = bourse.Amount{}
	if _, err := d.Network.Prepare(d.Context(), p); err == nil {
		d.Error("a payment of nothing")
	}
}

// testDecodeRefuses checks that changed or truncated bytes do not decode.
func testDecodeRefuses(d *desk) {
	coin := d.shape().Coins[0]
	raw, hash := d.sign(d.payment(coin, amount(coin)))
	for i := range raw {
		if _, err := d.Network.Decode(raw[:i]); err == nil {
			d.Fatalf("decodes the first %d of %d bytes", i, len(raw))
		}
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		if t, err := d.Network.Decode(changed); err == nil {
			d.Fatalf("decodes with byte %d changed, as %x, not %x", i, t.Hash, hash)
		}
	}
	if _, err := d.Network.Decode(append(raw, ' ')); err == nil {
		d.Error("decodes with a byte too many")
	}
}

// testSweep moves a native deposit, less the cost, to the hot wallet.
func testSweep(d *desk) {
	coin, _ := d.shape().Coin(d.shape().Native)
	d.send(d.pay(4, coin, amount(coin)))
	d.mine(1)
	p, cost := d.nativeSweep(coin)
	d.sweep(p)
	if left := d.balance(d.Network.Destination(4).Address, coin.ID); cost.Less(left) {
		d.Errorf("%s is left", left.Format(0))
	}
	p.Nonce++
	_, err := d.Network.Prepare(d.Context(), p)
	d.wants("a sweep of what is gone", err, chain.ErrFunds)
	p.Amount = bourse.Amount{}
	if _, err := d.Network.Prepare(d.Context(), p); err == nil {
		d.Error("prepares a sweep of nothing")
	}
}

// nativeSweep returns a sweep of a deposit of the native coin to address 4, and its cost.
func (d *desk) nativeSweep(coin chain.Coin) (*chain.Payment, bourse.Amount) {
	d.Helper()
	fees, err := d.Network.Fees(d.Context(), coin.ID)
	d.must(err)
	return &chain.Payment{
		Kind: bourse.SignedSweep, Coin: coin.ID, Amount: amount(coin).Minus(fees.Cost),
		To: d.Network.Destination(chain.IndexHot), From: 4, CostCap: fees.Cost,
	}, fees.Cost
}

// testHiddenDeposit pays an address by a contract's call, which no block shows. A sweep
// takes what its payment names, and leaves the rest.
func testHiddenDeposit(d *desk) {
	coin, _ := d.shape().Coin(d.shape().Native)
	d.send(d.pay(4, coin, amount(coin)))
	d.mine(1)
	more := d.pay(4, coin, bourse.Units(1))
	hash, err := d.SendHidden(more)
	d.must(err)
	d.mine(1)

	height := d.height(hash)
	if found := d.deposits(height); height == 0 || len(found) > 0 {
		d.Errorf("block %d shows %v", height, found)
	}
	at := holding{more.To.Address, coin.ID}
	d.hidden[at] = more.Amount
	if has := d.balance(at.address, coin.ID); has != amount(coin).Plus(more.Amount) {
		d.Fatalf("%s are there", has.Format(0))
	}

	p, _ := d.nativeSweep(coin)
	d.sweep(p)
	if left := d.balance(at.address, coin.ID); left.Less(more.Amount) {
		d.Errorf("%s is left", left.Format(0))
	}
}

// sweep makes a payment and checks that its output is the treasury's.
func (d *desk) sweep(p *chain.Payment) {
	d.Helper()
	raw, hash := d.sign(p)
	d.broadcast(raw, chain.Accepted)
	height := d.mine(1).Height
	d.state(raw, chain.TxMined)
	found := d.deposits(height)
	if len(found) != 1 || found[0].tx != hash || found[0].owner.Kind != chain.OwnerTreasury {
		d.Errorf("found %v", found)
	}
}

// testSweepToken checks that a token moves only after a top-up for its fee.
func testSweepToken(d *desk) {
	coin := d.shape().Coins[1]
	d.send(d.pay(4, coin, amount(coin)))
	d.mine(1)
	p := &chain.Payment{
		Kind: bourse.SignedSweep, Coin: coin.ID, Amount: amount(coin),
		To: d.Network.Destination(chain.IndexHot), From: 4, CostCap: plenty,
	}

	_, err := d.Network.Prepare(d.Context(), p)
	d.wants("a sweep that nobody pays for", err, chain.ErrFunds)

	fees, err := d.Network.Fees(d.Context(), coin.ID)
	d.must(err)
	top := &chain.Payment{
		Kind: bourse.SignedTopUp, Coin: d.shape().Native, Amount: fees.Cost,
		To: d.Network.Destination(4), CostCap: plenty,
	}

	raw, _ := d.sign(top)
	d.broadcast(raw, chain.Accepted)
	_, err = d.Network.Prepare(d.Context(), p)
	d.wants("a sweep before the top-up is mined", err, chain.ErrFunds)

	d.mine(1)
	d.sweep(p)
	if left := d.balance(d.Network.Destination(4).Address, coin.ID); !left.IsZero() {
		d.Errorf("%s is left", left.Format(0))
	}
}

package custody

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// Accounts reports whether custody determines the balances of an own account of the
// ledger.
func Accounts(id bourse.AccountID) bool {
	return id == bourse.AccountPendingDeposits || id == bourse.AccountParked || id == bourse.AccountInTransit ||
		id >= bourse.NetworkAccount(0)
}

// Holds yields the amounts that open withdrawals hold, until yield reports false, and
// returns whether it never did.
func (c *Custody) Holds(yield func(bourse.AccountID, bourse.AssetID, bourse.Amount) bool) bool {
	for _, w := range byID(c.withdrawals) {
		if held := w.Held(); !held.IsZero() && !yield(w.Account, w.Asset, held) {
			return false
		}
	}
	return true
}

// Withdrawals yields the remembered withdrawals, by id.
func (c *Custody) Withdrawals(yield func(*bourse.Withdrawal)) {
	for _, w := range byID(c.withdrawals) {
		yield(w)
	}
}

// Claims yields the balances and debts that own accounts must have, in pieces, until
// yield reports false, and returns whether it never did.
func (c *Custody) Claims(
	yield func(account bourse.AccountID, asset bourse.AssetID, amount bourse.Amount, owes bool) bool,
) bool {
	fits := true
	say := func(account bourse.AccountID, asset bourse.AssetID, amount bourse.Amount, owes bool) {
		fits = fits && yield(account, asset, amount, owes)
	}

	for n := range c.Networks {
		for _, u := range n.outputs() {
			say(bourse.NetworkAccount(n.Network), u.Asset, u.Amount, true)
		}
		for _, h := range n.sortedHoldings() {
			say(bourse.NetworkAccount(n.Network), h.Asset, h.Amount, true)
		}
		for i := range n.blocks {
			for _, m := range n.blocks[i].txs {
				for _, t := range m.Postings {
					if t.Kind == bourse.TransferPaid {
						say(bourse.AccountInTransit, t.Asset, t.Amount, true)
					}
				}
			}
		}
	}

	for _, d := range byID(c.deposits) {
		switch {
		case d.Account == 0 && d.Mined:
			say(bourse.AccountParked, d.Asset, d.Amount, false)
		case d.Account == 0:
		case d.Mined && d.Status != bourse.WalletDone:
			say(bourse.AccountPendingDeposits, d.Asset, d.Amount, false)
		case !d.Mined && d.Status == bourse.WalletDone:
			say(bourse.AccountPendingDeposits, d.Asset, d.Amount, true)
		}
	}

	for _, w := range byID(c.withdrawals) {
		if w.Status == bourse.WalletDone {
			say(bourse.AccountInTransit, w.Asset, w.Amount, false)
		}
	}
	return fits
}

// Owned returns the exchange's amounts on the network, by asset id, of assets ids.
func (n *Network) Owned(assets int) []bourse.Amount {
	sums := make([]bourse.Amount, assets)
	for _, u := range n.outputs() {
		sums[u.Asset] = sums[u.Asset].Plus(u.Amount)
	}
	for _, h := range n.sortedHoldings() {
		sums[h.Asset] = sums[h.Asset].Plus(h.Amount)
	}
	return sums
}

// Check recomputes the invariants from scratch and returns the first one that fails.
func (c *Custody) Check() error {
	for n := range c.Networks {
		if err := c.checkNetwork(n); err != nil {
			return fmt.Errorf("network %d: %w", n.Network, err)
		}
	}
	waiting := 0

	for _, w := range byID(c.withdrawals) {
		if w.NotBefore != 0 {
			waiting++
		}
		if w.Open() && !c.hasName(w) {
			return fmt.Errorf("withdrawal %d is open, and its name is not taken", w.ID)
		}

		s := c.Network(w.Network).signed[w.Tx]
		switch {
		case w.Tx == bourse.TxHash{}:
		case s == nil && !w.Reverted:
			return fmt.Errorf("withdrawal %d is paid by a transaction that is not known", w.ID)
		case s != nil && (!s.Pays(w.ID) || s.State == bourse.SignedDropped || s.Reverted != w.Reverted):
			return fmt.Errorf("withdrawal %d and its transaction disagree", w.ID)
		}
	}

	if waiting != len(c.delayed) || !slices.IsSortedFunc(c.delayed, compareDelays) {
		return fmt.Errorf("%d withdrawals wait for a time, and %d are listed", waiting, len(c.delayed))
	}
	return nil
}

func (c *Custody) checkNetwork(n *Network) error {
	if n.byOutput && len(n.holdings) > 0 || !n.byOutput && len(n.unspent) > 0 {
		return errors.New("money lies in outputs and in accounts")
	}

	for _, s := range ordered.Values(n.signed, bourse.TxHash.Compare) {
		if err := c.checkSigned(n, s); err != nil {
			return fmt.Errorf("transaction %x: %w", s.Tx, err)
		}
	}

	for _, u := range n.outputs() {
		if u.By == (bourse.TxHash{}) {
			continue
		}
		if !n.reserves(n.signed[u.By], u.Outpoint) {
			return fmt.Errorf("output %d of %x is reserved for nothing", u.Index, u.Tx)
		}
	}

	if err := c.checkBlocks(n); err != nil {
		return err
	}
	return n.checkBack()
}

// checkBlocks checks transactions and deposits against the remembered blocks.
func (c *Custody) checkBlocks(n *Network) error {
	deposits := 0
	for i := range n.blocks {
		for _, m := range n.blocks[i].txs {
			if s := m.Signed; s != nil && m.Was == bourse.SignedDropped && len(c.PaidBy(s)) > 0 {
				return fmt.Errorf("transaction %x was given up and pays", m.Hash)
			}
			found, err := n.checkMined(&n.blocks[i], m)
			if err != nil {
				return fmt.Errorf("transaction %x: %w", m.Hash, err)
			}
			deposits += found
		}
	}

	for _, d := range ordered.Values(n.deposits, compareOutpoints) {
		if d.Mined && n.remembers(d.Block) {
			deposits--
		}
		if d.Mined && d.Block.Height > n.Tip.Height ||
			d.Status == bourse.WalletDone && d.Mined && !n.remembers(d.Block) {
			return fmt.Errorf("deposit %d lies in a block that is not there", d.Number)
		}
	}

	if deposits != 0 {
		return errors.New("deposits are not what the blocks brought")
	}
	return nil
}

func (c *Custody) checkSigned(n *Network, s *bourse.SignedTx) error {
	_, mined := n.txs[s.Tx]
	if mined != (s.State == bourse.SignedMined) || s.Block.Height > n.Tip.Height {
		return errors.New("its block is not there")
	}
	if len(s.Inputs) > 0 && !n.byOutput {
		return errors.New("it spends outputs where there are none")
	}

	for _, at := range s.Inputs {
		if u := n.unspent[at]; u != nil && s.State <= bourse.SignedAccepted && u.By != s.Tx {
			return errors.New("an output that it spends is not reserved for it")
		}
	}

	if s.Kind != bourse.SignedWithdrawal {
		return nil
	}

	paid := c.PaidBy(s)
	if (s.State == bourse.SignedWaiting || s.State == bourse.SignedAccepted) && len(paid) == 0 {
		return errors.New("no withdrawal waits for it")
	}
	for _, w := range paid {
		if s.State == bourse.SignedMined && !s.Reverted && w.Status != bourse.WalletDone {
			return errors.New("it paid a withdrawal that is not done")
		}
	}
	return nil
}

// checkMined checks that a transaction's deposits lie in its block and that its postings
// match its flows, and returns the number of its deposits.
func (n *Network) checkMined(b *block, m *Mined) (deposits int, err error) {
	if m.Signed != nil && m.Signed.Block != b.BlockRef {
		return 0, errors.New("it is signed for another block")
	}

	net := map[bourse.AssetID]*balance{}
	of := func(a bourse.AssetID) *balance {
		if net[a] == nil {
			net[a] = &balance{fits: true}
		}
		return net[a]
	}

	for _, t := range m.Outflows {
		of(t.Asset).minus(t.Amount)
	}

	for i := range m.Inflows {
		o := &m.Inflows[i]
		d := n.Deposit(m.Hash, o.Index)
		if d == nil || !d.Mined {
			of(o.Asset).plus(o.Amount)
			continue
		}
		if d.Block != b.BlockRef || d.Asset != o.Asset || d.Amount != o.Amount {
			return 0, fmt.Errorf("deposit %d is not what it brought", d.Number)
		}
		deposits++
	}

	outside := bourse.NetworkAccount(n.Network)
	for i := range m.Postings {
		t := &m.Postings[i]
		switch {
		case t.From == outside && t.To == bourse.AccountTreasury && t.Kind == bourse.TransferFunding:
			of(t.Asset).minus(t.Amount)
		case t.To == outside && payer(t.Kind) == t.From && t.From != 0:
			of(t.Asset).plus(t.Amount)
		default:
			return 0, errors.New("a posting is not one of a block")
		}
	}
	if ordered.Any(net, func(sum *balance) bool { return !sum.fits || sum.in != sum.out }) {
		return 0, errors.New("its postings are not what it did")
	}
	return deposits, nil
}

// payer returns the account that a block's posting of a kind debits.
func payer(kind bourse.TransferKind) bourse.AccountID {
	switch kind {
	case bourse.TransferPaid:
		return bourse.AccountInTransit
	case bourse.TransferNetworkCost:
		return bourse.AccountNetworkCosts
	case bourse.TransferStrange:
		return bourse.AccountTreasury
	default:
		return 0
	}
}

// balance adds up amounts in and out.
type balance struct {
	in, out bourse.Amount
	fits    bool
}

func (b *balance) plus(a bourse.Amount) {
	sum, ok := b.in.Add(a)
	b.in, b.fits = sum, b.fits && ok
}

func (b *balance) minus(a bourse.Amount) {
	sum, ok := b.out.Add(a)
	b.out, b.fits = sum, b.fits && ok
}

// checkBack checks that every remembered block can be taken back, newest first.
func (n *Network) checkBack() error {
	unspent := make(map[bourse.Outpoint]bourse.Amount, len(n.unspent))
	for _, u := range n.outputs() {
		unspent[u.Outpoint] = u.Amount
	}
	holdings := make(map[place]bourse.Amount, len(n.holdings))
	for _, h := range n.sortedHoldings() {
		holdings[place{h.Address, h.Asset}] = h.Amount
	}
	for i := len(n.blocks) - 1; i >= 0; i-- {
		txs := n.blocks[i].txs
		for j := len(txs) - 1; j >= 0; j-- {
			if n.byOutput && !backOutputs(unspent, txs[j]) || !n.byOutput && !backHoldings(holdings, txs[j]) {
				return fmt.Errorf("transaction %x cannot be taken back", txs[j].Hash)
			}
		}
	}
	return nil
}

func backOutputs(unspent map[bourse.Outpoint]bourse.Amount, m *Mined) bool {
	for i := range m.Inflows {
		at := bourse.Outpoint{Tx: m.Hash, Index: m.Inflows[i].Index}
		if amount, there := unspent[at]; !there || amount != m.Inflows[i].Amount {
			return false
		}
		delete(unspent, at)
	}
	for i := range m.spent {
		at := m.spent[i].Outpoint
		if _, there := unspent[at]; there {
			return false
		}
		unspent[at] = m.spent[i].Amount
	}
	return true
}

func backHoldings(holdings map[place]bourse.Amount, m *Mined) bool {
	for i := range m.Inflows {
		p := place{m.Inflows[i].Address, m.Inflows[i].Asset}
		left, ok := holdings[p].Sub(m.Inflows[i].Amount)
		if !ok {
			return false
		}
		holdings[p] = left
	}
	for _, t := range m.Outflows {
		p := place{t.Address, t.Asset}
		sum, ok := holdings[p].Add(t.Amount)
		if !ok {
			return false
		}
		holdings[p] = sum
	}
	return true
}

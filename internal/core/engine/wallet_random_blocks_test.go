package engine_test

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// mineSome makes a block of new deposits and of transactions that are loose.
func (m *walletModel) mineSome(i int) {
	c := m.chains[i]
	var txs []bourse.TxEffect
	for range m.below(3) {
		txs = append(txs, m.comes(c))
	}
	kept := m.loose[i][:0]
	for _, tx := range m.loose[i] {
		switch {
		case m.chance(60) && m.possible(i, tx, txs):
			if m.chance(50) { // another position in the block
				txs = slices.Insert(txs, 0, tx)
			} else {
				txs = append(txs, tx)
			}
		default:
			kept = append(kept, tx)
		}
	}
	m.loose[i] = kept
	m.block(i, txs)
}

// comes makes a transaction from outside.
func (m *walletModel) comes(c *chain) bourse.TxEffect {
	tx := bourse.TxEffect{Hash: c.hash()}
	for n := range 1 + m.below(3) {
		owner := []bourse.AccountID{m.someone(), m.someone(), m.someone(), treasury, nobody}[m.below(5)]
		asset := btc
		if c.network == byAccount {
			asset = eth + bourse.AssetID(m.below(2))
		}
		o := brings(owner, asset, uint64(1+m.below(100)))
		o.Index = uint32(3 * n)
		o.OverAlone = owner.IsCustomer() && m.chance(10)
		tx.Inflows = append(tx.Inflows, o)
	}
	return tx
}

// possible reports whether a transaction may be mined now, after others of the
// same block or before them.
func (m *walletModel) possible(i int, tx bourse.TxEffect, others []bourse.TxEffect) bool {
	if m.excludedSweep(tx.Hash, others) || m.atSigner(tx.Hash) {
		return false
	}
	_, there := m.chains[i].unspent()
	has := m.chains[i].has()
	for _, other := range others {
		for _, at := range other.Spent {
			delete(there, at)
		}
		for _, t := range other.Outflows {
			if at := has[spot{t.Address, t.Asset}]; at != nil {
				at.Sub(at, bigOf(t.Amount))
			}
		}
	}
	for _, at := range tx.Spent {
		if _, ok := there[at]; !ok {
			return false
		}
	}
	for _, t := range tx.Outflows {
		at := has[spot{t.Address, t.Asset}]
		if i == 1 && (at == nil || at.Sub(at, bigOf(t.Amount)).Sign() < 0) {
			return false
		}
	}
	return true
}

// block gives the exchange a block, and works out what must become of it.
func (m *walletModel) block(i int, txs []bourse.TxEffect) {
	c := m.chains[i]
	m.must(c.next(txs...))
	m.steps["block"]++
	for _, tx := range txs {
		if s := m.signed[tx.Hash]; s != nil && m.pays(s) {
			m.minedLate(s)
			m.done(s)
		}
		m.sweptBy(tx.Hash)
		for _, o := range tx.Inflows {
			m.arrives(i, tx, o)
		}
	}
	tip := uint64(len(c.blocks))
	m.top[i] = max(m.top[i], tip)
	for _, d := range m.coming {
		height := c.mined(d.at.Tx)
		switch {
		case d.chain != i || d.credited:
		case height == 0:
			d.canceled = d.canceled || tip >= d.gone+target
		default:
			d.canceled = false
			if d.owner != 0 && !d.small && !d.alone && tip-height+1 >= target {
				m.credited(d)
			}
		}
	}
}

func (m *walletModel) credited(d *modelDeposit) {
	d.credited = true
	m.add(d.owner, d.asset, d.amount)
	m.steps["credit"]++
}

func (m *walletModel) arrives(i int, tx bourse.TxEffect, o bourse.Inflow) {
	at := bourse.Outpoint{Tx: tx.Hash, Index: o.Index}
	if o.Owner == treasury || m.signed[tx.Hash] != nil && m.signed[tx.Hash].w == nil {
		return
	}
	for _, d := range m.coming {
		if d.at == at {
			m.steps["mined again"]++
			return
		}
	}
	d := &modelDeposit{
		at: at, chain: i, owner: o.Owner, asset: o.Asset, amount: o.Amount.Lo, small: o.Amount.Lo < minDeposit, alone: o.OverAlone,
	}
	if d.alone {
		m.steps["over alone"]++
	}
	for _, told := range m.ev.Wallet.Deposits {
		if told.Tx == at.Tx && told.Index == at.Index {
			d.number = told.Number
		}
	}
	m.coming = append(m.coming, d)
}

// reorganise takes blocks back; most of their transactions may be mined again.
func (m *walletModel) reorganise(i int) {
	c := m.chains[i]
	depth := 1 + m.below(min(5, len(c.blocks)))
	if depth >= len(c.blocks) {
		return
	}
	was := map[bourse.TxHash]bool{}
	for _, d := range m.coming {
		if d.chain == i && c.mined(d.at.Tx) != 0 {
			was[d.at.Tx] = true
		}
	}
	rewind, txs := c.back(depth)
	m.must(rewind)
	m.steps["reorganisation"]++
	for _, d := range m.coming {
		if d.chain == i && was[d.at.Tx] && c.mined(d.at.Tx) == 0 {
			d.gone = m.top[i]
		}
	}
	for _, tx := range txs {
		if m.chance(80) || m.signed[tx.Hash] != nil {
			m.loose[i] = append(m.loose[i], tx)
		}
	}
	if m.chance(70) && m.e.NetworkState(c.network).Halted != 0 {
		m.paused[i] = false
		m.must(pauseCommand(c.network, false))
		m.resumed(i)
	}
}

func (m *walletModel) stopped(i int) bool {
	s := m.e.NetworkState(m.chains[i].network)
	if m.paused[i] != s.Paused {
		m.tb.Fatalf("network %d is %+v", i, s)
	}
	return s.Stopped()
}

// resumed moves on what was only waiting for its network.
func (m *walletModel) resumed(i int) {
	for _, w := range m.going {
		if w.chain == i && w.to == 0 && w.before == 0 && w.approved && w.status == bourse.WalletPending && !m.stopped(i) {
			w.status = bourse.WalletProcessing
		}
	}
}

package engine_test

import (
	"bytes"
	"cmp"
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// free returns the outputs that nothing reserves.
func (m *walletModel) free() []bourse.Outpoint {
	list, _ := m.chains[0].unspent()
	return slices.DeleteFunc(list, func(at bourse.Outpoint) bool {
		for _, s := range m.signed {
			if !s.dropped && slices.Contains(s.s.Inputs, at) {
				return true
			}
		}
		return false
	})
}

func (m *walletModel) sign() {
	for _, w := range m.going {
		if w.status == bourse.WalletPendingCancel && m.chance(50) {
			m.must(voidedCommand(w.id))
			w.status, w.atSigner = bourse.WalletCanceled, false
			m.steps["voided"]++
			return
		}
	}
	list := m.waiting()
	if len(list) == 0 {
		return
	}
	w := list[m.below(len(list))]
	to := m.join(w, list)
	if w.chain == 0 && len(to) == 1 && m.chance(60) {
		return // it waits for others
	}
	cost := uint64(1 + m.below(4))
	s := &bourse.SignedTx{Network: m.chains[w.chain].network, Kind: bourse.SignedWithdrawal, Wallet: to[0].id, Raw: []byte{1}}
	var tx bourse.TxEffect
	olds, careful := m.instead(to...), m.chance(85)
	amount := uint64(0)
	for _, each := range to {
		amount += each.amount
		if len(to) > 1 {
			s.Joined = append(s.Joined, bourse.Share{Wallet: each.id, Amount: bourse.Units(each.amount)})
		}
	}
	if w.chain == 0 {
		free := m.free()
		if careful {
			free = sharedFirst(free, olds)
		}
		for n := 1; n <= len(free) && len(tx.Outflows) == 0; n++ {
			if pays, ok := m.chains[0].pay(free[:n], amount, cost); ok {
				tx = pays
			}
		}
		if len(tx.Outflows) == 0 {
			return
		}
		s.Inputs = tx.Spent
	} else {
		tx = bourse.TxEffect{Hash: m.chains[1].hash(), Outflows: []bourse.Outflow{takes(hot, eth, cost)}}
		if !m.chance(15) { // otherwise it will be mined and not pay
			tx.Outflows = append(tx.Outflows, takes(hot, w.asset, w.amount))
		}
		s.Nonce = m.nonces[hot]
		if careful && len(olds) > 0 {
			s.Nonce = olds[0].s.Nonce
		}
	}
	s.Tx = tx.Hash
	if len(to) > 1 || m.chance(60) {
		m.ask(&modelSigned{w: w, to: to, s: s, tx: tx}, olds)
		return
	}
	m.steps["signed"]++
	switch {
	case m.stopped(w.chain):
		m.refused(bourse.WithdrawalsPaused, signedCommand(s))
		return
	case m.frozen[w.account]:
		m.refused(bourse.AccountFrozen, signedCommand(s))
		return
	case w.chain == 1 && m.used(s.Nonce):
		m.refused(bourse.WrongNonce, signedCommand(s))
		return
	case slices.ContainsFunc(olds, func(old *modelSigned) bool { return !old.s.Rivals(s) && !m.excluded(old) }):
		m.steps["would be paid twice"]++
		m.refused(bourse.InputTaken, signedCommand(s))
		return
	}
	m.must(signedCommand(s))
	m.goesOut(&modelSigned{w: w, to: to, s: s, tx: tx})
}

// join returns a withdrawal, and sometimes others of outputs that wait and are paid by the same transaction, by their
// ids.
func (m *walletModel) join(w *modelWithdrawal, list []*modelWithdrawal) []*modelWithdrawal {
	to := []*modelWithdrawal{w}
	if w.chain != 0 || m.frozen[w.account] || m.stopped(0) || m.chance(20) {
		return to
	}
	for _, other := range list {
		if other != w && other.chain == 0 && !m.frozen[other.account] && m.chance(70) {
			to = append(to, other)
		}
	}
	slices.SortFunc(to, func(p, q *modelWithdrawal) int { return cmp.Compare(p.id, q.id) })
	return to
}

// goesOut makes a transaction that of its withdrawals, and one that may be mined.
func (m *walletModel) goesOut(s *modelSigned) {
	w := s.w
	for _, w := range s.to {
		w.sent, w.tx, w.atSigner = true, s.s.Tx, false
	}
	if w.chain == 1 {
		m.nonces[hot] = max(m.nonces[hot], s.s.Nonce+1)
	}
	m.signed[s.s.Tx] = s
	m.loose[w.chain] = append(m.loose[w.chain], s.tx)
}

// instead returns what was given up for one of some withdrawals and is in no block, in the
// order of its signing.
func (m *walletModel) instead(to ...*modelWithdrawal) []*modelSigned {
	var list []*modelSigned
	for _, s := range m.signed {
		mine := func(w *modelWithdrawal) bool { return slices.Contains(to, w) }
		if slices.ContainsFunc(s.to, mine) && m.chains[s.w.chain].mined(s.s.Tx) == 0 {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(p, q *modelSigned) int { return bytes.Compare(p.s.Tx[:], q.s.Tx[:]) })
	return list
}

// sharedFirst puts the outputs in front that transactions spend.
func sharedFirst(free []bourse.Outpoint, by []*modelSigned) []bourse.Outpoint {
	shared := func(at bourse.Outpoint) int {
		if slices.ContainsFunc(by, func(s *modelSigned) bool { return slices.Contains(s.s.Inputs, at) }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(free, func(p, q bourse.Outpoint) int { return shared(p) - shared(q) })
	return free
}

// used reports whether a number of the hot address belongs to a transaction that
// was not given up, or that failed in a block.
func (m *walletModel) used(nonce uint64) bool {
	for _, s := range m.signed {
		if s.s.Network == byAccount && s.s.From == hot && s.s.Nonce == nonce && (!s.given || m.chains[1].mined(s.s.Tx) != 0) {
			return true
		}
	}
	return false
}

// excluded reports whether a deep block holds a transaction that excludes old.
func (m *walletModel) excluded(old *modelSigned) bool {
	c := m.chains[old.s.Network-1]
	for _, b := range c.blocks[:max(0, len(c.blocks)+1-target)] {
		for i := range b.Txs {
			tx := &b.Txs[i]
			ours := m.signed[tx.Hash]
			switch {
			case tx.Hash == old.s.Tx:
			case slices.ContainsFunc(tx.Spent, func(at bourse.Outpoint) bool { return slices.Contains(old.s.Inputs, at) }),
				c.network == byAccount && ours != nil && ours.s.Rivals(old.s):
				return true
			}
		}
	}
	return false
}

// unpaid returns the withdrawals' transactions that are in no block, in the
// order of their withdrawals.
func (m *walletModel) unpaid() []*modelSigned {
	var list []*modelSigned
	for _, w := range m.going {
		if s := m.signed[w.tx]; s != nil && m.chains[w.chain].mined(w.tx) == 0 {
			list = append(list, s)
		}
	}
	return list
}

func (m *walletModel) accept() {
	list := m.unpaid()
	if len(list) == 0 {
		return
	}
	s := list[m.below(len(list))]
	m.must(sentCommand(s.s.Network, s.s.Tx))
	m.done(s)
}

// done settles the withdrawals of a transaction that the network has.
func (m *walletModel) done(s *modelSigned) {
	for _, w := range s.to {
		if w.tx == s.s.Tx && w.status == bourse.WalletProcessing {
			m.settle(w)
		}
	}
}

// drop gives a transaction up for all its withdrawals. A joined one may be mined still.
func (m *walletModel) drop(s *modelSigned) {
	i := s.w.chain
	if len(s.to) == 1 || m.chance(40) {
		m.loose[i] = slices.DeleteFunc(m.loose[i], func(tx bourse.TxEffect) bool { return tx.Hash == s.s.Tx })
	}
	s.given, s.dropped = true, m.chains[i].mined(s.s.Tx) == 0
	for _, w := range s.to {
		if w.tx == s.s.Tx {
			w.tx = bourse.TxHash{}
		}
	}
}

// minedLate makes a mined joined transaction that was given up that of its withdrawals again, but for those that are
// over.
func (m *walletModel) minedLate(s *modelSigned) {
	if !s.given || len(s.to) < 2 {
		return
	}
	defer func() {
		if !s.given {
			m.excludes(s)
		}
	}()
	for _, w := range s.to {
		other := m.signed[w.tx]
		if w.status == bourse.WalletCanceled || other != nil && m.chains[0].mined(w.tx) != 0 && w.tx != s.s.Tx {
			m.steps["lost"]++
			continue
		}
		if other != nil && other != s {
			m.drop(other)
		}
		w.tx, w.sent, s.given, s.dropped = s.s.Tx, true, false, false
		if w.status != bourse.WalletDone {
			w.status, w.before, w.approved = bourse.WalletProcessing, 0, true
		}
		m.steps["mined late"]++
	}
}

// excludes gives up what a transaction excludes that was given up and mined.
func (m *walletModel) excludes(mined *modelSigned) {
	for _, s := range m.signed {
		if s == mined || s.given || m.chains[0].mined(s.s.Tx) != 0 || !s.s.Rivals(mined.s) {
			continue
		}
		if s.given, s.dropped = true, true; s.w != nil {
			m.drop(s)
		}
	}
}

// atSigner reports whether the signer was asked for one of the withdrawals of a given up transaction.
func (m *walletModel) atSigner(tx bourse.TxHash) bool {
	s := m.signed[tx]
	return s != nil && s.given && slices.ContainsFunc(s.to, func(w *modelWithdrawal) bool { return w.atSigner })
}

// giveUp replaces or releases a withdrawal whose transaction is in no block, or
// did not pay. Of what was given up, joined transactions alone are mined.
func (m *walletModel) giveUp() {
	var list []*modelWithdrawal
	for _, w := range m.going {
		s := m.signed[w.tx]
		if s != nil && (m.chains[w.chain].mined(w.tx) == 0 || !m.pays(s)) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return
	}
	w := list[m.below(len(list))]
	s := m.signed[w.tx]
	kind := bourse.CommandReplaceWithdrawal
	if m.chance(50) {
		kind = bourse.CommandReleaseWithdrawal
	}
	m.must(walletCommand(kind, 0, bourse.WalletCommand{ID: w.id}))
	m.steps["given up"]++
	m.drop(s)
	if len(s.to) > 1 {
		m.steps["given up joined"]++
	}
	if kind == bourse.CommandReplaceWithdrawal {
		return
	}
	if w.status == bourse.WalletDone {
		m.add(w.account, w.asset, w.amount+w.fee)
	}
	w.status = bourse.WalletCanceled // here: over
}

// pays reports whether a transaction pays its withdrawal when it is mined.
func (m *walletModel) pays(s *modelSigned) bool {
	return s.s.Network == byOutput || len(s.tx.Outflows) > 1
}

func (m *walletModel) assign() {
	for _, d := range m.coming {
		height := m.chains[d.chain].mined(d.at.Tx)
		if d.credited || d.canceled || height == 0 && m.chance(50) || d.owner != 0 && !d.small && !d.alone {
			continue
		}
		if d.owner == 0 {
			d.owner = m.someone()
		}
		m.must(assignCommand(d.owner, d.number))
		m.steps["assigned"]++
		d.small, d.alone = false, false
		if height != 0 && uint64(len(m.chains[d.chain].blocks))-height+1 >= target {
			m.credited(d)
		}
		return
	}
}

// sweep brings a customer's coins to the hot address, perhaps in the place of a sweep that it gives up.
func (m *walletModel) sweep() {
	address := uint32(m.someone())
	m.giveUpSweep(address)
	if m.stopped(1) {
		return
	}
	has := m.chains[1].has()[spot{address, eth}]
	if has == nil || has.Cmp(big.NewInt(10)) < 0 {
		return
	}
	cost := uint64(1 + m.below(4))
	tx := bourse.TxEffect{
		Hash: m.chains[1].hash(), Outflows: []bourse.Outflow{takes(address, eth, has.Uint64())},
		Inflows: []bourse.Inflow{brings(treasury, eth, has.Uint64()-cost)},
	}
	s := &bourse.SignedTx{
		Network: byAccount, Kind: bourse.SignedSweep, Tx: tx.Hash, Raw: []byte{1}, From: address, Nonce: m.nextSweep(address),
	}
	m.must(signedCommand(s))
	m.steps["sweep"]++
	m.nonces[address] = max(m.nonces[address], s.Nonce+1)
	m.signed[tx.Hash] = &modelSigned{s: s, tx: tx}
	m.loose[1] = append(m.loose[1], tx)
}

// giveUpSweep gives up an address's sweep that is in no block, sometimes. It may be mined still.
func (m *walletModel) giveUpSweep(address uint32) {
	for _, tx := range m.loose[1] {
		if s := m.signed[tx.Hash]; s != nil && s.w == nil && s.s.From == address && !s.given && m.chance(50) {
			m.must(dropMove(s.s))
			s.given = true
			m.steps["given up sweep"]++
			return
		}
	}
}

// sweeps returns an address's sweeps with a nonce.
func (m *walletModel) sweeps(address uint32, nonce uint64) (list []*modelSigned) {
	for _, s := range m.signed {
		if s.s.Kind == bourse.SignedSweep && s.s.From == address && s.s.Nonce == nonce {
			list = append(list, s)
		}
	}
	return list
}

// nextSweep returns the first nonce of which every sweep was given up and is in no block, or else the next.
func (m *walletModel) nextSweep(address uint32) uint64 {
	for nonce := range m.nonces[address] {
		taken := func(s *modelSigned) bool { return !s.given || m.chains[1].mined(s.s.Tx) != 0 }
		if !slices.ContainsFunc(m.sweeps(address, nonce), taken) {
			return nonce
		}
	}
	return m.nonces[address]
}

// sweptBy ends the other sweeps with the nonce of a mined one that was given up.
func (m *walletModel) sweptBy(tx bourse.TxHash) {
	mined := m.signed[tx]
	if mined == nil || mined.w != nil || !mined.given {
		return
	}
	if mined.s.Kind != bourse.SignedSweep {
		m.steps["given up "+mined.s.Kind.String()+" mined"]++
		m.giveUpRivals(mined)
		if mined.s.Network == byOutput {
			m.excludes(mined)
		}
		return
	}
	m.steps["given up sweep mined"]++
	for _, s := range m.sweeps(mined.s.From, mined.s.Nonce) {
		s.given = true
	}
}

// excludedSweep reports whether a block, or one of the transactions, has the nonce of a sweep.
func (m *walletModel) excludedSweep(tx bourse.TxHash, others []bourse.TxEffect) bool {
	s := m.signed[tx]
	return s != nil && s.s.Kind == bourse.SignedSweep && slices.ContainsFunc(m.sweeps(s.s.From, s.s.Nonce), func(other *modelSigned) bool {
		return other != s && (m.chains[1].mined(other.s.Tx) != 0 ||
			slices.ContainsFunc(others, func(tx bourse.TxEffect) bool { return tx.Hash == other.s.Tx }))
	})
}

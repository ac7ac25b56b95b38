package engine_test

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// open reports whether a withdrawal holds money.
func (w *modelWithdrawal) open() bool {
	return w.status == bourse.WalletPending || w.status == bourse.WalletProcessing || w.status == bourse.WalletPendingCancel
}

// end ends a withdrawal that is not signed, or leaves it to the signer.
func (m *walletModel) end(w *modelWithdrawal) {
	w.status = bourse.WalletCanceled
	if w.atSigner {
		w.status, w.before = bourse.WalletPendingCancel, 0
		m.steps["left to the signer"]++
	}
}

// ask asks the signer for a transaction, and perhaps changes much before the journal has
// what it signed.
func (m *walletModel) ask(s *modelSigned, olds []*modelSigned) {
	for _, w := range s.to {
		asking := askingCommand(w.id)
		switch {
		case m.stopped(w.chain):
			m.refused(bourse.WithdrawalsPaused, asking)
			return
		case m.frozen[w.account]:
			m.refused(bourse.AccountFrozen, asking)
			return
		}
		m.must(asking)
		w.atSigner = true
	}
	if m.chance(20) {
		return // the process ends here; it asks again
	}

	w := s.to[m.below(len(s.to))]
	if m.chance(20) {
		m.frozen[w.account] = true
		m.must(freezeCommand(w.account, true))
	}
	if !w.sent && m.chance(40) {
		m.must(cancelCommand(w.account, uint64(w.id)))
		m.distrust(w.account, w.chain)
		m.end(w)
		if m.chance(30) {
			return // voided later
		}
		m.steps["signed after a cancel"]++
	}
	m.takeOver(s, olds)
}

// takeOver journals what the signer signed: it pays, whatever came in between, unless the
// chain has no room for it.
func (m *walletModel) takeOver(s *modelSigned, olds []*modelSigned) {
	i := s.w.chain
	last := &m.records[i]
	record := func(number uint64) bourse.Command { return recordCommand(number, s.s) }
	m.refused(bourse.RecordOutOfOrder, record(*last+2))
	*last++
	m.must(record(*last))
	m.refused(bourse.RecordOutOfOrder, record(max(1, *last)))
	m.steps["recorded"]++
	if len(s.to) > 1 {
		m.steps["joined"]++
	}

	for _, w := range s.to {
		if w.status != bourse.WalletDone {
			w.status, w.before, w.approved = bourse.WalletProcessing, 0, true
		}
		w.sent, w.atSigner = true, false
	}
	if i == 1 && m.used(s.s.Nonce) ||
		slices.ContainsFunc(olds, func(old *modelSigned) bool { return !old.s.Rivals(s.s) && !m.excluded(old) }) {
		s.given, s.dropped = true, true
		m.signed[s.s.Tx] = s
		m.steps["kept"]++
		return
	}
	m.goesOut(s)
}

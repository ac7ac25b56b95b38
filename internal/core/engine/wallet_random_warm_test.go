package engine_test

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// waitingMoves returns the transactions of a kind that are in no block.
func (m *walletModel) waitingMoves(kind bourse.SignedKind) (list []*modelSigned) {
	for _, s := range m.signed {
		if s.s.Kind == kind && m.chains[0].mined(s.s.Tx) == 0 {
			list = append(list, s)
		}
	}
	return list
}

// warm has people sign a transaction, or ends what waits.
func (m *walletModel) warm() {
	if m.chance(30) {
		m.endWarm()
		return
	}
	free := m.free()
	for n := 1; n <= len(free); n++ {
		tx, s, ok := m.chains[0].warms(free[:n], uint64(1+m.below(60)), uint64(1+m.below(4)))
		if !ok {
			continue
		}
		beside := func(old *modelSigned) bool { return !old.given || !old.s.Rivals(s) && !m.excluded(old) }
		switch {
		case m.stopped(0):
			m.refused(bourse.WithdrawalsPaused, warmCommand(s))
		case slices.ContainsFunc(m.waitingMoves(bourse.SignedWarm), beside):
			m.refused(bourse.WarmOpen, warmCommand(s))
		default:
			m.must(warmCommand(s))
			m.steps["warm"]++
			m.signed[tx.Hash] = &modelSigned{s: s, tx: tx}
			m.loose[0] = append(m.loose[0], tx)
		}
		return
	}
}

// endWarm gives up what waits, which may be mined still.
func (m *walletModel) endWarm() {
	some := false
	for _, s := range m.waitingMoves(bourse.SignedWarm) {
		if !s.given {
			s.given, s.dropped, some = true, true, true
			m.steps["given up warm"]++
		}
	}
	if !some {
		m.refused(bourse.NothingToEnd, endWarmCommand(byOutput))
		return
	}
	m.must(endWarmCommand(byOutput))
}

// giveUpRivals ends the waiting moves that a mined one excludes which was given up.
func (m *walletModel) giveUpRivals(mined *modelSigned) {
	for _, kind := range [...]bourse.SignedKind{bourse.SignedCool, bourse.SignedWarm} {
		for _, s := range m.waitingMoves(kind) {
			if s != mined && s.s.Rivals(mined.s) {
				s.given, s.dropped = true, true
			}
		}
	}
}

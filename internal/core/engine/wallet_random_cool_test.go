package engine_test

import "github.com/bourse-exchange/bourse"

// cool orders a move to cold storage, has it signed, or ends it.
func (m *walletModel) cool() {
	switch {
	case m.chance(25):
		m.endCool()
	case m.cooling.units == 0 || m.chance(10):
		m.orderCool()
	default:
		m.signCool()
	}
}

func (m *walletModel) orderCool() {
	units, has := uint64(1+m.below(60)), uint64(0)
	list, of := m.chains[0].unspent()
	for _, at := range list {
		has += of[at].Amount.Lo
	}
	order := coolCommand(byOutput, btc, units)
	switch {
	case has < units:
		m.refused(bourse.InsufficientFunds, order)
	case m.cooling.units > 0 || m.mayCool():
		m.refused(bourse.CoolOpen, order)
	default:
		m.cooling.id, m.cooling.units = bourse.WalletID(m.must(order)), units
		m.steps["cool order"]++
	}
}

func (m *walletModel) mayCool() bool {
	for _, s := range m.waitingMoves(bourse.SignedCool) {
		if !m.excluded(s) {
			return true
		}
	}
	return false
}

// endCool ends the order, and gives up its transaction, which may be mined still.
func (m *walletModel) endCool() {
	some := m.cooling.units > 0
	for _, s := range m.waitingMoves(bourse.SignedCool) {
		some = some || !s.given
	}
	if !some {
		m.refused(bourse.NothingToEnd, endCoolCommand(byOutput))
		return
	}
	m.must(endCoolCommand(byOutput))
	m.cooling.units = 0
	for _, s := range m.waitingMoves(bourse.SignedCool) {
		if !s.given {
			s.given, s.dropped = true, true
			m.steps["given up cool"]++
		}
	}
}

func (m *walletModel) signCool() {
	free := m.free()
	for n := 1; n <= len(free); n++ {
		tx, s, ok := m.chains[0].cools(free[:n], m.cooling.id, m.cooling.units, uint64(1+m.below(4)))
		if !ok {
			continue
		}
		if m.chance(50) {
			m.records[0]++
			m.must(recordCommand(m.records[0], s))
		} else if m.stopped(0) {
			m.refused(bourse.WithdrawalsPaused, signedCommand(s))
			return
		} else {
			m.must(signedCommand(s))
		}
		m.steps["cool"]++
		m.cooling.units = 0
		m.signed[tx.Hash] = &modelSigned{s: s, tx: tx}
		m.loose[0] = append(m.loose[0], tx)
		return
	}
}

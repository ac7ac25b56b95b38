package engine_test

import (
	"math/big"
	"slices"

	"github.com/bourse-exchange/bourse"
)

func (m *walletModel) withdraw() {
	account, asset := m.someone(), btc+bourse.AssetID(m.below(3))
	amount, fee := uint64(1+m.below(150)), uint64(m.below(feeMax+2))
	asked := withdrawOf(asset, amount, fee)
	if m.sandbox && m.chance(15) {
		asked.Internal = m.someone()
	}
	asked.Factor = m.chance(20)
	i := chainOf(asset)
	charged := fee
	if asked.Internal != 0 {
		charged = 0
		if m.stopped(i) || m.heldAt(account) != 0 {
			return // what waits and is then paid inside has its own test
		}
	}
	free := new(big.Int).Sub(m.have(account, asset), m.held(account, asset))
	want := bourse.Reason(0)
	switch {
	case m.frozen[account]:
		want = bourse.AccountFrozen
	case amount < minWithdrawal:
		want = bourse.BelowMinWithdrawal
	case fee > feeMax || asked.Internal == 0 && fee < feeMin:
		want = bourse.FeeOutOfRange
	case free.Cmp(new(big.Int).SetUint64(amount+charged)) < 0:
		want = bourse.InsufficientFunds
	}
	if want != 0 {
		m.refused(want, withdrawCommand(account, asked))
		return
	}
	w := &modelWithdrawal{
		before: m.heldAt(account), approved: m.sandbox || m.trusted(account, asset, amount), account: account, chain: i, asset: asset, amount: amount, fee: charged, status: bourse.WalletProcessing,
		id: bourse.WalletID(m.must(withdrawCommand(account, asked))),
	}
	m.steps["withdrawal"]++
	if asked.Factor {
		m.approve(account, asset, amount)
	}
	switch {
	case asked.Internal != 0:
		m.sub(account, asset, amount)
		m.add(asked.Internal, asset, amount)
		w.status = bourse.WalletDone
		w.sent = true
		return
	case m.stopped(i), w.before != 0, !w.approved:
		w.status = bourse.WalletPending
	}
	m.going = append(m.going, w)
}

// give transfers money to another account, perhaps later. What came of it comes
// again with the same key.
func (m *walletModel) give() {
	w := &modelWithdrawal{approved: true, account: m.someone(), to: m.someone(), asset: btc + bourse.AssetID(m.below(3)), amount: uint64(1 + m.below(100))}
	asked := transferOf(w.to, w.asset, w.amount)
	m.keys++
	asked.Once.Key[0], asked.Once.Key[1] = byte(m.keys), byte(m.keys>>8)
	cmd := transferCommand(w.account, asked)
	asked.Again = true
	m.refused(bourse.NotAskedBefore, cmd)
	asked.Again = false
	switch free := new(big.Int).Sub(m.have(w.account, w.asset), m.held(w.account, w.asset)); {
	case m.frozen[w.account]:
		m.refused(bourse.AccountFrozen, cmd)
		m.refused(bourse.AccountFrozen, cmd)
		return
	case free.Cmp(new(big.Int).SetUint64(w.amount)) < 0:
		m.refused(bourse.InsufficientFunds, cmd)
		return
	}
	w.before = m.heldAt(w.account)
	w.id, w.status = bourse.WalletID(m.must(cmd)), bourse.WalletPending
	asked.Again = m.chance(2)
	if again := bourse.WalletID(m.must(cmd)); again != w.id {
		m.tb.Fatalf("transfer %d came again as %d", w.id, again)
	}
	asked.Once.Body[0]++
	m.refused(bourse.DuplicateRequest, cmd)
	if w.before == 0 {
		m.given(w)
	}
	m.going = append(m.going, w)
}

func (m *walletModel) given(w *modelWithdrawal) {
	w.status = bourse.WalletCanceled // here: over
	m.sub(w.account, w.asset, w.amount)
	m.add(w.to, w.asset, w.amount)
	m.steps["transfer"]++
}

// heldAt returns until when what an account asks for next must wait; zero if it
// need not.
func (m *walletModel) heldAt(account bourse.AccountID) bourse.Time {
	if next := m.e.Now() + bourse.Second; m.until[account] > next {
		return m.until[account]
	}
	return 0
}

// secure holds back an account's money, what waits to be signed included.
func (m *walletModel) secure() {
	a := m.someone()
	hold := bourse.Time(2+m.below(30)) * bourse.Second
	m.must(secureCommand(a, hold))
	m.until[a] = max(m.until[a], m.e.Now()+hold)
	m.steps["hold"]++
	for _, w := range m.going {
		if w.account == a && !w.sent && (w.status == bourse.WalletPending || w.status == bourse.WalletProcessing) {
			w.status, w.before = bourse.WalletPending, max(w.before, m.until[a])
			w.approved = w.approved && m.sandbox
			m.steps["held back"]++
		}
	}
	m.distrust(a, 0)
	m.distrust(a, 1)
}

// approve notes that a person or a second factor approved an amount.
func (m *walletModel) approve(account bourse.AccountID, asset bourse.AssetID, amount uint64) {
	k := spotOf{account, asset}
	m.approvals[k] = append(m.approvals[k], approval{amount, m.e.Now()})
}

// distrust forgets what was approved for an account's address on a chain.
func (m *walletModel) distrust(account bourse.AccountID, i int) {
	for asset := btc; asset <= usdt; asset++ {
		if chainOf(asset) == i {
			delete(m.approvals, spotOf{account, asset})
		}
	}
}

// trusted reports whether as much was approved a day before the next command.
func (m *walletModel) trusted(account bourse.AccountID, asset bourse.AssetID, amount uint64) bool {
	ok := slices.ContainsFunc(m.approvals[spotOf{account, asset}], func(a approval) bool {
		return a.amount >= amount && a.at+bourse.Day <= m.e.Now()+bourse.Second
	})
	if ok {
		m.steps["trusted"]++
	}
	return ok
}

// decide is a person's word on a withdrawal that is not signed.
func (m *walletModel) decide() {
	var list []*modelWithdrawal
	for _, w := range m.going {
		if !w.sent && (w.status == bourse.WalletPending || w.status == bourse.WalletProcessing) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return
	}
	w := list[m.below(len(list))]
	if m.chance(20) {
		m.must(decideCommand(uint64(w.id), false))
		m.distrust(w.account, w.chain)
		m.end(w)
		m.steps["denied"]++
		return
	}
	if m.frozen[w.account] {
		m.refused(bourse.AccountFrozen, decideCommand(uint64(w.id), true))
		return
	}
	m.must(decideCommand(uint64(w.id), true))
	m.steps["approved"]++
	w.approved = true
	if w.to == 0 {
		m.approve(w.account, w.asset, w.amount)
	}
	switch {
	case w.before != 0:
	case w.to != 0:
		m.given(w)
	case !m.stopped(w.chain):
		w.status = bourse.WalletProcessing
	}
}

// passTime ends the wait of what has waited long enough.
func (m *walletModel) passTime() {
	if m.chance(50) {
		m.aDayLater()
	}
	m.wake()
	for _, w := range m.going {
		if w.before == 0 || w.before > m.e.Now() || w.status != bourse.WalletPending {
			continue
		}
		w.before = 0
		m.steps["delay"]++
		switch {
		case w.to == 0 && w.approved && !m.stopped(w.chain):
			w.status = bourse.WalletProcessing
		case w.to != 0 && w.approved && !m.frozen[w.account]:
			m.given(w)
		case w.to != 0:
			w.approved = false
		}
	}
}

// held recomputes what an account's withdrawals hold.
func (m *walletModel) held(account bourse.AccountID, asset bourse.AssetID) *big.Int {
	n := new(big.Int)
	for _, w := range m.going {
		if w.account == account && w.asset == asset && w.open() {
			n.Add(n, new(big.Int).SetUint64(w.amount+w.fee))
		}
	}
	return n
}

func (m *walletModel) settle(w *modelWithdrawal) {
	w.status = bourse.WalletDone
	m.sub(w.account, w.asset, w.amount+w.fee)
	m.steps["done"]++
}

func (m *walletModel) cancel() {
	if len(m.going) == 0 {
		return
	}
	w := m.going[max(0, len(m.going)-1-m.below(5))]
	cmd := cancelCommand(w.account, uint64(w.id))
	switch {
	case w.to != 0, w.status == bourse.WalletCanceled, w.status == bourse.WalletPendingCancel:
		m.refused(bourse.WithdrawalNotFound, cmd)
	case w.sent:
		m.refused(bourse.WithdrawalSigned, cmd)
	default:
		m.must(cmd)
		m.distrust(w.account, w.chain)
		m.end(w)
		m.steps["canceled"]++
	}
}

// waiting returns the withdrawals that wait for a transaction.
func (m *walletModel) waiting() []*modelWithdrawal {
	var list []*modelWithdrawal
	for _, w := range m.going {
		if w.tx == (bourse.TxHash{}) && (w.status == bourse.WalletProcessing || w.status == bourse.WalletDone && w.sent) {
			list = append(list, w)
		}
	}
	return list
}

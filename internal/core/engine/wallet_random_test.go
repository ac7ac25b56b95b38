package engine_test

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// walletModel is a naive wallet beside the engine: it knows the whole of each
// chain, recomputes everything from it, and counts in big integers.
type walletModel struct {
	*exchange
	src    enginetest.Seed
	chains [2]*chain
	// loose are transactions that are in no block and may be mined.
	loose [2][]bourse.Tx

	// top is the height of the highest block that each chain ever had.
	top [2]uint64

	// coming are the deposits that ever were in a block, in order.
	coming []*modelDeposit
	going  []*modelWithdrawal
	// signed are the exchange's own transactions.
	signed map[bourse.TxHash]*modelSigned
	nonces map[uint32]uint64
	// total is what customers have together, available and held.
	total  map[spotOf]*big.Int
	frozen [people + 1]bool
	// until is when the accounts' holds end.
	until  [people + 1]bourse.Time
	paused [2]bool
	// sandbox approves at once; otherwise approvals, by account and asset, say what
	// is trusted a day later.
	sandbox   bool
	approvals map[spotOf][]approval
	// keys is the last key of a request.
	keys int

	steps map[string]int
}

type spotOf struct {
	account bourse.AccountID
	asset   bourse.AssetID
}

type approval struct {
	amount uint64
	at     bourse.Time
}

type modelDeposit struct {
	at       bourse.Outpoint
	chain    int
	owner    bourse.AccountID
	number   bourse.DepositID
	asset    bourse.AssetID
	amount   uint64
	small    bool
	gone     uint64
	credited bool
	canceled bool
}

type modelWithdrawal struct {
	id      bourse.WalletID
	account bourse.AccountID
	chain   int
	asset   bourse.AssetID
	amount  uint64
	fee     uint64
	status  bourse.WalletStatus
	sent    bool
	tx      bourse.TxHash
	// to is the other account of a transfer; before is when it may leave.
	to       bourse.AccountID
	before   bourse.Time
	approved bool
}

type modelSigned struct {
	w *modelWithdrawal
	s *bourse.SignedTx
	// tx is what it does when it is mined.
	tx bourse.Tx
	// given says that it was given up, dropped that it was in no block then.
	given, dropped bool
}

func newWalletModel(tb testing.TB, seed uint64) *walletModel {
	m := &walletModel{
		exchange: newExchange(tb, seed%2 == 0), src: enginetest.Seed(seed),
		sandbox: seed%2 == 0, approvals: map[spotOf][]approval{},
		chains: [2]*chain{{network: byOutput}, {network: byAccount}},
		signed: map[bourse.TxHash]*modelSigned{}, nonces: map[uint32]uint64{}, total: map[spotOf]*big.Int{},
		steps: map[string]int{},
	}
	for i, c := range m.chains {
		var txs []bourse.Tx
		for account := bourse.AccountID(1); account <= people; account++ {
			for asset := btc; asset <= usdt; asset++ {
				if chainOf(asset) == i {
					txs = append(txs, c.output(account, asset, 300))
				}
			}
			m.must(walletCommand(bourse.CommandSaveAddress, account, bourse.WalletCommand{Save: &bourse.SavedAddress{
				Network: c.network, Asset: btc + bourse.AssetID(i), Address: stranger,
			}}))
		}
		m.block(i, txs)
		for range target - 1 {
			m.block(i, nil)
		}
	}
	return m
}

// chainOf returns the chain on which an asset moves.
func chainOf(asset bourse.AssetID) int {
	if asset == btc {
		return 0
	}
	return 1
}

func (m *walletModel) below(n int) int           { return int(m.src.Below(uint64(n))) }
func (m *walletModel) chance(percent int) bool   { return m.below(100) < percent }
func (m *walletModel) someone() bourse.AccountID { return bourse.AccountID(1 + m.below(people)) }

func (m *walletModel) have(account bourse.AccountID, asset bourse.AssetID) *big.Int {
	k := spotOf{account, asset}
	if m.total[k] == nil {
		m.total[k] = new(big.Int)
	}
	return m.total[k]
}

func (m *walletModel) add(account bourse.AccountID, asset bourse.AssetID, units uint64) {
	n := m.have(account, asset)
	n.Add(n, new(big.Int).SetUint64(units))
}

func (m *walletModel) sub(account bourse.AccountID, asset bourse.AssetID, units uint64) {
	n := m.have(account, asset)
	n.Sub(n, new(big.Int).SetUint64(units))
}

// step draws a command.
func (m *walletModel) step() {
	i := m.below(2)
	switch n := m.below(100); {
	case n < 28:
		m.mineSome(i)
	case n < 29:
		m.secure()
	case n < 30:
		m.passTime()
	case n < 36:
		m.reorganise(i)
	case n < 55:
		m.withdraw()
	case n < 58 && m.sandbox:
		m.give()
	case n < 58:
		m.decide()
	case n < 66:
		m.cancel()
	case n < 80:
		m.sign()
	case n < 88:
		m.accept()
	case n < 91:
		m.giveUp()
	case n < 94:
		m.assign()
	case n < 95:
		m.sweep()
	case n < 96:
		a := m.someone()
		m.frozen[a] = !m.frozen[a]
		m.must(freezeCommand(a, m.frozen[a]))
	case n < 98:
		m.paused[i] = m.chance(30)
		m.must(pauseCommand(m.chains[i].network, m.paused[i]))
		m.resumed(i)
	case n < 99:
		m.restart()
		m.steps["restart"]++
	default:
		m.passTime()
	}
}

// mineSome makes a block of new deposits and of transactions that are loose.
func (m *walletModel) mineSome(i int) {
	c := m.chains[i]
	var txs []bourse.Tx
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
func (m *walletModel) comes(c *chain) bourse.Tx {
	tx := bourse.Tx{Hash: c.hash()}
	for n := range 1 + m.below(3) {
		owner := []bourse.AccountID{m.someone(), m.someone(), m.someone(), treasury, nobody}[m.below(5)]
		asset := btc
		if c.network == byAccount {
			asset = eth + bourse.AssetID(m.below(2))
		}
		o := brings(owner, asset, uint64(1+m.below(100)))
		o.Index = uint32(3 * n)
		tx.Outputs = append(tx.Outputs, o)
	}
	return tx
}

// possible reports whether a transaction may be mined now, after others of the
// same block or before them.
func (m *walletModel) possible(i int, tx bourse.Tx, others []bourse.Tx) bool {
	_, there := m.chains[i].unspent()
	has := m.chains[i].has()
	for _, other := range others {
		for _, at := range other.Spent {
			delete(there, at)
		}
		for _, t := range other.Taken {
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
	for _, t := range tx.Taken {
		at := has[spot{t.Address, t.Asset}]
		if i == 1 && (at == nil || at.Sub(at, bigOf(t.Amount)).Sign() < 0) {
			return false
		}
	}
	return true
}

// block gives the exchange a block, and works out what must become of it.
func (m *walletModel) block(i int, txs []bourse.Tx) {
	c := m.chains[i]
	m.must(c.next(txs...))
	m.steps["block"]++
	for _, tx := range txs {
		if s := m.signed[tx.Hash]; s != nil && s.w != nil && s.w.tx == tx.Hash && s.w.status == bourse.WalletProcessing && m.pays(s) {
			m.settle(s.w)
		}
		for _, o := range tx.Outputs {
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
			if d.owner != 0 && !d.small && tip-height+1 >= target {
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

func (m *walletModel) arrives(i int, tx bourse.Tx, o bourse.Output) {
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
		at: at, chain: i, owner: o.Owner, asset: o.Asset, amount: o.Amount.Lo, small: o.Amount.Lo < minDeposit,
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
		w.status = bourse.WalletCanceled
		m.steps["denied"]++
		return
	}
	if m.frozen[w.account] {
		m.refused(bourse.AccountFrozen, decideCommand(uint64(w.id), true))
		return
	}
	m.must(decideCommand(uint64(w.id), true))
	m.approve(w.account, w.asset, w.amount)
	m.steps["approved"]++
	if w.approved = true; w.before == 0 && !m.stopped(w.chain) {
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
		case w.to != 0 && !m.frozen[w.account]:
			m.given(w)
		}
	}
}

// held recomputes what an account's withdrawals hold.
func (m *walletModel) held(account bourse.AccountID, asset bourse.AssetID) *big.Int {
	n := new(big.Int)
	for _, w := range m.going {
		if w.account == account && w.asset == asset && (w.status == bourse.WalletPending || w.status == bourse.WalletProcessing) {
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
	case w.status == bourse.WalletCanceled:
		m.refused(bourse.WithdrawalNotFound, cmd)
	case w.sent:
		m.refused(bourse.WithdrawalSent, cmd)
	default:
		m.must(cmd)
		m.distrust(w.account, w.chain)
		w.status = bourse.WalletCanceled
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
	list := m.waiting()
	if len(list) == 0 {
		return
	}
	w := list[m.below(len(list))]
	cost := uint64(1 + m.below(4))
	s := &bourse.SignedTx{Network: m.chains[w.chain].network, Kind: bourse.SignedWithdrawal, Wallet: w.id, Raw: []byte{1}}
	var tx bourse.Tx
	olds, careful := m.instead(w), m.chance(85)
	if w.chain == 0 {
		free := m.free()
		if careful {
			free = sharedFirst(free, olds)
		}
		for n := 1; n <= len(free) && len(tx.Taken) == 0; n++ {
			if pays, ok := m.chains[0].pay(free[:n], w.amount, cost); ok {
				tx = pays
			}
		}
		if len(tx.Taken) == 0 {
			return
		}
		s.Inputs = tx.Spent
	} else {
		tx = bourse.Tx{Hash: m.chains[1].hash(), Taken: []bourse.Taken{takes(hot, eth, cost)}}
		if !m.chance(15) { // otherwise it will be mined and not pay
			tx.Taken = append(tx.Taken, takes(hot, w.asset, w.amount))
		}
		s.Nonce = m.nonces[hot]
		if careful && len(olds) > 0 {
			s.Nonce = olds[0].s.Nonce
		}
	}
	s.Tx = tx.Hash
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
	case slices.ContainsFunc(olds, func(old *modelSigned) bool { return !old.s.Rivals(s) && !m.keptOut(old) }):
		m.steps["would be paid twice"]++
		m.refused(bourse.InputTaken, signedCommand(s))
		return
	}
	m.must(signedCommand(s))
	w.sent, w.tx = true, s.Tx
	if w.chain == 1 {
		m.nonces[hot] = max(m.nonces[hot], s.Nonce+1)
	}
	m.signed[s.Tx] = &modelSigned{w: w, s: s, tx: tx}
	m.loose[w.chain] = append(m.loose[w.chain], tx)
}

// instead returns what was given up for a withdrawal and is in no block, in the
// order of its signing.
func (m *walletModel) instead(w *modelWithdrawal) []*modelSigned {
	var list []*modelSigned
	for _, s := range m.signed {
		if s.w == w && m.chains[w.chain].mined(s.s.Tx) == 0 {
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

// keptOut reports whether something that excludes a transaction is deep in a block.
func (m *walletModel) keptOut(old *modelSigned) bool {
	c := m.chains[old.w.chain]
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
	if s.w.status == bourse.WalletProcessing {
		m.settle(s.w)
	}
}

// giveUp replaces or releases a withdrawal whose transaction is in no block, or
// did not pay. What was given up is never mined.
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
	m.loose[w.chain] = slices.DeleteFunc(m.loose[w.chain], func(tx bourse.Tx) bool { return tx.Hash == w.tx })
	s.given, s.dropped = true, m.chains[w.chain].mined(w.tx) == 0
	w.tx = bourse.TxHash{}
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
	return s.s.Network == byOutput || len(s.tx.Taken) > 1
}

func (m *walletModel) assign() {
	for _, d := range m.coming {
		height := m.chains[d.chain].mined(d.at.Tx)
		if d.credited || d.canceled || height == 0 && m.chance(50) || d.owner != 0 && !d.small {
			continue
		}
		if d.owner == 0 {
			d.owner = m.someone()
		}
		m.must(assignCommand(d.owner, d.number))
		m.steps["assigned"]++
		d.small = false
		if height != 0 && uint64(len(m.chains[d.chain].blocks))-height+1 >= target {
			m.credited(d)
		}
		return
	}
}

// sweep brings a customer's coins to the hot address.
func (m *walletModel) sweep() {
	if m.stopped(1) {
		return
	}
	address := uint32(m.someone())
	has := m.chains[1].has()[spot{address, eth}]
	if has == nil || has.Cmp(big.NewInt(10)) < 0 {
		return
	}
	tx := bourse.Tx{
		Hash: m.chains[1].hash(), Taken: []bourse.Taken{takes(address, eth, has.Uint64())},
		Outputs: []bourse.Output{brings(treasury, eth, has.Uint64()-3)},
	}
	s := &bourse.SignedTx{
		Network: byAccount, Kind: bourse.SignedSweep, Tx: tx.Hash, Raw: []byte{1}, From: address, Nonce: m.nonces[address],
	}
	m.must(signedCommand(s))
	m.steps["sweep"]++
	m.nonces[address]++
	m.signed[tx.Hash] = &modelSigned{s: s, tx: tx}
	m.loose[1] = append(m.loose[1], tx)
}

// check holds the exchange against the model: what each network's account owes
// is what its blocks say, and customers have what deposits and withdrawals say.
func (m *walletModel) check() {
	m.tb.Helper()
	for account := bourse.AccountID(1); account <= people; account++ {
		for asset := btc; asset <= usdt; asset++ {
			b := m.e.Balance(account, asset)
			if held := m.held(account, asset); bigOf(b.Held).Cmp(held) != 0 {
				m.tb.Fatalf("account %d holds %s of asset %d, the model %s", account, b.Held.Format(0), asset, held)
			}
			total := new(big.Int).Add(bigOf(b.Available), bigOf(b.Held))
			if want := m.have(account, asset); total.Cmp(want) != 0 {
				m.tb.Fatalf("account %d has %s of asset %d, the model %s", account, total, asset, want)
			}
		}
	}
	for _, w := range m.going {
		if w.status == bourse.WalletPending || w.status == bourse.WalletProcessing {
			if got := m.e.Withdrawal(w.id); got == nil || got.Status != w.status || got.NotBefore != w.before || got.Approved != w.approved {
				m.tb.Fatalf("withdrawal %d is %+v, the model says %+v", w.id, got, w)
			}
		}
	}
	for _, c := range m.chains {
		lies := map[bourse.AssetID]int64{}
		for at, n := range c.has() {
			lies[at.asset] += n.Int64()
		}
		for asset := btc; asset <= usdt; asset++ {
			if got := m.own(bourse.NetworkAccount(c.network), asset); got != -lies[asset] {
				m.tb.Fatalf("network %d's account has %d of asset %d, and %d lie there", c.network, got, asset, lies[asset])
			}
		}
	}
}

// TestRandomWallets runs random blocks, reorganisations, withdrawals, cancels,
// signatures and restarts against the model. A failure names its seed.
func TestRandomWallets(t *testing.T) {
	runs, length := *seeds, 500
	if testing.Short() {
		runs, length = min(runs, 4), 250
	}
	done := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+runs; seed++ {
		m := newWalletModel(t, seed)
		for range length {
			m.step()
			m.check()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		m.restart()
		for what, n := range m.steps {
			done[what] += n
		}
	}
	for _, what := range []string{
		"block", "credit", "mined again", "reorganisation", "withdrawal", "done", "canceled", "signed", "given up",
		"assigned", "sweep", "restart", "transfer", "delay", "hold", "held back",
		"approved", "denied", "trusted",
	} {
		if done[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
	t.Log(done)
}

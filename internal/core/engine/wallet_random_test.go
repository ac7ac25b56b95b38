package engine_test

import (
	"math/big"
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
	loose [2][]bourse.TxEffect

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
	// records are the lengths of the signer's records.
	records [2]uint64
	// sandbox approves at once; otherwise approvals, by account and asset, say what
	// is trusted a day later.
	sandbox   bool
	approvals map[spotOf][]approval
	// keys is the last key of a request.
	keys int
	// cooling is the order to cold storage that is open; of no units if there is none.
	cooling struct {
		id    bourse.WalletID
		units uint64
	}

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
	alone    bool
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
	// atSigner is true while the signer may have signed.
	atSigner bool
}

type modelSigned struct {
	// to are the withdrawals that it pays, and w is one of them; nil for other kinds.
	w  *modelWithdrawal
	to []*modelWithdrawal
	s  *bourse.SignedTx
	// tx is what it does when it is mined.
	tx bourse.TxEffect
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
		var txs []bourse.TxEffect
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
	case n < 26:
		m.mineSome(i)
	case n < 27:
		m.secure()
	case n < 30:
		m.cool()
	case n < 33:
		m.warm()
	case n < 39:
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
	case n < 93:
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
		if w.open() {
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
	const length = 500
	done := map[string]int{}
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
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
	wanted := []string{
		"block", "credit", "mined again", "reorganisation", "withdrawal", "done", "canceled", "signed", "given up",
		"assigned", "sweep", "given up sweep", "given up sweep mined", "restart", "transfer", "delay", "hold", "held back",
		"approved", "denied", "trusted", "over alone", "recorded", "left to the signer", "voided", "signed after a cancel",
		"kept", "joined", "cool order", "cool", "given up cool", "given up cool mined",
		"warm", "given up warm", "given up warm mined",
	}
	if *seeds >= 100 { // rare
		wanted = append(wanted, "given up joined", "mined late", "lost")
	}
	for _, what := range wanted {
		if done[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
	t.Log(done)
}

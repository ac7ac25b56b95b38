package enginetest

import (
	"fmt"
	"math/big"

	"github.com/bourse-exchange/bourse"
)

// tiering is the oracle's state of tiers. It remembers every movement by itself and adds them
// up anew for each decision.
type tiering struct {
	tiers []bourse.Tier
	moves map[flowOf][]move
	// summed are the sums that the current command changed.
	summed []bourse.Moved
}

// flowOf names a flow of an account's asset.
type flowOf struct {
	account bourse.AccountID
	asset   bourse.AssetID
	flow    bourse.Flow
}

// move is a movement that counts.
type move struct {
	at     bourse.Time
	amount *big.Int
}

func newTiering() tiering { return tiering{moves: map[flowOf][]move{}} }

func (x *Oracle) defineTiers(def *bourse.Tiers) {
	for _, t := range def.List {
		for _, l := range t.Limits {
			if int(l.Asset) > len(x.assets) {
				x.ev.Refuse(bourse.UnknownAsset)
				return
			}
		}
	}
	for i, old := range x.tiers {
		if i >= len(def.List) || def.List[i].Name != old.Name {
			x.ev.Refuse(bourse.FixedField)
			return
		}
	}
	x.tiers = def.List
}

func (x *Oracle) setAccountTier(cmd *bourse.Command) {
	a := x.accountOrRefuse(cmd.Account)
	switch {
	case a == nil:
	case int(cmd.Level) >= len(x.tiers):
		x.ev.Refuse(bourse.UnknownTier)
	default:
		a.tier = cmd.Level
	}
}

// limitIn returns the limit of a flow of an asset in a tier.
func limitIn(t *bourse.Tier, asset bourse.AssetID, f bourse.Flow) bourse.FlowLimit {
	for _, l := range t.Limits {
		if l.Asset == asset {
			return [...]bourse.FlowLimit{{}, l.Deposit, l.Trade, l.Withdrawal}[f]
		}
	}
	return bourse.FlowLimit{}
}

// counts reports whether any tier limits a flow of an asset.
func (x *Oracle) counts(asset bourse.AssetID, f bourse.Flow) bool {
	for i := range x.tiers {
		if l := limitIn(&x.tiers[i], asset, f); l.Day.Set || l.Month.Set {
			return true
		}
	}
	return false
}

// within reports whether an account's tier allows a further amount beside its sums.
func (x *Oracle) within(of flowOf, more *big.Int) bool {
	tier := x.accounts[of.account-1].tier
	if int(tier) >= len(x.tiers) {
		return true
	}
	l := limitIn(&x.tiers[tier], of.asset, of.flow)
	day, month := new(big.Int).Set(more), new(big.Int).Set(more)
	for _, m := range x.moves[of] {
		if hourOf(m.at) >= hourOf(x.now)-24 {
			day.Add(day, m.amount)
		}
		if dayOf(m.at) >= dayOf(x.now)-30 {
			month.Add(month, m.amount)
		}
	}
	return under(l.Day, day) && under(l.Month, month)
}

func under(b bourse.Bound, n *big.Int) bool { return !b.Set || n.Cmp(fromAmount(b.Most)) <= 0 }

func hourOf(t bourse.Time) int64 { return int64(t / bourse.Hour) }

func dayOf(t bourse.Time) int64 { return int64(t / bourse.Day) }

// mayGive reports whether an account may hold more of an asset for its orders, beside the amounts
// that it gave in trades and the holds of its orders.
func (x *Oracle) mayGive(account bourse.AccountID, asset bourse.AssetID, more *big.Int) bool {
	sum := new(big.Int).Add(more, &x.purse(account, asset).held)
	for _, w := range x.withdrawals {
		if w.Account == account && w.Asset == asset && w.Open() {
			sum.Sub(sum, fromAmount(w.Amount)).Sub(sum, fromAmount(w.Fee))
		}
	}
	return x.within(flowOf{account, asset, bourse.FlowTrade}, sum)
}

// count remembers a movement that counts.
func (x *Oracle) count(of flowOf, amount *big.Int) {
	if !x.counts(of.asset, of.flow) {
		return
	}
	for len(x.moves[of]) > 0 && dayOf(x.moves[of][0].at) < dayOf(x.now)-31 {
		x.moves[of] = x.moves[of][1:] // of no sum any more
	}
	x.moves[of] = append(x.moves[of], move{x.now, amount})
	x.tellMoved(of, x.now)
}

// tellMoved tells the sums of an hour and of its day.
func (x *Oracle) tellMoved(of flowOf, at bourse.Time) {
	inHour, inDay := new(big.Int), new(big.Int)
	for _, m := range x.moves[of] {
		if hourOf(m.at) == hourOf(at) && hourOf(at) >= hourOf(x.now)-24 {
			inHour.Add(inHour, m.amount)
		}
		if dayOf(m.at) == dayOf(at) && dayOf(at) >= dayOf(x.now)-30 {
			inDay.Add(inDay, m.amount)
		}
	}
	x.summed = append(x.summed, bourse.Moved{
		Account: of.account, Asset: of.asset, Flow: of.flow, Hour: uint32(hourOf(at)),
		InHour: toAmount(bounded(inHour)), InDay: toAmount(bounded(inDay)),
	})
}

// followCounted follows a withdrawal into the sums and out of them again.
func (x *Oracle) followCounted(was, is *bourse.Withdrawal, known bool) error {
	of := flowOf{is.Account, is.Asset, bourse.FlowWithdrawal}
	ended := is.Status == bourse.WalletCanceled || is.Refunded
	switch {
	case !known:
		if is.Counted != x.counts(is.Asset, of.flow) {
			return fmt.Errorf("withdrawal %d counts: %t", is.ID, is.Counted)
		}
		if !x.within(of, fromAmount(is.Amount)) {
			return fmt.Errorf("withdrawal %d is beyond its limit", is.ID)
		}
		x.count(of, fromAmount(is.Amount))
	case was.Counted && !is.Counted:
		if !ended {
			return fmt.Errorf("withdrawal %d counts no more", is.ID)
		}
		list := x.moves[of]
		for i, m := range list {
			if m.at == is.Created && m.amount.Cmp(fromAmount(is.Amount)) == 0 {
				x.moves[of] = append(list[:i:i], list[i+1:]...)
				break
			}
		}
		x.tellMoved(of, is.Created)
	case is.Counted && ended:
		return fmt.Errorf("withdrawal %d ended and counts", is.ID)
	}
	return nil
}

// followLimit follows a deposit that is credited, or is beyond its limit.
func (x *Oracle) followLimit(d *bourse.Deposit) error {
	of := flowOf{d.Account, d.Asset, bourse.FlowDeposit}
	if d.From != 0 {
		return nil // from inside of the exchange
	}
	if d.Account == 0 {
		return nil
	}
	allowed := x.within(of, fromAmount(d.Amount))
	switch {
	case d.Status == bourse.WalletDone && !allowed && !d.Admitted:
		return fmt.Errorf("deposit %d was credited beyond its limit", d.Number)
	case d.Status == bourse.WalletDone:
		x.count(of, fromAmount(d.Amount))
	}
	return nil
}

// tier draws tiers, or the tier of an account.
func (w *Workload) tier(a bourse.AccountID) bourse.Command {
	if len(w.oracle.tiers) == 0 || w.chance(15) {
		return bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: w.drawTiers()}
	}
	return bourse.Command{
		Kind: bourse.CommandSetAccountTier, Account: a, Level: uint8(w.src.Below(uint64(len(w.oracle.tiers)) + 1)),
	}
}

// drawTiers draws tiers that keep the old ones' names, rarely not.
func (w *Workload) drawTiers() *bourse.Tiers {
	t := new(bourse.Tiers)
	for i := range max(uint64(len(w.oracle.tiers)), w.between(1, 4)) {
		tier := bourse.Tier{Name: fmt.Sprintf("tier-%d", i)}
		if w.chance(2) {
			tier.Name += "x"
		}
		for asset := bourse.AssetID(1); asset <= 3; asset++ {
			if w.chance(70) {
				tier.Limits = append(tier.Limits, bourse.TierLimits{
					Asset: asset, Deposit: w.limit(w.little), Trade: w.limit(w.usual(asset)), Withdrawal: w.limit(w.little),
				})
			}
		}
		t.List = append(t.List, tier)
	}
	return t
}

func (w *Workload) limit(amount func() bourse.Amount) (l bourse.FlowLimit) {
	if w.chance(60) {
		l.Day = bourse.Bound{Set: true, Most: amount()}
	}
	if w.chance(40) {
		l.Month = bourse.Bound{Set: true, Most: amount()}
	}
	return l
}

// usual returns a function that draws amounts of an asset, of a few usual orders.
func (w *Workload) usual(asset bourse.AssetID) func() bourse.Amount {
	return func() bourse.Amount {
		orders := 1 + w.src.Below(300)
		for _, m := range w.oracle.markets {
			unit := bourse.Units(m.LotUnit)
			if m.Quote == asset {
				unit, _ = bourse.Units(m.TotalUnit).Mul(w.shape.mid)
			}
			if m.Quote == asset || m.Base == asset {
				if most, fits := unit.Mul(orders * w.shape.lots); fits {
					return most
				}
			}
		}
		return w.purse()
	}
}

// little draws an amount about as large as those that networks move.
func (w *Workload) little() bourse.Amount {
	return bourse.Units(w.src.Below(1 << (10 + w.src.Below(50))))
}

package enginetest

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Workload draws hard commands: few prices, crossing orders, stops that trigger stops,
// values at the bounds, repeated client ids. Every command passes record.Check.
type Workload struct {
	src    Source
	oracle *Oracle
	shape  shape
	setup  []bourse.Command
	seq    bourse.Seq
	now    bourse.Time
	// recent holds requests with client ids, to repeat.
	recent []bourse.Command
	names  uint64
}

// shape holds the parameters that a workload draws once.
type shape struct {
	accounts, markets uint64
	// ticks is the width and mid the middle of the price range, lots the largest usual
	// quantity.
	ticks, mid uint64
	lots       uint64
	// lists is the weight, in a hundred, of lists among the orders with a stop.
	lists uint64
	// open is the number of open orders in a market above which cancels prevail.
	open int
	// stops, cancels, amends and named are weights in a hundred.
	stops, cancels, amends, named uint64
	// huge makes one value in huge absurd; zero is none.
	huge uint64
	// wide spreads every other price up to wide pages of the book to either side; zero is
	// none.
	wide uint64
	// long makes time run fast, so that client ids expire.
	long bool
	// deep piles up stops and far orders until one order triggers them all.
	deep bool
	// levels defines a schedule of fees, and makes time run fast so that days pass.
	levels bool
	// tiers defines tiers, and makes time run fast.
	tiers bool
	// staffed gives the exchange operators.
	staffed bool
	// modest keeps credits small, so that deposits of networks always fit.
	modest bool
}

// pageTicks is the number of prices in a page of the book.
const pageTicks = 4096

// NewWorkload returns a workload that draws from src. It reads the oracle to find orders
// to cancel.
func NewWorkload(src Source, oracle *Oracle) *Workload { return newWorkload(src, oracle, false) }

// NewModestWorkload returns a workload whose credits are small enough for the deposits of
// networks to fit.
func NewModestWorkload(src Source, oracle *Oracle) *Workload { return newWorkload(src, oracle, true) }

func newWorkload(src Source, oracle *Oracle, modest bool) *Workload {
	w := &Workload{src: src, oracle: oracle, now: 1_700_000_000 * bourse.Second}
	w.shape.modest = modest
	w.draw()
	return w
}

func (w *Workload) chance(percent uint64) bool { return w.src.Below(100) < percent }

func (w *Workload) between(low, high uint64) uint64 { return low + w.src.Below(high-low+1) }

func (w *Workload) draw() {
	s := &w.shape
	s.accounts, s.markets = w.between(2, 8), w.between(1, 3)
	s.ticks = w.between(2, 30)
	s.mid = w.between(s.ticks, s.ticks+100)
	s.lots = []uint64{3, 20, 1000}[w.src.Below(3)]
	s.open = int([]uint64{30, 80, 200}[w.src.Below(3)])
	s.stops, s.cancels, s.named = w.src.Below(40), w.between(5, 25), w.src.Below(30)

	s.amends = w.src.Below(30)
	if w.chance(40) {
		s.huge = w.between(10, 60)
	}
	if w.chance(35) {
		s.wide = w.between(2, 40)
		s.open = []int{30, 200, 900}[w.src.Below(3)]
	}
	s.lists = w.src.Below(80)
	s.levels = w.chance(40)
	s.long = w.chance(20) || s.levels && w.chance(70)
	s.tiers = s.named%4 >= 2
	s.long = s.long || s.tiers
	s.staffed = s.named%4 == 1 // drawn with it: other workloads stay as they were
	s.long = s.long || s.staffed
	if s.deep = w.src.Below(12) == 1; s.deep {
		s.accounts, s.markets, s.open, s.stops, s.cancels, s.huge, s.wide = 2, 1, 3500, 60, 2, 0, 40
		s.amends = 1
	}
	s.mid += s.wide * pageTicks

	w.add(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}})
	w.drawCatalogue()
	for a := bourse.AccountID(1); uint64(a) <= s.accounts; a++ {
		w.add(bourse.Command{Kind: bourse.CommandCreateAccount, Token: bourse.Token{byte(a)}})
		if w.chance(30) {
			w.add(w.accountFees(a))
		}
		for asset := bourse.AssetID(1); asset <= 3; asset++ {
			w.add(bourse.Command{Kind: bourse.CommandCredit, Account: a, AssetID: asset, Amount: w.purse()})
		}
	}
}

func (w *Workload) add(cmd bourse.Command) { w.setup = append(w.setup, cmd) }

// drawCatalogue defines three assets and up to three markets between them.
func (w *Workload) drawCatalogue() {
	for i := range uint64(3) {
		scale := uint8([]uint64{6, 8, bourse.MaxScale}[w.src.Below(3)])
		w.add(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: bourse.Symbol(string(rune('A' + i))), Name: "asset", Scale: scale, Enabled: true,
		}})
	}
	pairs := [...][2]bourse.AssetID{{1, 2}, {3, 2}, {1, 3}}
	for i := range w.shape.markets {
		m := w.market(pairs[i])
		m.BasePrecision, m.QuotePrecision = uint8(w.src.Below(4)), uint8(w.src.Below(4))
		w.add(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
	}
	if w.shape.levels {
		w.add(w.fees())
	}
}

// fees draws a schedule: levels of volumes from a few trades to more than can be counted.
func (w *Workload) fees() bourse.Command {
	s := &bourse.FeeSchedule{VolumeAsset: bourse.AssetID(w.between(1, 3))}
	if old := w.oracle.schedule; old != nil && w.chance(70) {
		s.VolumeAsset = old.VolumeAsset
	}
	l := bourse.FeeLevel{Maker: w.rate(), Taker: w.rate()}
	for {
		s.Levels = append(s.Levels, l)
		step := bourse.Units(1 + w.src.Below(1000)*bourse.Pow10(uint8(w.src.Below(17))))
		if w.chance(5) {
			step = bourse.Amount{Hi: 1 << w.src.Below(64)}
		}
		more, fits := l.Volume.Add(step)
		if !fits || w.chance(25) || len(s.Levels) == bourse.MaxFeeLevels {
			return bourse.Command{Kind: bourse.CommandDefineFees, Fees: s}
		}
		l = bourse.FeeLevel{Volume: more, Maker: w.rate(), Taker: w.rate()}
	}
}

// accountLevel draws a fixed level, or the end of one.
func (w *Workload) accountLevel(a bourse.AccountID) bourse.Command {
	cmd := bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: a, On: w.chance(50)}
	if cmd.On {
		cmd.Level = uint8(w.src.Below(6))
	}
	return cmd
}

// market draws a market without its precisions.
func (w *Workload) market(pair [2]bourse.AssetID) bourse.Market {
	m := bourse.Market{
		Base: pair[0], Quote: pair[1], Enabled: true, InitialPrice: bourse.Price(w.shape.mid),
		MaxPrice: bourse.MaxPrice, Maker: w.rate(), Taker: w.rate(),
		SelfTrade: bourse.SelfTradeMode(w.between(1, uint64(bourse.LastSelfTradeMode))),
	}
	if w.chance(40) {
		m.MinOrder = bourse.Units(w.src.Below(w.shape.mid*w.shape.lots) * bourse.Pow10(uint8(w.src.Below(13))))
	}
	if w.chance(30) {
		m.Collar = bourse.Rate(w.src.Below(bourse.RateOne / 5))
	}
	if w.chance(20) {
		m.Band = bourse.Rate(bourse.RateOne + 1 +
			w.src.Below([]uint64{bourse.RateOne / 5, 3 * bourse.RateOne}[w.src.Below(2)]))
	}
	if w.chance(20) {
		m.MaxPrice = bourse.Price(w.shape.mid + w.shape.ticks/2)
	}
	return m
}

func (w *Workload) rate() bourse.Rate {
	switch w.src.Below(4) {
	case 0:
		return 0
	case 1:
		return bourse.Rate(w.src.Below(bourse.RateOne))
	default:
		return bourse.Rate(w.src.Below(5000))
	}
}

// purse draws an opening balance, from almost zero to almost the maximum.
func (w *Workload) purse() bourse.Amount {
	switch w.src.Below(8) {
	case 0, 1, 2:
		return bourse.Units(1 + w.src.Below(1_000_000)*w.src.Below(1<<30))
	case 3:
		if w.shape.modest {
			return bourse.Amount{Lo: 1 + w.src.Below(1<<62)}
		}
		return bourse.Amount{Hi: 1<<63 + w.src.Below(1<<62), Lo: w.src.Below(1 << 63)}
	default:
		return bourse.Amount{Hi: w.src.Below(1 << 24), Lo: 1 + w.src.Below(1<<62)}
	}
}

func (w *Workload) accountFees(a bourse.AccountID) bourse.Command {
	return bourse.Command{
		Kind: bourse.CommandSetAccountFees, Account: a, On: w.chance(70), Maker: w.rate(), Taker: w.rate(),
	}
}

// Done reports whether the source is used up.
func (w *Workload) Done() bool { return len(w.setup) == 0 && w.src.Done() }

// Opening returns the number of the next commands that found the exchange: they need no state, and all others need them.
func (w *Workload) Opening() int { return len(w.setup) }

// Next draws the next command.
func (w *Workload) Next() bourse.Command {
	var cmd bourse.Command
	if len(w.setup) > 0 {
		cmd = w.setup[0]
		w.setup = w.setup[1:]
	} else {
		cmd = w.command()
	}
	if w.shape.long && w.chance(5) {
		w.now += bourse.Time(w.src.Below(uint64(12 * bourse.Hour)))
	} else {
		w.now += bourse.Time(w.src.Below(3))
	}
	w.seq++
	cmd.Seq, cmd.Time = w.seq, w.now
	if err := record.Check(&cmd); err != nil {
		bourse.Impossible("the workload drew %+v: %v", cmd, err)
	}
	return cmd
}

func (w *Workload) command() bourse.Command {
	if w.oracle.Unfinished() && w.chance(60) {
		return bourse.Command{Kind: bourse.CommandContinue}
	}
	if w.shape.tiers && (len(w.oracle.tiers) == 0 || w.src.Below(60) == 0) {
		return w.tier(w.account())
	}
	if w.shape.staffed && w.src.Below(30) == 0 {
		return w.office()
	}
	if w.src.Below(50) == 0 && (!w.shape.deep || w.chance(3)) {
		return w.rare()
	}
	if w.src.Below(20) == 0 {
		if cmd := w.repair(); cmd.Kind != 0 {
			return cmd
		}
	}
	if w.shape.deep && w.src.Below(20) == 0 && len(w.oracle.markets[0].open) > 3200 {
		return w.storm()
	}
	if w.chance(w.shape.amends) {
		if w.chance(30) {
			return w.replace()
		}
		return w.amend()
	}
	if w.chance(w.shape.cancels) || w.crowded() && w.chance(60) {
		return w.cancel()
	}
	return w.placing()
}

// rare draws commands of operators, and their reversals.
func (w *Workload) rare() bourse.Command {
	a := w.account()
	market := bourse.MarketID(w.between(1, w.shape.markets))

	switch w.src.Below(18) {
	case 0:
		return bourse.Command{Kind: bourse.CommandFreezeAccount, Account: a, On: w.chance(40)}
	case 1:
		return w.accountFees(a)
	case 2, 3:
		return bourse.Command{Kind: bourse.CommandCollectFees}
	case 4:
		return bourse.Command{
			Kind: bourse.CommandSetMarketState, MarketID: market, State: bourse.MarketState(w.between(1, 4)),
		}
	case 5, 6, 7:
		return bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: market, State: bourse.MarketOpen}
	case 8, 9:
		return w.redefine(market)
	case 10:
		asset := w.oracle.assets[w.src.Below(3)]
		asset.Enabled = w.chance(70)
		return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &asset}
	case 11, 12:
		return bourse.Command{Kind: bourse.CommandTick}
	case 13:
		return bourse.Command{Kind: bourse.CommandContinue}
	case 14:
		return bourse.Command{Kind: bourse.CommandCreateAccount}
	case 15:
		return w.accountLevel(a)
	case 16:
		if w.shape.levels {
			return w.fees()
		}
		return w.accountLevel(a)
	default:
		return bourse.Command{
			Kind: bourse.CommandCredit, Account: a, AssetID: bourse.AssetID(w.between(1, 4)), Amount: w.purse(),
		}
	}
}

// repair draws a command that reopens an asset, market or account that an operator
// closed, so that most of a workload trades. Its kind is zero if all are open.
func (w *Workload) repair() bourse.Command {
	for _, a := range w.oracle.assets {
		if !a.Enabled {
			a.Enabled = true
			return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &a}
		}
	}

	for _, m := range w.oracle.markets {
		if m.State != bourse.MarketOpen {
			return bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: m.ID, State: bourse.MarketOpen}
		}
		if def := m.Market; !def.Enabled {
			def.Enabled = true
			return bourse.Command{Kind: bourse.CommandDefineMarket, Market: &def}
		}
	}

	for i, a := range w.oracle.accounts {
		if a.frozen {
			return bourse.Command{Kind: bourse.CommandFreezeAccount, Account: bourse.AccountID(i + 1)}
		}
	}
	return bourse.Command{}
}

// storm draws the climax of a deep workload: an order that empties a side and triggers
// every stop there, or a cancel-all, at once or by a dead man's switch.
func (w *Workload) storm() bourse.Command {
	a := w.account()
	if w.chance(20) {
		return bourse.Command{Kind: bourse.CommandCancelAll, Account: a}
	}
	if w.chance(10) {
		return bourse.Command{Kind: bourse.CommandCancelAfter, Account: a, Hold: 1}
	}
	return bourse.Command{Kind: bourse.CommandPlace, Account: a, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Side(w.between(1, 2)), Type: bourse.MarketOrder, TIF: bourse.IOC,
		SelfTrade: bourse.SelfTradeNone, Lots: 1 << 30,
	}}
}

// redefine changes a market's variable fields, and sometimes a fixed one.
func (w *Workload) redefine(id bourse.MarketID) bourse.Command {
	old := bourse.Market{Base: 1, Quote: 2}
	if int(id) <= len(w.oracle.markets) {
		old = w.oracle.markets[id-1].Market
	}
	m := w.market([2]bourse.AssetID{old.Base, old.Quote})
	m.BasePrecision, m.QuotePrecision = old.BasePrecision, old.QuotePrecision
	m.Enabled = w.chance(80)
	if w.chance(5) {
		m.BasePrecision++
	}
	return bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m}
}

func (w *Workload) account() bourse.AccountID {
	if w.src.Below(200) == 0 {
		return bourse.AccountID(w.between(1, uint64(bourse.AccountSandbox)-1)) // most likely unallotted
	}
	return bourse.AccountID(w.between(1, w.shape.accounts))
}

// cancel draws a cancel of an open order, of any order id, or of all orders.
func (w *Workload) cancel() bourse.Command {
	if w.src.Below(10) == 0 && !w.shape.deep {
		return w.silence()
	}
	if w.src.Below(12) == 0 && !w.shape.deep {
		return bourse.Command{
			Kind: bourse.CommandCancelAll, Account: w.account(),
			MarketID: bourse.MarketID(w.src.Below(w.shape.markets + 2)),
		}
	}
	return w.ofList(w.cancelOne())
}

// cancelOne draws a cancel of an open order, or of any order id.
func (w *Workload) cancelOne() bourse.Command {
	cmd := bourse.Command{
		Kind: bourse.CommandCancel, Account: w.account(), Order: bourse.OrderID(1 + w.src.Below(1<<20)),
	}
	if m := w.oracle.markets; len(m) > 0 && w.chance(95) {
		if open := m[w.src.Below(uint64(len(m)))].open; len(open) > 0 {
			o := open[w.src.Below(uint64(len(open)))]
			cmd.Order = o.ID
			if w.chance(95) {
				cmd.Account = o.Account
			}
		}
	}
	return cmd
}

// silence draws a command of dead man's switches. Short ones expire between two commands.
func (w *Workload) silence() bourse.Command {
	cmd := bourse.Command{Account: w.account()}
	connection := bourse.ConnectionID(1 + w.src.Below(uint64(w.oracle.lastConnection)+2))
	switch w.src.Below(8) {
	case 0, 1:
		cmd.Kind = bourse.CommandCancelOnClose
	case 2:
		cmd.Kind, cmd.Connection = bourse.CommandConnectionClosed, connection
		if len(w.oracle.armed) > 0 {
			one := w.oracle.armed[w.src.Below(uint64(len(w.oracle.armed)))]
			cmd.Account, cmd.Connection = one.account, max(1, one.connection)
		}
	case 3:
		cmd.Kind, cmd.Account, cmd.Connection = bourse.CommandConnectionClosed, 0, connection
	default:
		cmd.Kind, cmd.MarketID = bourse.CommandCancelAfter, bourse.MarketID(w.src.Below(w.shape.markets+2))
		cmd.Hold = bourse.Time([]uint64{0, w.src.Below(300), w.src.Below(uint64(bourse.MaxCancelAfter) + 1)}[w.src.Below(3)])
	}
	return cmd
}

// placing draws an order, or repeats one that had a client id.
func (w *Workload) placing() bourse.Command {
	if len(w.recent) > 0 && w.chance(w.shape.named/4) {
		cmd := w.recent[w.src.Below(uint64(len(w.recent)))]
		if w.chance(30) {
			alter(&cmd)
		}
		return cmd
	}
	if w.chance(w.shape.stops * w.shape.lists / 100) {
		return w.list()
	}

	cmd := bourse.Command{Kind: bourse.CommandPlace, Account: w.account(), NewOrder: w.order()}
	w.terms(&cmd.NewOrder)
	if w.chance(w.shape.named) {
		w.name(&cmd.NewOrder)
		w.remember(cmd)
	}
	return cmd
}

// order draws an order without a type.
func (w *Workload) order() (p bourse.NewOrder) {
	p.Market, p.Side = bourse.MarketID(w.between(1, w.shape.markets)), bourse.Side(w.between(1, 2))
	if w.src.Below(200) == 0 {
		p.Market++
	}

	p.TIF, p.SelfTrade = bourse.GTC, bourse.SelfTradeMode(w.src.Below(uint64(bourse.LastSelfTradeMode)+1))
	if w.chance(30) {
		p.TIF = bourse.TimeInForce(w.between(1, 3))
	}
	p.Lots = bourse.Lots(w.large(w.between(1, w.shape.lots), uint64(bourse.MaxLots)))
	return p
}

// name gives an order a client id.
func (w *Workload) name(p *bourse.NewOrder) {
	w.names++
	copy(p.ClientID[:], strconv.FormatUint(w.names%5000, 36))
}

// terms draws a type and its fields.
func (w *Workload) terms(p *bourse.NewOrder) {
	switch {
	case w.chance(w.shape.stops):
		w.stop(p)
		if w.shape.deep {
			w.pile(p)
		}
	case w.chance(20):
		p.Type = bourse.MarketOrder
		if w.chance(60) {
			p.Total = w.total(p.Market, p.Lots)
			p.Lots = 0
		}
	default:
		p.Type, p.Price = bourse.Limit, w.price()
		p.PostOnly = p.TIF == bourse.GTC && w.chance(10)
	}
}

// stop draws an order that waits for its stop, half of them STOP_LIMIT.
func (w *Workload) stop(p *bourse.NewOrder) {
	p.Type, p.Stop = bourse.StopLimit, w.price()
	if w.chance(50) {
		p.Type = bourse.OrderType(w.between(uint64(bourse.StopMarket), uint64(bourse.TakeProfitMarket)))
	}
	switch {
	case p.Type.HasPrice():
		p.Price = w.price()
	case p.Side == bourse.Buy && w.chance(50):
		p.Total = w.total(p.Market, p.Lots)
		p.Lots = 0
	}
}

// pile moves a stop to a price that only a storm reaches.
func (w *Workload) pile(p *bourse.NewOrder) {
	w.away(p)
	if w.chance(15) { // a counterparty for the storm
		p.Type, p.Price, p.Stop, p.Total, p.Lots = bourse.Limit, p.Stop, 0, bourse.Amount{}, 1
		p.Side = p.Side.Opposite()
	}
}

// away moves a stop further away from the usual prices.
func (w *Workload) away(p *bourse.NewOrder) {
	p.TIF = bourse.GTC
	if p.Lots > 0 {
		p.Lots = 1
	}
	far := bourse.Price(w.shape.ticks)
	if (p.Side == bourse.Buy) != p.Type.TakesProfit() {
		p.Stop += far
	} else {
		p.Stop -= min(p.Stop-1, far)
	}
	if p.Type.HasPrice() && p.Side == bourse.Buy {
		p.Price = p.Stop + far
	}
}

// total draws about the value of some lots, rarely a round one.
func (w *Workload) total(id bourse.MarketID, lots bourse.Lots) bourse.Amount {
	unit := uint64(1)
	if int(id) <= len(w.oracle.markets) {
		unit = w.oracle.markets[id-1].TotalUnit
	}

	total, fits := bourse.Units(w.large(uint64(w.price()), 1<<63)).Mul(uint64(lots))
	total, unitFits := total.Mul(unit)
	if !fits || !unitFits {
		total = bourse.MaxAmount
	}

	if more, ok := total.Add(bourse.Units(w.src.Below(unit*3 + 1))); ok && w.chance(50) {
		total = more
	}
	if w.chance(10) {
		total = bourse.Units(1 + w.src.Below(unit))
	}
	return total
}

func (w *Workload) price() bourse.Price {
	usual := w.shape.mid - w.shape.ticks/2 + w.src.Below(w.shape.ticks)
	if span := w.shape.wide * pageTicks; span > 0 && w.chance(50) {
		usual += w.src.Below(2*span) - span
	}
	return bourse.Price(w.large(usual, uint64(bourse.MaxPrice)))
}

// large returns the usual value, or in some workloads an absurd one.
func (w *Workload) large(usual, limit uint64) uint64 {
	if w.shape.huge == 0 || w.src.Below(w.shape.huge) != 0 {
		return usual
	}
	return max(1, (limit-w.src.Below(3))>>w.src.Below(62))
}

func (w *Workload) remember(cmd bourse.Command) {
	if len(w.recent) < 100 {
		w.recent = append(w.recent, cmd)
	} else {
		w.recent[w.src.Below(100)] = cmd
	}
}

package enginetest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Script runs a readable scenario: one command per line, and below it, indented, its
// effects. Comment lines, which start with #, and empty lines are kept.
//
//	asset BTC scale=8 [disabled]
//	market BTC/USDT lots=3 ticks=2 [maker=0.001] [taker=0.002] [min_order=10]
//	       [collar=0.1] [band=10] [self_trade=cancel_oldest] [initial=100] [max=500] [disabled]
//	account alice BTC=10 USDT=1000
//	credit alice BTC 5
//	place alice BUY 0.5 BTC/USDT LIMIT price=100 [GTC|FOK|IOC] [post_only]
//	      [self_trade=none] [client_id=a1]
//	place alice SELL 0.5 BTC/USDT STOP_LIMIT price=90 stop=95
//	place alice BUY 0.5 BTC/USDT MARKET, place alice BUY total=50 BTC/USDT MARKET
//	amend alice 3 [price=101] [amount=0.4]
//	replace alice 3 [anyway] BUY 0.5 BTC/USDT LIMIT price=100
//	oco alice SELL 0.5 BTC/USDT LIMIT price=110 and SELL 0.5 BTC/USDT STOP_MARKET stop=90
//	cancel_list alice 4
//	cancel alice 3, cancel_all alice [BTC/USDT], continue
//	cancel_after alice 1m [BTC/USDT], cancel_on_close alice, close alice 1, close_up_to 1
//	state BTC/USDT halted, freeze alice, unfreeze alice
//	fees alice maker=0 taker=0.01, fees alice default, sweep_fees
//	schedule USDT 0:0.001:0.002 1000:0.0005:0.001 (volume:maker:taker by level)
//	level alice 1, level alice default
//	hire ann owner, change ann viewer [disabled]
//	act ann COMMAND, act nobody COMMAND, act ann wrong COMMAND (with another digest), where COMMAND is
//	      state, freeze, unfreeze, fees, level, sweep_fees, hire, change or credit
//	approve bob 17, drop bob 17, where 17 is the act
//	wait 24h, restart, book BTC/USDT, balances alice, orders
//	repeat 100 COMMAND, where {n} is the number of the repetition
//
// lots and ticks are the decimals of amounts and prices. Naming a market or an asset
// again changes it. The oracle decides every command as well; a difference is an error,
// and so is an unknown command.
type Script struct {
	pair     *Pair
	seq      bourse.Seq
	now      bourse.Time
	accounts map[string]bourse.AccountID
	names    []string
	hired    map[string]bourse.OperatorID
	// ordering takes the command of a line that is an act.
	ordering func(*bourse.Command) error
	out      []string
}

// mostLines bounds the events listed for a line; more are counted.
const mostLines = 16

// Run runs a script and returns it with its actual effects.
func Run(text string) (string, error) {
	s := &Script{
		pair: NewPair(), now: 1_700_000_000 * bourse.Second,
		accounts: map[string]bourse.AccountID{}, names: []string{""},
		hired: map[string]bourse.OperatorID{},
	}
	if err := s.apply(&bourse.Command{
		Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules},
	}); err != nil {
		return "", err
	}

	var b strings.Builder
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \n")
		if strings.HasPrefix(line, "  ") {
			continue // effects of an earlier run
		}
		b.WriteString(line + "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := s.line(line); err != nil {
			return "", fmt.Errorf("line %d: %s: %w", number, line, err)
		}
		for _, told := range s.out {
			b.WriteString("  " + told + "\n")
		}
	}
	return b.String(), nil
}

// line runs one line and leaves its effects in out.
func (s *Script) line(line string) error {
	s.out = s.out[:0]
	words := strings.Fields(line)
	times := 1
	if words[0] == "repeat" && len(words) > 2 {
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		times, words = n, words[2:]
	}

	for n := 1; n <= times; n++ {
		run := make([]string, len(words))
		for i, w := range words {
			run[i] = strings.ReplaceAll(w, "{n}", strconv.Itoa(n))
		}
		if err := s.verb(run); err != nil {
			return err
		}
	}

	if words[0] != "restart" && words[0] != "book" {
		if err := s.pair.Check(); err != nil {
			return err
		}
	}
	if len(s.out) > mostLines {
		s.out = count(s.out)
	}
	return nil
}

// count counts the lines by first word.
func count(lines []string) []string {
	var order []string
	times := map[string]int{}
	for _, l := range lines {
		verb, _, _ := strings.Cut(l, " ")
		if verb == "rejected" || verb == "refused" {
			verb = strings.Join(strings.Fields(l)[:2], " ")
		}
		if times[verb] == 0 {
			order = append(order, verb)
		}
		times[verb]++
	}

	for i, verb := range order {
		order[i] = fmt.Sprintf("%d × %s", times[verb], verb)
	}
	return order
}

func (s *Script) tell(format string, args ...any) {
	s.out = append(s.out, fmt.Sprintf(format, args...))
}

// apply carries out a command on both exchanges and writes its effects to the output.
func (s *Script) apply(cmd *bourse.Command) error {
	if order := s.ordering; order != nil {
		s.ordering = nil
		return order(cmd)
	}
	s.seq++
	s.now++
	cmd.Seq, cmd.Time = s.seq, s.now
	if err := record.Check(cmd); err != nil {
		s.seq--
		s.tell("malformed: %v", err)
		return nil
	}
	if err := s.pair.Apply(cmd); err != nil {
		return err
	}
	s.show(s.pair.Events())
	if s.pair.Engine.Unfinished() {
		s.tell("unfinished")
	}
	return nil
}

func (s *Script) show(ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventRefused:
			s.tell("refused %s", e.Reason)
		case bourse.EventOrderRepeated:
			s.showRepeated(ev.Outcome)
		case bourse.EventOrderRejected:
			s.tell("rejected %s", e.Reason)
		case bourse.EventOrderAccepted:
			s.tell("accepted %s", s.order(&ev.Orders[e.At]))
		case bourse.EventOrderTriggered:
			s.tell("triggered #%d", ev.Orders[e.At].ID)
		case bourse.EventOrderAmended:
			s.tell("amended %s", s.order(&ev.Orders[e.At]))
		case bourse.EventOrderPrevented:
			s.showPrevented(&ev.Orders[e.At])
		case bourse.EventOrderClosed:
			s.showClosed(&ev.Orders[e.At])
		case bourse.EventTraded:
			s.showTrade(&ev.Trades[e.At])
		case bourse.EventAccountLevel:
			s.showLevel(&ev.Facts[e.At])
		case bourse.EventOperator:
			s.showOperator(ev.Facts[e.At].Staff)
		case bourse.EventAct, bourse.EventActOutdated:
			s.tell("%s", ev.Facts[e.At].Act)
		case bourse.EventTransfer:
			t := &ev.Transfers[e.At]
			a := s.pair.Oracle.assets[t.Asset-1]
			s.tell("moved %s %s from %s to %s", t.Amount.Format(a.Scale), a.Symbol, s.name(t.From), s.name(t.To))
		case bourse.EventAccountTier:
			f := &ev.Facts[e.At]
			s.tell("%s has tier %s", s.name(f.Account), s.pair.Oracle.tiers[f.Tier].Name)
		default:
		}
	}
	for i := range ev.Moved {
		s.showMoved(&ev.Moved[i])
	}
}

func (s *Script) showRepeated(o bourse.Outcome) {
	if o.Reason != 0 {
		s.tell("repeated: rejected %s", o.Reason)
		return
	}
	s.tell("repeated: #%d %s", o.ID, o.Status)
}

func (s *Script) showLevel(f *bourse.Fact) {
	fixed := ""
	if f.On {
		fixed = ", fixed"
	}
	s.tell("level %d of %s%s", f.FeeLevel, s.name(f.Account), fixed)
}

func (s *Script) showClosed(o *bourse.Order) {
	m := s.market(o.Market)
	prevented := ""
	if o.Prevented > 0 {
		prevented = ", " + o.Prevented.Format(m.BasePrecision) + " prevented"
	}
	s.tell("%s #%d of %s with %s traded%s", strings.ToLower(o.Status.String()), o.ID, s.name(o.Account),
		o.Filled.Format(m.BasePrecision), prevented)
}

func (s *Script) showPrevented(o *bourse.Order) {
	s.tell("prevented %s of #%d", o.Prevented.Format(s.market(o.Market).BasePrecision), o.ID)
}

func (s *Script) showTrade(t *bourse.Trade) {
	m := s.market(t.Market)
	base, quote := s.pair.Oracle.assets[m.Base-1], s.pair.Oracle.assets[m.Quote-1]
	makerGets, takerGets := quote, base
	if t.TakerSide == bourse.Sell {
		makerGets, takerGets = base, quote
	}
	s.tell("traded %s at %s = %s: maker #%d %s pays %s %s, taker #%d %s pays %s %s",
		t.Lots.Format(m.BasePrecision), t.Price.Format(m.QuotePrecision), t.Total.Format(quote.Scale),
		t.Maker.Order, s.name(t.Maker.Account), t.Maker.Fee.Format(makerGets.Scale), makerGets.Symbol,
		t.Taker.Order, s.name(t.Taker.Account), t.Taker.Fee.Format(takerGets.Scale), takerGets.Symbol)
}

// order describes an order.
func (s *Script) order(o *bourse.Order) string {
	m := s.market(o.Market)

	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %s %s %s", o.ID, s.name(o.Account), o.Side, o.Type, o.TIF)
	if o.Lots > 0 {
		fmt.Fprintf(&b, " %s", o.Lots.Format(m.BasePrecision))
	} else {
		fmt.Fprintf(&b, " total %s", o.Total.Format(s.pair.Oracle.assets[m.Quote-1].Scale))
	}
	if at := o.Cap(); at > 0 {
		fmt.Fprintf(&b, " capped at %s", at.Format(m.QuotePrecision))
	} else if o.Price > 0 {
		fmt.Fprintf(&b, " at %s", o.Price.Format(m.QuotePrecision))
	}
	if o.Stop > 0 {
		fmt.Fprintf(&b, " stop %s", o.Stop.Format(m.QuotePrecision))
	}
	if o.Filled > 0 {
		fmt.Fprintf(&b, " with %s traded", o.Filled.Format(m.BasePrecision))
	}
	if o.Prevented > 0 {
		fmt.Fprintf(&b, " with %s prevented", o.Prevented.Format(m.BasePrecision))
	}
	if o.List > 0 {
		fmt.Fprintf(&b, " of list %d", o.List)
	}

	return b.String()
}

func (s *Script) market(id bourse.MarketID) *bourse.Market {
	return &s.pair.Oracle.markets[id-1].Market
}

func (s *Script) name(id bourse.AccountID) string {
	switch id {
	case bourse.AccountSandbox:
		return "sandbox"
	case bourse.AccountTreasury:
		return "treasury"
	case bourse.AccountFees:
		return "fees"
	default:
		return s.names[id]
	}
}

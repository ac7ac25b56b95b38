package enginetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// verb runs one command of a script.
func (s *Script) verb(words []string) error {
	rest := words[1:]

	switch words[0] {
	case "asset":
		return s.asset(rest)
	case "market":
		return s.defineMarket(rest)
	case "account":
		return s.account(rest)
	case "credit":
		return s.credit(rest)
	case "place":
		return s.place(rest)
	case "amend":
		return s.amend(rest)
	case "replace":
		return s.replace(rest)
	case "oco":
		return s.oco(rest)
	case "cancel":
		return s.ofAccount(bourse.CommandCancel, rest)
	case "cancel_list":
		return s.ofAccount(bourse.CommandCancelList, rest)
	case "cancel_all":
		return s.cancelAll(rest)
	case "cancel_after", "cancel_on_close", "close", "close_up_to":
		return s.silence(words[0], rest)
	case "continue":
		return s.apply(&bourse.Command{Kind: bourse.CommandContinue})
	case "state":
		return s.state(rest)
	case "freeze", "unfreeze":
		return s.freeze(rest, words[0] == "freeze")
	case "fees":
		return s.fees(rest)
	case "schedule":
		return s.schedule(rest)
	case "level":
		return s.level(rest)
	case "tiers":
		return s.tiers(rest)
	case "tier":
		return s.tier(rest)
	case "sweep_fees":
		return s.apply(&bourse.Command{Kind: bourse.CommandCollectFees})
	case "hire", "change":
		return s.hire(words[0], rest)
	case "act":
		return s.act(rest)
	case "approve", "drop":
		return s.decide(words[0], rest)
	case "wait":
		return s.wait(rest)
	case "restart":
		return s.pair.Restart()
	case "book", "balances", "orders":
		return s.look(words)
	}

	return fmt.Errorf("unknown command %q", words[0])
}

// options are the NAME=VALUE words and flags of a line.
type options map[string]string

// split separates NAME=VALUE words and the given flags from positional words.
func split(words []string, flags ...string) ([]string, options) {
	var plain []string
	set := options{}
	for _, w := range words {
		switch name, value, ok := strings.Cut(w, "="); {
		case ok:
			set[name] = value
		case slices.Contains(flags, w):
			set[w] = w
		default:
			plain = append(plain, w)
		}
	}
	return plain, set
}

func (o options) or(name, otherwise string) string {
	if v, ok := o[name]; ok {
		return v
	}
	return otherwise
}

// want returns an error unless there are n words.
func want(words []string, n int) error {
	if len(words) != n {
		return fmt.Errorf("has %d words where %d belong", len(words), n)
	}
	return nil
}

// reader collects the first error of several parsed values.
type reader struct{ err error }

func read[T any](r *reader, v T, err error) T {
	if err != nil && r.err == nil {
		r.err = err
	}
	return v
}

func (s *Script) assetNamed(symbol string) (bourse.Asset, error) {
	for _, a := range s.pair.Oracle.assets {
		if string(a.Symbol) == symbol {
			return a, nil
		}
	}
	return bourse.Asset{}, fmt.Errorf("no asset %s", symbol)
}

func (s *Script) marketNamed(pair string) (*bourse.Market, error) {
	for _, m := range s.pair.Oracle.markets {
		x := s.pair.Oracle
		if pair == string(bourse.MakePair(x.assets[m.Base-1].Symbol, x.assets[m.Quote-1].Symbol)) {
			return &m.Market, nil
		}
	}
	return nil, fmt.Errorf("no market %s", pair)
}

func (s *Script) accountNamed(name string) (bourse.AccountID, error) {
	if id, ok := s.accounts[name]; ok {
		return id, nil
	}
	return 0, fmt.Errorf("no account %s", name)
}

func (s *Script) asset(words []string) error {
	plain, set := split(words, "disabled")
	if err := want(plain, 1); err != nil {
		return err
	}
	scale, err := strconv.ParseUint(set.or("scale", "8"), 10, 8)
	if err != nil {
		return err
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
		Symbol: bourse.Symbol(plain[0]), Name: plain[0], Scale: uint8(scale), Enabled: set["disabled"] == "",
	}})
}

func (s *Script) defineMarket(words []string) error {
	plain, set := split(words, "disabled")
	if err := want(plain, 1); err != nil {
		return err
	}
	baseSymbol, quoteSymbol, _ := strings.Cut(plain[0], "/")

	var r reader
	base, err := s.assetNamed(baseSymbol)
	read(&r, 0, err)
	quote, err := s.assetNamed(quoteSymbol)
	read(&r, 0, err)
	lots, err := strconv.ParseUint(set.or("lots", "3"), 10, 8)
	read(&r, 0, err)
	ticks, err := strconv.ParseUint(set.or("ticks", "2"), 10, 8)
	read(&r, 0, err)

	m := bourse.Market{
		Base: base.ID, Quote: quote.ID, BasePrecision: uint8(lots), QuotePrecision: uint8(ticks),
		Enabled: set["disabled"] == "", MaxPrice: bourse.MaxPrice,
	}

	m.MinOrder, err = bourse.ParseAmount(set.or("min_order", "0"), quote.Scale)
	read(&r, 0, err)
	m.InitialPrice, err = bourse.ParsePrice(set.or("initial", "100"), m.QuotePrecision)
	read(&r, 0, err)
	if v := set["max"]; v != "" {
		m.MaxPrice, err = bourse.ParsePrice(v, m.QuotePrecision)
		read(&r, 0, err)
	}
	for name, rate := range map[string]*bourse.Rate{"maker": &m.Maker, "taker": &m.Taker, "collar": &m.Collar} {
		*rate, err = bourse.ParseRate(set.or(name, "0"))
		read(&r, 0, err)
	}
	if v := set["band"]; v != "" {
		m.Band, err = bourse.ParseRatio(v)
		read(&r, 0, err)
	}

	m.SelfTrade, _ = bourse.ParseSelfTradeMode(set.or("self_trade", "none"))
	if r.err != nil {
		return r.err
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandDefineMarket, Market: &m})
}

func (s *Script) account(words []string) error {
	if len(words) == 0 {
		return want(words, 1)
	}
	if err := s.apply(&bourse.Command{Kind: bourse.CommandCreateAccount}); err != nil {
		return err
	}
	s.names = append(s.names, words[0])
	s.accounts[words[0]] = bourse.AccountID(len(s.names) - 1)
	for _, w := range words[1:] {
		symbol, amount, _ := strings.Cut(w, "=")
		if err := s.credit([]string{words[0], symbol, amount}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Script) credit(words []string) error {
	if err := want(words, 3); err != nil {
		return err
	}
	var r reader
	id, err := s.accountNamed(words[0])
	read(&r, id, err)
	asset, err := s.assetNamed(words[1])
	read(&r, 0, err)
	amount, err := bourse.ParseAmount(words[2], asset.Scale)
	if read(&r, 0, err); r.err != nil {
		return r.err
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandCredit, Account: id, AssetID: asset.ID, Amount: amount})
}

func (s *Script) place(words []string) error {
	cmd, err := s.placing(words)
	if err != nil {
		return err
	}
	return s.apply(cmd)
}

// placing reads ACCOUNT SIDE [AMOUNT] PAIR TYPE and options.
func (s *Script) placing(words []string) (*bourse.Command, error) {
	plain, set := split(words, "GTC", "FOK", "IOC", "post_only")
	amount := ""
	if len(plain) == 5 {
		amount = plain[2]
		plain = slices.Delete(plain, 2, 3)
	}
	if err := want(plain, 4); err != nil {
		return nil, err
	}

	var r reader
	id, err := s.accountNamed(plain[0])
	read(&r, 0, err)
	m, err := s.marketNamed(plain[2])
	if read(&r, 0, err); r.err != nil {
		return nil, r.err
	}

	p := bourse.NewOrder{Market: m.ID, TIF: bourse.GTC, PostOnly: set["post_only"] != ""}
	p.Side = map[string]bourse.Side{"BUY": bourse.Buy, "SELL": bourse.Sell}[plain[1]]
	p.Type, _ = bourse.ParseOrderType(plain[3])
	for _, tif := range [...]bourse.TimeInForce{bourse.GTC, bourse.FOK, bourse.IOC} {
		if set[tif.String()] != "" {
			p.TIF = tif
		}
	}
	if v := set["self_trade"]; v != "" {
		p.SelfTrade, _ = bourse.ParseSelfTradeMode(v)
	}

	s.numbers(&r, &p, m, amount, set)
	return &bourse.Command{Kind: bourse.CommandPlace, Account: id, NewOrder: p}, r.err
}

// numbers reads an order's amount, total, price, stop and client id.
func (s *Script) numbers(r *reader, p *bourse.NewOrder, m *bourse.Market, amount string, set options) {
	var err error
	if amount != "" {
		p.Lots, err = bourse.ParseLots(amount, m.BasePrecision)
		read(r, 0, err)
	}

	if v := set["total"]; v != "" {
		p.Total, err = bourse.ParseAmount(v, s.pair.Oracle.assets[m.Quote-1].Scale)
		read(r, 0, err)
	}

	if v := set["price"]; v != "" {
		p.Price, err = bourse.ParsePrice(v, m.QuotePrecision)
		read(r, 0, err)
	}
	if v := set["stop"]; v != "" {
		p.Stop, err = bourse.ParsePrice(v, m.QuotePrecision)
		read(r, 0, err)
	}

	if v := set["client_id"]; v != "" {
		p.ClientID, err = bourse.ParseClientID(v)
		read(r, 0, err)
	}
}

func (s *Script) cancelAll(words []string) error {
	cmd := bourse.Command{Kind: bourse.CommandCancelAll}
	if err := s.ownerAndMarket(words, &cmd); err != nil {
		return err
	}
	return s.apply(&cmd)
}

// ownerAndMarket reads ACCOUNT [PAIR].
func (s *Script) ownerAndMarket(words []string, cmd *bourse.Command) error {
	if len(words) == 2 {
		m, err := s.marketNamed(words[1])
		if err != nil {
			return err
		}
		cmd.MarketID = m.ID
		words = words[:1]
	}
	if err := want(words, 1); err != nil {
		return err
	}
	var err error
	cmd.Account, err = s.accountNamed(words[0])
	return err
}

// silence runs the commands of dead man's switches.
func (s *Script) silence(verb string, words []string) error {
	var r reader
	cmd := bourse.Command{Kind: bourse.CommandConnectionClosed}
	if verb == "close" || verb == "close_up_to" {
		if len(words) == 0 {
			return want(words, 1)
		}
		n, err := strconv.ParseUint(words[len(words)-1], 10, 64)
		cmd.Connection, words = bourse.ConnectionID(read(&r, n, err)), words[:len(words)-1]
	}

	switch verb {
	case "cancel_after":
		if len(words) < 2 {
			return want(words, 2)
		}
		span, err := time.ParseDuration(words[1])
		cmd.Kind, cmd.Hold = bourse.CommandCancelAfter, bourse.Time(read(&r, span, err).Microseconds())
		words = slices.Delete(slices.Clone(words), 1, 2)
	case "cancel_on_close":
		cmd.Kind = bourse.CommandCancelOnClose
	}

	if verb == "close_up_to" {
		read(&r, 0, want(words, 0))
	} else {
		read(&r, 0, s.ownerAndMarket(words, &cmd))
	}
	if r.err != nil {
		return r.err
	}
	if err := s.apply(&cmd); err != nil || cmd.Kind != bourse.CommandCancelOnClose {
		return err
	}
	if id := s.pair.Events().Outcome.ID; id != 0 {
		s.tell("connection %d", id)
	}
	return nil
}

func (s *Script) state(words []string) error {
	if err := want(words, 2); err != nil {
		return err
	}
	m, err := s.marketNamed(words[0])
	if err != nil {
		return err
	}
	state, ok := bourse.ParseMarketState(words[1])
	if !ok {
		return fmt.Errorf("no state %s", words[1])
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: m.ID, State: state})
}

func (s *Script) freeze(words []string, on bool) error {
	if err := want(words, 1); err != nil {
		return err
	}
	id, err := s.accountNamed(words[0])
	if err != nil {
		return err
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: on})
}

func (s *Script) fees(words []string) error {
	plain, set := split(words, "default")
	if err := want(plain, 1); err != nil {
		return err
	}
	var r reader
	id, err := s.accountNamed(plain[0])
	read(&r, 0, err)
	cmd := bourse.Command{Kind: bourse.CommandSetAccountFees, Account: id, On: set["default"] == ""}
	cmd.Maker, err = bourse.ParseRate(set.or("maker", "0"))
	read(&r, 0, err)
	cmd.Taker, err = bourse.ParseRate(set.or("taker", "0"))
	if read(&r, 0, err); r.err != nil {
		return r.err
	}
	return s.apply(&cmd)
}

// schedule reads ASSET VOLUME:MAKER:TAKER …
func (s *Script) schedule(words []string) error {
	if len(words) < 2 {
		return want(words, 2)
	}
	in, err := s.assetNamed(words[0])
	if err != nil {
		return err
	}

	var r reader
	def := &bourse.FeeSchedule{VolumeAsset: in.ID}
	for _, w := range words[1:] {
		parts := append(strings.Split(w, ":"), "", "")
		var l bourse.FeeLevel
		l.Volume, err = bourse.ParseAmount(parts[0], in.Scale)
		read(&r, 0, err)
		l.Maker, err = bourse.ParseRate(parts[1])
		read(&r, 0, err)
		l.Taker, err = bourse.ParseRate(parts[2])
		read(&r, 0, err)
		def.Levels = append(def.Levels, l)
	}

	if r.err != nil {
		return r.err
	}
	return s.apply(&bourse.Command{Kind: bourse.CommandDefineFees, Fees: def})
}

func (s *Script) level(words []string) error {
	if err := want(words, 2); err != nil {
		return err
	}
	id, err := s.accountNamed(words[0])
	if err != nil {
		return err
	}
	cmd := bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: id, On: words[1] != "default"}
	if cmd.On {
		level, err := strconv.ParseUint(words[1], 10, 8)
		if err != nil {
			return err
		}
		cmd.Level = uint8(level)
	}
	return s.apply(&cmd)
}

// wait advances time with a tick.
func (s *Script) wait(words []string) error {
	if err := want(words, 1); err != nil {
		return err
	}
	span, err := time.ParseDuration(words[0])
	if err != nil {
		return err
	}
	s.now += bourse.Time(span.Microseconds())
	return s.apply(&bourse.Command{Kind: bourse.CommandTick})
}

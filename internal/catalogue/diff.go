package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Change is one difference between a document and the catalogue, and the command that
// makes it.
type Change struct {
	// Text describes the change to an operator.
	Text    string
	Command bourse.Command
	// at names the entry and its line, for errors.
	at string
}

// Next returns the changes that can be made now: those of assets; if there are none,
// those of networks, then of assets on networks, then of markets, because each part
// refers to the ids of the earlier ones, then of the schedule of fees, then of tiers. It returns
// none when the catalogue matches the document. Errors are *bourse.Error.
func (d *Document) Next(c *view.Catalogue) ([]Change, error) {
	for _, part := range [...]func(*view.Catalogue) ([]Change, error){
		d.assets, d.networks, d.carriages, d.markets, d.fees, d.tiers,
	} {
		if changes, err := part(c); err != nil || len(changes) > 0 {
			return changes, err
		}
	}
	return nil, nil
}

func (d *Document) assets(c *view.Catalogue) ([]Change, error) {
	var list []Change
	for i := range d.Assets {
		e := &d.Assets[i]
		want := bourse.Asset{
			Symbol: e.Symbol, Name: e.Name, Scale: e.Scale, Enabled: e.Enabled, Experimental: e.Experimental,
		}

		name := "asset " + string(e.Symbol)
		at := d.at(place{part: "asset", at: i}, name)
		old := c.Asset(e.Symbol)
		if old != nil {
			want.ID = old.ID
			if *old == want {
				continue
			}
			if old.Scale != want.Scale {
				return nil, invalid("%s: its scale is %d and never changes", at, old.Scale)
			}
		}
		list = append(list, change(old == nil, name, at,
			bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &want}))
	}
	return checked(list)
}

func (d *Document) networks(c *view.Catalogue) ([]Change, error) {
	var list []Change
	for i := range d.Networks {
		e := &d.Networks[i]
		want := bourse.Network{
			Symbol: e.Symbol, Name: e.Name, MemoName: e.MemoName, Enabled: e.Enabled, Experimental: e.Experimental,
		}
		name := "network " + string(e.Symbol)
		old := c.Network(e.Symbol)
		if old != nil {
			want.ID = old.ID
			if *old == want {
				continue
			}
		}
		list = append(list, change(old == nil, name, d.at(place{part: "network", at: i}, name),
			bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &want}))
	}
	return checked(list)
}

func (d *Document) carriages(c *view.Catalogue) ([]Change, error) {
	var list []Change
	for i := range d.Networks {
		network := c.Network(d.Networks[i].Symbol)
		owners := contracts(c, network)
		for j := range d.Networks[i].Assets {
			e := &d.Networks[i].Assets[j]
			name := fmt.Sprintf("asset %s on network %s", e.Asset, network.Symbol)
			at := d.at(place{"carriage", j, i}, name)
			want, err := e.read(c, network)
			if err != nil {
				return nil, invalid("%s: %v", at, err)
			}
			if err := owners.take(want); err != nil {
				return nil, invalid("%s: %v", at, err)
			}

			old := carriage(c, want)
			if old != nil && *old == *want {
				continue
			}
			list = append(list, change(old == nil, name, at,
				bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: want}))
		}
	}
	return checked(list)
}

// owners are the assets of a network's contracts. Case is left out, because addresses differ in it alone.
type owners map[string]bourse.AssetID

// contracts returns the contracts that are listed on a network.
func contracts(c *view.Catalogue, network *bourse.Network) owners {
	o := owners{}
	for _, n := range c.NetworkAssets {
		if n.Network == network.ID && n.Contract != "" {
			o[strings.ToLower(n.Contract)] = n.Asset
		}
	}
	return o
}

// take adds an asset. Two assets of one contract are refused: they would share its coins, and nothing would tell
// whose a deposit is.
func (o owners) take(n *bourse.NetworkAsset) error {
	if n.Contract == "" {
		return nil
	}
	key := strings.ToLower(n.Contract)
	if other, taken := o[key]; taken && other != n.Asset {
		return fmt.Errorf("contract %s is another asset's on this network", n.Contract)
	}
	o[key] = n.Asset
	return nil
}

// carriage returns the listed terms of an asset on a network, or nil.
func carriage(c *view.Catalogue, want *bourse.NetworkAsset) *bourse.NetworkAsset {
	for _, n := range c.NetworkAssets {
		if n.Network == want.Network && n.Asset == want.Asset {
			return n
		}
	}
	return nil
}

func (e *Carriage) read(c *view.Catalogue, network *bourse.Network) (*bourse.NetworkAsset, error) {
	a := c.Asset(e.Asset)
	if a == nil {
		return nil, fmt.Errorf("unknown asset %q", e.Asset)
	}
	n := &bourse.NetworkAsset{
		Asset: a.ID, Network: network.ID, Precision: e.Precision, Confirms: e.Confirms,
		Contract: e.Contract, Enabled: e.Enabled,
	}

	for _, f := range [...]struct {
		name, text string
		to         *bourse.Amount
	}{
		{"min_deposit", e.MinDeposit, &n.MinDeposit}, {"min_withdrawal", e.MinWithdrawal, &n.MinWithdrawal},
		{"fee_min", e.FeeMin, &n.FeeMin}, {"fee_max", e.FeeMax, &n.FeeMax},
	} {
		var err error
		if *f.to, err = bourse.ParseAmount(f.text, a.Scale); err != nil {
			return nil, wrong(f.name, f.text, err)
		}
	}
	return n, nil
}

func (d *Document) markets(c *view.Catalogue) ([]Change, error) {
	var list []Change
	for i := range d.Markets {
		e := &d.Markets[i]
		pair := bourse.MakePair(e.Base, e.Quote)
		name := "market " + string(pair)
		at := d.at(place{part: "market", at: i}, name)
		want, err := e.read(c)
		if err != nil {
			return nil, invalid("%s: %v", at, err)
		}

		if other := d.joinedLike(c, pair); other != "" {
			return nil, invalid("%s: without the slash it is %s, as %s is, and bots could not tell them apart",
				at, pair.Joined(), other)
		}

		old := c.Market(pair)
		if old != nil {
			want.ID, want.Pair, want.State = old.ID, old.Pair, old.State
			want.LotUnit, want.TotalUnit = old.LotUnit, old.TotalUnit
			if *old == *want {
				continue
			}
			if old.BasePrecision != want.BasePrecision || old.QuotePrecision != want.QuotePrecision {
				return nil, invalid("%s: its precisions never change", at)
			}
		}
		list = append(list, change(old == nil, name, at,
			bourse.Command{Kind: bourse.CommandDefineMarket, Market: want}))
	}
	return checked(list)
}

// joinedLike returns another market, of the catalogue or the document, that a pair cannot be
// told from without its slash; empty if there is none.
func (d *Document) joinedLike(c *view.Catalogue, pair bourse.Pair) bourse.Pair {
	for _, m := range c.Markets[1:] {
		if m.Pair != pair && m.Pair.Joined() == pair.Joined() {
			return m.Pair
		}
	}
	for i := range d.Markets {
		other := bourse.MakePair(d.Markets[i].Base, d.Markets[i].Quote)
		if other != pair && other.Joined() == pair.Joined() {
			return other
		}
	}
	return ""
}

func (e *Market) read(c *view.Catalogue) (*bourse.Market, error) {
	base, quote := c.Asset(e.Base), c.Asset(e.Quote)
	switch {
	case base == nil:
		return nil, fmt.Errorf("unknown asset %q", e.Base)
	case quote == nil:
		return nil, fmt.Errorf("unknown asset %q", e.Quote)
	}
	m := &bourse.Market{
		Base: base.ID, Quote: quote.ID, BasePrecision: e.BasePrecision, QuotePrecision: e.QuotePrecision,
		Enabled: e.Enabled, SelfTrade: bourse.SelfTradeNone, MaxPrice: bourse.MaxPrice,
	}
	if e.SelfTrade != "" {
		var known bool
		if m.SelfTrade, known = bourse.ParseSelfTradeMode(e.SelfTrade); !known {
			return nil, fmt.Errorf("unknown stp %q", e.SelfTrade)
		}
	}
	return m, e.numbers(m, quote.Scale)
}

// numbers reads the decimals of a market.
func (e *Market) numbers(m *bourse.Market, scale uint8) (err error) {
	if m.MinOrder, err = bourse.ParseAmount(e.MinOrder, scale); err != nil {
		return wrong("min_order", e.MinOrder, err)
	}
	if m.InitialPrice, err = bourse.ParsePrice(e.InitialPrice, e.QuotePrecision); err != nil {
		return wrong("initial_price", e.InitialPrice, err)
	}
	if e.MaxPrice != "" {
		if m.MaxPrice, err = bourse.ParsePrice(e.MaxPrice, e.QuotePrecision); err != nil {
			return fmt.Errorf("max_price: %w", err)
		}
	}

	if m.Maker, err = bourse.ParseRate(e.MakerFee); err != nil {
		return wrong("maker_fee", e.MakerFee, err)
	}
	if m.Taker, err = bourse.ParseRate(e.TakerFee); err != nil {
		return wrong("taker_fee", e.TakerFee, err)
	}

	if e.Collar != "" {
		if m.Collar, err = bourse.ParseRate(e.Collar); err != nil {
			return fmt.Errorf("collar: %w", err)
		}
	}
	if e.Band != "" {
		if m.Band, err = bourse.ParseRatio(e.Band); err != nil {
			return fmt.Errorf("band: %w", err)
		}
	}
	return nil
}

func (d *Document) fees(c *view.Catalogue) ([]Change, error) {
	if d.Fees == nil {
		return nil, nil
	}
	at := d.at(place{part: "fees"}, "fees")
	want, err := d.Fees.read(c)
	if err != nil {
		return nil, invalid("%s: %v", at, err)
	}

	old := c.Fees
	if old != nil && old.VolumeAsset == want.VolumeAsset && slices.Equal(old.Levels, want.Levels) {
		return nil, nil
	}
	return checked([]Change{change(old == nil, "fees", at,
		bourse.Command{Kind: bourse.CommandDefineFees, Fees: want})})
}

func (f *Fees) read(c *view.Catalogue) (*bourse.FeeSchedule, error) {
	in := c.Asset(f.VolumeAsset)
	if in == nil {
		return nil, fmt.Errorf("unknown asset %q", f.VolumeAsset)
	}
	s := &bourse.FeeSchedule{VolumeAsset: in.ID}

	for i, e := range f.Levels {
		var l bourse.FeeLevel
		var err error
		if l.Volume, err = bourse.ParseAmount(e.Volume, in.Scale); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, wrong("volume", e.Volume, err))
		}
		if l.Maker, err = bourse.ParseRate(e.MakerFee); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, wrong("maker_fee", e.MakerFee, err))
		}
		if l.Taker, err = bourse.ParseRate(e.TakerFee); err != nil {
			return nil, fmt.Errorf("level %d: %w", i, wrong("taker_fee", e.TakerFee, err))
		}
		s.Levels = append(s.Levels, l)
	}
	return s, f.rising(s)
}

// rising returns an error unless there are levels whose volumes rise from zero.
func (f *Fees) rising(s *bourse.FeeSchedule) error {
	if n := len(s.Levels); n == 0 || n > bourse.MaxFeeLevels {
		return fmt.Errorf("levels has %d entries; 1 to %d are possible", n, bourse.MaxFeeLevels)
	}
	if !s.Levels[0].Volume.IsZero() {
		return fmt.Errorf("level 0: volume is %s; the first level is everybody's and needs 0", f.Levels[0].Volume)
	}
	for i := 1; i < len(s.Levels); i++ {
		if !s.Levels[i-1].Volume.Less(s.Levels[i].Volume) {
			return fmt.Errorf("level %d: volume is not above that of level %d", i, i-1)
		}
	}
	return nil
}

// wrong returns the error of a required setting.
func wrong(name, text string, err error) error {
	if text == "" {
		return fmt.Errorf("%s is missing", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func change(isNew bool, what, at string, cmd bourse.Command) Change {
	if isNew {
		return Change{"add " + what, cmd, at}
	}
	return Change{"change " + what, cmd, at}
}

// checked returns the changes if their commands are well formed.
func checked(list []Change) ([]Change, error) {
	for i := range list {
		if err := record.Check(&list[i].Command); err != nil {
			return nil, invalid("%s: %v", list[i].at, err)
		}
	}
	return list, nil
}

package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Document is the catalogue. All numbers are decimals, in whole assets.
type Document struct {
	Assets   []Asset   `yaml:"assets,omitempty" json:"assets,omitempty"`
	Networks []Network `yaml:"networks,omitempty" json:"networks,omitempty"`
	Markets  []Market  `yaml:"markets,omitempty" json:"markets,omitempty"`
	// Fees is nil if the document leaves the schedule of fees alone.
	Fees *Fees `yaml:"fees,omitempty" json:"fees,omitempty"`
	// Tiers is nil if the document leaves the tiers alone.
	Tiers []Tier `yaml:"tiers,omitempty" json:"tiers,omitempty"`

	// lines maps entries to their first lines; empty for a document that was not parsed.
	lines map[place]int
}

// place names an entry. A carriage is asset at of network network.
type place struct {
	part        string
	at, network int
}

// Asset is an entry of the assets.
type Asset struct {
	Symbol       bourse.Symbol `yaml:"symbol" json:"symbol"`
	Name         string        `yaml:"name" json:"name"`
	Scale        uint8         `yaml:"scale" json:"scale"`
	Enabled      bool          `yaml:"enabled" json:"enabled"`
	Experimental bool          `yaml:"experimental,omitempty" json:"experimental,omitempty"`
}

// Network is an entry of the networks, with its assets.
type Network struct {
	Symbol       bourse.Symbol `yaml:"symbol" json:"symbol"`
	Name         string        `yaml:"name" json:"name"`
	MemoName     string        `yaml:"memo_name,omitempty" json:"memo_name,omitempty"`
	Enabled      bool          `yaml:"enabled" json:"enabled"`
	Experimental bool          `yaml:"experimental,omitempty" json:"experimental,omitempty"`
	Assets       []Carriage    `yaml:"assets,omitempty" json:"assets,omitempty"`
}

// Carriage holds the terms of an asset on a network.
type Carriage struct {
	Asset         bourse.Symbol `yaml:"asset" json:"asset"`
	Precision     uint8         `yaml:"precision" json:"precision"`
	Confirms      uint32        `yaml:"confirms" json:"confirms"`
	Contract      string        `yaml:"contract,omitempty" json:"contract,omitempty"`
	MinDeposit    string        `yaml:"min_deposit" json:"min_deposit"`
	MinWithdrawal string        `yaml:"min_withdrawal" json:"min_withdrawal"`
	FeeMin        string        `yaml:"fee_min" json:"fee_min"`
	FeeMax        string        `yaml:"fee_max" json:"fee_max"`
	Enabled       bool          `yaml:"enabled" json:"enabled"`
}

// Market is an entry of the markets.
type Market struct {
	Base           bourse.Symbol `yaml:"base" json:"base"`
	Quote          bourse.Symbol `yaml:"quote" json:"quote"`
	BasePrecision  uint8         `yaml:"base_precision" json:"base_precision"`
	QuotePrecision uint8         `yaml:"quote_precision" json:"quote_precision"`
	MinOrder       string        `yaml:"min_order" json:"min_order"`
	InitialPrice   string        `yaml:"initial_price" json:"initial_price"`
	// MaxPrice may be empty, for bourse.MaxPrice.
	MaxPrice string `yaml:"max_price,omitempty" json:"max_price,omitempty"`
	MakerFee string `yaml:"maker_fee" json:"maker_fee"`
	TakerFee string `yaml:"taker_fee" json:"taker_fee"`
	// SelfTrade is none, cancel_newest, cancel_oldest, cancel_both or decrement. Empty means none.
	SelfTrade string `yaml:"stp,omitempty" json:"stp,omitempty"`
	// Collar is a share of the last price. Empty means no collar.
	Collar string `yaml:"collar,omitempty" json:"collar,omitempty"`
	// Band bounds prices to [last / band, last × band]. Empty means no band.
	Band    string `yaml:"band,omitempty" json:"band,omitempty"`
	Enabled bool   `yaml:"enabled" json:"enabled"`
}

// Fees is the schedule of fees.
type Fees struct {
	VolumeAsset bourse.Symbol `yaml:"volume_asset" json:"volume_asset"`
	Levels      []FeeLevel    `yaml:"levels" json:"levels"`
}

// FeeLevel is a level of the schedule, from level 0.
type FeeLevel struct {
	Volume   string `yaml:"volume" json:"volume"`
	MakerFee string `yaml:"maker_fee" json:"maker_fee"`
	TakerFee string `yaml:"taker_fee" json:"taker_fee"`
}

// Parse reads a document. Unknown keys and a second document are errors.
func Parse(text []byte) (*Document, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var doc Document
	if err := d.Decode(&doc); err != nil {
		return nil, invalid("catalogue: %v", err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, invalid("catalogue: more than one document")
	}
	doc.lines = linesOf(text)
	return &doc, nil
}

// linesOf returns the first lines of the entries of a document.
func linesOf(text []byte) map[place]int {
	var root struct {
		Assets, Markets []yaml.Node
		Networks        []yaml.Node
		Fees, Tiers     yaml.Node
	}
	if yaml.Unmarshal(text, &root) != nil {
		return nil // for example, an entry that is an alias
	}
	lines := map[place]int{{part: "fees"}: root.Fees.Line, {part: "tiers"}: root.Tiers.Line}
	for part, entries := range map[string][]yaml.Node{
		"asset": root.Assets, "network": root.Networks, "market": root.Markets,
	} {
		for i := range entries {
			lines[place{part: part, at: i}] = entries[i].Line
		}
	}

	for i := range root.Networks {
		var network struct{ Assets []yaml.Node }
		if root.Networks[i].Decode(&network) != nil {
			continue
		}
		for j := range network.Assets {
			lines[place{"carriage", j, i}] = network.Assets[j].Line
		}
	}

	return lines
}

// at returns the name of an entry, prefixed with its line.
func (d *Document) at(p place, name string) string {
	if line := d.lines[p]; line > 0 {
		return fmt.Sprintf("line %d: %s", line, name)
	}
	return name
}

func invalid(format string, args ...any) error {
	return bourse.Errorf(bourse.CodeInvalid, format, args...)
}

// Format writes a document.
func (d *Document) Format() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(d), e.Close()); err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	return b.Bytes(), nil
}

// Of returns the document of a catalogue.
func Of(c *view.Catalogue) *Document {
	d := new(Document)
	for _, a := range c.Assets[1:] {
		d.Assets = append(d.Assets, Asset{a.Symbol, a.Name, a.Scale, a.Enabled, a.Experimental})
	}
	for _, n := range c.Networks[1:] {
		d.Networks = append(d.Networks, networkOf(c, n))
	}
	for _, m := range c.Markets[1:] {
		d.Markets = append(d.Markets, marketOf(c, m))
	}
	if c.Fees != nil {
		d.Fees = feesOf(c)
	}
	if c.Tiers != nil {
		d.Tiers = tiersOf(c)
	}
	return d
}

func feesOf(c *view.Catalogue) *Fees {
	in := c.Assets[c.Fees.VolumeAsset]
	doc := &Fees{VolumeAsset: in.Symbol}
	for _, l := range c.Fees.Levels {
		doc.Levels = append(doc.Levels, FeeLevel{l.Volume.Format(in.Scale), l.Maker.Format(), l.Taker.Format()})
	}
	return doc
}

func networkOf(c *view.Catalogue, n *bourse.Network) Network {
	doc := Network{
		Symbol: n.Symbol, Name: n.Name, MemoName: n.MemoName, Enabled: n.Enabled, Experimental: n.Experimental,
	}
	for _, on := range c.NetworkAssets {
		if on.Network != n.ID {
			continue
		}
		a := c.Assets[on.Asset]
		doc.Assets = append(doc.Assets, Carriage{
			Asset: a.Symbol, Precision: on.Precision, Confirms: on.Confirms, Contract: on.Contract,
			MinDeposit: on.MinDeposit.Format(a.Scale), MinWithdrawal: on.MinWithdrawal.Format(a.Scale),
			FeeMin: on.FeeMin.Format(a.Scale), FeeMax: on.FeeMax.Format(a.Scale), Enabled: on.Enabled,
		})
	}
	return doc
}

func marketOf(c *view.Catalogue, m *bourse.Market) Market {
	doc := Market{
		Base: c.Assets[m.Base].Symbol, Quote: c.Assets[m.Quote].Symbol,
		BasePrecision: m.BasePrecision, QuotePrecision: m.QuotePrecision,
		MinOrder:     m.MinOrder.Format(c.Assets[m.Quote].Scale),
		InitialPrice: m.InitialPrice.Format(m.QuotePrecision),
		MakerFee:     m.Maker.Format(), TakerFee: m.Taker.Format(), Enabled: m.Enabled,
	}

	if m.MaxPrice != bourse.MaxPrice {
		doc.MaxPrice = m.MaxPrice.Format(m.QuotePrecision)
	}
	if m.SelfTrade != bourse.SelfTradeNone {
		doc.SelfTrade = m.SelfTrade.String()
	}
	if m.Collar != 0 {
		doc.Collar = m.Collar.Format()
	}
	if m.Band != 0 {
		doc.Band = m.Band.Format()
	}

	return doc
}

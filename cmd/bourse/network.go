package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/catalogue"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// networkCmd looks at networks of nodes.
type networkCmd struct {
	Check networkCheck `cmd:"" help:"Ask every node and the signer of the settings of serve; exit 1 if one of them cannot be used."`
}

type networkCheck struct {
	Config string `help:"YAML file with the settings of serve." placeholder:"FILE" required:"" type:"existingfile"`
	JSON   bool   `help:"Print one JSON object." name:"json"`
}

// errProblems reports that a network cannot be used. The problems are already printed.
var errProblems = errors.New("a network cannot be used")

// checked is the result of a check.
type checked struct {
	OK       bool             `json:"ok"`
	Signer   *signer.Status   `json:"signer,omitempty"`
	Networks []connect.Report `json:"networks"`
	// Notes and Problems are about the signer and the settings, not about one network.
	Notes    []string `json:"notes"`
	Problems []string `json:"problems"`
}

// Run checks and prints.
func (c *networkCheck) Run(p *program) error {
	s, err := readServe(c.Config)
	if err != nil {
		return err
	}
	result, err := s.checkNetworks(p)
	if err != nil {
		return err
	}
	if !c.JSON {
		result.write(p)
	} else if err := p.print(result); err != nil {
		return err
	}
	if !result.OK {
		return errProblems
	}
	return nil
}

// readServe reads the settings of serve from a configuration file.
func readServe(config string) (*serve, error) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		return nil, err
	}
	if _, err := parser.Parse([]string{"serve", "--config", config}); err != nil {
		return nil, c.file.locate(err, nil)
	}
	return &c.Serve, nil
}

// checkNetworks asks every node, the signer and, if it runs, the exchange for its catalogue.
func (s *serve) checkNetworks(p *program) (*checked, error) {
	keeper, err := s.keeper()
	if err != nil {
		return nil, err
	}
	result := &checked{Networks: []connect.Report{}, Notes: []string{}, Problems: []string{}}
	if len(s.Networks.list) == 0 {
		result.Problems = append(result.Problems, "none is in the settings; see docs/networks.md")
		return result, nil
	}

	if err := s.askSigner(p.ctx, result, keeper); err != nil {
		return nil, err
	}
	listed := result.askCatalogue(p.ctx, string(s.Data))
	for i := range s.Networks.list {
		n := &s.Networks.list[i]
		l := connect.Local{Clock: now, Native: chain.CoinID(n.Symbol)}
		var problem string
		if listed != nil {
			l.Native, l.Tokens, problem = coins(n, listed)
		}
		reports, err := n.Survey(p.ctx, l, result.Signer)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Symbol, err)
		}
		if problem != "" {
			reports[0].Problems = append(reports[0].Problems, problem)
		}
		for _, r := range reports {
			result.Networks = append(result.Networks, *r)
		}
	}
	result.OK = len(result.Problems) == 0 &&
		!slices.ContainsFunc(result.Networks, func(r connect.Report) bool { return len(r.Problems) > 0 })
	return result, nil
}

// now returns the machine's time.
func now() bourse.Time { return bourse.TimeOf(time.Now()) }

// askSigner asks the signer for its status, and compares its exchange with the one of the data directory.
func (s *serve) askSigner(ctx context.Context, to *checked, a *remote.Address) error {
	status, err := remote.Look(ctx, a, time.Now)
	if err != nil {
		to.Problems = append(to.Problems, fmt.Sprintf("the signer: %v", err))
		return nil
	}
	to.Signer = status

	id, made, err := identify(string(s.Data))
	switch {
	case err != nil:
		return err
	case !made:
		to.Notes = append(to.Notes, "there is no journal yet to compare the signer's exchange with")
	case signer.ExchangeID(id.Exchange) != status.Exchange || status.Sandbox:
		to.Problems = append(to.Problems, fmt.Sprintf("the signer signs for the exchange %x, and this is %x", status.Exchange, id.Exchange))
	default:
		to.Notes = append(to.Notes, fmt.Sprintf("the signer signs for this exchange, in epoch %d.%d", status.Incarnation, status.Term))
	}
	return nil
}

// identify returns the identity of the journal in a data directory; false if there is none.
func identify(data string) (id journal.Identity, made bool, err error) {
	d, err := disk.OpenExisting(data)
	if errors.Is(err, fs.ErrNotExist) {
		return id, false, nil
	}
	if err != nil {
		return id, false, err
	}
	id, made, err = journal.Identify(d)
	return id, made, errors.Join(err, d.Close())
}

// askCatalogue returns the catalogue of the exchange on the data directory; nil if none runs.
func (to *checked) askCatalogue(ctx context.Context, data string) *catalogue.Document {
	answer, err := admin.Call(ctx, data, "catalogue/show", struct{}{})
	if err != nil {
		to.Notes = append(to.Notes, "the exchange does not run: contracts were not looked at, and the catalogue neither")
		return nil
	}
	doc, err := catalogue.Parse(answer)
	if err != nil {
		to.Problems = append(to.Problems, fmt.Sprintf("the catalogue: %v", err))
	}
	return doc
}

// coins returns the coins that the catalogue lists on a network, and the problem with its entry if there is one.
func coins(n *connect.Settings, doc *catalogue.Document) (native chain.CoinID, tokens []chain.Coin, problem string) {
	native = chain.CoinID(n.Symbol)
	i := slices.IndexFunc(doc.Networks, func(l catalogue.Network) bool { return l.Symbol == n.Symbol })
	if i < 0 {
		return native, nil, "the catalogue does not list it: the exchange would not start with it"
	}
	listed := &doc.Networks[i]
	if n.IsTest() && !listed.Experimental {
		problem = "the catalogue lists it without `experimental: true`, and its coins are worth nothing: the exchange would not start with it"
	}
	for _, a := range listed.Assets {
		coin := chain.CoinOf(a.Asset, a.Contract)
		if a.Contract == "" {
			native = coin
			continue
		}
		tokens = append(tokens, chain.Coin{ID: coin, Decimals: a.Precision})
	}
	return native, tokens, problem
}

// write prints the result for people: problems first.
func (to *checked) write(p *program) {
	f := func(mark, about, text string) { _, _ = fmt.Fprintf(p.stdout, "%-7s %s: %s\n", mark, about, text) }
	for _, text := range to.Problems {
		f("BLOCKS", "networks", text)
	}
	for i := range to.Networks {
		r := &to.Networks[i]
		for _, text := range r.Problems {
			f("BLOCKS", string(r.Network), text)
		}
	}
	for _, text := range to.Notes {
		f("ok", "networks", text)
	}
	for i := range to.Networks {
		writeReport(&to.Networks[i], f)
	}
}

// writeReport prints a network's report.
func writeReport(r *connect.Report, f func(mark, about, text string)) {
	name := string(r.Network)
	kind := ""
	if r.Test {
		kind = ", a test chain: its coins are worth nothing"
	}
	f("-", name, r.Node+", for the chain "+r.Chain+kind)
	if r.NodeChain != "" {
		f("-", name, fmt.Sprintf("%s of the chain %s: block %d, %s, %s", r.Software, r.NodeChain, r.Height, r.Hash,
			time.Unix(r.Time, 0).UTC().Format(time.DateTime)))
	}
	for _, text := range r.Notes {
		f("ok", name, text)
	}
	for _, a := range r.Addresses {
		text := a.Of + " is " + a.Address
		if a.Memo != "" {
			text += ", memo " + a.Memo
		}
		if a.Signer != "" && a.Signer != a.Address {
			text += ", and " + a.Signer + " by the signer"
		}
		f("-", name, text)
	}
}

// networkFindings are the findings of a check, for the doctor.
func (s *serve) networkFindings(p *program) []finding {
	const about = "networks"
	result, err := s.checkNetworks(p)
	if err != nil {
		return []finding{{about, err.Error()}}
	}
	var list []finding
	for _, text := range result.Problems {
		list = append(list, finding{about, text})
	}
	for i := range result.Networks {
		r := &result.Networks[i]
		for _, text := range r.Problems {
			list = append(list, finding{"network " + string(r.Network), text})
		}
	}
	if len(list) == 0 {
		return []finding{{about: about}}
	}
	return list
}

// listNetworks lists the networks of a running exchange.
type listNetworks struct{}

// Run lists networks.
func (*listNetworks) Run(p *program, a *adminCmd) error { return p.ask(a, "network/list", struct{}{}) }

// networkCool orders a move to cold storage.
type networkCool struct {
	Network string `arg:"" help:"Network." json:"network"`
	Asset   string `arg:"" help:"Asset." json:"asset"`
	Amount  string `arg:"" help:"Amount." json:"amount"`
}

// Run orders the move.
func (c *networkCool) Run(p *program, a *adminCmd) error { return p.ask(a, "network/cool", c) }

// networkFollow has a network follow the chain of its nodes.
type networkFollow struct {
	Network string `arg:"" help:"Network." json:"network"`
	Height  uint64 `arg:"" help:"Height of the last block that both chains have. Up to it nothing is credited." json:"height"`
	Hash    string `arg:"" help:"Its hash." json:"hash"`
}

// Run names the block.
func (c *networkFollow) Run(p *program, a *adminCmd) error { return p.ask(a, "network/follow", c) }

// networkEndCool ends the order to cold storage.
type networkEndCool struct{ onNetwork }

// Run ends the order.
func (c *networkEndCool) Run(p *program, a *adminCmd) error {
	return p.ask(a, "network/end-cool", map[string]any{"network": c.Network})
}

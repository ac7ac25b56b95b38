package pages

import (
	"cmp"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Condition has the state of the parts of an exchange that are not in the view.
type Condition struct {
	Version string
	// Since is when the exchange began to serve.
	Since time.Time
	// Refusing is set while new orders are refused: the disk is nearly full, or the clock has
	// jumped.
	Refusing bool
	// Step is the 99th percentile of the times of the journal's last writes.
	Step time.Duration
	// Lag is the number of commands that the history does not have yet.
	Lag uint64
	// Networks has the connected networks.
	Networks map[bourse.NetworkID]Link
}

// Link is the connection to a network.
type Link struct {
	// Operating is false if its node does not answer or is behind.
	Operating bool
	// Head is the height of the node's last block.
	Head uint64
}

// announced is the number of announcements that the answer has, the newest.
const announced = 10

// status tells whether the exchange and its parts work.
func (p *Pages) status(c *v2.Call) error { return p.share(c, &p.state, p.writeStatus) }

func (p *Pages) writeStatus(w *wire.Writer) {
	now, condition, catalogue := p.Clock(), p.Condition(), p.View.Catalogue()
	w.Bool("up", true)
	w.Int("time", now.Unix())
	w.Int("since", condition.Since.Unix())
	w.Word("version", condition.Version)
	w.Bool("trading", !condition.Refusing)

	w.Name("journal")
	w.Object()
	w.Uint("seq", uint64(p.View.Seq()))
	w.Int("p99_us", condition.Step.Microseconds())
	w.Uint("history_lag", condition.Lag)
	w.EndObject()

	writeClosed(w, catalogue)
	p.writeNetworks(w, catalogue, condition.Networks)
	p.writeNotices(w)
}

// writeClosed writes the markets that are not open.
func writeClosed(w *wire.Writer, c *view.Catalogue) {
	w.Name("closed")
	w.Array()
	for _, m := range c.Listed() {
		if m.State != bourse.MarketOpen {
			w.Object()
			w.Word("pair", string(m.Pair))
			w.Word("state", m.State.String())
			w.EndObject()
		}
	}
	w.EndArray()
}

// writeNetworks writes the networks by symbol.
func (p *Pages) writeNetworks(w *wire.Writer, c *view.Catalogue, links map[bourse.NetworkID]Link) {
	list := slices.DeleteFunc(slices.Clone(c.Networks[1:]), func(n *bourse.Network) bool { return !n.Enabled })
	slices.SortFunc(list, func(a, b *bourse.Network) int { return cmp.Compare(a.Symbol, b.Symbol) })

	w.Name("networks")
	w.Array()
	for _, n := range list {
		link, state := links[n.ID], p.View.NetworkState(n.ID)
		w.Object()
		w.Word("symbol", string(n.Symbol))
		w.Text("name", n.Name)
		w.Bool("operating", link.Operating)
		w.Bool("withdrawals", !state.Stopped())
		w.Uint("tip", state.Tip.Height)
		w.Seconds("tip_time", state.Time)
		w.Uint("lag", max(link.Head, state.Tip.Height)-state.Tip.Height)
		w.EndObject()
	}
	w.EndArray()
}

// writeNotices writes the newest banner and announcements that are live.
func (p *Pages) writeNotices(w *wire.Writer) {
	w.Name("notices")
	w.Array()
	p.writeKind(w, notice.Banner, 1)
	p.writeKind(w, notice.Announcement, announced)
	w.EndArray()
}

// writeKind writes the newest live notices of a kind.
func (p *Pages) writeKind(w *wire.Writer, kind notice.Kind, most int) {
	live := p.Notices.Live(kind)
	for _, n := range live[:min(len(live), most)] {
		w.Object()
		w.Word("kind", kind.String())
		w.Seconds("time", n.Created)
		w.Text("title", n.Title)
		w.Text("body", n.Body)
		w.EndObject()
	}
}

package admin

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Condition has the state of the parts of an exchange that are not in the view.
type Condition struct {
	// Ready is set while the exchange serves, Refusing while new orders are refused.
	Ready, Refusing bool
	// JournalP99 is the 99th percentile of the times of the journal's last writes.
	JournalP99 time.Duration
	// Queue is the number of commands that wait for the journal.
	Queue uint64
	// HistoryLag is the number of applied commands that are not in the history yet.
	HistoryLag uint64
	// DiskFree is the room on the data directory's disk, in bytes; below DiskLeast only cancels are
	// taken.
	DiskFree, DiskLeast uint64
	// Streams is the number of open WebSocket connections.
	Streams int
	// Networks has the connected networks.
	Networks map[bourse.NetworkID]Link
}

// Link is the connection to a network.
type Link struct {
	// Operating is false if its node does not answer or is behind.
	Operating bool
	// Head is the height of the node's last block.
	Head uint64
	// AwaitsRecord is true if blocks wait for the signer's record, and the halt has to last until then.
	AwaitsRecord bool
	// Stranded are the withdrawals that only an operator ends, because the chain has another transaction in place of theirs.
	Stranded []bourse.WalletID
	// Cooling is why the worker has not signed the open order to cold storage; empty without one, and until its first
	// step after a start.
	Cooling string
	// ColdMoves are the transactions to and from cold storage that may be mined.
	ColdMoves []ColdMove
}

// networkAnswer is the exchange's state on a network.
type networkAnswer struct {
	Network   bourse.Symbol `json:"network"`
	Operating bool          `json:"operating"`
	Tip       uint64        `json:"tip"`
	// TipTime is zero before the first block.
	TipTime int64 `json:"tip_time"`
	// Lag is the number of the node's blocks that the exchange has not read yet.
	Lag    uint64 `json:"lag"`
	Paused bool   `json:"paused"`
	// Halted is the exchange's own reason to stop withdrawals; empty for none.
	Halted string `json:"halted"`
	// Cooling is the open order to cold storage; missing if there is none.
	Cooling *coolAnswer `json:"cooling,omitzero"`
	// Moves are the transactions to and from cold storage that may be mined; missing if there are none.
	Moves []ColdMove `json:"cold_moves,omitempty"`
}

// marketAnswer is the state of a market.
type marketAnswer struct {
	Pair  bourse.Pair `json:"pair"`
	State string      `json:"state"`
}

// dashboard tells what works, and how much waits for operators.
func (s *Server) dashboard(context.Context, struct{}) (any, error) {
	c := s.Condition()
	return struct {
		Ready      bool       `json:"ready"`
		Trading    bool       `json:"trading"`
		Seq        bourse.Seq `json:"seq"`
		Time       int64      `json:"time"`
		JournalP99 int64      `json:"journal_p99_us"`
		Queue      uint64     `json:"queue"`
		HistoryLag uint64     `json:"history_lag"`
		DiskFree   uint64     `json:"disk_free"`
		DiskLeast  uint64     `json:"disk_least"`
		Streams    int        `json:"streams"`
		// Withdrawals is the number of withdrawals that an operator has to approve or refuse.
		Withdrawals int `json:"withdrawals"`
		// Deposits is the number of parked deposits.
		Deposits int `json:"deposits"`
		// Acts is the number of acts that a second operator has to confirm.
		Acts     int             `json:"acts"`
		Networks []networkAnswer `json:"networks"`
		Markets  []marketAnswer  `json:"markets"`
	}{
		c.Ready, !c.Refusing, s.View.Seq(), s.View.Now().Seconds(), c.JournalP99.Microseconds(), c.Queue, c.HistoryLag,
		c.DiskFree, c.DiskLeast, c.Streams, s.undecided(), len(s.View.Parked()), len(s.View.Acts()),
		s.networks(c.Networks), s.markets(),
	}, nil
}

// undecided returns the number of withdrawals that wait for an approval.
func (s *Server) undecided() int {
	n := 0
	for _, w := range s.View.Leaving() {
		if undecided(&w) {
			n++
		}
	}
	return n
}

// networks describes the networks, by id.
func (s *Server) networks(links map[bourse.NetworkID]Link) []networkAnswer {
	list := []networkAnswer{}
	for _, n := range s.View.Catalogue().Networks[1:] {
		list = append(list, s.describeNetwork(n, links[n.ID]))
	}
	return list
}

// describeNetwork describes a network with its link.
func (s *Server) describeNetwork(n *bourse.Network, link Link) networkAnswer {
	state := s.View.NetworkState(n.ID)
	return networkAnswer{
		n.Symbol, link.Operating, state.Tip.Height, state.Time.Seconds(),
		max(link.Head, state.Tip.Height) - state.Tip.Height, state.Paused, state.Halted.String(),
		s.cooling(n.ID, &link), link.ColdMoves,
	}
}

// markets describes the markets, by id.
func (s *Server) markets() []marketAnswer {
	list := []marketAnswer{}
	for _, m := range s.View.Catalogue().Markets[1:] {
		list = append(list, marketAnswer{m.Pair, m.State.String()})
	}
	return list
}

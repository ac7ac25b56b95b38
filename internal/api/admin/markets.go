package admin

import (
	"context"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// marketsArgs select markets. All of them order their states one by one.
type marketsArgs struct {
	// Pairs are the markets; empty pauses all that are open.
	Pairs []bourse.Pair `json:"pairs,omitempty"`
	// State is that of a pause: halted, or cancel_only. Empty is halted.
	State string `json:"state,omitempty"`
}

// marketsAnswer lists the markets whose state was ordered, in their order.
type marketsAnswer struct {
	Pairs []bourse.Pair `json:"pairs"`
}

// marketsPause stops the open markets. A paused market stays as it is, so that the answer has the
// markets to resume.
func (s *Server) marketsPause(ctx context.Context, a marketsArgs) (any, error) {
	state := bourse.MarketHalted
	if a.State != "" {
		state, _ = bourse.ParseMarketState(a.State)
		if state != bourse.MarketHalted && state != bourse.MarketCancelOnly {
			return nil, bourse.Errorf(bourse.CodeInvalid, "state: halted or cancel_only")
		}
	}
	markets, err := s.chosen(a.Pairs)
	if err != nil {
		return nil, err
	}
	return s.setStates(ctx, "pause", markets, state, func(m *bourse.Market) bool { return m.State == bourse.MarketOpen })
}

// marketsResume opens markets that are paused, which two owners order. They are named, because a
// market can be paused for a reason of its own, and are as many as acts can wait.
func (s *Server) marketsResume(ctx context.Context, a marketsArgs) (any, error) {
	if len(a.Pairs) == 0 || len(a.Pairs) > bourse.MaxOpenActs || a.State != "" {
		return nil, bourse.Errorf(bourse.CodeInvalid, "pairs: 1 to %d markets to open", bourse.MaxOpenActs)
	}
	markets, err := s.chosen(a.Pairs)
	if err != nil {
		return nil, err
	}
	return s.setStates(ctx, "resume", markets, bourse.MarketOpen, func(m *bourse.Market) bool {
		return m.State == bourse.MarketHalted || m.State == bourse.MarketCancelOnly
	})
}

// chosen returns the markets of pairs, each once; all without pairs.
func (s *Server) chosen(pairs []bourse.Pair) ([]*bourse.Market, error) {
	c := s.View.Catalogue()
	if len(pairs) == 0 {
		return c.Markets[1:], nil
	}
	list := make([]*bourse.Market, len(pairs))
	for i, pair := range pairs {
		if list[i] = c.Market(pair); list[i] == nil {
			return nil, bourse.Errorf(bourse.CodeNotFound, "unknown pair %q", pair)
		}
		if slices.Contains(list[:i], list[i]) {
			return nil, bourse.Errorf(bourse.CodeInvalid, "pairs: %s is named twice", pair)
		}
	}
	return list, nil
}

// setStates orders a state for each of the markets that it is for. The first that is refused is the
// error; the orders before it stay.
func (s *Server) setStates(
	ctx context.Context, what string, markets []*bourse.Market, state bourse.MarketState, is func(*bourse.Market) bool,
) (any, error) {
	answer := marketsAnswer{[]bourse.Pair{}}
	for _, m := range markets {
		if !is(m) {
			continue
		}
		_, err := s.noted(ctx, fmt.Sprintf("markets %s %s", what, m.Pair),
			&bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: m.ID, State: state})
		if err != nil {
			return nil, fmt.Errorf("%s, after %d markets: %w", m.Pair, len(answer.Pairs), err)
		}
		answer.Pairs = append(answer.Pairs, m.Pair)
	}
	return answer, nil
}

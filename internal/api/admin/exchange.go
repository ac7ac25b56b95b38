package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/catalogue"
	"github.com/bourse-exchange/bourse/internal/history"
)

type marketStateArgs struct {
	Pair  bourse.Pair `json:"pair"`
	State string      `json:"state"`
}

func (s *Server) marketState(ctx context.Context, a marketStateArgs) (any, error) {
	m := s.View.Catalogue().Market(a.Pair)
	if m == nil {
		return nil, bourse.Errorf(bourse.CodeNotFound, "unknown pair %q", a.Pair)
	}

	state, known := bourse.ParseMarketState(a.State)
	if !known {
		return nil, bourse.Errorf(bourse.CodeInvalid, "unknown state %q", a.State)
	}

	_, err := s.noted(ctx, fmt.Sprintf("market %s %s", a.State, a.Pair),
		&bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: m.ID, State: state})
	return a, err
}

type notesArgs struct {
	Offset int `json:"offset"`
}

// notes lists the operators' notes, newest first, and all voided commands, which are not
// in the journal.
func (s *Server) notes(ctx context.Context, a notesArgs) (any, error) {
	if a.Offset < 0 {
		return nil, bourse.Errorf(bourse.CodeInvalid, "offset must not be negative")
	}

	const page = 50
	rows, err := s.History.Notes(ctx, a.Offset, page)
	if err != nil {
		return nil, err
	}

	type note struct {
		Seq      bourse.Seq `json:"seq"`
		Time     string     `json:"time"`
		Operator *uint32    `json:"uid,omitempty"`
		Text     string     `json:"text"`
	}

	list := make([]note, len(rows))
	for i := range rows {
		list[i] = note{rows[i].Seq, rows[i].Time.Std().Format(time.RFC3339Nano), nil, rows[i].Text}
		if rows[i].Operator != history.NoUser {
			list[i].Operator = &rows[i].Operator
		}
	}
	return struct {
		Notes []note `json:"notes"`
		Voids []Void `json:"voids"`
	}{list, append([]Void{}, s.Voids...)}, nil
}

func (s *Server) catalogueShow(_ context.Context, _ struct{}) (any, error) {
	return catalogue.Of(s.View.Catalogue()), nil
}

type catalogueApplyArgs struct {
	Document string `json:"document"`
	// DryRun lists the first changes without making them.
	DryRun bool `json:"dry_run,omitzero"`
}

// catalogueApply changes the catalogue to match a document. The first refused change
// stops it; earlier changes stay, and another apply continues.
func (s *Server) catalogueApply(ctx context.Context, a catalogueApplyArgs) (any, error) {
	doc, err := catalogue.Parse([]byte(a.Document))
	if err != nil {
		return nil, err
	}

	answer := struct {
		Changes []string `json:"changes"`
	}{[]string{}}

	if !a.DryRun {
		if err := s.note(ctx, "catalogue apply"); err != nil {
			return nil, err
		}
	}

	for {
		changes, err := doc.Next(s.View.Catalogue())
		if err != nil || len(changes) == 0 {
			return answer, err
		}
		for i := range changes {
			answer.Changes = append(answer.Changes, changes[i].Text)
			if a.DryRun {
				continue
			}
			if _, err := s.do(ctx, &changes[i].Command); err != nil {
				return nil, bourse.Errorf(bourse.CodeRefused, "%s: %v", changes[i].Text, err)
			}
		}
		if a.DryRun || glassOf(ctx).reason != "" { // what is not carried out yet changes nothing to go on from
			return answer, nil
		}
	}
}

func (s *Server) clockAccept(ctx context.Context, _ struct{}) (any, error) {
	s.AcceptClock()
	return struct {
		Accepted bool `json:"accepted"`
	}{true}, s.note(ctx, "clock accept")
}

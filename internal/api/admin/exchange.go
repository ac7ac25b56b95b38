package admin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/catalogue"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/record"
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
	// Preview is that of a dry run; another one by now is an error. Operators must give it.
	Preview string `json:"preview,omitzero"`
}

// catalogueAnswer lists the changes that a document causes, or caused.
type catalogueAnswer struct {
	Changes []string `json:"changes"`
	// Preview names the first changes, of a dry run.
	Preview string `json:"preview,omitempty"`
}

// cataloguePreview lists the first changes, for operators.
func (s *Server) cataloguePreview(ctx context.Context, a struct {
	Document string `json:"document"`
},
) (any, error) {
	return s.catalogueApply(ctx, catalogueApplyArgs{Document: a.Document, DryRun: true})
}

// previewOf returns the name of changes: equal for equal ones.
func previewOf(changes []catalogue.Change) string {
	h := sha256.New()
	for i := range changes {
		_, _ = h.Write(record.Append(nil, &changes[i].Command)) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// errPreview is the error for changes that differ from the preview.
var errPreview = bourse.Errorf(bourse.CodeConflict,
	"preview: the document changes something else by now; look at its preview again")

// catalogueApply changes the catalogue to match a document. The first refused change
// stops it; earlier changes stay, and another apply continues. With a preview, the changes are the
// very ones that it names, and later ones need another preview.
func (s *Server) catalogueApply(ctx context.Context, a catalogueApplyArgs) (any, error) {
	doc, err := catalogue.Parse([]byte(a.Document))
	if err != nil {
		return nil, err
	}
	changes, err := doc.Next(s.View.Catalogue())
	if err != nil {
		return nil, err
	}
	answer := catalogueAnswer{Changes: []string{}}
	if a.DryRun {
		answer.Preview = previewOf(changes)
		answer.add(changes)
		return answer, nil
	}

	seen := a.Preview != "" || orderOf(ctx).by != 0
	if seen && a.Preview != previewOf(changes) {
		return nil, errPreview
	}
	if err := s.note(ctx, "catalogue apply"); err != nil {
		return nil, err
	}
	for len(changes) > 0 {
		if err := s.change(ctx, changes); err != nil {
			return nil, err
		}
		answer.add(changes)
		// Acts that wait have not changed the catalogue: Next would return the same changes again.
		if seen || len(orderOf(ctx).acts) > 0 {
			break
		}
		if changes, err = doc.Next(s.View.Catalogue()); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// add lists changes in the answer.
func (a *catalogueAnswer) add(changes []catalogue.Change) {
	for i := range changes {
		a.Changes = append(a.Changes, changes[i].Text)
	}
}

// change sequences the commands of changes. The first refused one is the error.
func (s *Server) change(ctx context.Context, changes []catalogue.Change) error {
	for i := range changes {
		if _, err := s.do(ctx, &changes[i].Command); err != nil {
			return bourse.Errorf(bourse.CodeRefused, "%s: %v", changes[i].Text, err)
		}
	}
	return nil
}

func (s *Server) clockAccept(ctx context.Context, _ struct{}) (any, error) {
	s.AcceptClock()
	return struct {
		Accepted bool `json:"accepted"`
	}{true}, s.note(ctx, "clock accept")
}

// rulesAdopt makes later commands follow the newest rules that this program knows.
func (s *Server) rulesAdopt(ctx context.Context, _ struct{}) (any, error) {
	cmd := bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.CurrentRules}
	_, err := s.noted(ctx, "rules adopt", &cmd)
	return struct {
		Rules uint32 `json:"rules"`
	}{cmd.Rules}, err
}

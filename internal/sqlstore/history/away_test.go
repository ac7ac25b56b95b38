package history

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

// dying is a database whose server dies after a write, before it says so.
type dying struct {
	sqlstore.Database
	server *postgrestest.Server
}

var errNoAnswer = errors.New("no answer")

func (d dying) Write(ctx context.Context, do func(*sql.Tx) error) error {
	return errors.Join(errNoAnswer, d.Database.Write(ctx, do), d.server.Kill())
}

// TestUnansweredWrite writes a batch that the store only finds out about later, and
// then the batch again, as the follower does.
func TestUnansweredWrite(t *testing.T) {
	postgrestest.Need(t)
	server, err := postgrestest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Stop() }()
	s, err := Open(t.Context(), server.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	batch := func(seq bourse.Seq) *history.Batch {
		return &history.Batch{From: seq, To: seq, Time: 1, Notes: []history.Note{{Seq: seq, Text: "one"}}}
	}
	kept := s.db
	s.db = dying{kept, server}
	var known *bourse.Error
	err = s.Write(t.Context(), batch(1))
	if !errors.As(err, &known) || known.Code != bourse.CodeUnavailable || !strings.Contains(err.Error(), errNoAnswer.Error()) {
		t.Fatalf("a write without an answer: %v", err)
	}
	s.db = kept
	if err := s.Write(t.Context(), batch(1)); !errors.As(err, &known) || known.Code != bourse.CodeUnavailable {
		t.Errorf("a write without a server: %v", err)
	}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []bourse.Seq{1, 2} {
		if err := s.Write(t.Context(), batch(seq)); err != nil {
			t.Errorf("batch %d: %v", seq, err)
		}
	}
	if notes, err := s.Notes(t.Context(), 0, 9); err != nil || len(notes) != 2 {
		t.Errorf("%d notes (%v), want 2", len(notes), err)
	}
}

// TestSomebodyElseWrote has two stores write to one database: the second one is
// told, and writes nothing.
func TestSomebodyElseWrote(t *testing.T) {
	path := t.TempDir() + "/history.db"
	first, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	second, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close() }()
	batch := &history.Batch{From: 1, To: 1, Notes: []history.Note{{Seq: 1}}}
	if err := first.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	batch = &history.Batch{From: 1, To: 2, Notes: []history.Note{{Seq: 2}}}
	if err := second.Write(t.Context(), batch); !errors.Is(err, history.ErrOutOfOrder) {
		t.Errorf("a second writer: %v", err)
	}
	if notes, err := second.Notes(t.Context(), 0, 9); err != nil || len(notes) != 1 {
		t.Errorf("%d notes (%v), want 1", len(notes), err)
	}
}

package history

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore/postgres/postgrestest"
)

// TestViews reads what others read: amounts as numbers, times as times, words for
// sides, and a comment for each view.
func TestViews(t *testing.T) {
	postgrestest.Need(t)
	url := postgrestest.Database(t)
	s, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Write(t.Context(), &history.Batch{
		From: 1, To: 9, Time: 1_700_000_000_000_001,
		Trades: []history.Trade{{
			Seq: 9, Market: 2, Number: 1, Time: 1_700_000_000_000_001, TakerSide: bourse.Sell, Price: 7, Lots: 8,
			Total: bourse.MaxAmount,
		}},
		Notes: []history.Note{{Seq: 9, Time: 1, Text: "a\x00b\xff"}},
	}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", url+"&search_path="+Schema)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for query, want := range map[string]string{
		`SELECT total FROM trades_v1`:                                                       "340282366920938463463374607431768211455",
		`SELECT traded_at AT TIME ZONE 'UTC' FROM trades_v1`:                                "2023-11-14 22:13:20.000001",
		`SELECT taker_side FROM trades_v1`:                                                  "SELL",
		`SELECT value FROM candles_v1 WHERE width = interval '1 hour'`:                      "340282366920938463463374607431768211455",
		`SELECT start_at AT TIME ZONE 'UTC' FROM candles_v1 WHERE width = interval '1 day'`: "2023-11-14 00:00:00",
		`SELECT seq FROM cursor_v1`:                                                         "9",
		`SELECT text FROM notes_v1`:                                                         "a\uFFFDb\uFFFD",
		`SELECT count(*) FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE '%\_v_'
			AND (column_name LIKE '%\_hi' OR column_name LIKE '%\_at' AND data_type <> 'timestamp with time zone')`: "0",
		`SELECT string_agg(relname, ' ') FROM pg_class WHERE relkind = 'v' AND relnamespace = current_schema()::regnamespace
			AND obj_description(oid) IS NULL`: "",
	} {
		var got sql.NullString
		if err := db.QueryRowContext(t.Context(), `SELECT (`+query+`)::text`).Scan(&got); err != nil || got.String != want {
			t.Errorf("%s\nis %q (%v), want %q", query, got.String, err, want)
		}
	}
}

// TestViewsKnowTheWords compares the words of the views with the vocabulary: a word that a
// view lacks would be null there.
func TestViewsKnowTheWords(t *testing.T) {
	text, err := serverMigrations.ReadFile("migrations/postgres/00010_history.sql")
	if err != nil {
		t.Fatal(err)
	}
	for column, list := range map[string]string{
		"side": words[bourse.Side](), "taker_side": words[bourse.Side](), "type": words[bourse.OrderType](),
		"tif": words[bourse.TimeInForce](), "status": words[bourse.OrderStatus](), "role": words[bourse.Role](),
	} {
		if want := "(ARRAY[" + list + "])[" + column + "]"; !strings.Contains(string(text), want) {
			t.Errorf("no view has %s", want)
		}
	}
}

// words returns the words of an enumeration as SQL texts.
func words[E interface {
	~uint8
	fmt.Stringer
}]() string {
	var list []string
	for e := E(1); e.String() != "unknown"; e++ {
		list = append(list, "'"+e.String()+"'")
	}
	return strings.Join(list, ", ")
}

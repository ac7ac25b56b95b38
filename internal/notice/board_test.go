package notice_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

func clock() time.Time { return time.Unix(1_700_000_000, 0) }

func openStore(t *testing.T, path string) *accounts.Store {
	t.Helper()
	s, err := accounts.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openBoard(t *testing.T, store notice.Store) *notice.Board {
	t.Helper()
	b, err := notice.Open(t.Context(), store, clock)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func add(t *testing.T, b *notice.Board, kind notice.Kind, title string) notice.Notice {
	t.Helper()
	n, err := b.Add(t.Context(), kind, title, "Body.")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func wantCode(t *testing.T, err error, code bourse.Code) {
	t.Helper()
	var known *bourse.Error
	if !errors.As(err, &known) || known.Code != code {
		t.Errorf("error %v, want code %v", err, code)
	}
}

// TestNoticesOutliveARestart wants the live notices of each kind, newest first, also from
// a new board, and no id a second time.
func TestNoticesOutliveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	store := openStore(t, path)
	b := openBoard(t, store)
	one, two := add(t, b, notice.Popup, "One"), add(t, b, notice.Popup, " Two\n")
	other, last := add(t, b, notice.Banner, "Three"), add(t, b, notice.Popup, "Four")
	if two.Title != "Two" || two.Created != bourse.TimeOf(clock()) {
		t.Errorf("published was %+v", two)
	}
	ended, err := b.End(t.Context(), last.ID)
	if err != nil || ended.Ended != bourse.TimeOf(clock()) {
		t.Errorf("%+v %v", ended, err)
	}
	if _, err := b.End(t.Context(), last.ID); err == nil {
		t.Error("a notice ended twice")
	} else {
		wantCode(t, err, bourse.CodeNotFound)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	store = openStore(t, path)
	defer func() { _ = store.Close() }()
	for _, b := range []*notice.Board{b, openBoard(t, store)} {
		if got, want := b.Live(notice.Popup), []notice.Notice{two, one}; !reflect.DeepEqual(got, want) {
			t.Errorf("popups %+v, want %+v", got, want)
		}
		if got, want := b.Live(notice.Banner), []notice.Notice{other}; !reflect.DeepEqual(got, want) {
			t.Errorf("banners %+v, want %+v", got, want)
		}
	}
	b = openBoard(t, store)
	if next := add(t, b, notice.Announcement, "Five"); next.ID <= last.ID {
		t.Errorf("id %d after %d", next.ID, last.ID)
	}
	all, err := b.All(t.Context(), 0, 3)
	if err != nil || len(all) != 3 || all[1] != ended {
		t.Errorf("all are %+v, %v", all, err)
	}
	if older, err := b.All(t.Context(), all[2].ID, 3); err != nil || len(older) != 2 || older[0] != two {
		t.Errorf("before %d are %+v, %v", all[2].ID, older, err)
	}
}

// TestNoticesAreBounded publishes texts at and beyond their bounds, then as many notices
// as there may be.
func TestNoticesAreBounded(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "accounts.db"))
	defer func() { _ = store.Close() }()
	b := openBoard(t, store)
	for _, bad := range [][2]string{
		{"", "body"}, {" \n", "body"}, {"title", ""}, {"title", "\n \n"}, {"two\nlines", "body"}, {"title", "a\tb"},
		{"title", "a\x00b"}, {"\u0085", "body"}, {"title", "\xff"}, {"\xff", "body"}, {"title", "\u009b31m"},
		{strings.Repeat("t", 256), "body"}, {"title", strings.Repeat("b", 2049)},
	} {
		_, err := b.Add(t.Context(), notice.Banner, bad[0], bad[1])
		wantCode(t, err, bourse.CodeInvalid)
	}
	if _, err := b.Add(t.Context(), notice.Banner, strings.Repeat("t", 255), strings.Repeat("b", 2046)+"\nb"); err != nil {
		t.Error(err)
	}

	var first notice.Notice
	for i := 1; i < 500; i++ {
		first = add(t, b, notice.Popup, "Popup")
	}
	_, err := b.Add(t.Context(), notice.Popup, "One too many", "Body.")
	wantCode(t, err, bourse.CodeRefused)
	if _, err := b.End(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	add(t, b, notice.Popup, "There is room")
}

// TestReadersAskNoStore reads notices after the store was closed, and wants a failed change
// to change nothing.
func TestReadersAskNoStore(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "accounts.db"))
	b := openBoard(t, store)
	one := add(t, b, notice.Banner, "One")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Add(context.Background(), notice.Banner, "Two", "Body."); err == nil {
		t.Error("a notice was added to a closed store")
	}
	if _, err := b.End(context.Background(), one.ID); err == nil {
		t.Error("a notice was ended in a closed store")
	}
	if got := b.Live(notice.Banner); len(got) != 1 || got[0] != one {
		t.Errorf("live are %+v", got)
	}
}

func TestExcerpt(t *testing.T) {
	for body, want := range map[string]string{"one": "one", "one\ntwo\n\nthree": "one\ntwo", "a\n\nb\n\nc": "a"} {
		if got := (&notice.Notice{Body: body}).Excerpt(); got != want {
			t.Errorf("%q of %q, want %q", got, body, want)
		}
	}
}

func TestKindsHaveWords(t *testing.T) {
	for k := notice.Banner; k <= notice.Announcement; k++ {
		if got, ok := notice.ParseKind(k.String()); !ok || got != k {
			t.Errorf("%v is read as %v", k, got)
		}
	}
	for _, word := range []string{"", "Banner", "unknown", "toast"} {
		if k, ok := notice.ParseKind(word); ok {
			t.Errorf("%q is %v", word, k)
		}
	}
}

// lossy is a store that loses the answers to changes, and to the readings after them.
type lossy struct {
	notice.Store
	changes, readings int
}

var errLost = errors.New("the connection is lost")

func (l *lossy) AddNotice(ctx context.Context, n *notice.Notice) error {
	if err := l.Store.AddNotice(ctx, n); err != nil || l.changes == 0 {
		return err
	}
	l.changes--
	return errLost
}

func (l *lossy) EndNotice(ctx context.Context, id notice.ID, at bourse.Time) error {
	if err := l.Store.EndNotice(ctx, id, at); err != nil || l.changes == 0 {
		return err
	}
	l.changes--
	return errLost
}

func (l *lossy) LiveNotices(ctx context.Context) ([]notice.Notice, error) {
	if l.readings > 0 {
		l.readings--
		return nil, errLost
	}
	return l.Store.LiveNotices(ctx)
}

// TestLostAnswersOfAStore adds and ends notices whose store makes the change and fails to say
// so: what the board shows is what the store has, at once or after the next change.
func TestLostAnswersOfAStore(t *testing.T) {
	store := openStore(t, filepath.Join(t.TempDir(), "accounts.db"))
	defer func() { _ = store.Close() }()
	l := &lossy{Store: store}
	b := openBoard(t, l)

	l.changes = 1
	if _, err := b.Add(t.Context(), notice.Banner, "One", "Body."); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	live := b.Live(notice.Banner)
	if len(live) != 1 {
		t.Fatalf("live are %+v", live)
	}
	l.changes = 1
	if _, err := b.End(t.Context(), live[0].ID); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if live := b.Live(notice.Banner); len(live) != 0 {
		t.Errorf("an ended notice is shown: %+v", live)
	}

	l.changes, l.readings = 1, 1
	if _, err := b.Add(t.Context(), notice.Banner, "Two", "Body."); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	two, err := b.All(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if ended, err := b.End(t.Context(), two[0].ID); err != nil || ended.Title != "Two" {
		t.Errorf("%+v %v", ended, err)
	}
}

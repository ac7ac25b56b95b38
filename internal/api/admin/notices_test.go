package admin_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// TestNotices publishes, lists and ends notices. What changes something is noted, and what is malformed is not.
func TestNotices(t *testing.T) {
	o := newOffice(t)
	store, err := accounts.Open(t.Context(), filepath.Join(t.TempDir(), "accounts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if o.Notices, err = notice.Open(t.Context(), store, func() time.Time { return time.Unix(1_700_000_000, 0) }); err != nil {
		t.Fatal(err)
	}
	before := o.engine.Seq()

	const one = `{"id":1,"kind":"banner","title":"Maintenance","body":"Tonight.","created":1700000000`
	o.answers("notice/add", `{"kind":"toast","title":"a","body":"b"}`, `{"error":"unknown kind \"toast\""}`)
	o.answers("notice/add", `{"kind":"banner","title":"a"}`, `{"error":"body: must be 1 to 2048 bytes of plain text"}`)
	o.answers("notice/add", `{"kind":"banner","title":"Maintenance","body":"Tonight."}`, one+`}`)
	o.answers("notice/list", `{}`, `{"notices":[`+one+`}]}`)
	o.answers("notice/end", `{"id":2}`, `{"error":"there is no live notice 2"}`)
	o.answers("notice/end", `{"id":1}`, one+`,"ended":1700000000}`)
	o.answers("notice/list", `{"before":2}`, `{"notices":[`+one+`,"ended":1700000000}]}`)
	o.answers("notice/list", `{"before":1}`, `{"notices":[]}`)
	if noted := o.engine.Seq() - before; noted != 3 {
		t.Errorf("%d notes", noted)
	}
	o.wantNotes("notice end 1", "notice end 2", `notice add banner "Maintenance"`)
}

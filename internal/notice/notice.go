package notice

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse"
)

// ID is the id of a notice.
type ID uint64

// Kind is the place where clients show a notice.
type Kind uint8

// The kinds. Of the banners the newest is shown; every popup is shown to a person once;
// announcements are a list.
const (
	Banner Kind = iota + 1
	Popup
	Announcement
)

// kindWords are the kinds' names.
var kindWords = [...]string{Banner: "banner", Popup: "popup", Announcement: "announcement"}

// ParseKind returns the kind of a name; false if there is none.
func ParseKind(word string) (Kind, bool) {
	for k := Banner; int(k) < len(kindWords); k++ {
		if kindWords[k] == word {
			return k, true
		}
	}
	return 0, false
}

// String returns the kind's name.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindWords) {
		return "unknown"
	}
	return kindWords[k]
}

// Notice is a text for everybody.
type Notice struct {
	ID   ID
	Kind Kind
	// Title is one line of 1 to maxTitle bytes. Body is 1 to maxBody bytes of plain text;
	// an empty line begins a paragraph. Neither begins or ends with space.
	Title, Body string
	Created     bourse.Time
	// Ended is zero while the notice is live.
	Ended bourse.Time
}

// The bounds of texts, in bytes. A page of 50 announcements has at most 120 KB.
const (
	maxTitle = 255
	maxBody  = 2048
)

// check validates the fields that an operator gives.
func (n *Notice) check() error {
	switch {
	case !fits(n.Title, maxTitle) || strings.ContainsFunc(n.Title, control):
		return bourse.Errorf(bourse.CodeInvalid, "title: must be 1 to %d bytes in one line", maxTitle)
	case !fits(n.Body, maxBody) || strings.ContainsFunc(n.Body, func(r rune) bool { return r != '\n' && control(r) }):
		return bourse.Errorf(bourse.CodeInvalid, "body: must be 1 to %d bytes of plain text", maxBody)
	}
	return nil
}

// fits reports whether a text is 1 to most bytes of UTF-8.
func fits(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text)
}

func control(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

// Excerpt returns the first paragraph of the body.
func (n *Notice) Excerpt() string {
	first, _, _ := strings.Cut(n.Body, "\n\n")
	return first
}

// Store keeps notices. A write is durable when its method returns. Safe for concurrent
// use.
type Store interface {
	// AddNotice writes a notice and allots its ID.
	AddNotice(ctx context.Context, n *Notice) error
	// EndNotice writes the end of a notice.
	EndNotice(ctx context.Context, id ID, at bourse.Time) error
	// LiveNotices returns the live notices, newest first.
	LiveNotices(ctx context.Context) ([]Notice, error)
	// Notices returns live and ended notices, newest first: at most limit with ids below
	// before, or the newest if before is zero.
	Notices(ctx context.Context, before ID, limit int) ([]Notice, error)
}

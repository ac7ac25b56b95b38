package account

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"math/big"
	"net/netip"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// The bounds of mailed codes.
const (
	codeDigits = 6
	// maxWrong is the number of wrong tries that end a code.
	maxWrong = 5
	// mostCodes bounds the pending codes of a purpose: some 10 MiB.
	mostCodes = 1 << 15
	// mostOfSubject bounds the pending codes of a purpose and a subject.
	mostOfSubject = 8
)

// codeTables keeps one table per purpose, in memory alone: codes live for minutes, and no
// copy of a disk can contain them.
type codeTables [purposes]codeTable

// PutCode adds a code.
func (t *codeTables) PutCode(p Purpose, c *Code, now bourse.Time) bool { return t[p].put(c, now) }

// CodesOf returns the codes of a subject.
func (t *codeTables) CodesOf(p Purpose, subject string, now bourse.Time) []Code {
	return t[p].of(subject, now)
}

// TryCode judges codes of a subject.
func (t *codeTables) TryCode(p Purpose, subject string, pick, good func(*Code) bool, now bourse.Time) (Code, Verdict) {
	return t[p].try(subject, pick, good, now)
}

// DropCodes removes codes of a subject.
func (t *codeTables) DropCodes(p Purpose, subject string, pick func(*Code) bool) {
	t[p].drop(subject, pick)
}

// codeTable keeps codes by subject.
type codeTable struct {
	mu   sync.Mutex
	out  map[string][]*Code
	held int
	last uint64
}

func (t *codeTable) put(c *Code, now bourse.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held >= mostCodes {
		t.makeRoom(now)
	}
	t.keep(c.Subject, func(c *Code) bool { return now < c.Expires })
	if len(t.out[c.Subject]) >= mostOfSubject {
		return false
	}

	t.last++
	c.ID = t.last
	kept := *c
	t.out[c.Subject] = append(t.out[c.Subject], &kept)
	t.held++
	return true
}

func (t *codeTable) of(subject string, now bourse.Time) []Code {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Code
	for _, c := range t.out[subject] {
		if now < c.Expires {
			list = append(list, *c)
		}
	}
	return list
}

func (t *codeTable) try(subject string, pick, good func(*Code) bool, now bourse.Time) (Code, Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var judged []*Code
	for _, c := range t.out[subject] {
		if now < c.Expires && !c.Ended() && pick(c) {
			judged = append(judged, c)
		}
	}
	if len(judged) == 0 {
		return Code{}, Absent
	}

	if at := slices.IndexFunc(judged, good); at >= 0 {
		found := judged[at]
		t.keep(subject, func(c *Code) bool { return c != found })
		return *found, Right
	}
	for _, c := range judged {
		c.Wrong++
	}
	return Code{}, Wrong
}

func (t *codeTable) drop(subject string, pick func(*Code) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(subject, func(c *Code) bool { return pick != nil && !pick(c) })
}

// keep removes the subject's codes that fail stays. The caller holds mu.
func (t *codeTable) keep(subject string, stays func(*Code) bool) {
	list := t.out[subject]
	left := slices.DeleteFunc(list, func(c *Code) bool { return !stays(c) })
	t.held -= len(list) - len(left)
	if len(left) == 0 {
		delete(t.out, subject)
		return
	}
	t.out[subject] = left
}

// makeRoom frees an eighth of a full table. Expired codes go first, then the oldest codes
// of the largest sources of the largest networks: a holder of few codes loses none. The
// caller holds mu.
func (t *codeTable) makeRoom(now bourse.Time) {
	byNetwork := map[netip.Prefix][]*Code{}
	for subject := range t.out {
		t.keep(subject, func(c *Code) bool { return now < c.Expires })
		for _, c := range t.out[subject] {
			n := network(c.Source)
			byNetwork[n] = append(byNetwork[n], c)
		}
	}

	stay := map[uint64]struct{}{}
	const room = mostCodes / 8 * 7
	var all []*Code
	share := level(byNetwork, room)
	for _, codes := range byNetwork {
		bySource := map[netip.Addr][]*Code{}
		for _, c := range codes {
			bySource[c.Source] = append(bySource[c.Source], c)
		}
		each := level(bySource, share)
		var left []*Code
		for _, own := range bySource {
			left = append(left, newest(own, each)...)
		}
		all = append(all, newest(left, share)...)
	}
	for _, c := range newest(all, room) {
		stay[c.ID] = struct{}{}
	}
	for subject := range t.out {
		t.keep(subject, func(c *Code) bool { _, stays := stay[c.ID]; return stays })
	}
}

// newest returns the newest codes of a list, most at most.
func newest(list []*Code, most int) []*Code {
	if len(list) <= most {
		return list
	}
	slices.SortFunc(list, func(a, b *Code) int { return cmp.Compare(b.ID, a.ID) })
	return list[:most]
}

// level returns the largest share, at least one, such that the groups, each cut to it,
// fit into room.
func level[K comparable](groups map[K][]*Code, room int) int {
	sizes := make([]int, 0, len(groups))
	for _, g := range groups {
		sizes = append(sizes, len(g))
	}
	slices.Sort(sizes)

	for i, size := range sizes {
		if left := len(sizes) - i; size*left > room {
			return max(room/left, 1)
		}
		room -= size
	}
	return mostCodes
}

// is returns a judge that compares a code's text in constant time.
func is(text string) func(*Code) bool {
	return func(c *Code) bool {
		return c.Text != "" && subtle.ConstantTimeCompare([]byte(c.Text), []byte(text)) == 1
	}
}

// newCode draws a code.
func newCode(random io.Reader) (string, error) {
	n, err := rand.Int(random, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("drawing a code: %w", err)
	}
	return fmt.Sprintf("%0*d", codeDigits, n), nil
}

// CheckCode checks the form of a code in a field. The error is an *bourse.Error with
// CodeInvalid.
func CheckCode(field, text string) error {
	good := len(text) == codeDigits
	for _, c := range []byte(text) {
		good = good && c >= '0' && c <= '9'
	}
	if !good {
		return bourse.Errorf(bourse.CodeInvalid, "%s: must be %d digits", field, codeDigits)
	}
	return nil
}

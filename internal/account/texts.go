package account

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Texts remembers the signed texts that were taken.
type Texts interface {
	// UseText notes a text of an account until a time. The error is ErrRepeated for one
	// that is noted, and bourse.ErrBusy for an account that has mostTexts.
	UseText(of bourse.AccountID, text Digest, until, now bourse.Time) error
}

// mostTexts bounds the texts of an account: some 4 MiB. An account that signs with the
// usual window of 5 seconds reaches it at 13,000 requests a second.
const mostTexts = 1 << 16

// textTable is the Texts of a single process. Texts that end in one second leave together.
type textTable struct {
	mu sync.Mutex
	// ends holds the texts by the second after which none of them is good.
	ends map[bourse.Time]map[bourse.AccountID]map[shortText]struct{}
	// count is the number of texts by account.
	count map[bourse.AccountID]int
	// swept is the second of the last sweep.
	swept bourse.Time
}

// shortText is half of a text's hash: two texts of one account share it by chance alone,
// once in 2^64.
type shortText [16]byte

func newTextTable() textTable {
	return textTable{
		ends: map[bourse.Time]map[bourse.AccountID]map[shortText]struct{}{}, count: map[bourse.AccountID]int{},
	}
}

// UseText notes a text; see Texts.
func (t *textTable) UseText(of bourse.AccountID, text Digest, until, now bourse.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now / bourse.Second)

	// Equal texts have one timestamp and one window, so they end in the same second.
	end := until / bourse.Second
	byAccount := t.ends[end]
	texts := byAccount[of]
	short := shortText(text[:len(shortText{})])
	_, used := texts[short]
	switch {
	case used:
		return ErrRepeated
	case end < t.swept: // another goroutine read the clock later, and this text may be forgotten
		return ErrClock
	case t.count[of] >= mostTexts:
		return bourse.ErrBusy
	}

	if byAccount == nil {
		byAccount = map[bourse.AccountID]map[shortText]struct{}{}
		t.ends[end] = byAccount
	}
	if texts == nil {
		texts = map[shortText]struct{}{}
		byAccount[of] = texts
	}
	texts[short] = struct{}{}
	t.count[of]++
	return nil
}

// sweep forgets the texts that ended before a second. The caller holds mu.
func (t *textTable) sweep(second bourse.Time) {
	if second <= t.swept {
		return
	}
	t.swept = second

	for end, byAccount := range t.ends {
		if end >= second {
			continue
		}
		for of, texts := range byAccount {
			if t.count[of] -= len(texts); t.count[of] == 0 {
				delete(t.count, of)
			}
		}
		delete(t.ends, end)
	}
}

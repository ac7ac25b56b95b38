package chain

import (
	"strconv"
	"strings"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// ParseMemo returns the canonical form of any memo. The error is an *bourse.Error with CodeInvalid.
func ParseMemo(s string) (string, error) {
	if len(s) > bourse.MaxMemo {
		return "", bourse.Errorf(bourse.CodeInvalid, "memo is longer than %d bytes", bourse.MaxMemo)
	}
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return "", bourse.Errorf(bourse.CodeInvalid, "memo has a character that none has")
		}
	}
	return strings.TrimSpace(s), nil
}

// Memos tells the owners of one shared address apart. Safe for concurrent use.
type Memos struct {
	mu   sync.RWMutex
	last uint32
}

// memoTreasury is the memo of the exchange's own money at its shared address.
const memoTreasury = "treasury"

// Of returns the memo of an account; that of the exchange's own indices is one.
func (m *Memos) Of(index uint32) string {
	if index == IndexHot || index == IndexChange {
		return memoTreasury
	}
	return accountMemo(index)
}

// Watch makes the accounts up to this id known.
func (m *Memos) Watch(last uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = max(m.last, last)
}

// Owner returns the owner of what arrives at the shared address with a memo.
func (m *Memos) Owner(memo string) Owner {
	if memo == memoTreasury {
		return Owner{Kind: OwnerTreasury, Index: IndexHot, At: IndexHot}
	}
	index, ok := accountOfMemo(memo)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if !ok || index > m.last {
		return Owner{Kind: OwnerNobody, At: IndexHot}
	}
	return Owner{Kind: OwnerCustomer, Index: index, At: IndexHot}
}

// accountMemo returns an account's number with two check digits (ISO 7064, MOD 97-10), so
// that a mistyped digit names no account instead of another one.
func accountMemo(index uint32) string {
	n := uint64(index) * 100
	return strconv.FormatUint(n+98-n%97, 10)
}

// accountOfMemo parses the results of accountMemo, and only those.
func accountOfMemo(memo string) (index uint32, ok bool) {
	n, err := strconv.ParseUint(memo, 10, 64)
	if err != nil || n/100 == 0 || n/100 >= uint64(bourse.AccountSandbox) {
		return 0, false
	}
	index = uint32(n / 100)
	return index, accountMemo(index) == memo
}

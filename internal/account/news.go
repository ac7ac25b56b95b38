package account

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// News is a set of the events that a holder can be told of.
type News uint8

// The kinds of news.
const (
	NewsFills News = 1 << iota
	NewsDeposits
	NewsWithdrawals

	allNews = NewsFills | NewsDeposits | NewsWithdrawals
)

// NewsWords are the news' names, by bit.
var NewsWords = [...]string{"FILLS", "DEPOSITS", "WITHDRAWALS"}

// ParseNews reads names. The error is an *bourse.Error with CodeInvalid.
func ParseNews(words []string) (n News, err error) {
	for _, word := range words {
		bit := slices.Index(NewsWords[:], word)
		if bit < 0 {
			return 0, bourse.Errorf(bourse.CodeInvalid, "%q is none of %s", word, strings.Join(NewsWords[:], ", "))
		}
		n |= 1 << bit
	}
	return n, nil
}

// Words returns the names of a set.
func (n News) Words() []string {
	var words []string
	for i, word := range NewsWords {
		if n&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// Telling is which news an account wants in its pages and by mail.
type Telling struct{ Page, Mail News }

// usualTelling is the default of an account: all news on the page, none by letter.
var usualTelling = Telling{Page: allNews}

// tellings are the accounts' wishes that are not usual. Safe for concurrent use.
type tellings struct {
	mu   sync.RWMutex
	list map[bourse.AccountID]Telling
	// mailed is the number of accounts that want letters.
	mailed int
}

// set notes the wishes of an account.
func (t *tellings) set(id bourse.AccountID, wishes Telling) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = map[bourse.AccountID]Telling{}
	}
	if t.list[id].Mail != 0 {
		t.mailed--
	}
	if wishes.Mail != 0 {
		t.mailed++
	}
	t.list[id] = wishes
}

// Telling returns which news an account wants. It reads memory alone.
func (s *Service) Telling(id bourse.AccountID) Telling {
	s.tellings.mu.RLock()
	defer s.tellings.mu.RUnlock()
	if wishes, ok := s.tellings.list[id]; ok {
		return wishes
	}
	return usualTelling
}

// MailsNews reports whether any account wants letters of news.
func (s *Service) MailsNews() bool {
	s.tellings.mu.RLock()
	defer s.tellings.mu.RUnlock()
	return s.tellings.mailed > 0
}

// SetTelling sets which news an account wants.
func (s *Service) SetTelling(ctx context.Context, id bourse.AccountID, wishes Telling) error {
	defer s.naming.Lock(id)()
	if err := s.Store.SetTelling(ctx, id, wishes); err != nil {
		return err
	}
	s.tellings.set(id, wishes)
	return nil
}

// readTellings reads what accounts want.
func (s *Service) readTellings(ctx context.Context) error {
	return s.Store.Tellings(ctx, func(id bourse.AccountID, wishes Telling) error {
		s.tellings.set(id, wishes)
		return nil
	})
}

// MailNews mails news to the holder of an account. Its letter is carried behind all others. An
// account without a person gets none.
func (s *Service) MailNews(ctx context.Context, id bourse.AccountID, text string) error {
	row, err := s.person(ctx, id)
	if errors.Is(err, ErrNone) || errors.Is(err, ErrForged) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.send(ctx, &Mail{To: row.Email, News: true}, letterNews, text)
}

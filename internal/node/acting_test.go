package node

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
)

// TestLettersOfALeaderThatWasReplaced carries no letter once a node of a higher term has the accounts, not even
// one that was queued before. While the accounts are away a node of a cluster carries none, because it cannot know;
// an exchange on one node does.
func TestLettersOfALeaderThatWasReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), AccountsDB)
	open := func(term uint64) *Node {
		keep, err := accounts.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		n := &Node{Options: Options{Member: &cluster.Node{}, Term: term}, keep: keep, failed: make(chan error, 1)}
		t.Cleanup(func() { _ = n.keep.Close() })
		return n
	}
	box := mail.NewBox(func() bourse.Time { return bourse.TimeOf(time.Now()) })
	send := func(n *Node, to string) error {
		return fencedMailer{box, n.mayAct}.Send(t.Context(), &account.Mail{To: to})
	}

	first, second := open(3), open(4)
	if err := first.keep.Enter(t.Context(), accounts.Tenure{Incarnation: 1, Term: first.Term}, first.fail); err != nil {
		t.Fatal(err)
	}
	if err := send(first, "a@example.com"); err != nil {
		t.Errorf("a leader's letter: %v", err)
	}
	if err := second.keep.Enter(t.Context(), accounts.Tenure{Incarnation: 1, Term: second.Term}, second.fail); err != nil {
		t.Fatal(err)
	}
	if err := send(first, "b@example.com"); !errors.Is(err, accounts.ErrDeposed) {
		t.Errorf("a letter of the node that was replaced: %v", err)
	}
	if _, carried := box.Last("b@example.com"); carried {
		t.Error("it was carried")
	}
	select {
	case err := <-first.failed:
		if !errors.Is(err, accounts.ErrDeposed) {
			t.Errorf("the node ends with: %v", err)
		}
	default:
		t.Error("the node goes on")
	}
	if err := send(second, "c@example.com"); err != nil {
		t.Errorf("a letter of the node that leads: %v", err)
	}

	if err := second.keep.Close(); err != nil {
		t.Fatal(err)
	}
	if err := send(second, "d@example.com"); err == nil {
		t.Error("a node of a cluster carries a letter without the accounts")
	}
	second.Member = nil
	if err := send(second, "d@example.com"); err != nil {
		t.Errorf("an exchange on one node carries none without the accounts: %v", err)
	}
}

package custody

import (
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

func named(t *testing.T, name string) *bourse.Withdraw {
	t.Helper()
	id, err := bourse.ParseClientID(name)
	if err != nil {
		t.Fatal(err)
	}
	return &bourse.Withdraw{Network: 1, Asset: 1, Amount: bourse.Units(1), Address: "there", ClientID: id}
}

// refuse takes a name for a request that is refused.
func refuse(q *requests[bourse.ClientID, bourse.Withdraw], account bourse.AccountID, asked *bourse.Withdraw, now bourse.Time) {
	over(q, account, asked, bourse.Outcome{Reason: bourse.InsufficientFunds}, now)
}

// over takes a name for a request with this outcome that is over.
func over(q *requests[bourse.ClientID, bourse.Withdraw], account bourse.AccountID, asked *bourse.Withdraw, o bourse.Outcome, now bourse.Time) {
	q.add(account, asked.ClientID, *asked, o)
	q.end(account, asked.ClientID, now)
}

// known wants a name of an account to be taken, or free.
func known(t *testing.T, q *requests[bourse.ClientID, bourse.Withdraw], account bourse.AccountID, name string, now bourse.Time, want bool) {
	t.Helper()
	if _, same, found := q.find(account, named(t, name).ClientID, *named(t, name), now); found != want || same != want {
		t.Errorf("%s of account %d is known: %t, %t", name, account, found, same)
	}
}

func TestNamesAreFreeAfterADay(t *testing.T) {
	q := newRequests[bourse.ClientID, bourse.Withdraw]()
	q.add(1, named(t, "open").ClientID, *named(t, "open"), bourse.Outcome{ID: 1})
	refuse(&q, 1, named(t, "first"), 10)
	refuse(&q, 1, named(t, "second"), 20)
	refuse(&q, 2, named(t, "first"), 30)
	late := bourse.Day + 21
	known(t, &q, 1, "second", late, false) // takes what ended before it along
	known(t, &q, 1, "first", 11, false)
	known(t, &q, 2, "first", late, true)
	known(t, &q, 1, "open", late, true)
	refuse(&q, 1, named(t, "first"), late)
	if n := len(q.live()); n != 2 {
		t.Errorf("%d ended names are kept", n)
	}
	q.expire(2*bourse.Day+100, 1)
	known(t, &q, 1, "first", late+1, true) // the one step went to account 2
	q.expire(2*bourse.Day+100, 3)
	if n := q.ended.Len() + len(q.byAccount); n != 0 || len(q.byName) != 1 {
		t.Errorf("%d and %d are left", n, len(q.byName))
	}
}

func TestNamesOfAnAccountAreBounded(t *testing.T) {
	q := newRequests[bourse.ClientID, bourse.Withdraw]()
	for i := range maxEnded + 5 {
		over(&q, 1, named(t, fmt.Sprint("n", i)), bourse.Outcome{ID: uint64(i + 1)}, 10)
		refuse(&q, 1, named(t, fmt.Sprint("r", i)), 10)
	}
	known(t, &q, 1, "n4", 10, false)
	known(t, &q, 1, "n5", 10, true)
	known(t, &q, 1, fmt.Sprint("r", maxEnded+4-maxRefused), 10, false)
	known(t, &q, 1, fmt.Sprint("r", maxEnded+5-maxRefused), 10, true)
	if n := q.ended.Len(); n != maxEnded+maxRefused { // nor does what is forgotten stay until its day is over
		t.Errorf("%d are kept", n)
	}
	c := New()
	c.named = q
	write := func(c *Custody) (b []byte) {
		w := codec.NewWriter(func(p []byte) { b = append(b, p...) })
		c.Write(w)
		w.Flush()
		return b
	}
	first := write(c)
	r := codec.NewReader(first)
	again := Read(r, Around{
		Networks: 2, Assets: 2, Accounts: 1, Now: 10,
		Terms: func(bourse.NetworkID, bourse.AssetID) bool { return true },
	})
	if second := write(again); !r.Done() || string(first) != string(second) {
		t.Error("restored otherwise")
	}
}

package chaintest

import (
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

func testShape(d *desk) {
	shape := d.shape()
	if len(shape.Coins) == 0 {
		d.Fatal("a network without coins")
	}

	for _, c := range shape.Coins {
		if got, ok := shape.Coin(c.ID); c.ID == "" || !ok || got != c {
			d.Errorf("coin %v is not found again", c)
		}
		fees, err := d.Network.Fees(d.Context(), c.ID)
		d.must(err)
		if free := shape.Native == ""; free != fees.Cost.IsZero() {
			d.Errorf("%s costs %s", c.ID, fees.Cost.Format(0))
		}
	}

	if _, ok := shape.Coin(shape.Native); !ok && shape.Native != "" {
		d.Errorf("the native coin %s is none of its coins", shape.Native)
	}

	if _, err := d.Network.Fees(d.Context(), "no such coin"); err == nil {
		d.Error("there are fees of a coin that is not known")
	}
}

// testDestinations checks that each account has its own destination, which Owner
// attributes to it once it is watched, and not before.
func testDestinations(d *desk) {
	seen := map[chain.Destination]bool{}
	for index := range uint32(accounts + 1) {
		to := d.Network.Destination(index)
		if seen[to] || to != d.Network.Destination(index) {
			d.Errorf("destination %d is another's, or another each time", index)
		}
		seen[to] = true

		if canonical, err := d.Network.ParseAddress(to.Address); err != nil || canonical != to.Address {
			d.Errorf("destination %d is %q, %v", index, canonical, err)
		}

		owner, ours := d.Network.Owner(to.Address, to.Memo)
		want := chain.OwnerCustomer
		if index == chain.IndexHot {
			want = chain.OwnerTreasury
		}
		if !ours || owner.Kind != want || owner.Index != index ||
			d.Network.Destination(owner.At).Address != to.Address {
			d.Errorf("destination %d belongs to %v", index, owner)
		}

		if (to.Memo != "") != (d.shape().MemoName != "") {
			d.Errorf("destination %d has the memo %q", index, to.Memo)
		}
	}

	change := d.Network.Destination(chain.IndexChange)
	if owner, ours := d.Network.Owner(change.Address, change.Memo); !ours || owner.Kind != chain.OwnerTreasury {
		d.Errorf("change belongs to %v", owner)
	}

	d.notWatched(accounts + 1)
	d.Network.Watch(accounts + 1)
	d.Network.Watch(1) // must not lower the bound
	to := d.Network.Destination(accounts + 1)
	if owner, _ := d.Network.Owner(to.Address, to.Memo); owner.Kind != chain.OwnerCustomer || owner.Index != accounts+1 {
		d.Errorf("the account that is watched now is %v", owner)
	}
}

func (d *desk) notWatched(index uint32) {
	d.Helper()
	to := d.Network.Destination(index)
	owner, ours := d.Network.Owner(to.Address, to.Memo)
	if ours && owner.Kind != chain.OwnerNobody {
		d.Errorf("an account that is not watched is %v", owner)
	}
}

// testForeignAddresses checks that addresses of other networks are refused and have no
// owner.
func testForeignAddresses(d *desk) {
	foreign := slices.Concat(d.Foreign, []string{"", " ", "0x", "1", "hello", strings.Repeat("q", 10_000), "\x00", "é"})
	outside, err := d.Outside.NewAddress()
	d.must(err)
	foreign = append(foreign, " "+outside, outside+" ", outside+"q", outside[:len(outside)-1], outside[1:])

	for _, address := range foreign {
		canonical, err := d.Network.ParseAddress(address)

		d.invalid(address, err)
		if canonical != "" {
			d.Errorf("%q is %q", address, canonical)
		}
		if _, ours := d.Network.Owner(address, ""); ours {
			d.Errorf("%q is ours", address)
		}
	}
	if _, err := d.Network.ParseAddress(outside); err != nil {
		d.Errorf("an address outside: %v", err)
	}
	if _, ours := d.Network.Owner(outside, ""); ours {
		d.Error("an address outside is ours")
	}
}

// testTypos checks that an address with one changed character is refused.
func testTypos(d *desk) {
	address := d.Network.Destination(1).Address
	for i := range address {
		for _, c := range []byte("0aAfFqz9") {
			typo := address[:i] + string(c) + address[i+1:]
			if typo == address {
				continue
			}
			if canonical, err := d.Network.ParseAddress(typo); err == nil {
				d.Errorf("%s is taken for %s", typo, canonical)
			}
		}
	}
}

func testMemos(d *desk) {
	if d.shape().MemoName == "" {
		for _, memo := range []string{"", "1", "hello"} {
			_, err := d.Network.ParseMemo(memo)
			d.invalid(memo, err)
		}
		d.noURI()
		return
	}
	memo := d.Network.Destination(3).Memo

	for _, good := range []string{memo, "hello", "12345678901234567890", strings.Repeat("m", bourse.MaxMemo)} {
		if canonical, err := d.Network.ParseMemo(good); err != nil || canonical != good {
			d.Errorf("memo %q is %q, %v", good, canonical, err)
		}
	}

	for _, bad := range []string{strings.Repeat("1", bourse.MaxMemo+1), strings.Repeat("1", 10_000), "\x00", "a\nb"} {
		_, err := d.Network.ParseMemo(bad)
		d.invalid(bad, err)
	}

	// A mistyped digit must not name another account.
	address := d.Network.Destination(3).Address
	for i := range memo {
		for _, c := range []byte("0123456789") {
			typo := memo[:i] + string(c) + memo[i+1:]
			if owner, _ := d.Network.Owner(address, typo); typo != memo && owner.Kind != chain.OwnerNobody {
				d.Errorf("memo %s, for %s, belongs to %v", typo, memo, owner)
			}
		}
	}
}

// noURI checks that a payment URI has the address in it.
func (d *desk) noURI() {
	d.Helper()
	for _, c := range d.some() {
		to := d.Network.Destination(1)
		uri, ok := d.Network.PaymentURI(c.ID, to)
		if ok != (uri != "") || ok && !strings.Contains(uri, to.Address) {
			d.Errorf("the URI of %s is %q", c.ID, uri)
		}
	}
}

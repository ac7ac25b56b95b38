package conformance

import "fmt"

// past returns the exam without its proxy.
func (x *exam) past() *exam {
	return &exam{T: x.T, exchange: x.exchange, url: x.exchange.url, patience: x.patience, clauses: x.clauses}
}

// giveMany makes n transfers past any proxy, and returns their ids, newest first.
func (c *customer) giveMany(to string, n int) []string {
	c.x.Helper()
	var ids []string
	past := c.x.past()
	for range n {
		made := past.v2("POST", "/wallet/v2/io/transactions", c.key, gift(to, "0.01"))
		if made.status != 200 {
			c.x.broken("transfer: %s", made.body)
		}
		ids = append([]string{made.value.get("xid").text}, ids...)
	}
	return ids
}

// offsetsMove reads a list by offset while rows are added before it: rows repeat, and
// none is missed.
func offsetsMove(x *exam) {
	x.covers("WAL-REST-22")
	a, b := x.twoCustomers()
	want := a.giveMany(b.email, 7)
	seen := map[string]int{}
	for offset, more := 0, true; more && offset < 40; {
		page := a.v2("GET", fmt.Sprintf("/io/transactions?limit=3&offset=%d", offset), nil).value
		rows := page.get("transactions").column("xid")
		for _, xid := range rows {
			seen[xid]++
		}
		more, offset = page.get("more").kind == 't', offset+len(rows)
		if len(rows) == 0 || more && len(rows) != 3 {
			x.Fatalf("a page of %d rows, and more is %t", len(rows), more)
		}
		if offset == 3 {
			a.giveMany(b.email, 2)
		}
	}
	for i, xid := range want {
		times := 1
		if i == 1 || i == 2 { // the second page starts two rows earlier
			times = 2
		}
		x.equal("times that "+xid+" was seen", fmt.Sprint(seen[xid]), fmt.Sprint(times))
	}
	x.equal("rows", fmt.Sprint(len(seen)), fmt.Sprint(len(want)))
}

// cursorsStay reads a list by cursor while rows are added before it: each earlier row
// appears once, and no other.
func cursorsStay(x *exam) {
	x.covers("WAL-REST-23")
	a, b := x.twoCustomers()
	want := a.giveMany(b.email, 7)
	var got []string
	for path := "/ledger?limit=3"; path != "" && len(got) < 20; {
		page := a.v2("GET", path, nil).value
		for _, e := range page.get("entries").items {
			got = append(got, e.get("reference").get("xid").String())
		}
		cursor := page.get("cursor")
		if path = ""; cursor.kind == '0' {
			path = "/ledger?limit=3&cursor=" + cursor.text
		}
		a.giveMany(b.email, 2)
	}
	x.same("entries", got, append(want, "null")...) // the last entry is the credit
}

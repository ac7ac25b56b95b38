package conformance

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

var infoChecks = []check{
	scheduleOfFees, scheduleByQuery, withdrawalFees, pagesOfWithdrawalFees, bannerShown, popupsShown, announcementsListed,
	betweenPersons, documentation,
}

func TestInfo(t *testing.T) { examine(t, infoChecks) }

// scheduled returns the answer of /spot_fees for a schedule.
func scheduled(asset string, levels []feeLevel) string {
	rows := make([]string, len(levels))
	for i, l := range levels {
		rows[i] = fmt.Sprintf(
			`"%d":{"volume":%q,"volume_asset":%q,"hold":"0","hold_asset":%q,"maker_fee":%q,"taker_fee":%q}`,
			i, l.Volume, asset, asset, percent(l.Maker), percent(l.Taker))
	}
	return `{"success":true,"fees":{` + strings.Join(rows, ",") + `}}`
}

func scheduleOfFees(x *exam) {
	x.covers("INFO-FEE-1", "INFO-FEE-2")
	want := scheduled(x.schedule())
	x.answers(x.send(http.MethodPost, "/info/spot_fees", "{}", nil), want)
}

func scheduleByQuery(x *exam) {
	x.covers("INFO-FEE-3")
	x.undescribed = true // there is no body to describe
	want := scheduled(x.schedule())
	x.answers(x.send(http.MethodGet, "/info/spot_fees", "", nil), want)
}

// info sends a request below /info.
func (x *exam) info(path string, body fields) *answer {
	x.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		x.broken("%v", err)
	}
	return x.send(http.MethodPost, "/info"+path, string(b), nil)
}

func withdrawalFees(x *exam) {
	x.covers("INFO-WDF-1")
	v2 := x.past().v2("GET", "/wallet/v2/io/fees?limit=500", "", nil).value.get("fees")
	var rows []string
	for _, a := range v2.items {
		title := func(v *value) string {
			return fmt.Sprintf(`"symbol":%s,"name":%s,"icon_url":%s`, v.get("symbol"), v.get("name"), v.get("iconUrl"))
		}
		var networks []string
		for _, n := range a.get("networks").items {
			out := n.get("withdrawal")
			networks = append(networks, fmt.Sprintf(`{%s,"network_description":%s,"fee":"#dec","deposit":{"min_amount":%s},`+
				`"withdrawal":{"min_amount":%s,"fee_min":%s,"fee_max":%s}}`, title(n), n.get("name"),
				n.get("deposit").get("minAmount"), out.get("minAmount"), out.get("feeMin"), out.get("feeMax")))
		}
		rows = append(rows, fmt.Sprintf(`{%s,"asset":%s,"networks":[%s]}`, title(a), a.get("symbol"), strings.Join(networks, ",")))
	}

	got := x.info("/withdrawal_fees", fields{})
	x.answers(got, `{"success":true,"fees":[`+strings.Join(rows[:min(len(rows), 50)], ",")+`]}`)
	customer := x.account()
	for _, a := range got.value.get("fees").items[:min(5, len(rows))] {
		for _, n := range a.get("networks").items {
			route := fields{"asset": a.get("symbol").text, "network": n.get("symbol").text}
			terms := customer.behind("/withdraw/info", route)
			x.equal("fee", n.get("fee").text, middle(terms.get("fee_min").text, terms.get("fee_max").text, terms.get("prec").text))
		}
	}
}

// middle returns the middle of a range, rounded down to a number of decimals.
func middle(low, high, decimals string) string {
	n, _ := new(big.Int).SetString(decimals, 10)
	steps := new(big.Rat).SetInt(n.Exp(big.NewInt(10), n, nil))
	sum := new(big.Rat).Add(decimal(low), decimal(high))
	count := sum.Mul(sum, steps).Quo(sum, big.NewRat(2, 1))
	whole := new(big.Rat).SetInt(new(big.Int).Quo(count.Num(), count.Denom()))
	return shortest(whole.Quo(whole, steps))
}

func pagesOfWithdrawalFees(x *exam) {
	x.covers("INFO-WDF-2")
	all := x.past().v2("GET", "/wallet/v2/io/fees?limit=500", "", nil).value.get("fees").column("symbol")
	for _, offset := range []int{0, 1, len(all) - 1} {
		want := all[offset:min(offset+50, len(all))]
		x.same("symbols", x.info("/withdrawal_fees", fields{"offset": offset}).value.get("fees").column("symbol"), want...)
	}
	x.answers(x.info("/withdrawal_fees", fields{"offset": 1000000}), `{"success":true,"fees":[]}`)
	x.failsNaming(x.info("/withdrawal_fees", fields{"offset": "1"}), "offset")
}

// notice publishes a notice until the end of the check, and returns its id.
func (x *exam) notice(kind, title, body string) string {
	x.Helper()
	id := text(x.operate("notice", "add", kind, title, body)["id"])
	x.undo("notice", "end", id) // it may have ended
	return id
}

func bannerShown(x *exam) {
	x.covers("INFO-NOT-1")
	before := x.past().info("/banner", fields{}).value.String()
	shown := func(id, title string) string {
		return `{"success":true,"active":true,"bannerid":` + id + `,"time":"#time","title":"` + title + `","body":"Tonight."}`
	}
	first := x.notice("banner", "One", "Tonight.")
	x.answers(x.info("/banner", fields{}), shown(first, "One"))
	second := x.notice("banner", "Two", "Tonight.")
	x.answers(x.info("/banner", fields{}), shown(second, "Two"))
	x.operate("notice", "end", second)
	x.answers(x.info("/banner", fields{}), shown(first, "One"))
	x.operate("notice", "end", first)
	x.equal("banner", x.info("/banner", fields{}).value.String(), before)
}

func popupsShown(x *exam) {
	x.covers("INFO-NOT-2")
	start := x.notice("popup", "Zero", "Seen.")
	one, two := x.notice("popup", "One", "Read."), x.notice("popup", "Two", "Read.")
	row := func(id, title string) string {
		return `{"popupid":` + id + `,"time":"#time","title":"` + title + `","body":"Read."}`
	}
	x.answers(x.info("/v2/popup", fields{"cursor": start}), `{"success":true,"popups":[`+row(one, "One")+`,`+row(two, "Two")+`]}`)
	x.answers(x.send(http.MethodGet, "/info/v2/popup?cursor="+one, "", nil), `{"success":true,"popups":[`+row(two, "Two")+`]}`)
	x.operate("notice", "end", one)
	x.answers(x.info("/v2/popup", fields{"cursor": number(start)}), `{"success":true,"popups":[`+row(two, "Two")+`]}`)
	x.answers(x.info("/v2/popup", fields{"cursor": two}), `{"success":true,"popups":[]}`)
	x.covers("INFO-NOT-4")
	for _, bad := range []any{-1, "x", "", 1.5, true, []int{1}, number("99999999999999999999")} {
		x.failsNaming(x.info("/v2/popup", fields{"cursor": bad}), "cursor")
	}
}

func announcementsListed(x *exam) {
	x.covers("INFO-NOT-3")
	one := x.notice("announcement", "One", "First.\n\nSecond <b>part</b>.")
	two, three := x.notice("announcement", "Two", "All."), x.notice("announcement", "Three", "All.")
	row := func(id, title, excerpt, body string) string {
		return `{"annoid":` + id + `,"time":"#time","title":"` + title + `","excerpt":"` + excerpt + `","body":"` + body + `"}`
	}
	page := func(cursor string, rows ...string) string {
		return `{"success":true,"announcements":[` + strings.Join(rows, ",") + `],"cursor":` + cursor + `}`
	}
	x.answers(x.info("/v2/announcements", fields{"limit": 2}),
		page(two, row(three, "Three", "All.", "All."), row(two, "Two", "All.", "All.")))
	x.notice("announcement", "Four", "Meanwhile.")
	next := x.info("/v2/announcements", fields{"limit": 1, "cursor": number(two)})
	x.match(first(next.value.get("announcements").items), row(one, "One", "First.", `First.\n\nSecond <b>part</b>.`))
	x.answers(x.info("/v2/announcements", fields{"cursor": 1}), `{"success":true,"announcements":[]}`)
	x.covers("INFO-NOT-4")
	for _, bad := range []any{0, 51, "1", 1.5, true} {
		x.failsNaming(x.info("/v2/announcements", fields{"limit": bad}), "limit")
	}
}

func betweenPersons(x *exam) {
	x.covers("INFO-PTP-1")
	for _, name := range []string{"fiats", "assets"} {
		empty := `{"success":true,"` + name + `":[]}`
		x.answers(x.send(http.MethodPost, "/p2p/"+name, `{}`, nil), empty)
		x.answers(x.send(http.MethodPost, "/p2p/"+name, `{"symbols":["BTC"],"offset":50}`, nil), empty)
		x.failsNaming(x.send(http.MethodPost, "/p2p/"+name, `{"symbols":"BTC"}`, nil), "symbols")
		x.failsNaming(x.send(http.MethodPost, "/p2p/"+name, `{"offset":-1}`, nil), "offset")
	}
}

// markdownLink is a link of Markdown to a path.
var markdownLink = regexp.MustCompile(`\]\((/[^)]*)\)`)

func documentation(x *exam) {
	x.undescribed = true // nothing of it is JSON
	page := func(path, kind, begins string) *answer {
		x.Helper()
		a := x.send(http.MethodGet, path, "", nil)
		if a.status != http.StatusOK {
			x.Errorf("%s: status %d", path, a.status)
		}
		x.equal("Content-Type of "+path, a.header.Get("Content-Type"), kind)
		if !strings.HasPrefix(string(a.body), begins) {
			x.Errorf("%s begins with %.40q", path, a.body)
		}
		return a
	}
	x.covers("INFO-DOC-1")
	page("/docs", "text/html; charset=utf-8", "<!doctype html>")
	x.covers("INFO-DOC-2")
	a := page("/llms.txt", "text/plain; charset=utf-8", "# ")
	links := markdownLink.FindAllSubmatch(a.body, -1)
	if len(links) == 0 {
		x.Errorf("no links in %s", a.body)
	}
	for _, link := range links {
		if a := x.send(http.MethodGet, string(link[1]), "", nil); a.status != http.StatusOK || len(a.body) == 0 {
			x.Errorf("%s: status %d, %d bytes", link[1], a.status, len(a.body))
		}
	}
}

package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

var infoChecks = []check{scheduleOfFees, scheduleByQuery}

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

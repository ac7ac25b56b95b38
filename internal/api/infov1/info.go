package infov1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/notice"
)

// pageSize is the number of rows in a page.
const pageSize = 50

// Info implements the interface.
type Info struct {
	teller.Teller
	Notices *notice.Board
}

// Endpoints returns the endpoints of the interface.
func (i *Info) Endpoints() []api.Endpoint {
	return []api.Endpoint{
		{Path: "/spot_fees", Compress: true, Answer: i.spotFees},
		{Path: "/withdrawal_fees", Fields: api.Fields{"offset"}, Compress: true, Answer: i.withdrawalFees},
		{Path: "/banner", Compress: true, Answer: i.banner},
		{Path: "/v2/popup", Fields: api.Fields{"cursor"}, Compress: true, Answer: i.popups},
		{Path: "/v2/announcements", Fields: api.Fields{"cursor", "limit"}, Compress: true, Answer: i.announcements},
	}
}

package infov1

import (
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Info implements the interface.
type Info struct {
	View *view.View
}

// Endpoints returns the endpoints of the interface.
func (i *Info) Endpoints() []api.Endpoint {
	return []api.Endpoint{
		{Path: "/spot_fees", Compress: true, Answer: i.spotFees},
	}
}

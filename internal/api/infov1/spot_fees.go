package infov1

import (
	"strconv"

	"github.com/bourse-exchange/bourse/internal/api"
)

// spotFees writes the schedule of fees by level, in percent. No level needs a holding, so
// that hold is always 0 of the volume asset.
func (i *Info) spotFees(c *api.Call) error {
	catalogue := i.View.Catalogue()
	c.Out.Name("fees")
	c.Out.Object()
	if s := catalogue.Fees; s != nil {
		in := catalogue.Assets[s.VolumeAsset]
		for level := range s.Levels {
			l := &s.Levels[level]
			c.Out.Name(strconv.Itoa(level))
			c.Out.Object()
			c.Out.Amount("volume", l.Volume, in.Scale)
			c.Out.Word("volume_asset", string(in.Symbol))
			c.Out.Word("hold", "0")
			c.Out.Word("hold_asset", string(in.Symbol))
			c.Out.Word("maker_fee", l.Maker.Percent())
			c.Out.Word("taker_fee", l.Taker.Percent())
			c.Out.EndObject()
		}
	}
	c.Out.EndObject()
	return nil
}

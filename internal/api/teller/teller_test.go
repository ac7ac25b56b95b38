package teller_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/view"
)

// TestMaxPrecision covers assets on two networks, one of them disabled, and on none.
func TestMaxPrecision(t *testing.T) {
	c := &view.Catalogue{NetworkAssets: []*bourse.NetworkAsset{
		{Network: 1, Asset: 1, Precision: 6, Enabled: true},
		{Network: 1, Asset: 2, Precision: 18, Enabled: true},
		{Network: 2, Asset: 1, Precision: 8},
		{Network: 1, Asset: 3, Precision: 0, Enabled: true},
	}}
	for id, want := range map[bourse.AssetID]uint8{1: 8, 2: 18, 3: 0, 4: 12} {
		if got := teller.MaxPrecision(c, &bourse.Asset{ID: id, Scale: 12}); got != want {
			t.Errorf("asset %d: %d decimals, want %d", id, got, want)
		}
	}
}

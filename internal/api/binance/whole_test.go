package binance

import (
	"fmt"
	"testing"
)

// TestWholeAggregates wants an answer that ends for its length to leave out the aggregate that
// may lack trades, unless there is no other.
func TestWholeAggregates(t *testing.T) {
	for _, c := range []struct {
		read, limit int
		more        bool
		want        int
	}{
		{0, 5, false, 0}, {1, 5, false, 1}, {1, 5, true, 1}, {2, 5, true, 1}, {6, 5, true, 5}, {6, 5, false, 5}, {3, 5, false, 3},
	} {
		if got := len(whole(make([]aggregate, c.read), c.limit, c.more)); got != c.want {
			t.Errorf("%s: %d", fmt.Sprint(c), got)
		}
	}
}

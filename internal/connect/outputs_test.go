package connect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// TestOutputs reads how many outputs a network of Bitcoin's family keeps, and how many withdrawals share a transaction
// there. Others have neither.
func TestOutputs(t *testing.T) {
	read := func(before, setting string) (outputs, joined int, err error) {
		text := strings.Replace(block(t), before, setting+"\n  "+before, 1)
		list, err := connect.ParseProduction([]byte(text))
		if err != nil {
			return 0, 0, err
		}
		c, err := list[0].Connect(t.Context(), connect.Local{Clock: func() bourse.Time { return 0 }, Native: "BTC"})
		if err != nil {
			return 0, 0, err
		}
		return c.Outputs, c.Joined, c.Close()
	}
	for setting, want := range map[string][2]int{
		"":              {wallet.DefaultOutputs, bourse.MaxJoined},
		"outputs: 1000": {1000, bourse.MaxJoined},
		"joined: 1":     {wallet.DefaultOutputs, 1},
	} {
		if outputs, joined, err := read("params: mainnet", setting); err != nil || [2]int{outputs, joined} != want {
			t.Errorf("%q: %d, %d, %v", setting, outputs, joined, err)
		}
	}
	many := fmt.Sprintf("outputs: %d", wallet.MaxOutputs+1)
	for _, c := range [...][3]string{
		{"params: mainnet", many, "and 1 to 2000 are taken"},
		{"params: mainnet", "outputs: 0", "and 1 to 2000 are taken"},
		{"params: mainnet", "outputs: -1", "and 1 to 2000 are taken"},
		{"params: 1115", "outputs: 0", "outputs is a setting of the adapter bitcoin"},
		{"params: 1115", "outputs: 10", "outputs is a setting of the adapter bitcoin"},
		{"params: mainnet", "joined: 101", "and 1 to 100 are taken"},
		{"params: mainnet", "joined: 0", "and 1 to 100 are taken"},
		{"params: 1115", "joined: 10", "joined is a setting of the adapter bitcoin"},
	} {
		if _, _, err := read(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: got %v, want %s", c[1], err, c[2])
		}
	}
}

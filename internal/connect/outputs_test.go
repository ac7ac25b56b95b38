package connect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// TestOutputs reads how many outputs a network of Bitcoin's family keeps. Others have none.
func TestOutputs(t *testing.T) {
	read := func(before, setting string) (int, error) {
		text := strings.Replace(block(t), before, setting+"\n  "+before, 1)
		list, err := connect.ParseProduction([]byte(text))
		if err != nil {
			return 0, err
		}
		c, err := list[0].Connect(t.Context(), connect.Local{Clock: func() bourse.Time { return 0 }, Native: "BTC"})
		if err != nil {
			return 0, err
		}
		return c.Outputs, c.Close()
	}
	for setting, want := range map[string]int{"": wallet.DefaultOutputs, "outputs: 1000": 1000} {
		if got, err := read("params: mainnet", setting); err != nil || got != want {
			t.Errorf("%q: %d, %v", setting, got, err)
		}
	}
	many := fmt.Sprintf("outputs: %d", wallet.MaxOutputs+1)
	for _, c := range [...][3]string{
		{"params: mainnet", many, "and 1 to 2000 are taken"},
		{"params: mainnet", "outputs: 0", "and 1 to 2000 are taken"},
		{"params: mainnet", "outputs: -1", "and 1 to 2000 are taken"},
		{"params: 1115", "outputs: 0", "outputs is a setting of the adapter bitcoin"},
		{"params: 1115", "outputs: 10", "outputs is a setting of the adapter bitcoin"},
	} {
		if _, err := read(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: got %v, want %s", c[1], err, c[2])
		}
	}
}

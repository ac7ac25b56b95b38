package connect_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/connect"
)

// TestStrayContract connects a network whose catalogue has a contract without the capitals of its checksum. The
// catalogue can never change it, so it must not keep the exchange from its start.
func TestStrayContract(t *testing.T) {
	const good, stray = "0xdAC17F958D2ee523a2206206994597C13D831ec7", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	list, err := connect.ParseProduction([]byte(block(t)))
	if err != nil {
		t.Fatal(err)
	}
	eth := &list[1]
	l := connect.Local{
		Clock: func() bourse.Time { return 0 }, Native: "ETH",
		Tokens: []chain.Coin{{ID: stray, Decimals: 6}, {ID: good, Decimals: 6}},
	}
	c, err := eth.Connect(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, moved := c.Network.Shape().Coin(stray); moved {
		t.Error("the stray moves")
	}
	if _, moved := c.Network.Shape().Coin(good); !moved {
		t.Error("the other one does not move")
	}
}

package main

import (
	"flag"
	"net/http"
	"sync"
	"testing"
)

var walletRaces = flag.Int("wallet.races", 100, "how many withdrawals TestCancelRacesTheSend cancels")

// TestParallelWithdrawals asks a thousand times at once for 60 % of a balance:
// one is granted.
func TestParallelWithdrawals(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	h := s.holder("someone", map[string]string{"ATOM": "100"})
	r := route{network: "ATOM", asset: "ATOM"}
	address := s.address("ATOM")
	var mu sync.Mutex
	refusals := map[string]int{}
	var granted []uint64
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range 50 {
				a, err := ask[walletAnswer](client, s.url, "/wallet/withdraw", map[string]any{
					"api_key": h.key, "asset": "ATOM", "network": "ATOM", "address": address, "amount": "60", "fee": h.fees["ATOM"],
				})
				mu.Lock()
				switch {
				case err != nil:
					refusals[err.Error()]++
				case a.Success:
					granted = append(granted, a.Xid)
				default:
					refusals[a.Error]++
				}
				mu.Unlock()
			}
		})
	}
	asking.Wait()
	if len(granted) != 1 || len(refusals) != 1 {
		t.Fatalf("granted %v, refused %v", granted, refusals)
	}
	h.rest()
	if got := s.arrived(r, address); got.Cmp(number("60")) != 0 {
		t.Errorf("paid %s", got.FloatString(6))
	}
	s.audit()
}

// TestCancelRacesTheSend cancels withdrawals from the newest on while they are
// being sent from the oldest on: where they meet, one of both wins.
func TestCancelRacesTheSend(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	h := s.holder("someone", map[string]string{"ATOM": "10000"})
	r := route{network: "ATOM", asset: "ATOM", withdrawal: "7"}
	var addresses []string
	for range *walletRaces {
		addresses = append(addresses, s.address("ATOM"))
	}
	mustControl[any](s, "withdrawals/pause", map[string]any{"network": "ATOM", "paused": true})
	var list []*payout
	for _, address := range addresses {
		w, err := h.withdraw(http.DefaultClient, r, address)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, w)
	}
	mustControl[any](s, "withdrawals/pause", map[string]any{"network": "ATOM", "paused": false})
	canceled := 0
	for i := len(list) - 1; i >= 0; i-- {
		if err := h.cancel(http.DefaultClient, list[i]); err != nil {
			t.Fatal(err)
		}
		if list[i].canceled {
			canceled++
		}
	}
	h.settle()
	s.audit()
	t.Logf("%d of %d were canceled", canceled, len(list))
}

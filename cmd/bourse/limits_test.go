package main

import (
	"bufio"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// freeAddress returns an address on loopback that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := listenAt("127.0.0.1", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// freeAddresses returns the first of n free addresses with consecutive ports.
func freeAddresses(t *testing.T, n uint64) string {
	t.Helper()
	for range portTries {
		first, free := freeAddress(t), true
		for k := range n {
			at, err := portOf(first, k+1)
			must(t, err)
			l, err := net.Listen("tcp", at)
			if free = free && err == nil; err == nil {
				defer func() { _ = l.Close() }()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("no free ports")
	return ""
}

// metric returns the value of a metric without labels.
func metric(t *testing.T, address, name string) float64 {
	t.Helper()
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// TestSignerLimits lets three withdrawals of seven ATOM meet a limit of fourteen an hour:
// two are paid, the third waits with its money held, a lesser one passes. A restart counts
// from the signer's record, and a higher limit lets the third go. Nothing is lost, and an
// asset that no network moves is refused as a limit.
func TestSignerLimits(t *testing.T) {
	watched := freeAddress(t)
	limited := func(limit string) []string {
		return []string{"--bots=false", "--block-time=0", "--metrics-listen", watched, "--signer-limits", limit}
	}
	s := start(t, t.TempDir(), limited("ATOM=14:100")...)
	h := s.holder("someone", map[string]string{"ATOM": "100"})
	atom := route{network: "ATOM", asset: "ATOM", withdrawal: "7"}
	ask := func(r route) (string, *payout) {
		t.Helper()
		address := s.address("ATOM")
		w, err := h.withdraw(http.DefaultClient, r, address)
		if err != nil {
			t.Fatal(err)
		}
		return address, w
	}
	paid := func(r route, address string) {
		t.Helper()
		within(t, patience, "paid", func() bool {
			s.mine("ATOM")
			return s.arrived(r, address).Cmp(number(r.withdrawal)) == 0
		})
	}
	waits := func(xid uint64) {
		t.Helper()
		within(t, patience, "waiting", func() bool { return metric(t, watched, "bourse_withdrawals_limited") == 1 })
		if row := h.transactions()[xid]; row.Status == "DONE" || row.Status == "CANCELED" || row.Txid != "" {
			t.Errorf("beyond the limit it is %+v", row)
		}
	}

	first, _ := ask(atom)
	second, _ := ask(atom)
	paid(atom, first)
	paid(atom, second)
	third, w := ask(atom)
	waits(w.xid)

	again := func(limit string) {
		t.Helper()
		if code, _ := s.stop(); code != 0 {
			t.Fatalf("exit %d", code)
		}
		s.args = limited(limit)
		s.start()
	}
	again("ATOM=20:100")
	waits(w.xid)
	lesser := atom
	lesser.withdrawal = "6"
	fourth, _ := ask(lesser)
	paid(lesser, fourth)
	waits(w.xid)

	again("ATOM=6:27:27")
	waits(w.xid)
	again("ATOM=7:27:27")
	paid(atom, third)
	within(t, patience, "gone on", func() bool { return metric(t, watched, "bourse_withdrawals_limited") == 0 })
	h.settle()
	s.audit()

	if code, _ := s.stop(); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for limit, says := range map[string]string{
		"ATMO=1:2": "no connected network moves ATMO", "ATOM=1:2,ATOM=3:4": "ATOM has two limits", "ATOM=1": "ASSET=PAYMENT:HOUR:DAY",
		"ATOM=-1:2": "ATOM=-1:2",
	} {
		_, stderr, code := run(t, "dev", "--data", s.data, "--listen", "127.0.0.1:0", "--signer-limits", limit)
		if code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", limit, code, stderr)
		}
	}
}

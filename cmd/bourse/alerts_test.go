package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
	"github.com/bourse-exchange/bourse/internal/needs"
)

// alert is a rule of deploy/alerts.yml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) []alert {
	t.Helper()
	text, err := os.ReadFile("../../deploy/alerts.yml")
	must(t, err)
	var file struct {
		Groups []struct {
			Name  string
			Rules []alert
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	must(t, d.Decode(&file))
	if len(file.Groups) != 1 {
		t.Fatalf("%d groups of rules", len(file.Groups))
	}
	return file.Groups[0].Rules
}

// scrape reads the metrics at an address that have no labels. Like a scrape of
// Prometheus's it has `up`, which is all that there is of an exchange that is away.
func scrape(address string) map[string]float64 {
	found := map[string]float64{`up{job="bourse"}`: 0}
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return found
	}
	defer func() { _ = r.Body.Close() }()
	found[`up{job="bourse"}`] = 1
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if name, text, ok := strings.Cut(lines.Text(), " "); ok && !strings.ContainsAny(name, "{#") {
			if v, err := strconv.ParseFloat(text, 64); err == nil {
				found[name] = v
			}
		}
	}
	return found
}

// reading is what two scrapes say, the one at the window's begin and the last one.
type reading struct {
	t           *testing.T
	first, last map[string]float64
}

// fires evaluates an expression: comparisons, all of which must hold.
func (r *reading) fires(expr string) bool {
	r.t.Helper()
	for part := range strings.SplitSeq(expr, " and ") {
		words := comparison.FindStringSubmatch(part)
		if words == nil {
			r.t.Fatalf("%q is more than this test can evaluate", part)
		}
		left, known := r.product(words[1])
		right, also := r.product(words[3])
		if !known || !also {
			return false // in Prometheus a comparison with a missing series is empty, and no alert fires
		}
		if holds := map[string]bool{"==": left == right, ">": left > right, "<": left < right}[words[2]]; !holds {
			return false
		}
	}
	return true
}

var (
	comparison = regexp.MustCompile(`^(.+) (==|>|<) (.+)$`)
	increased  = regexp.MustCompile(`^increase\((\w+)\[5m\]\)$`)
)

// product evaluates factors: numbers, metrics and their increases.
func (r *reading) product(text string) (value float64, known bool) {
	value = 1
	for factor := range strings.SplitSeq(text, " * ") {
		if n, err := strconv.ParseFloat(factor, 64); err == nil {
			value *= n
			continue
		}
		begin := 0.0
		if m := increased.FindStringSubmatch(factor); m != nil {
			factor = m[1]
			begin = r.first[factor]
		}
		end, there := r.last[factor]
		if !there {
			return 0, false
		}
		value *= end - begin
	}
	return value, true
}

// breakage lets happen what an alert is for, to an exchange of its own, and returns
// where its metrics are.
type breakage func(t *testing.T) (metrics string)

// watchedServer is an exchange that can be scraped.
func watchedServer(t *testing.T, args ...string) (s *server, metrics string) {
	t.Helper()
	metrics = freeAddress(t)
	s = &server{t: t, data: filepath.Join(t.TempDir(), "data"), args: append(args, "--metrics-listen", metrics)}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.kill()
		}
	})
	return s, metrics
}

var breakages = map[string]breakage{
	"BourseDown": func(t *testing.T) string {
		s, metrics := watchedServer(t, short...)
		s.start()
		s.kill()
		return metrics
	},
	"BourseClosed":      withoutRoom,
	"BourseDiskFillsUp": withoutRoom,
	"BourseSlowDisk":    slowDisk,
	"BourseAnchorAway":  withoutAnchor,
	"BourseNetworkDown": silentNetwork,
	"BourseCertificateEnds": func(t *testing.T) string {
		s, metrics := watchedServer(t, certified(t)...)
		s.startAs("serve")
		return metrics
	},
	"BourseHistoryBehind": func(t *testing.T) string {
		s, metrics := watchedServer(t, short...)
		s.start()
		_, key := s.customer("someone")
		c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
		c.most = 200
		t.Cleanup(meddle(s.t, s.cmd.Process.Pid, "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC", "-P", filepath.Join(s.data, "history.db-wal")))
		c.trade(s.url)
		return metrics
	},
	"BourseAccountsForged": func(t *testing.T) string {
		s, metrics := watchedServer(t, short...)
		s.start()
		s.customer("someone")
		if code, _ := s.stop(); code != 0 {
			t.Fatalf("exit %d", code)
		}
		db, err := sql.Open("sqlite", filepath.Join(s.data, "accounts.db"))
		must(t, err)
		_, err = db.Exec("UPDATE keys SET scopes = 'read'")
		must(t, err)
		must(t, db.Close())
		s.start()
		return metrics
	},
	"BourseWebhookBehind":   failingWebhook,
	"BourseWebhookDisabled": goneWebhook,
	"BourseWithdrawalsLimited": func(t *testing.T) string {
		s, metrics := watchedServer(t, "--bots=false", "--block-time=0", "--signer-limits", "ATOM=1:1")
		s.start()
		h := s.holder("someone", map[string]string{"ATOM": "100"})
		_, err := h.withdraw(http.DefaultClient, route{network: "ATOM", asset: "ATOM", withdrawal: "7"}, s.address("ATOM"))
		must(t, err)
		return metrics
	},
}

// onNodes are breakages of exchanges that are connected to a real node.
var onNodes = map[string]breakage{
	"BourseHotLow": func(t *testing.T) string {
		_, metrics := watchedWalk(t, `hot: {low: "1", target: "1", high: "2"}`)
		return metrics
	},
	"BourseHotHigh": func(t *testing.T) string {
		w, metrics := watchedWalk(t, `hot: {low: "0", target: "0.1", high: "0.1"}`)
		w.deposit()
		return metrics
	},
	"BoursePaymentsOverdue": func(t *testing.T) string {
		w, metrics := watchedWalk(t, "fees: {floor: 2, cap: 2, stuck: 1}") // none pays more, and none is outbid
		w.deposit()
		w.ordered("0.1")
		var waiting []string
		w.until("a payment that waits", func() bool {
			w.node.Ask(&waiting, "getrawmempool")
			return len(waiting) > 0
		})
		miner, err := w.outside.NewAddress()
		must(t, err)
		mine := func() {
			var mined any
			w.node.Ask(&mined, "generateblock", miner, []string{})
		}
		// Its blocks count from when the worker first saw it wait, and the worker looks at payments at the chain's head alone.
		w.minedBy(50, mine, "a payment that is overdue", func() bool { return scrape(metrics)["bourse_payments_overdue"] > 0 })
		return metrics
	},
}

// watchedWalk starts an exchange that is connected to a node of Bitcoin, by settings of the network, and can be
// scraped.
func watchedWalk(t *testing.T, settings string) (w *depositor, metrics string) {
	t.Helper()
	metrics = freeAddress(t)
	r := bitcoins(t, nodetest.Knots())
	r.settings += "\n    " + settings
	return walk(t, r, nil, "--metrics-listen", metrics), metrics
}

func failingWebhook(t *testing.T) string { return answeringWebhook(t, http.StatusServiceUnavailable) }

func goneWebhook(t *testing.T) string { return answeringWebhook(t, http.StatusGone) }

// answeringWebhook has an endpoint that answers a status to an event.
func answeringWebhook(t *testing.T, status int) string {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(endpoint.Close)
	s, metrics := watchedServer(t, short...)
	s.start()
	operate[any](s, "webhook", "add", endpoint.URL)
	s.customer("someone")
	return metrics
}

func withoutRoom(t *testing.T) string {
	s, metrics := watchedServer(t, "--min-free=4000000GiB")
	s.startAs("serve")
	return metrics
}

func slowDisk(t *testing.T) string {
	needs.Program(t, "strace")
	s, metrics := watchedServer(t, short...)
	s.under = []string{
		"strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=60000", "--seccomp-bpf",
	}
	s.start()
	s.customer("someone")
	return metrics
}

func withoutAnchor(t *testing.T) string {
	anchored := filepath.Join(t.TempDir(), "anchor")
	must(t, os.Mkdir(anchored, 0o700))
	s, metrics := watchedServer(t, append([]string{"--anchor", anchored}, short...)...)
	s.start()
	must(t, os.Rename(anchored, anchored+".away"))
	return metrics
}

func silentNetwork(t *testing.T) string {
	s, metrics := watchedServer(t, short...)
	s.start()
	mustControl[any](s, "devnet/stop", map[string]any{"network": "BTC", "stopped": true})
	return metrics
}

// TestAlerts has each alert of deploy/alerts.yml fire by the fault that it is for, and
// none on an exchange that is well.
func TestAlerts(t *testing.T) {
	well, metrics := watchedServer(t, append([]string{"--anchor", t.TempDir()}, short...)...)
	well.start()
	first := scrape(metrics)
	_, key := well.customer("someone")
	c := newTrader(key, rand.New(rand.NewPCG(1, 1)))
	c.most = 200
	c.trade(well.url)
	var quiet reading
	within(t, patience, "looked at", func() bool {
		quiet = reading{t, first, scrape(metrics)}
		return quiet.last["bourse_disk_least_free_bytes"] > 0 && quiet.last["bourse_networks_down"] == 0
	})

	for _, a := range alerts(t) {
		t.Run(a.Alert, func(t *testing.T) {
			if quiet.t = t; quiet.fires(a.Expr) {
				t.Errorf("%s fires on an exchange that is well", a.Expr)
			}
			do, onNode := onNodes[a.Alert]
			if onNode && testing.Short() {
				return
			}
			if !onNode {
				do = breakages[a.Alert]
			}
			if do == nil {
				t.Fatal("nothing makes it fire")
			}
			metrics := do(t)
			within(t, patience, "firing", func() bool {
				now := reading{t, map[string]float64{}, scrape(metrics)}
				return now.fires(a.Expr)
			})
		})
	}
}

// TestAlertsAreInTheRunbook wants each alert to name a section of the runbook, and that
// section to name the alert; and the same of alerts that the runbook names.
func TestAlertsAreInTheRunbook(t *testing.T) {
	text, err := os.ReadFile("../../docs/runbook.md")
	must(t, err)
	sections := map[string]string{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		sections[title] = body
	}

	known := map[string]bool{}
	for _, a := range alerts(t) {
		known[a.Alert] = true
		if body := sections[a.Annotations["runbook"]]; !strings.Contains(body, "`"+a.Alert+"`") {
			t.Errorf("the section %q of the runbook does not name %s", a.Annotations["runbook"], a.Alert)
		}
		if a.Annotations["summary"] == "" || a.Labels["severity"] != "page" && a.Labels["severity"] != "ticket" {
			t.Errorf("%s lacks a summary, or page or ticket", a.Alert)
		}
	}
	for _, name := range regexp.MustCompile("`(Bourse[A-Z]\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !known[name[1]] {
			t.Errorf("the runbook names %s, which no rule has", name[1])
		}
	}
}

// TestDashboard wants each metric of the dashboard and of the rules to be one that an
// exchange has.
func TestDashboard(t *testing.T) {
	s, metrics := watchedServer(t, append(certified(t), "--anchor", t.TempDir())...)
	s.startAs("serve")
	r, err := http.Get("http://" + metrics + "/metrics")
	must(t, err)
	defer func() { _ = r.Body.Close() }()
	served := map[string]bool{}
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 2 && words[1] == "TYPE" {
			served[words[2]] = true
		}
	}

	text, err := os.ReadFile("../../deploy/dashboard.json")
	must(t, err)
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must(t, json.Unmarshal(text, &board))
	var exprs []string
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	for _, a := range alerts(t) {
		exprs = append(exprs, a.Expr)
	}
	named := 0
	for _, name := range regexp.MustCompile(`\b(bourse|go|process)_[a-z_]+`).FindAllString(fmt.Sprint(exprs), -1) {
		named++
		base := name
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if !served[base] && !served[name] && base != "bourse_request_duration_seconds" { // it has series once there was a request
			t.Errorf("an exchange has no %s", name)
		}
	}
	if len(board.Panels) == 0 || named == 0 {
		t.Error("the dashboard is empty")
	}
}

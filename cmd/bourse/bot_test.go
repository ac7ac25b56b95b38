package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/needs"
)

var botFor = flag.Duration("bot.for", 0, "let TestBot's bot quote for so long among the sandbox's traders")

// TestBot runs the guide's bot, as it is written, while the exchange is killed, the exchange is
// stopped and the bot is killed. It ends flat, with the exchange's account of its fills,
// which explains its balances. With -bot.for it trades with the sandbox's traders and is
// interrupted each minute; without, with a client of the test, and after some fills.
func TestBot(t *testing.T) {
	needs.Program(t, "python3")
	args := []string{"--bots=false", "--block-time=0"}
	if *botFor > 0 {
		args = makeRun(t)
	}
	q := &quoter{server: start(t, t.TempDir(), append(args, "--listen", freeAddress(t))...), dir: t.TempDir()}
	saveGuide(t, q.dir, readGuide(t))
	_, q.key = q.customer("quoter")
	before := q.balances()

	if *botFor > 0 {
		q.launchBot()
		for began := time.Now(); time.Since(began) < *botFor; q.interrupt() {
			q.await(10, min(time.Minute, *botFor))
		}
	} else {
		defer q.counterparty()()
		q.launchBot()
		interruptions := len(q.turns)
		if testing.Short() {
			interruptions = 1
		}
		for range interruptions {
			q.await(8, 0)
			q.interrupt()
		}
	}
	q.await(8, 0)

	fills := q.agrees(before, q.stopBot(0))
	q.audit()
	t.Logf("%d fills over %v interruptions (kills and stops of the exchange, kills of the bot)", fills, q.turns)
}

// TestBotInAHaltedMarket stops the guide's bot while its market takes no cancels: it prints the
// position that is left, and ends. In an open market it goes on from there, and ends flat.
func TestBotInAHaltedMarket(t *testing.T) {
	needs.Program(t, "python3")
	q := &quoter{server: start(t, t.TempDir(), "--bots=false", "--block-time=0"), dir: t.TempDir()}
	saveGuide(t, q.dir, readGuide(t))
	_, q.key = q.customer("quoter")
	before := q.balances()
	defer q.counterparty()()
	q.launchBot()
	q.await(8, 0)

	operate[json.RawMessage](q.server, "market", "halt", "BTC/USDT")
	left := q.stopBot(1)
	if has := new(big.Rat).Add(before["BTC"], decimal(t, left.Base)); has.Cmp(q.balances()["BTC"]) != 0 {
		t.Errorf("the bot is left with %s BTC; the account has %s, and had %s", left.Base, q.balances()["BTC"], before["BTC"])
	}

	operate[json.RawMessage](q.server, "market", "resume", "BTC/USDT")
	q.launchBot()
	q.await(2, 0)
	q.agrees(before, q.stopBot(0))
}

// quoter is an exchange and the guide's bot beside it.
type quoter struct {
	*server
	dir, key string
	bot      *exec.Cmd
	// turns counts the kinds of interruption, by interrupt's case.
	turns [3]int
}

// launchBot starts the bot. Its output is appended to a file.
func (q *quoter) launchBot() {
	q.t.Helper()
	out, err := os.OpenFile(filepath.Join(q.dir, "bot.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(q.t, err)
	q.bot = exec.Command("python3", "bot.py")
	q.bot.Dir, q.bot.Stdout, q.bot.Stderr = q.dir, out, out
	q.bot.Env = append(os.Environ(), "BASE="+q.url, "KEY="+q.key)
	must(q.t, q.bot.Start())
	must(q.t, out.Close())
	bot := q.bot
	q.t.Cleanup(func() {
		if bot.ProcessState == nil {
			_ = bot.Process.Kill()
			_ = bot.Wait()
		}
		if q.t.Failed() && bot == q.bot {
			q.t.Logf("the bot printed:\n%s", q.read("bot.log"))
		}
	})
}

func (q *quoter) read(file string) []byte {
	text, err := os.ReadFile(filepath.Join(q.dir, file))
	if err != nil && !os.IsNotExist(err) {
		q.t.Error(err)
	}
	return text
}

// await waits for a time, and for more fills in the bot's file.
func (q *quoter) await(fills int, least time.Duration) {
	q.t.Helper()
	began, have := time.Now(), bytes.Count(q.read("fills.jsonl"), []byte("\n"))
	within(q.t, least+patience, fmt.Sprintf("%d more fills", fills), func() bool {
		return time.Since(began) >= least && bytes.Count(q.read("fills.jsonl"), []byte("\n")) >= have+fills
	})
}

// interrupt kills the exchange, stops it, or kills the bot, in turn, and starts it again.
func (q *quoter) interrupt() {
	q.t.Helper()
	turn := (q.turns[0] + q.turns[1] + q.turns[2]) % len(q.turns)
	q.turns[turn]++
	switch turn {
	case 0:
		q.kill()
		q.start()
	case 1:
		if code, _ := q.stop(); code != 0 {
			q.t.Fatalf("the exchange ended with %d", code)
		}
		q.start()
	case 2:
		must(q.t, q.bot.Process.Kill())
		_ = q.bot.Wait()
		q.tear()
		q.launchBot()
	}
}

// tear adds a part of a line to the bot's file, as a crash of the machine may.
func (q *quoter) tear() {
	q.t.Helper()
	file, err := os.OpenFile(filepath.Join(q.dir, "fills.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	must(q.t, err)
	_, err = file.WriteString(`{"trade_id": 1, "ob`)
	must(q.t, err)
	must(q.t, file.Close())
}

// stopBot ends the bot by SIGTERM and returns its account. It must end with a status.
func (q *quoter) stopBot(status int) (account botAccount) {
	q.t.Helper()
	must(q.t, q.bot.Process.Signal(syscall.SIGTERM))
	late := time.AfterFunc(patience, func() { _ = q.bot.Process.Kill() })
	_ = q.bot.Wait()
	if !late.Stop() || q.bot.ProcessState.ExitCode() != status {
		q.t.Fatalf("the bot ended with %v, want status %d", q.bot.ProcessState, status)
	}
	lines := bytes.Split(bytes.TrimSpace(q.read("bot.log")), []byte("\n"))
	must(q.t, json.Unmarshal(lines[len(lines)-1], &account))
	return account
}

// botAccount is the summary that the bot prints at its end.
type botAccount struct {
	Fills       int
	Base, Quote string
}

// fillRow is a fill, in the bot's file and in the exchange's list.
type fillRow struct {
	ID    uint64 `json:"trade_id"`
	Order uint64 `json:"obid"`

	Side, Role, Price, Amount, Total, Fee string
}

// agrees compares the bot's account with the exchange's, and returns the number of fills.
func (q *quoter) agrees(before map[string]*big.Rat, account botAccount) int {
	q.t.Helper()
	fills := q.fills()
	lines := strings.Split(strings.TrimSpace(string(q.read("fills.jsonl"))), "\n")
	var kept []fillRow
	for _, line := range lines[1:] {
		var f fillRow
		must(q.t, json.Unmarshal([]byte(line), &f))
		kept = append(kept, f)
	}
	slices.Reverse(kept)
	if !slices.Equal(kept, fills) || account.Fills != len(fills) {
		q.t.Errorf("the bot counted %d fills and kept\n%v\nthe exchange has\n%v", account.Fills, kept, fills)
	}
	for _, side := range []string{"BUY", "SELL"} {
		if !slices.ContainsFunc(fills, func(f fillRow) bool { return f.Side == side && f.Role == "MAKER" }) {
			q.t.Errorf("no quote to %s was taken", side)
		}
	}

	after := q.balances()
	for asset, counted := range map[string]string{"BTC": account.Base, "USDT": account.Quote} {
		if earned := new(big.Rat).Sub(after[asset], before[asset]); earned.Cmp(decimal(q.t, counted)) != 0 {
			q.t.Errorf("%s changed by %s; the bot counts %s", asset, earned.FloatString(12), counted)
		}
	}
	if base := decimal(q.t, account.Base); base.Abs(base).Cmp(decimal(q.t, "0.000001")) >= 0 {
		q.t.Errorf("the bot ends with %s BTC", account.Base)
	}
	a, err := post(http.DefaultClient, q.url, "/spot/open_orders", map[string]any{"api_key": q.key, "offset": 0})
	if err != nil || !a.Success || len(a.Orders) != 0 {
		q.t.Errorf("open orders: %s %v %s", a.Orders, err, a.Error)
	}
	q.t.Logf("the bot's account: %+v", account)
	return len(fills)
}

// fills returns the account's fills by the exchange's list, the newest first.
func (q *quoter) fills() (all []fillRow) {
	q.t.Helper()
	ask := map[string]any{"api_key": q.key, "filter_pair": "BTC/USDT", "offset": 0}
	for {
		a, err := post(http.DefaultClient, q.url, "/spot/trades_history", ask)
		if err != nil || !a.Success {
			q.t.Fatalf("%v %s", err, a.Error)
		}
		for _, row := range a.Trades {
			var f fillRow
			must(q.t, json.Unmarshal(row, &f))
			all = append(all, f)
		}
		if len(a.Trades) < 50 {
			return all
		}
		ask["after"] = all[len(all)-1].ID
	}
}

// balances returns the totals of the account's balances.
func (q *quoter) balances() map[string]*big.Rat {
	q.t.Helper()
	a, err := ask[struct {
		Balances map[string]struct{ Total string }
	}](http.DefaultClient, q.url, "/wallet/balances",
		map[string]any{"api_key": q.key, "symbols": []string{"BTC", "USDT"}})
	must(q.t, err)
	totals := map[string]*big.Rat{}
	for asset, b := range a.Balances {
		totals[asset] = decimal(q.t, b.Total)
	}
	return totals
}

// decimal reads a decimal.
func decimal(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no decimal", text)
	}
	return r
}

// counterparty quotes both edges of a book and takes the orders between them, until stop. It
// repeats its requests while the exchange is down.
func (q *quoter) counterparty() (stop func()) {
	q.t.Helper()
	_, key := q.customer("counterparty")
	order := func(side, kind, force, price, amount string) (answer, error) {
		return post(http.DefaultClient, q.url, "/spot/open_orders/new", map[string]any{
			"api_key": key, "pair": "BTC/USDT", "side": side, "type": kind, "time_in_force": force, "price": price,
			"amount": amount, "resp_type": "RESULT",
		})
	}
	for side, price := range map[string]string{"BUY": "59000", "SELL": "61000"} {
		if a, err := order(side, "LIMIT", "GTC", price, "100"); err != nil || a.Status != "OPEN" {
			q.t.Fatalf("%+v %v", a, err)
		}
	}

	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		rng, tick := rand.New(rand.NewPCG(1, 1)), time.NewTicker(50*time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				side := []string{"BUY", "SELL"}[rng.IntN(2)]
				_, _ = order(side, "LIMIT", "IOC", map[string]string{"BUY": "60990", "SELL": "59010"}[side],
					fmt.Sprintf("0.00%02d", 5+rng.IntN(30))) // the exchange may be away
			}
		}
	}()
	return func() { close(done); <-ended }
}

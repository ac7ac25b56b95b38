//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// mayMount reports whether the test goes on here. A user who may not mount runs it
// in namespaces of its own, in which they may.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return true
	}
	needsNamespaces(t)
	again := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	if err != nil {
		t.Errorf("in a user namespace: %v\n%s", err, out)
	}
	return false
}

// full is an exchange on a small disk, with a customer who has orders to cancel.
type full struct {
	*server
	*trader
	disk, ballast string
	open          []uint64
}

func newFull(t *testing.T) *full {
	t.Helper()
	f := &full{disk: outside.SmallDisk(t, "24m")}
	f.server = start(t, filepath.Join(f.disk, "data"), short...)
	_, key := f.customer("someone")
	f.trader = newTrader(key, rand.New(rand.NewPCG(1, 1)))
	f.most = 100
	f.trade(f.url)
	for range 60 {
		id, err := f.place()
		must(t, err)
		f.open = append(f.open, id)
	}
	return f
}

// place places an order that nobody takes.
func (f *full) place() (id uint64, err error) {
	f.n++
	order := &client.NewOrder{
		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.GTC,
		Price: "100", Amount: "1", ClientID: fmt.Sprintf("f%d", f.n),
	}
	api := f.at(f.url)
	defer api.Close()
	placed, err := api.Place(f.t.Context(), order)
	if err == nil {
		f.took(asked{NewOrder: order}, placed)
	}
	return placed.OrderID, err
}

// refused reports whether an order is refused for want of room, with such a sentence. No answer
// ends the test.
func (f *full) refused(sentence string) bool {
	f.t.Helper()
	_, err := f.place()
	if err != nil && !saidNo(err) {
		f.t.Fatalf("an order on a full disk: %v", err)
	}
	var refused *client.Error
	return errors.As(err, &refused) && refused.Code == "DISK_FULL" && strings.Contains(refused.Message, sentence)
}

// cancelOne cancels an order that is open.
func (f *full) cancelOne() error {
	id := f.open[0]
	f.open = f.open[1:]
	api := f.at(f.url)
	defer api.Close()
	return f.cancel(api, id)
}

// TestFullDisk fills the disk: new orders are refused before it is full, cancels
// are taken; when there is room again, so are orders; and nothing is lost.
func TestFullDisk(t *testing.T) {
	if !mayMount(t) {
		return
	}
	f := newFull(t)
	f.ballast = outside.Ballast(t, f.disk, "ballast", 300<<10)
	within(t, 10*time.Second, "refused", func() bool { return f.refused("disk is nearly full") })
	for range 20 {
		if err := f.cancelOne(); err != nil {
			t.Fatalf("a cancel on a disk that is nearly full: %v", err)
		}
	}
	if f.cancels == 0 {
		t.Error("no cancel was taken")
	}
	if err := os.Remove(f.ballast); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "taken again", func() bool {
		_, err := f.place()
		return err == nil
	})
	f.kill()
	f.start()
	f.check(t, f.url)
	f.audit()
	f.kill() // so that the disk can go
}

// TestDiskWithoutAByte leaves the disk no room at all. The exchange takes cancels
// while its journal has segments, then refuses and stays; every start comes up, serves
// what is asked and refuses; with room again it trades, and nothing is lost.
func TestDiskWithoutAByte(t *testing.T) {
	if !mayMount(t) {
		return
	}
	f := newFull(t)
	for range 150 { // more than the segments that are ready have room for
		id, err := f.place()
		must(t, err)
		f.open = append(f.open, id)
	}
	f.ballast = outside.Ballast(t, f.disk, "ballast", 0)
	for _, reserved := range []bool{true, false, false} {
		f.refuses(t)
		f.reads(t)
		f.end(1)
		f.sober(f.cmd.ProcessState.ExitCode())
		if !reserved { // a neighbour was faster
			must(t, os.Remove(filepath.Join(f.data, "reserve")))
		}
		outside.Ballast(t, f.disk, "more", 0)
		f.start()
	}
	f.refuses(t)
	f.reads(t)

	for _, name := range [...]string{"ballast", "more"} {
		must(t, os.Remove(filepath.Join(f.disk, name)))
	}
	within(t, 10*time.Second, "taken again", func() bool {
		_, err := f.place()
		return err == nil
	})
	f.kill()
	f.start()
	f.check(t, f.url)
	f.audit()
	f.kill()
}

// refuses cancels until a cancel is refused for want of room, or nothing is left to
// cancel; orders are refused before.
func (f *full) refuses(t *testing.T) {
	t.Helper()
	within(t, 10*time.Second, "orders refused", func() bool { return f.refused("disk is") })
	api := f.at(f.url)
	defer api.Close()
	for len(f.open) > 0 {
		id := f.open[0]
		err := api.Cancel(t.Context(), id)
		if saidNo(err) && strings.Contains(err.Error(), "disk is full") {
			return
		}
		must(t, err)
		f.open = f.open[1:]
		f.acked[id].canceled = true
	}
}

// reads looks at what people look at.
func (f *full) reads(t *testing.T) {
	t.Helper()
	api := f.at(f.url)
	defer api.Close()
	for _, err := range api.OpenOrders(t.Context(), "") {
		must(t, err)
	}
}

// TestFullDiskUnderAttack has an account without money fill the disk with orders that
// are refused, and then with cancels of orders that do not exist. Whatever it does, the exchange stays and starts, cancels are taken, the
// journal is put away, and a customer trades again once there is room.
func TestFullDiskUnderAttack(t *testing.T) {
	if !mayMount(t) {
		return
	}
	f := newFull(t)
	f.kill()
	f.args = []string{"--bots=false", "--block-time=0", "--segment-size=1MiB"}
	f.start()
	f.ballast = outside.Ballast(t, f.disk, "ballast", 7<<20)
	stranger := f.stranger("stranger")
	for range 3 {
		f.attack(t, stranger)
		for id := range 3000 { // below the least room cancels are taken, those that are one
			a, err := post(http.DefaultClient, f.url, "/spot/open_orders/cancel", map[string]any{"api_key": stranger, "obid": 1<<40 + id})
			if err != nil || a.Error != "Order not found" {
				t.Fatalf("a cancel of nothing: %v %+v", err, a)
			}
		}
		if err := f.cancelOne(); err != nil {
			t.Fatalf("a cancel below the least room: %v", err)
		}
		f.kill()
		f.start()
	}
	must(t, os.Remove(f.ballast))
	within(t, 20*time.Second, "taken again", func() bool {
		_, err := f.place()
		return err == nil
	})
	f.check(t, f.url)
	f.audit()
	f.kill()
}

// attack sends orders of an account without money, from eight connections, until the
// exchange takes no more.
func (f *full) attack(t *testing.T, key string) {
	t.Helper()
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				a, err := post(client, f.url, "/spot/open_orders/new", map[string]any{
					"api_key": key, "pair": "BTC/USDT", "side": "BUY", "type": "LIMIT", "time_in_force": "GTC", "resp_type": "ACK",
					"price": "100", "amount": "1",
				})
				if err != nil {
					t.Errorf("an order of a stranger: %v", err)
					return
				}
				if strings.Contains(a.Error, "disk is") {
					return
				}
			}
		})
	}
	clients.Wait()
}

// stranger opens an account without money, and returns a key with every scope.
func (s *server) stranger(name string) (key string) {
	s.t.Helper()
	account := operate[struct{ Account int }](s, "account", "create", name+"@example.org").Account
	return operate[struct {
		Secret string `json:"api_key"`
	}](s, "key", "create", fmt.Sprint(account), "--name", "test", "--scopes", "read,trade,withdraw").Secret
}

// requestsIn returns the commands of a journal that clients caused.
func requestsIn(t *testing.T, data string) []dumpedCommand {
	t.Helper()
	own := regexp.MustCompile(`^(tick|note|block|continue)\b`)
	return slices.DeleteFunc(commandsOf(t, data), func(c dumpedCommand) bool { return own.MatchString(c.Command) })
}

// TestFreeRefusalsAreNotJournaled has an account that holds nothing send what can
// only be refused, and looks for it in the journal.
func TestFreeRefusalsAreNotJournaled(t *testing.T) {
	s := start(t, t.TempDir(), "--bots=false", "--block-time=0")
	_, owner := s.customer("owner")
	key := s.stranger("stranger")
	order := map[string]any{
		"api_key": owner, "pair": "BTC/USDT", "side": "BUY", "type": "LIMIT", "time_in_force": "GTC", "resp_type": "ACK",
		"price": "100", "amount": "1",
	}
	placed, err := post(http.DefaultClient, s.url, "/spot/open_orders/new", order)
	if err != nil || !placed.Success {
		t.Fatalf("placing: %v %+v", err, placed)
	}
	mine := placed.Obid
	before := len(requestsIn(t, s.data))

	refused := func(path, text string, body map[string]any) {
		t.Helper()
		body["api_key"] = key
		a, err := post(http.DefaultClient, s.url, path, body)
		if err != nil || a.Success || !strings.Contains(a.Error, text) {
			t.Fatalf("%s: %v %+v, want %q", path, err, a, text)
		}
	}
	for _, id := range [...]uint64{1 << 40, mine, 0} {
		refused("/spot/open_orders/cancel", "Order not found", map[string]any{"obid": id})
	}
	for _, id := range [...]uint64{0, 1, 1 << 40} {
		refused("/wallet/withdraw/cancel", "Withdrawal not found", map[string]any{"xid": id})
	}
	refused("/wallet/addressbook/delete", "", map[string]any{"adbkid": 77})
	for _, body := range []map[string]any{{"api_key": key}, {"api_key": key, "filter_pair": "BTC/USDT"}} {
		if a, err := post(http.DefaultClient, s.url, "/spot/open_orders/cancel_all", body); err != nil || !a.Success {
			t.Fatalf("cancel_all: %v %+v", err, a)
		}
	}
	if list := requestsIn(t, s.data); len(list) != before {
		t.Errorf("journaled for nothing: %+v", list[before:])
	}

	// The owner's cancel is taken as soon as the id is known, once.
	body := map[string]any{"api_key": owner, "obid": mine}
	if a, err := post(http.DefaultClient, s.url, "/spot/open_orders/cancel", body); err != nil || !a.Success {
		t.Fatalf("the owner's cancel: %v %+v", err, a)
	}
	key = owner
	refused("/spot/open_orders/cancel", "Order not found", map[string]any{"obid": mine})
	if list := requestsIn(t, s.data); len(list) != before+1 {
		t.Errorf("of two cancels of one order these were journaled: %+v", list[before:])
	}
}

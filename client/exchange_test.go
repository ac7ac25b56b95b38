package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// patience is the time after which a test gives up.
const patience = time.Minute

// binary is the program, built once; sandbox is the exchange that most tests and the examples use.
var (
	binary  string
	sandbox *exchange
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "client")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "bourse")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/bourse").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}

	sandbox = &exchange{data: filepath.Join(dir, "data")}
	if err := sandbox.start(); err != nil {
		panic(err)
	}
	defer sandbox.kill()
	return m.Run()
}

// exchange is a running exchange.
type exchange struct {
	data string
	args []string

	process *exec.Cmd
	log     *outside.Output
	socket  *http.Client

	mu sync.Mutex
	// address is the listener's, another one after each start.
	address string
}

// start runs the program until it serves.
func (x *exchange) start() error {
	x.process = exec.Command(binary, append([]string{
		"dev", "--data", x.data, "--listen", "127.0.0.1:0", "--bots=false", "--block-time=0",
	}, x.args...)...)
	var err error
	if x.log, err = outside.Listen(x.process); err != nil {
		return err
	}
	address, ok := <-x.log.Address
	if !ok {
		return errors.New("the exchange ended:\n" + x.log.Text())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.address = address
	x.socket = outside.Socket(x.data, patience)
	return nil
}

// kill ends the process as a power cut would.
func (x *exchange) kill() {
	_ = x.process.Process.Kill()
	<-x.log.Ended
	_ = x.process.Wait()
}

// another runs an exchange for one test.
func another(t *testing.T, args ...string) *exchange {
	t.Helper()
	x := &exchange{data: t.TempDir(), args: args}
	must(t, x.start())
	t.Cleanup(func() {
		x.kill()
		if t.Failed() {
			t.Log(x.log.Text())
		}
	})
	return x
}

// url is the exchange's address for clients. Its port is another one after a restart, so clients
// dial with x.dial.
func (x *exchange) url() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return "http://" + x.address
}

// dial connects to the exchange as it listens now.
func (x *exchange) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	x.mu.Lock()
	address := x.address
	x.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, address)
}

// open opens an account with money and returns the secret of its key.
func (x *exchange) open(money map[string]string) (key string, err error) {
	email := fmt.Sprintf("c%d@example.org", rand.Uint64())
	if err := outside.Operate(x.socket, "account/create", map[string]any{"email": email}, nil); err != nil {
		return "", err
	}
	for asset, amount := range money {
		credit := map[string]any{"account": email, "asset": asset, "amount": amount}
		if err := outside.Operate(x.socket, "credit", credit, nil); err != nil {
			return "", err
		}
	}
	var made struct {
		Secret string `json:"api_key"`
	}
	err = outside.Operate(x.socket, "key/create", map[string]any{
		"account": email, "name": "test", "scopes": "read,trade,withdraw",
	}, &made)
	return made.Secret, err
}

// rich is enough money for any test.
var rich = map[string]string{"BTC": "1000", "ETH": "1000", "LTC": "10000", "ATOM": "10000", "USDT": "100000000"}

// client opens an account and returns its client.
func (x *exchange) client(t *testing.T, o client.Options) *client.Client {
	t.Helper()
	key, err := x.open(rich)
	must(t, err)
	o.Key = key
	if o.Dial == nil {
		o.Dial = x.dial
	}
	c, err := client.New(x.url(), o)
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ok returns a value that comes without an error.
func ok[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		must(t, err)
		return v
	}
}

// limit is an order.
func limit(pair string, side client.Side, price, amount client.Decimal) *client.NewOrder {
	return &client.NewOrder{
		Pair: pair, Side: side, Type: client.LimitOrder, TimeInForce: client.GTC, Price: price, Amount: amount,
	}
}

// soon returns a context that ends when the test has no more patience.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

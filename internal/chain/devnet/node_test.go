package devnet_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// at returns a clock that stands still until it is moved.
func at(now *bourse.Time) func() bourse.Time { return func() bourse.Time { return *now } }

func open(t *testing.T, d disk.Disk, o devnet.Options, symbol bourse.Symbol) *devnet.Node {
	t.Helper()
	n, err := devnet.Open(d, devnet.Lookup(symbol), o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// pay returns a payment of a network's first coin to an account of ours.
func pay(p *devnet.Params, index uint32, units uint64) chain.Pay {
	codec := devnet.NewCodec(p, devnet.NewKeys(p, seed).Public())
	return chain.Pay{To: codec.Destination(index), Coin: p.Shape.Coins[0].ID, Amount: bourse.Units(units)}
}

// story is some of everything that can happen to a network.
func story(t *testing.T, n *devnet.Node, p *devnet.Params) {
	t.Helper()
	hash, ref, address := must[chain.Hash](t), must[chain.BlockRef](t), must[string](t)
	hash(n.Send(pay(p, 1, 1000), pay(p, 1, 2000)))
	ref(n.Mine(2))
	twice := hash(n.Send(pay(p, 2, 3000)))
	address(n.NewAddress())
	ref(n.Mine(1))
	hash(n.DoubleSpend(twice))
	ref(n.Mine(1))
	hash(n.Send(pay(p, 3, 4000)))
	ref(n.Mine(1))
	ref(n.Reorg(2, false))
	hash(n.Send(pay(p, 4, 5000)))
	ref(n.Mine(1))
	ref(n.Reorg(1, true))
	if err := n.Restore(); err != nil {
		t.Fatal(err)
	}
	if err := n.Forget(hash(n.Send(pay(p, 5, 6000)))); err != nil {
		t.Fatal(err)
	}
	ref(n.Mine(1))
}

// TestSameSeedSameNetwork: nothing but seed, clock and calls decides.
func TestSameSeedSameNetwork(t *testing.T) {
	for _, p := range devnet.Networks() {
		now := bourse.Time(1e15)
		var heads []chain.BlockRef
		for range 2 {
			n := open(t, memdisk.New(1), options(p, at(&now)), p.Symbol)
			story(t, n, p)
			heads = append(heads, n.Head())
		}
		if heads[0] != heads[1] {
			t.Errorf("%s: the heads are %v", p.Symbol, heads)
		}
		other := options(p, at(&now))
		other.Seed[0]++
		n := open(t, memdisk.New(1), other, p.Symbol)
		story(t, n, p)
		if n.Head() == heads[0] {
			t.Errorf("%s: another seed made the same network", p.Symbol)
		}
	}
}

// TestCrashAnywhere cuts the log at many places: the network opens, goes on
// from a past that it had, and forgets nothing that it had told.
func TestCrashAnywhere(t *testing.T) {
	for _, symbol := range []bourse.Symbol{"BTC", "ETH", "ATOM"} {
		p := devnet.Lookup(symbol)
		now := bourse.Time(1e15)
		d := memdisk.New(1)
		n := open(t, d, options(p, at(&now)), symbol)
		story(t, n, p)
		log, err := disk.ReadFile(d, "chain.log")
		if err != nil {
			t.Fatal(err)
		}
		if again := reopen(t, log, p, &now); again.Head() != n.Head() {
			t.Errorf("%s: was at %v, is at %v", symbol, n.Head(), again.Head())
		}
		var height uint64
		for cut := len(log) % 1009; cut < len(log); cut += 1009 {
			again := reopen(t, log[:cut], p, &now)
			if head := again.Head(); head.Height+1 < height { // a reorganisation lengthens
				t.Errorf("%s: %d bytes give height %d, fewer gave %d", symbol, cut, head.Height, height)
			} else {
				height = head.Height
			}
			must[chain.BlockRef](t)(again.Mine(1))
		}
	}
}

func reopen(t *testing.T, log []byte, p *devnet.Params, now *bourse.Time) *devnet.Node {
	t.Helper()
	d := memdisk.New(1)
	f := must[disk.File](t)(d.Create("chain.log"))
	if _, err := f.WriteAt(log, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, d, options(p, at(now)), p.Symbol)
}

// TestImpossibleIsKeptOnce: what was forgotten and cannot be mined any more is
// no more after each restart than before.
func TestImpossibleIsKeptOnce(t *testing.T) {
	for _, symbol := range []bourse.Symbol{"BTC", "ETH", "ATOM"} {
		p, now, d := devnet.Lookup(symbol), bourse.Time(1e15), memdisk.New(1)
		n := open(t, d, options(p, at(&now)), symbol)
		hash := must[chain.Hash](t)
		first := hash(n.Send(pay(p, 1, 1000)))
		if err := n.Forget(first); err != nil {
			t.Fatal(err)
		}
		hash(n.Send(pay(p, 2, 2000))) // spends the same
		var grown, before int
		for round := range 4 {
			if err := errors.Join(n.Restore(), n.Close()); err != nil {
				t.Fatal(err)
			}
			n = open(t, d, options(p, at(&now)), symbol)
			size := len(must[[]byte](t)(disk.ReadFile(d, "chain.log")))
			if round > 1 && size-before != grown {
				t.Errorf("%s: round %d took %d bytes, the one before %d", symbol, round, size-before, grown)
			}
			grown, before = size-before, size
		}
	}
}

// TestReorganisedWhole wants every transaction of a block that is taken off the
// chain to wait again, also those that spend what others of it gave.
func TestReorganisedWhole(t *testing.T) {
	for _, p := range devnet.Networks() {
		now := bourse.Time(1e15)
		n := open(t, memdisk.New(1), options(p, at(&now)), p.Symbol)
		var sent []chain.Hash
		for i := range uint32(20) {
			sent = append(sent, must[chain.Hash](t)(n.Send(pay(p, 1+i, 1000))))
		}
		must[chain.BlockRef](t)(n.Mine(1))
		must[chain.BlockRef](t)(n.Reorg(1, false))
		must[chain.BlockRef](t)(n.Mine(1))
		for i := range sent {
			to := devnet.NewCodec(p, devnet.NewKeys(p, seed).Public()).Destination(1 + uint32(i)).Address
			if got := must[bourse.Amount](t)(n.Balance(to, p.Shape.Coins[0].ID)); got.IsZero() {
				t.Errorf("%s: payment %d is gone", p.Symbol, i)
			}
		}
	}
}

func TestAnotherSeedDoesNotOpen(t *testing.T) {
	now, d, p := bourse.Time(1e15), memdisk.New(1), devnet.Lookup("BTC")
	if err := open(t, d, options(p, at(&now)), "BTC").Close(); err != nil {
		t.Fatal(err)
	}
	o := options(p, at(&now))
	o.Seed[5]++
	if _, err := devnet.Open(d, p, o); err == nil {
		t.Error("opens a network of another seed")
	}
	if _, err := devnet.Open(d, devnet.Lookup("LTC"), options(p, at(&now))); err == nil {
		t.Error("opens a network of another name")
	}
}

// TestTick makes a block when one is due, and one alone after a long pause.
func TestTick(t *testing.T) {
	now, p := bourse.Time(1e15), devnet.Lookup("BTC")
	o := options(p, at(&now))
	o.BlockTime = 3 * bourse.Second
	n := open(t, memdisk.New(1), o, "BTC")
	for _, step := range []struct {
		later bourse.Time
		mines bool
	}{{0, false}, {2 * bourse.Second, false}, {bourse.Second, true}, {0, false}, {bourse.Hour, true}, {0, false}, {-bourse.Minute, false}} {
		now += step.later
		if mined := must[bool](t)(n.Tick()); mined != step.mines {
			t.Errorf("%d later: mined %t", step.later, mined)
		}
	}
	if n.Head().Height != 3 {
		t.Errorf("height %d", n.Head().Height)
	}
	still := open(t, memdisk.New(1), options(p, at(&now)), "BTC")
	now += bourse.Day
	if must[bool](t)(still.Tick()) {
		t.Error("a network that mines on demand made a block by itself")
	}
}

// TestBrokenDisk: what could not be written did not happen, and nothing does
// any more.
func TestBrokenDisk(t *testing.T) {
	now, p := bourse.Time(1e15), devnet.Lookup("ETH")
	n := open(t, memdisk.New(1), options(p, at(&now)), "ETH")
	head := n.Head()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Mine(1); err == nil || n.Head() != head {
		t.Errorf("mined without a log: %v", err)
	}
	if _, err := n.Send(pay(p, 1, 1)); err == nil {
		t.Error("sent without a log")
	}
}

// TestFaucetRefuses wants every mistake of whoever asks to be told, and nothing
// to wait afterwards.
func TestFaucetRefuses(t *testing.T) {
	now := bourse.Time(1e15)
	for _, p := range devnet.Networks() {
		n := open(t, memdisk.New(1), options(p, at(&now)), p.Symbol)
		good := pay(p, 1, 1000)
		for name, change := range map[string]func(*chain.Pay){
			"address":  func(pay *chain.Pay) { pay.To.Address += "q" },
			"coin":     func(pay *chain.Pay) { pay.Coin = "DOGE" },
			"nothing":  func(pay *chain.Pay) { pay.Amount = bourse.Amount{} },
			"too much": func(pay *chain.Pay) { pay.Amount = bourse.MaxAmount },
			"memo":     func(pay *chain.Pay) { pay.To.Memo = "a\x00b" },
		} {
			bad := good
			change(&bad)
			if hash, err := n.Send(bad); err == nil {
				t.Errorf("%s, %s: sent as %x", p.Symbol, name, hash)
			}
			if hash, err := n.Send(good, bad); err == nil {
				t.Errorf("%s, %s beside what is good: sent as %x", p.Symbol, name, hash)
			}
		}
		if _, err := n.Send(); err == nil {
			t.Errorf("%s: sent nothing", p.Symbol)
		}
		for _, depth := range []int{-1, 0, 1, 2, 1 << 40} {
			if _, err := n.Reorg(depth, false); err == nil {
				t.Errorf("%s: reorganised %d of 1 blocks", p.Symbol, depth)
			}
		}
		for _, count := range []int{-1, 0, 1 << 40} {
			if _, err := n.Mine(count); err == nil {
				t.Errorf("%s: mined %d", p.Symbol, count)
			}
		}
		var caller *bourse.Error
		if err := n.Forget(chain.Hash{1}); !errors.As(err, &caller) || caller.Code != bourse.CodeNotFound {
			t.Errorf("%s: forgot what it had not, %v", p.Symbol, err)
		}
		if _, err := n.DoubleSpend(chain.Hash{1}); !errors.As(err, &caller) || caller.Code != bourse.CodeNotFound {
			t.Errorf("%s: double-spent what it had not, %v", p.Symbol, err)
		}
	}
}

// TestManyPayments sends more than the outside world has outputs, between two
// blocks.
func TestManyPayments(t *testing.T) {
	now := bourse.Time(1e15)
	for _, symbol := range []bourse.Symbol{"BTC", "ETH", "ATOM"} {
		p := devnet.Lookup(symbol)
		n := open(t, memdisk.New(1), options(p, at(&now)), symbol)
		const many = 100
		for range many {
			must[chain.Hash](t)(n.Send(pay(p, 1, 1000)))
		}
		must[chain.BlockRef](t)(n.Mine(1))
		to := pay(p, 1, 1000)
		before := bourse.Amount{}
		if symbol == "ATOM" { // all share the address of the hot wallet
			before = must[bourse.Amount](t)(open(t, memdisk.New(1), options(p, at(&now)), symbol).Balance(to.To.Address, to.Coin))
		}
		has := must[bourse.Amount](t)(n.Balance(to.To.Address, to.Coin))
		if has != before.Plus(bourse.Units(many*1000)) {
			t.Errorf("%s: %s arrived", symbol, has.Format(0))
		}
	}
}

// TestFullDisk has no room for a block: the network stays what it was and goes on when
// there is room.
func TestFullDisk(t *testing.T) {
	p, now, d := devnet.Lookup("BTC"), bourse.Time(1e15), memdisk.New(1)
	n := open(t, d, options(p, at(&now)), "BTC")
	before := n.Head()
	d.SetCapacity(0)
	for range 2 {
		if _, err := n.Mine(1); !errors.Is(err, syscall.ENOSPC) || n.Head() != before {
			t.Fatalf("a block without room: %v, at %v", err, n.Head())
		}
	}
	d.SetCapacity(1 << 30)
	must[chain.BlockRef](t)(n.Mine(1))
	if again := open(t, d.Crash(), options(p, at(&now)), "BTC"); again.Head() != n.Head() || n.Head() == before {
		t.Errorf("after a start at %v, was at %v", again.Head(), n.Head())
	}
}

// TestSpike lets payments wait whose price is below a spike's, and takes those that pay it, and those that pay
// enough more in their place. A restart has the same pool.
func TestSpike(t *testing.T) {
	for _, symbol := range []bourse.Symbol{"BTC", "ETH"} {
		now := bourse.Time(1e15)
		p, disks := devnet.Lookup(symbol), memdisk.New(1)
		o := options(p, at(&now))
		n := open(t, disks, o, symbol)
		first := must[chain.Hash](t)(n.Send(pay(p, 1, 1000)))
		for _, times := range []uint64{0, 1 << 20} {
			if err := n.Spike(times); err == nil {
				t.Errorf("a spike by %d", times)
			}
		}
		if err := n.Spike(3); err != nil {
			t.Fatal(err)
		}
		must[chain.BlockRef](t)(n.Mine(2))
		if got := arrived(t, n, p, 1); got {
			t.Errorf("%s: a payment below the price was mined", symbol)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		n = open(t, disks, o, symbol) // with the usual price
		must[chain.BlockRef](t)(n.Mine(1))
		if got := arrived(t, n, p, 1); !got {
			t.Errorf("%s: %x was not mined once the price fell", symbol, first)
		}
	}
}

// arrived reports whether an account has something on the chain.
func arrived(t *testing.T, n *devnet.Node, p *devnet.Params, index uint32) bool {
	t.Helper()
	client := devnet.NewClient(p, devnet.NewKeys(p, seed).Public(), n, devnet.ClientOptions{})
	to := client.Destination(index)
	has := must[bourse.Amount](t)(client.Balance(t.Context(), to.Address, p.Shape.Coins[0].ID))
	return !has.IsZero()
}

package signer_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// The networks of the tests, as the catalogue would number them.
const (
	btc bourse.NetworkID = iota + 1
	eth
)

// bench is a signer with two networks to sign for.
type bench struct {
	t       *testing.T
	disk    *memdisk.Disk
	signer  *signer.Local
	now     bourse.Time
	clients map[bourse.NetworkID]*devnet.Client
	nodes   map[bourse.NetworkID]*devnet.Node
	keys    map[bourse.NetworkID]*devnet.Keys
	// limits are those of coins that have one; the others have none.
	limits map[chain.CoinID]signer.Limit
	costs  bourse.Amount
	// allowed are the allow-listed destinations on btc.
	allowed   []chain.Destination
	approvers signer.Approvers
	// decoded counts the signer's decodings.
	decoded int
}

// sandbox is the exchange of the tests.
var sandbox = signer.Exchange{ID: signer.ExchangeID{9}, Sandbox: true}

func newBench(t *testing.T) *bench {
	b := &bench{
		t: t, disk: memdisk.New(1), now: 1e15,
		clients: map[bourse.NetworkID]*devnet.Client{}, nodes: map[bourse.NetworkID]*devnet.Node{},
		keys: map[bourse.NetworkID]*devnet.Keys{}, limits: map[chain.CoinID]signer.Limit{}, costs: bourse.Units(1e18),
	}
	for id, symbol := range map[bourse.NetworkID]bourse.Symbol{btc: "BTC", eth: "ETH"} {
		p := devnet.Lookup(symbol)
		keys := devnet.NewKeys(p, [32]byte{7})
		node, err := devnet.Open(memdisk.New(2), p, devnet.Options{
			Clock: b.clock, Hot: devnet.NewCodec(p, keys.Public()).Destination(chain.IndexHot),
		})
		if err != nil {
			t.Fatal(err)
		}
		b.nodes[id], b.keys[id] = node, keys
		b.clients[id] = devnet.NewClient(p, keys.Public(), node, devnet.ClientOptions{})
	}
	b.open()
	return b
}

// counting counts what is decoded.
type counting struct {
	chain.Codec
	decoded *int
}

// Decode passes bytes on.
func (c counting) Decode(raw []byte) (chain.Decoded, error) {
	*c.decoded++
	return c.Codec.Decode(raw)
}

func (b *bench) clock() bourse.Time { return b.now }

func (b *bench) limit(id chain.CoinID) signer.Limit {
	if l, some := b.limits[id]; some {
		return l
	}
	return signer.Unlimited(id)
}

// open starts the signer anew, after a power cut.
func (b *bench) open() {
	b.disk = b.disk.Crash()
	networks := map[bourse.NetworkID]signer.Network{}
	for id, client := range b.clients {
		networks[id] = signer.Network{
			Account: b.account(id),
			Codec:   counting{client.Codec, &b.decoded}, Keys: b.keys[id], MaxCost: bourse.Units(1e15), HourCost: b.costs, Limit: b.limit,
		}
		if id == btc {
			n := networks[id]
			n.Allowed = b.allowed
			networks[id] = n
		}
	}
	var err error
	b.signer, err = signer.Open(b.disk, signer.Options{
		Networks: networks, Clock: b.clock, New: true, Exchange: sandbox, Approvers: b.approvers,
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// account returns what exchange and signer agree on.
func (b *bench) account(id bourse.NetworkID) signer.Account {
	p := devnet.Lookup(map[bourse.NetworkID]bourse.Symbol{btc: "BTC", eth: "ETH"}[id])
	return signer.Account{Name: p.Symbol, Chain: p.Identity(), Public: b.keys[id].Public().String()}
}

// payment is a withdrawal that everything is right about.
func (b *bench) payment(id bourse.NetworkID, xid bourse.WalletID, amount uint64) (chain.Payment, signer.Expect) {
	b.t.Helper()
	to, err := b.nodes[id].NewAddress()
	if err != nil {
		b.t.Fatal(err)
	}
	shape := b.clients[id].Shape()
	p := chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: shape.Native, Amount: bourse.Units(amount),
		To: chain.Destination{Address: to}, CostCap: bourse.Units(1e15),
	}
	if shape.Outputs {
		p.Inputs = b.outputs(id)[xid%10 : xid%10+1]
	}
	return p, signer.Expect{
		Network: id, Kind: p.Kind, ID: xid, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap,
	}
}

// outputs returns what the hot wallet was funded with.
func (b *bench) outputs(id bourse.NetworkID) (inputs []chain.Input) {
	block, err := b.clients[id].Block(b.t.Context(), 1)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, tx := range block.Txs {
		for _, g := range tx.Credits {
			if _, ours := b.clients[id].Owner(g.Address, g.Memo); ours {
				inputs = append(inputs, chain.Input{
					Outpoint: chain.Outpoint{Tx: tx.Hash, Index: g.Index}, Coin: g.Coin, Amount: g.Amount,
				})
			}
		}
	}
	return inputs
}

func (b *bench) prepare(id bourse.NetworkID, p chain.Payment) chain.Unsigned {
	b.t.Helper()
	u, err := b.clients[id].Prepare(b.t.Context(), &p)
	if err != nil {
		b.t.Fatal(err)
	}
	return u
}

func (b *bench) refuses(u chain.Unsigned, e signer.Expect, want error) {
	b.t.Helper()
	signed, err := b.signer.Sign(b.t.Context(), u, e)
	if !errors.Is(err, want) || len(signed.Raw) > 0 {
		b.t.Errorf("got %x and %v, want %v", signed.Hash, err, want)
	}
}

func (b *bench) signs(u chain.Unsigned, e signer.Expect) signer.Signed {
	b.t.Helper()
	signed, err := b.signer.Sign(b.t.Context(), u, e)
	if err != nil {
		b.t.Fatal(err)
	}
	return signed
}

func TestSignsWhatWasJournaled(t *testing.T) {
	b := newBench(t)
	for _, id := range []bourse.NetworkID{btc, eth} {
		p, e := b.payment(id, 1, 1_000_000)
		signed := b.signs(b.prepare(id, p), e)
		verdict, err := b.clients[id].Broadcast(t.Context(), signed.Raw)
		if err != nil || verdict.Kind != chain.Accepted {
			t.Errorf("network %d says %v, %v", id, verdict, err)
		}
	}
}

// TestOneTransactionForOneWithdrawal asks with other bytes, before and after a
// restart, and gets what was signed first. Only another attempt gets another
// one, and none can be left out.
func TestOneTransactionForOneWithdrawal(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(btc, 1, 1_000_000)
	first := b.prepare(btc, p)
	signed := b.signs(first, e)
	p.Inputs = b.outputs(btc)[20:21]
	second := b.prepare(btc, p)
	for range 2 {
		for _, u := range []chain.Unsigned{first, second} {
			if again := b.signs(u, e); again.Hash != signed.Hash || string(again.Raw) != string(signed.Raw) {
				t.Error("one withdrawal got two transactions")
			}
		}
		b.open()
	}
	e.Attempt = 2
	b.refuses(second, e, signer.ErrMismatch)
	e.Attempt = 1
	b.refuses(second, e, signer.ErrRival)

	p.Inputs = b.outputs(btc)[1:3] // and the output of the first
	third := b.prepare(btc, p)
	other := b.signs(third, e)
	if e.Attempt = 0; other.Hash == signed.Hash || b.signs(second, e).Hash != signed.Hash {
		t.Error("attempts got the same transaction")
	}
	e.Attempt = 2
	p.Inputs = b.outputs(btc)[2:3] // excludes the second attempt alone
	b.refuses(b.prepare(btc, p), e, signer.ErrRival)
}

// TestAttemptsPayTheSame refuses a further attempt that has the nonce of the first and
// pays somebody else, or more, and one with another nonce.
func TestAttemptsPayTheSame(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	b.signs(b.prepare(eth, p), e)
	again, next := p, e
	next.Attempt = 1
	again.Nonce, next.Nonce = 1, 1
	b.refuses(b.prepare(eth, again), next, signer.ErrRival)

	again.Nonce, next.Nonce = 0, 0
	again.Amount, next.Amount = bourse.Units(1_000_001), bourse.Units(1_000_001)
	b.refuses(b.prepare(eth, again), next, signer.ErrAnother)
	other, _ := b.payment(eth, 1, 1_000_000)
	again, next.Amount = other, p.Amount
	next.To = other.To
	b.refuses(b.prepare(eth, again), next, signer.ErrAnother)

	next.To = p.To
	b.signs(b.prepare(eth, p), next)
}

// TestRecordIsTold lists what was signed by its numbers, chained, also after a start.
func TestRecordIsTold(t *testing.T) {
	b := newBench(t)
	var want []signer.Recorded
	for xid := range bourse.WalletID(3) {
		p, e := b.payment(btc, xid+1, 1_000)
		want = append(want, signer.Recorded{Signed: b.signs(b.prepare(btc, p), e), Kind: e.Kind, ID: e.ID})
		p, e = b.payment(eth, xid+1, 1_000) // another network has its own numbers
		p.Nonce, e.Nonce = uint64(xid), uint64(xid)
		b.signs(b.prepare(eth, p), e)
	}
	for range 2 {
		for n := range want {
			chained, list, err := b.signer.After(t.Context(), btc, uint64(n))
			if err != nil || !reflect.DeepEqual(list, want[n:]) || n > 0 && chained != want[n-1].Chain || list[0].Record != uint64(n+1) {
				t.Errorf("after %d: %x, %+v, %v", n, chained, list, err)
			}
		}
		if _, _, err := b.signer.After(t.Context(), btc, 4); !errors.Is(err, signer.ErrUnrecorded) {
			t.Errorf("after more than there is: %v", err)
		}
		b.open()
	}
}

// TestVoid ends withdrawals: what was signed is still told, and nothing more is signed,
// also after a start.
func TestVoid(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(btc, 1, 1_000)
	signed := b.signs(b.prepare(btc, p), e)
	never, ne := b.payment(btc, 2, 1_000)
	for _, id := range []bourse.WalletID{1, 2, 1} {
		if err := b.signer.Void(t.Context(), btc, id); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		b.refuses(b.prepare(btc, never), ne, signer.ErrVoid)
		if again := b.signs(b.prepare(btc, p), e); again.Hash != signed.Hash {
			t.Error("another transaction was signed")
		}
		next := e
		next.Attempt = 1
		b.refuses(b.prepare(btc, p), next, signer.ErrVoid)
		b.open()
	}
	if b.recorded() != 3 {
		t.Errorf("%d lines", b.recorded())
	}
}

// TestRecordSurvivesPowerCuts signs, loses power, and is asked with other bytes.
func TestRecordSurvivesPowerCuts(t *testing.T) {
	b := newBench(t)
	for id := bourse.WalletID(1); id <= 8; id++ {
		p, e := b.payment(btc, id, 1_000_000)
		signed := b.signs(b.prepare(btc, p), e)
		b.open()
		p.Inputs = b.outputs(btc)[20:21]
		if again := b.signs(b.prepare(btc, p), e); again.Hash != signed.Hash {
			t.Errorf("withdrawal %d got another transaction", id)
		}
	}
}

// TestAnotherPaymentOfOneWithdrawal: neither who is paid nor how much can be
// another one the second time.
func TestAnotherPaymentOfOneWithdrawal(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(btc, 1, 1_000_000)
	b.signs(b.prepare(btc, p), e)
	p.Amount, e.Amount = bourse.Units(1_000_001), bourse.Units(1_000_001)
	b.refuses(b.prepare(btc, p), e, signer.ErrAnother)
	p, e = b.payment(btc, 1, 1_000_000) // to another address
	b.refuses(b.prepare(btc, p), e, signer.ErrAnother)
}

// TestRefusesWhatWasNotJournaled changes one thing at a time, in what is
// expected and so in what the bytes should have done.
func TestRefusesWhatWasNotJournaled(t *testing.T) {
	b := newBench(t)
	elsewhere, err := b.nodes[btc].NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	p, e := b.payment(btc, 3, 1_000_000)
	u := b.prepare(btc, p)
	for name, change := range map[string]func(e *signer.Expect){
		"destination":  func(e *signer.Expect) { e.To.Address = elsewhere },
		"memo":         func(e *signer.Expect) { e.To.Memo = "1" },
		"amount":       func(e *signer.Expect) { e.Amount = bourse.Units(999_999) },
		"nothing":      func(e *signer.Expect) { e.Amount = bourse.Amount{} },
		"coin":         func(e *signer.Expect) { e.Coin = "LTC" },
		"cost":         func(e *signer.Expect) { e.CostCap = bourse.Units(1) },
		"network":      func(e *signer.Expect) { e.Network = eth },
		"no network":   func(e *signer.Expect) { e.Network = 9 },
		"no id":        func(e *signer.Expect) { e.ID = 0 },
		"kind":         func(e *signer.Expect) { e.Kind = 0 },
		"a sweep":      func(e *signer.Expect) { e.Kind, e.ID, e.Account = bourse.SignedSweep, 0, 1 },
		"from account": func(e *signer.Expect) { e.Account = 1 },
	} {
		wrong := e
		change(&wrong)
		t.Run(name, func(*testing.T) { b.refuses(u, wrong, signer.ErrMismatch) })
	}
	b.signs(u, e)
	b.refuses(chain.Unsigned{Raw: []byte("{}")}, e, signer.ErrMismatch)
	b.refuses(chain.Unsigned{Raw: b.signs(u, e).Raw}, e, signer.ErrMismatch)
}

// TestChainsAreApart opens no signer with two networks on one chain: each would have the limits of both.
func TestChainsAreApart(t *testing.T) {
	b := newBench(t)
	networks := map[bourse.NetworkID]signer.Network{}
	for id, name := range map[bourse.NetworkID]bourse.Symbol{1: "ETH", 2: "ETHER"} {
		account := b.account(eth)
		account.Name = name
		networks[id] = signer.Network{Account: account, Codec: b.clients[eth].Codec, Keys: b.keys[eth], Limit: b.limit}
	}
	_, err := signer.Open(memdisk.New(3), signer.Options{Networks: networks, Clock: b.clock, New: true, Exchange: sandbox})
	if err == nil || !strings.Contains(err.Error(), "ETH and ETHER are on the same chain") {
		t.Errorf("%v", err)
	}
}

func TestNonceIsTheJournals(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	e.Nonce = 1
	b.refuses(b.prepare(eth, p), e, signer.ErrMismatch)
	p.Nonce = 1
	b.signs(b.prepare(eth, p), e)
}

// TestSweepsGoHome signs a top-up and a sweep, and neither to anybody else.
func TestSweepsGoHome(t *testing.T) {
	b := newBench(t)
	client := b.clients[eth]
	top := chain.Payment{
		Kind: bourse.SignedTopUp, Coin: "ETH", Amount: bourse.Units(1e14), To: client.Destination(5), CostCap: bourse.Units(1e15),
	}
	e := signer.Expect{
		Network: eth, Kind: top.Kind, Coin: top.Coin, Amount: top.Amount, To: top.To, CostCap: top.CostCap, Account: 5,
	}
	u := b.prepare(eth, top)
	wrong := e
	wrong.Account = 6
	b.refuses(u, wrong, signer.ErrMismatch)
	signed := b.signs(u, e)
	if v, err := client.Broadcast(t.Context(), signed.Raw); err != nil || v.Kind != chain.Accepted {
		t.Fatal(v, err)
	}
	if _, err := b.nodes[eth].Mine(1); err != nil {
		t.Fatal(err)
	}
	sweep := chain.Payment{
		Kind: bourse.SignedSweep, Coin: "ETH", Amount: bourse.Units(2e9), To: client.Destination(chain.IndexHot), From: 5,
		CostCap: bourse.Units(1e15),
	}
	s := signer.Expect{
		Network: eth, Kind: sweep.Kind, Coin: "ETH", Amount: sweep.Amount, To: sweep.To, CostCap: sweep.CostCap, Account: 5,
	}
	u = b.prepare(eth, sweep)
	wrong = s
	wrong.Amount = bourse.Amount{}
	b.refuses(u, wrong, signer.ErrMismatch)
	wrong = s
	wrong.To = client.Destination(6)
	b.refuses(u, wrong, signer.ErrMismatch)
	first := b.signs(u, s)
	sweep.Amount, s.Amount = bourse.Units(1e9), bourse.Units(1e9)
	if other := b.signs(b.prepare(eth, sweep), s); other.Hash == first.Hash {
		t.Error("another sweep with the same nonce is the first one")
	}
	b.open()
	if b.recorded() != 3 {
		t.Errorf("%d of three are on record", b.recorded())
	}
}

// recorded returns how long the record is.
func (b *bench) recorded() int {
	text, err := disk.ReadFile(b.disk, "signed.log")
	if err != nil {
		b.t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

// recorded returns the record of two signatures.
func recorded(t *testing.T) []byte {
	t.Helper()
	b := newBench(t)
	for xid := range bourse.WalletID(2) {
		p, e := b.payment(btc, xid+1, 1_000)
		b.signs(b.prepare(btc, p), e)
	}
	whole, err := disk.ReadFile(b.disk, "signed.log")
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestDamagedRecord cuts what a crash left unfinished and refuses the rest.
func TestDamagedRecord(t *testing.T) {
	whole := recorded(t)
	for at := range whole {
		damaged := append([]byte(nil), whole...)
		damaged[at] ^= 1
		if opens(t, damaged) && at != len(whole)-1 {
			t.Fatalf("opens with byte %d damaged", at)
		}
		if !opens(t, whole[:at]) {
			t.Fatalf("does not open after a crash at byte %d", at)
		}
	}
}

// TestHoleInRecord takes a sector away that a crash kept from the disk. In the
// last line that is what a crash does; a line with another one behind it was
// durable.
func TestHoleInRecord(t *testing.T) {
	whole := recorded(t)
	const sector = 512
	end := bytes.IndexByte(whole, '\n')
	last := end + 1
	for from := 0; from < len(whole); from += sector {
		to := min(from+sector, len(whole))
		for _, span := range [][2]int{{from, min(to, end)}, {max(from, last), to}} {
			if span[0] >= span[1] {
				continue
			}
			holed := slices.Clone(whole)
			clear(holed[span[0]:span[1]])
			if got := opens(t, holed); got != (span[0] >= last) {
				t.Errorf("with a hole from %d to %d, and the last line from %d, it opens: %t", span[0], span[1], last, got)
			}
		}
	}
}

func opens(t *testing.T, text []byte) bool {
	d := memdisk.New(1)
	f, err := d.Create("signed.log")
	if err == nil {
		_, err = f.WriteAt(text, 0)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := signer.Open(d, signer.Options{New: true, Exchange: sandbox})
	return err == nil && s.Close() == nil
}

// TestFullDisk has no room for the record: nothing is signed, and with room it is,
// also after a start.
func TestFullDisk(t *testing.T) {
	b := newBench(t)
	first, e := b.payment(btc, 1, 1_000)
	b.signs(b.prepare(btc, first), e)
	second, want := b.payment(btc, 2, 2_000)
	u := b.prepare(btc, second)
	for room := range int64(3) {
		log, err := disk.ReadFile(b.disk, "signed.log")
		if err != nil {
			t.Fatal(err)
		}
		b.disk.SetCapacity(int64(len(log)) + 40*room)
		b.refuses(u, want, syscall.ENOSPC)
	}
	b.disk.SetCapacity(1 << 30)
	signed := b.signs(u, want)
	b.open()
	if again := b.signs(u, want); !bytes.Equal(again.Raw, signed.Raw) {
		t.Error("after a start another transaction is signed")
	}
}

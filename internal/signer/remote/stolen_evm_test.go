package remote_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// ask asks for the signature of a transaction.
func (f *forged) ask(t *testing.T, thief signer.Signer, e *signer.Expect) error {
	t.Helper()
	_, err := thief.Sign(t.Context(), chain.Unsigned{Raw: f.raw()}, *e)
	return err
}

// TestStolenEther has the exchange's credentials and takes coins and tokens of an EVM network. It gets the
// free amounts of an hour, one payment for each id and nonce.
func TestStolenEther(t *testing.T) {
	r := newEVMRig(t)
	thief, stranger := r.client(r.of(1, 1)), openEVM(t, 8)[eth-10].Codec
	stolen, most := map[chain.CoinID]uint64{}, uint64(0)
	for id := bourse.WalletID(1); id <= 120; id++ {
		to := stranger.Destination(uint32(id)).Address
		for _, amount := range []uint64{100_000, 1001, 1000, 101, 100} {
			f, e := r.ether(id, amount, to)
			if id%2 == 0 {
				f, e = r.tokens(id, amount, to)
			}
			switch err := f.ask(t, thief, &e); {
			case err == nil:
				stolen[e.Coin], most = stolen[e.Coin]+amount, max(most, amount)
			case !errors.Is(err, signer.ErrLimit):
				t.Errorf("%d to anybody: %v", amount, err)
			}
		}
	}
	if len(stolen) != 2 || stolen["ETH"] != 3000 || stolen[token] != 3000 || most != 100 {
		t.Errorf("%v were stolen, %d at most at once: want the 3000 of an hour of each, 100 at once", stolen, most)
	}

	// The nonce of a payment is not another's, and a further attempt pays the same.
	r.now += bourse.Hour
	f, e := r.ether(200, 100, stranger.Destination(200).Address)
	f.nonce, e.Nonce = 1, 1
	if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrNonce) {
		t.Errorf("the nonce of another payment: %v", err)
	}
	f, e = r.ether(1, 99, stranger.Destination(1).Address)
	e.Attempt = 1
	if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrAnother) {
		t.Errorf("another attempt with another amount: %v", err)
	}
	f, e = r.ether(1, 100, stranger.Destination(1).Address)
	f.nonce, e.Nonce, e.Attempt = 201, 201, 1
	if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrRival) {
		t.Errorf("another attempt with another nonce: %v", err)
	}
	f.nonce, e.Nonce, f.price = 1, 1, 4e9
	if err := f.ask(t, thief, &e); err != nil {
		t.Errorf("the same payment at a higher price: %v", err)
	}
}

// TestForgedEther changes one thing at a time in a payment that is free, and what is expected with it where that
// is consistent. Nothing of it is signed.
func TestForgedEther(t *testing.T) {
	r := newEVMRig(t)
	thief, ours := r.client(r.of(1, 1)), r.networks[eth-10].Codec
	stranger := openEVM(t, 8)[eth-10].Codec
	to, other := stranger.Destination(1).Address, stranger.Destination(2).Address
	at := func(address string) []byte { return bytesOf(t, address) }

	for name, change := range map[string]func(f *forged, e *signer.Expect){
		"another chain":            func(f *forged, _ *signer.Expect) { f.chain = 1 },
		"no chain":                 func(f *forged, _ *signer.Expect) { f.chain = 0 },
		"another recipient":        func(f *forged, _ *signer.Expect) { f.to = at(other) },
		"another amount":           func(f *forged, _ *signer.Expect) { f.value = units(101) },
		"more than an amount has":  func(f *forged, _ *signer.Expect) { f.value = append([]byte{1}, word(units(100))[16:]...) },
		"another nonce":            func(f *forged, _ *signer.Expect) { f.nonce++ },
		"a deposit's address pays": func(f *forged, _ *signer.Expect) { f.owner = 7 },
		"an address without a key": func(f *forged, _ *signer.Expect) { f.owner = 1 << 31 },
		"a new contract":           func(f *forged, _ *signer.Expect) { f.to, f.input = nil, []byte{0x60, 0} },
		"data":                     func(f *forged, _ *signer.Expect) { f.input = []byte{1} },
		"a call of approve":        func(f *forged, _ *signer.Expect) { f.input = call(approve, at(other), units(100)) },
		"an access list":           func(f *forged, _ *signer.Expect) { f.accesses = framed(nil, 0xc0, text(text(nil, at(token)), nil)) },
		"the type without a number": func(f *forged, _ *signer.Expect) {
			f.kind = legacyKind
		},
		"the type of access lists":   func(f *forged, _ *signer.Expect) { f.kind = 1 },
		"the type of blobs":          func(f *forged, _ *signer.Expect) { f.kind, f.more = 3, framed(number(nil, 1), 0xc0, nil) },
		"the type that sets code":    func(f *forged, _ *signer.Expect) { f.kind, f.more = 4, framed(nil, 0xc0, nil) },
		"a field too many":           func(f *forged, _ *signer.Expect) { f.more = number(nil, 1) },
		"a signature of itself":      func(f *forged, _ *signer.Expect) { f.more = number(number(number(nil, 1), 1), 1) },
		"bytes behind it":            func(f *forged, _ *signer.Expect) { f.behind = []byte{0} },
		"another envelope":           func(f *forged, _ *signer.Expect) { f.form = "etx\x02" },
		"a leading zero":             func(f *forged, _ *signer.Expect) { f.value = append([]byte{0}, f.value...) },
		"a tip above the price":      func(f *forged, _ *signer.Expect) { f.tip = f.price + 1 },
		"no gas":                     func(f *forged, _ *signer.Expect) { f.gas = 0 },
		"gas for anything":           func(f *forged, _ *signer.Expect) { f.gas = 300_001 },
		"a cost above its cap":       func(_ *forged, e *signer.Expect) { e.CostCap = bourse.Units(1e12) },
		"nothing":                    func(f *forged, e *signer.Expect) { f.value, e.Amount = nil, bourse.Amount{} },
		"to a listed contract":       func(f *forged, e *signer.Expect) { f.to, e.To.Address = at(token), token },
		"to nobody":                  func(f *forged, e *signer.Expect) { e.To.Address = "0x" + zeros; f.to = at(zeros) },
		"to a precompile":            func(f *forged, e *signer.Expect) { e.To.Address = "0x" + zeros[:39] + "4"; f.to = at(zeros[:39] + "4") },
		"passed off as tokens":       func(_ *forged, e *signer.Expect) { e.Coin = token },
		"passed off as another coin": func(_ *forged, e *signer.Expect) { e.Coin = unlisted },
		"passed off as a sweep":      func(_ *forged, e *signer.Expect) { e.Kind, e.ID, e.Account = bourse.SignedSweep, 0, 7 },
		"passed off as a top-up":     func(_ *forged, e *signer.Expect) { e.Kind, e.ID, e.Account = bourse.SignedTopUp, 0, 7 },
		"a sweep to a stranger": func(f *forged, e *signer.Expect) {
			f.owner, e.Kind, e.ID, e.Account = 7, bourse.SignedSweep, 0, 7
		},
		"a sweep to another deposit": func(f *forged, e *signer.Expect) {
			f.owner, e.Kind, e.ID, e.Account = 7, bourse.SignedSweep, 0, 7
			e.To = ours.Destination(8)
			f.to = at(e.To.Address)
		},
		"a sweep of the hot wallet": func(f *forged, e *signer.Expect) {
			e.Kind, e.ID, e.To = bourse.SignedSweep, 0, ours.Destination(chain.IndexHot)
			f.to = at(e.To.Address)
		},
	} {
		f, e := r.ether(3, 100, to)
		change(&f, &e)
		if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}

	f, e := r.ether(3, 100, to)
	f.price = 1e15 / f.gas
	if f.price++; !errors.Is(f.ask(t, thief, &e), signer.ErrMismatch) {
		t.Error("a cost above the cap of the journal is signed")
	}
	e.CostCap = bourse.Units(1e18)
	if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrLimit) {
		t.Errorf("a cost above the signer's own: %v", err)
	}
	r.nothingIsSigned()
	f, e = r.ether(3, 100, to)
	if err := f.ask(t, thief, &e); err != nil {
		t.Errorf("what nothing was changed in: %v", err)
	}
}

const zeros = "0000000000000000000000000000000000000000"

// nothingIsSigned wants an empty record.
func (r *rig) nothingIsSigned() {
	r.t.Helper()
	if _, list, err := r.local.After(r.t.Context(), eth-10, 0); err != nil || len(list) > 0 {
		r.t.Errorf("%d on record, %v", len(list), err)
	}
}

// TestForgedTokens calls contracts in ways that are no payment of a listed one.
func TestForgedTokens(t *testing.T) {
	r := newEVMRig(t)
	thief := r.client(r.of(1, 1))
	stranger := openEVM(t, 8)[eth-10].Codec
	to, other := stranger.Destination(1).Address, stranger.Destination(2).Address
	at := func(address string) []byte { return bytesOf(t, address) }

	for name, change := range map[string]func(f *forged, e *signer.Expect){
		"approve":             func(f *forged, _ *signer.Expect) { f.input = call(approve, at(to), units(100)) },
		"transferFrom":        func(f *forged, _ *signer.Expect) { f.input = call(transferFrom, at(to), at(to), units(100)) },
		"transfer to another": func(f *forged, _ *signer.Expect) { f.input = call(transfer, at(other), units(100)) },
		"transfer of more":    func(f *forged, _ *signer.Expect) { f.input = call(transfer, at(to), units(101)) },
		"transfer of more than an amount has": func(f *forged, _ *signer.Expect) {
			f.input = call(transfer, at(to), append([]byte{1}, word(units(100))[16:]...))
		},
		"words behind transfer": func(f *forged, _ *signer.Expect) { f.input = call(transfer, at(to), units(100), units(1)) },
		"bytes behind transfer": func(f *forged, _ *signer.Expect) { f.input = append(f.input, 0) },
		"half of transfer":      func(f *forged, _ *signer.Expect) { f.input = f.input[:36] },
		"a word that is no address": func(f *forged, _ *signer.Expect) {
			f.input = call(transfer, append([]byte{1}, at(to)...), units(100))
		},
		"no function":              func(f *forged, _ *signer.Expect) { f.input = nil },
		"coins with the call":      func(f *forged, _ *signer.Expect) { f.value = units(1) },
		"another contract":         func(f *forged, _ *signer.Expect) { f.to = at(unlisted) },
		"another contract by name": func(f *forged, e *signer.Expect) { f.to, e.Coin = at(unlisted), unlisted },
		"a deposit's address pays": func(f *forged, _ *signer.Expect) { f.owner = 7 },
		"passed off as coins":      func(_ *forged, e *signer.Expect) { e.Coin = "ETH" },
		"to the contract itself": func(f *forged, e *signer.Expect) {
			e.To.Address = token
			f.input = call(transfer, at(token), units(100))
		},
		"a top-up in tokens":         func(_ *forged, e *signer.Expect) { e.Kind, e.ID, e.Account = bourse.SignedTopUp, 0, 7 },
		"a sweep to a stranger":      func(f *forged, e *signer.Expect) { f.owner, e.Kind, e.ID, e.Account = 7, bourse.SignedSweep, 0, 7 },
		"the letters of the address": func(_ *forged, e *signer.Expect) { e.Coin = "0xdac17f958d2ee523a2206206994597c13d831ec7" },
	} {
		f, e := r.tokens(3, 100, to)
		change(&f, &e)
		if err := f.ask(t, thief, &e); !errors.Is(err, signer.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.nothingIsSigned()
	f, e := r.tokens(3, 100, to)
	if err := f.ask(t, thief, &e); err != nil {
		t.Errorf("what nothing was changed in: %v", err)
	}
}

// TestStolenGas moves the hot wallet to deposits' addresses, each time as the cost of a sweep, and burns what
// sweeps cost. It gets half of an hour's costs of either.
func TestStolenGas(t *testing.T) {
	r := newEVMRig(t)
	thief, ours := r.client(r.of(1, 1)), r.networks[eth-10].Codec
	topUp := func(account uint32, nonce, amount uint64) error {
		f, e := r.ether(1, amount, ours.Destination(account).Address)
		f.nonce, e.Nonce = nonce, nonce
		e.Kind, e.ID, e.Account = bourse.SignedTopUp, 0, account
		return f.ask(t, thief, &e)
	}
	if err := topUp(7, 0, 1e15+1); !errors.Is(err, signer.ErrLimit) {
		t.Errorf("a top-up above the cost of a transaction: %v", err)
	}
	for nonce := range uint64(60) {
		amount := uint64(5e14)
		if err := topUp(uint32(7+nonce), nonce, amount); (err == nil) != (nonce < 5) || err != nil && !errors.Is(err, signer.ErrCosts) {
			t.Errorf("top-up %d of %d: %v", nonce, amount, err)
		}
	}

	burned := 0
	for nonce := range uint64(60) {
		f, e := r.ether(1, 100, ours.Destination(chain.IndexHot).Address)
		f.owner, f.nonce, f.price, e.Nonce = 9, nonce, 4e9, nonce
		e.Kind, e.ID, e.Account = bourse.SignedSweep, 0, 9
		if err := f.ask(t, thief, &e); err == nil {
			burned++
		} else if !errors.Is(err, signer.ErrCosts) {
			t.Fatal(err)
		}
	}
	// Half of the costs of an hour is 2.5e15, of which five top-ups had 21,000 gas at 2e9 each.
	const want = 27
	if burned != want {
		t.Errorf("%d sweeps of 8.4e13 are signed, want %d", burned, want)
	}
}

package bitcoin

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// holder is a person with a key of cold storage.
func (f *frozen) holder(t testing.TB, seed byte) *Offline {
	t.Helper()
	if f.holders[seed] == nil {
		o, err := NewOffline(f.params, bytes.Repeat([]byte{seed}, 32), f.keys, f.cold, bourse.Units(100_000))
		if err != nil {
			t.Fatal(err)
		}
		f.holders[seed] = o
	}
	return f.holders[seed]
}

// frozen is an exchange with three outputs in cold storage, and the node that knows their transactions.
type frozen struct {
	*Client
	coins   []chain.Input
	holders map[byte]*Offline
}

// frozenBy returns an exchange whose cold storage has one of two descriptors, of the seeds 1 to 3.
func frozenBy(t testing.TB, several bool) *frozen {
	t.Helper()
	p := Lookup("regtest")
	var list []string
	for seed := range byte(3) {
		one, multi, err := ColdKeys(p, bytes.Repeat([]byte{seed + 1}, 32))
		if err != nil {
			t.Fatal(err)
		}
		if list = append(list, multi); !several {
			list = []string{one}
			break
		}
	}
	text := "wpkh(" + list[0] + ")"
	if several {
		text = "wsh(sortedmulti(2," + strings.Join(list, ",") + "))"
	}
	cold, err := p.ParseCold(text)
	if err != nil {
		t.Fatal(err)
	}

	made := map[string]string{}
	node := answering(t, func(method string, params []any) string {
		switch method {
		case "getrawtransaction":
			return `{"id":ID,"result":"` + made[params[0].(string)] + `"}`
		case "estimatesmartfee":
			return `{"id":ID,"result":{"feerate":0.00002}}`
		case "getmempoolinfo":
			return `{"id":ID,"result":{"mempoolminfee":0.00001}}`
		default:
			return `{"id":ID,"error":{"code":-5,"message":"none"}}`
		}
	})
	client, err := NewClient(p, keysOf(t, "regtest").Public(), Options{Node: node, Clock: func() bourse.Time { return 0 }, Cold: cold})
	if err != nil {
		t.Fatal(err)
	}
	f := &frozen{Client: client, holders: map[byte]*Offline{}}
	for i := range uint32(3) {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: i}, Witness: wire.TxWitness{{1}, {2}}})
		tx.AddTxOut(wire.NewTxOut(7, []byte{op1}))
		tx.AddTxOut(wire.NewTxOut(1_000_000, cold.script(998+i%2)))
		var b bytes.Buffer
		if err := tx.Serialize(&b); err != nil {
			t.Fatal(err)
		}
		made[tx.TxHash().String()] = hex.EncodeToString(b.Bytes())
		f.coins = append(f.coins, chain.Input{
			Outpoint: chain.Outpoint{Tx: chain.Hash(tx.TxHash()), Index: 1}, Owner: cold.First() + 998 + i%2,
			Coin: p.Coin, Amount: bourse.Units(1_000_000),
		})
	}
	return f
}

// spends is what the journal has.
func (f *frozen) spends(at chain.Outpoint) (chain.Input, bool) {
	for _, in := range f.coins {
		if in.Outpoint == at {
			return in, true
		}
	}
	return chain.Input{}, false
}

func (f *frozen) draft(t testing.TB, amount uint64, replaces ...[]byte) chain.Draft {
	t.Helper()
	d, err := f.Draft(t.Context(), &chain.Payment{
		Kind: bourse.SignedWarm, Coin: "BTC", Amount: bourse.Units(amount), Inputs: f.coins, Replaces: replaces,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sign has people sign a draft, each a copy of their own.
func (f *frozen) sign(t testing.TB, draft []byte, seeds ...byte) (all []byte) {
	t.Helper()
	for _, seed := range seeds {
		text, m, err := f.holder(t, seed).Sign(draft)
		if err != nil || m.Signed == 0 || m.Address != f.Destination(chain.IndexHot).Address {
			t.Fatalf("%+v, %v", m, err)
		}
		all = append(append(all, text...), '\n')
	}
	return all
}

// TestThaw drafts, signs and reads moves of one output and of several, by one key and by two of three.
func TestThaw(t *testing.T) {
	for _, several := range []bool{false, true} {
		f := frozenBy(t, several)
		for _, amount := range []uint64{400_000, 999_700, 1_500_000, 2_990_000} {
			t.Run(fmt.Sprintf("%t %d", several, amount), func(t *testing.T) {
				d := f.draft(t, amount)
				by := []byte{1}
				if several {
					by = []byte{3, 1}
				}
				raw, err := f.FromCold(f.sign(t, d.PSBT, by...), f.spends)
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.Decode(raw)
				if err != nil || !got.Signed || got.Cost != d.Cost {
					t.Fatalf("%+v, %v", got, err)
				}
				if hot := f.Destination(chain.IndexHot); got.Pays[0].To != hot || got.Pays[0].Amount != bourse.Units(amount) {
					t.Errorf("it pays %+v", got.Pays[0])
				}
				for _, change := range got.Pays[1:] {
					if owner, ours := f.Owner(change.To.Address, ""); !ours || owner.At != f.shape.Cold+999 {
						t.Errorf("change of %+v", owner)
					}
				}
				// The node's own weight tells the rate: 2 units a byte, and a byte for each signature that was shorter.
				s, err := f.params.open(raw)
				if err != nil {
					t.Fatal(err)
				}
				if least := costOf(s.weight(), 2_000); d.Cost.Less(least) || len(got.Pays) > 1 && least.Plus(bourse.Units(20)).Less(d.Cost) {
					t.Errorf("it costs %s, and its rate wants %s", d.Cost.Format(0), least.Format(0))
				}

				final := hex.EncodeToString(s.broadcastable())
				again, err := f.FromCold([]byte(final), f.spends)
				if err != nil || !bytes.Equal(again, raw) {
					t.Errorf("as the final transaction: %v", err)
				}
			})
		}
	}
}

// TestThawOutbids drafts another transaction in the place of one that was given up.
func TestThawOutbids(t *testing.T) {
	f := frozenBy(t, true)
	first := f.draft(t, 400_000)
	raw, err := f.FromCold(f.sign(t, first.PSBT, 1, 2), f.spends)
	if err != nil {
		t.Fatal(err)
	}
	f.coins[0], f.coins[2] = f.coins[2], f.coins[0] // another one would come first
	next := f.draft(t, 300_000, raw)
	d, err := f.params.open(raw)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePSBT(next.PSBT)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.tx.TxIn) != 3 || !first.Cost.Plus(costOf(d.weight(), relayRate)).Less(next.Cost) {
		t.Errorf("%d inputs for %s after %s", len(p.tx.TxIn), next.Cost.Format(0), first.Cost.Format(0))
	}
}

// TestThawLimits refuses what cannot be drafted.
func TestThawLimits(t *testing.T) {
	f := frozenBy(t, true)
	for amount, want := range map[uint64]error{3_000_000: chain.ErrFunds, 545: nil} {
		_, err := f.Draft(t.Context(), &chain.Payment{Coin: "BTC", Amount: bourse.Units(amount), Inputs: f.coins})
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%d: %v", amount, err)
		}
	}
	small := f.coins[0]
	small.Amount = bourse.Units(10)
	many := make([]chain.Input, chain.MaxInputs)
	for i := range many {
		many[i] = small
	}
	_, err := f.Draft(t.Context(), &chain.Payment{Coin: "BTC", Amount: bourse.Units(900), Inputs: many})
	if !errors.Is(err, errColdLong) {
		t.Errorf("with many outputs: %v", err)
	}
	f.coins[0].Amount = bourse.Units(999_999)
	_, err = f.Draft(t.Context(), &chain.Payment{Coin: "BTC", Amount: bourse.Units(900), Inputs: f.coins})
	if !errors.Is(err, chain.ErrOdd) {
		t.Errorf("an output of another amount: %v", err)
	}
}

// TestFromColdTrustsNothing changes what people bring: money goes nowhere but to the hot wallet and back.
func TestFromColdTrustsNothing(t *testing.T) {
	f := frozenBy(t, true)
	good := f.draft(t, 1_500_000).PSBT
	stranger := keyHashScript([20]byte{7})
	for name, c := range map[string]struct {
		change func(p *psbt)
		want   error
	}{
		"unchanged":      {func(*psbt) {}, nil},
		"later":          {func(p *psbt) { p.tx.LockTime, p.tx.TxIn[0].Sequence, p.tx.Version = 90, 1, 1 }, nil},
		"hot to another": {func(p *psbt) { p.tx.TxOut[0].PkScript = stranger }, errColdOutput},
		"change away":    {func(p *psbt) { p.tx.TxOut[1].PkScript = stranger }, errColdOutput},
		"to a customer": {func(p *psbt) {
			p.tx.TxOut[1].PkScript = keyHashScript(f.keys.program(1))
		}, errColdOutput},
		"beyond the last address": {func(p *psbt) { p.tx.TxOut[1].PkScript = f.cold.script(chain.ColdAddresses) }, errColdOutput},
		"hot twice":               {func(p *psbt) { p.tx.TxOut[1].PkScript = f.hotScript() }, errColdHotPay},
		"hot never":               {func(p *psbt) { p.tx.TxOut[0].PkScript = f.cold.script(3) }, errColdHotPay},
		"dear":                    {func(p *psbt) { p.tx.TxOut[1].Value = 1000 }, errColdCost},
		"more than it has":        {func(p *psbt) { p.tx.TxOut[1].Value = 900_000 }, errSum},
		"unknown output":          {func(p *psbt) { p.tx.TxIn[0].PreviousOutPoint.Index = 0 }, errColdInput},
		"output twice":            {func(p *psbt) { p.tx.TxIn[1].PreviousOutPoint = p.tx.TxIn[0].PreviousOutPoint }, errColdInput},
		"nothing":                 {func(p *psbt) { p.tx.TxOut[1].Value = 0 }, errColdInput},
	} {
		p, err := parsePSBT(good)
		if err != nil {
			t.Fatal(err)
		}
		c.change(p)
		// People who would sign anything.
		spent := &payment{tx: p.tx, cold: true}
		for i := range p.inputs {
			spent.inputs = append(spent.inputs, f.coins[i])
		}
		for i := range p.inputs {
			for _, seed := range []byte{1, 2} {
				if err := f.holder(t, seed).signInput(spent, i, &p.inputs[i]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := f.FromCold(p.encode(), f.spends); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := f.holder(t, 1).Sign(p.encode()); (err == nil) != (c.want == nil) {
			t.Errorf("%s: the key signs: %v", name, err)
		}
	}
}

// TestSignaturesOfCold wants as many signatures as the descriptor, each of everything and by a key of its own.
func TestSignaturesOfCold(t *testing.T) {
	f := frozenBy(t, true)
	draft := f.draft(t, 400_000).PSBT
	one := f.sign(t, draft, 1)
	if _, err := f.FromCold(one, f.spends); !errors.Is(err, errColdWitness) || !strings.Contains(err.Error(), "1 more") {
		t.Errorf("by one: %v", err)
	}
	if _, err := f.FromCold(bytes.Repeat(one, 2), f.spends); !errors.Is(err, errColdWitness) {
		t.Errorf("by one twice: %v", err)
	}
	if _, err := f.FromCold(bytes.Repeat(one, maxBrought+1), f.spends); !errors.Is(err, errBrought) {
		t.Errorf("by one often: %v", err)
	}
	other := f.sign(t, f.draft(t, 400_001).PSBT, 2)
	if _, err := f.FromCold(append(one, other...), f.spends); !errors.Is(err, errTogether) {
		t.Errorf("of another transaction: %v", err)
	}
	if _, err := f.FromCold(f.sign(t, draft, 1, 2, 3), f.spends); err != nil {
		t.Errorf("by all: %v", err)
	}

	p, err := parsePSBT(decoded(t, f.sign(t, draft, 2)))
	if err != nil {
		t.Fatal(err)
	}
	p.inputs[0].signatures[0].value[10] ^= 1
	wrong := base64.StdEncoding.EncodeToString(p.encode())
	if _, err := f.FromCold(append(one, wrong...), f.spends); !errors.Is(err, errColdWitness) {
		t.Errorf("a wrong one: %v", err)
	}

	raw, err := f.FromCold(f.sign(t, draft, 1, 2), f.spends)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)-300] ^= 1
	if _, err := f.Decode(raw); err == nil {
		t.Error("a changed transaction is taken")
	}
}

func decoded(t *testing.T, text []byte) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOfflineRefusals has a key sign nothing that it cannot check.
func TestOfflineRefusals(t *testing.T) {
	f := frozenBy(t, true)
	good := f.draft(t, 400_000).PSBT
	for name, change := range map[string]func(*psbt){
		"no previous transaction":    func(p *psbt) { p.inputs[0].previous = nil },
		"other previous transaction": func(p *psbt) { p.inputs[0].previous[5] ^= 1 },
		"dear":                       func(p *psbt) { p.tx.TxOut[1].Value -= 100_000 },
	} {
		p, err := parsePSBT(bytes.Clone(good))
		if err != nil {
			t.Fatal(err)
		}
		change(p)
		if _, _, err := f.holder(t, 1).Sign(p.encode()); err == nil {
			t.Errorf("%s: it signs", name)
		}
	}
	if _, err := NewOffline(f.params, bytes.Repeat([]byte{9}, 32), f.keys, f.cold, bourse.Units(1)); !errors.Is(err, errNotOurs) {
		t.Errorf("a seed of another: %v", err)
	}
	if _, _, err := f.holder(t, 1).Sign(f.sign(t, good, 1, 2)); !errors.Is(err, errOnePSBT) {
		t.Errorf("two at once: %v", err)
	}
}

// TestSignerRefusesCold has the exchange's own keys sign nothing of cold storage.
func TestSignerRefusesCold(t *testing.T) {
	f := frozenBy(t, false)
	raw, err := f.FromCold(f.sign(t, f.draft(t, 400_000).PSBT, 1), f.spends)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := keysOf(t, "regtest").Sign(raw); err == nil {
		t.Error("the hot keys sign it")
	}
	if _, err := NewCodec(f.params, f.keys).Decode(raw); err == nil {
		t.Error("a codec without cold storage takes it")
	}
}

// FuzzPSBT reads what people bring: what is taken is written and read again as the same.
func FuzzPSBT(f *testing.F) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1}})
	tx.AddTxOut(wire.NewTxOut(7, []byte{op1}))
	paths := []keyPath{{[]byte{2, 3}, [4]byte{1}, []uint32{84, 0}}}
	whole := psbt{tx: tx, outputs: []psbtOutput{{[]byte{op1}, paths}}, inputs: []psbtInput{{
		previous: []byte{1}, spent: wire.NewTxOut(9, []byte{op1}), script: []byte{op1}, paths: paths,
		signatures: []signature{{[]byte{2, 3}, []byte{4}}}, final: wire.TxWitness{{5}, nil},
	}}}
	f.Add(whole.encode())
	f.Add([]byte(base64.StdEncoding.EncodeToString(whole.encode())))
	f.Add([]byte(psbtMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := readSigned(b)
		if err != nil {
			return
		}
		for _, p := range list {
			again, err := parsePSBT(p.encode())
			if err != nil || !bytes.Equal(again.encode(), p.encode()) {
				t.Errorf("written and read again: %v", err)
			}
		}
	})
}

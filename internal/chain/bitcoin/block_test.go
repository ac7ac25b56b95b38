package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// TestRetarget holds the rule against the main network's history: a change, the least
// difficulty, and both bounds.
func TestRetarget(t *testing.T) {
	for _, c := range []struct {
		network  string
		bits     uint32
		from, to int64
		wants    uint32
	}{
		{"mainnet", 0x1d00ffff, 1261130161, 1262152739, 0x1d00d86a},
		{"mainnet", 0x1d00ffff, 1231006505, 1233061996, 0x1d00ffff},
		{"mainnet", 0x1c05a3f4, 1279008237, 1279297671, 0x1c0168fd},
		{"mainnet", 0x1c387f6f, 1263163443, 1269211443, 0x1d00e1fd},
		{"litecoin-mainnet", 0x1e0ffff0, 0, twoWeeks / 4, 0x1e0ffff0},
		{"litecoin-mainnet", 0x1e0ffff0, 0, 10 * twoWeeks, 0x1e0fffff},
	} {
		if got := Lookup(c.network).retarget(c.bits, c.to-c.from); got != c.wants {
			t.Errorf("%s: %08x in %d s is %08x, want %08x", c.network, c.bits, c.to-c.from, got, c.wants)
		}
	}
	if at := Lookup("mainnet").firstOf(2 * interval); at != interval {
		t.Errorf("the second period begins at %d", at)
	}
	if at := Lookup("litecoin-mainnet").firstOf(2 * interval); at != interval-1 {
		t.Errorf("Litecoin's second period begins at %d", at)
	}
}

func TestBits(t *testing.T) {
	for _, bits := range []uint32{0x1d00ffff, 0x207fffff, 0x1c05a3f4, 0x170e2632, 0x03123456, 0x02123400} {
		target, ok := expand(bits)
		if !ok || compress(target) != bits {
			t.Errorf("%08x is %x, %t, and back %08x", bits, target, ok, compress(target))
		}
	}
	for _, bits := range []uint32{0, 0x1d800000, 0x1d80ffff, 0x217fffff, 0xff00ffff, 0x00123456} {
		if target, ok := expand(bits); ok {
			t.Errorf("%08x is %x", bits, target)
		}
	}
	if target, _ := expand(0x1d00ffff); target.Cmp(new(big.Int).Lsh(big.NewInt(0xffff), 208)) != 0 {
		t.Errorf("the least difficulty's target is %x", target)
	}
}

// nobody owns no program.
var nobody = &owner{key: func(*[20]byte) bool { return false }}

// mainBlocks returns full blocks of the main network, which the module wire has for its own
// benchmarks.
func mainBlocks(t testing.TB) (blocks [][]byte) {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd/wire/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "testdata", "*.blk"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// recorded returns the blocks of testdata with the networks whose rules they keep. Those of the main network
// are the first with a reward and the first with a payment; those of the third test network, which has the
// rules of the fourth, are two of BIP 158's test vectors: old payments, and witnesses of scripts.
func recorded(t testing.TB) map[*Params][][]byte {
	t.Helper()
	blocks := map[*Params][][]byte{}
	for network, rules := range map[string]string{
		"regtest": "regtest", "litecoin-regtest": "litecoin-regtest", "mainnet": "mainnet", "testnet3": "testnet4",
	} {
		files, err := filepath.Glob(filepath.Join("testdata", network+"-*.block"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", network, files, err)
		}
		p := Lookup(rules)
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			blocks[p] = append(blocks[p], b)
		}
	}
	return blocks
}

// TestMainBlocks reads full blocks of the main network as wire does: the same transactions by
// the same names, with the work and the witnesses that the header claims.
func TestMainBlocks(t *testing.T) {
	p := Lookup("mainnet")
	for _, raw := range mainBlocks(t) {
		b, err := p.parseBlock(raw, nobody)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.checkWork(&b.header); err != nil {
			t.Error(err)
		}
		if h, some := b.height(); !some || h < heightFrom {
			t.Errorf("height %d, %t", h, some)
		}
		same(t, b, raw)
	}
}

// same compares a block with what wire reads.
func same(t *testing.T, b *rawBlock, raw []byte) {
	t.Helper()
	var want wire.MsgBlock
	if err := want.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if len(want.Transactions) != len(b.txs) || [32]byte(want.BlockHash()) != b.hash {
		t.Fatalf("%d transactions, want %d", len(b.txs), len(want.Transactions))
	}
	for i, tx := range want.Transactions {
		inputs, outputs := b.txs[i].parts()
		if [32]byte(tx.TxHash()) != b.hashes[i] || len(tx.TxIn) != len(inputs) || len(tx.TxOut) != len(outputs) {
			t.Fatalf("transaction %d is another", i)
		}
		for n, in := range tx.TxIn {
			if in.PreviousOutPoint.Hash != [32]byte(inputs[n].spent.Tx) || in.PreviousOutPoint.Index != inputs[n].spent.Index ||
				len(in.Witness) != int(inputs[n].items) ||
				len(in.Witness) > 0 && !bytes.Equal(in.Witness[len(in.Witness)-1], inputs[n].last) {
				t.Fatalf("input %d of transaction %d is another", n, i)
			}
		}
		for n, out := range tx.TxOut {
			if uint64(out.Value) != outputs[n].amount || !bytes.Equal(out.PkScript, outputs[n].script) {
				t.Fatalf("output %d of transaction %d is another", n, i)
			}
		}
	}
}

// TestChangedBlocks checks that no byte of a recorded block can change, be missing, or be added.
func TestChangedBlocks(t *testing.T) {
	for p, blocks := range recorded(t) {
		for _, raw := range blocks {
			good, err := p.parseBlock(raw, nobody)
			if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			if err := p.checkWork(&good.header); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			extended := good.txs[len(good.txs)-1].mweb
			for i := headerSize; i < len(raw) && !extended; i++ {
				changed := bytes.Clone(raw)
				changed[i] ^= 1
				if b, err := p.parseBlock(changed, nobody); err == nil {
					t.Fatalf("%s: byte %d of %d changed: %d transactions", p.Name, i, len(raw), len(b.txs))
				}
				if _, err := p.parseBlock(raw[:i], nobody); err == nil {
					t.Fatalf("%s: %d of %d bytes are a block", p.Name, i, len(raw))
				}
			}
			if _, err := p.parseBlock(append(bytes.Clone(raw), 0), nobody); err == nil && !extended {
				t.Errorf("%s: a byte more is no harm", p.Name)
			}
		}
	}
}

// TestMutatedTree checks that a list of transactions that ends in a repetition has no root.
func TestMutatedTree(t *testing.T) {
	leaf := func(i byte) []byte { h := sha256.Sum256([]byte{i}); return h[:] }
	three := bytes.Join([][]byte{leaf(1), leaf(2), leaf(3)}, nil)
	if _, err := merkleRoot(bytes.Clone(three)); err != nil {
		t.Error(err)
	}
	if _, err := merkleRoot(append(bytes.Clone(three), leaf(3)...)); !errors.Is(err, errMutated) {
		t.Errorf("four with the last twice: got %v", err)
	}
	six := bytes.Join([][]byte{three, leaf(4), leaf(5), leaf(6)}, nil)
	if _, err := merkleRoot(append(bytes.Clone(six), six[4*32:]...)); !errors.Is(err, errMutated) {
		t.Errorf("six with the last two twice: got %v", err)
	}
}

// TestWork checks that a header needs the work that it claims, and the network's least.
func TestWork(t *testing.T) {
	p := Lookup("mainnet")
	b, err := p.parseBlock(mainBlocks(t)[0], nobody)
	if err != nil {
		t.Fatal(err)
	}
	for _, bits := range []uint32{0x1600ffff, 0x1d010000, 0x207fffff, 0} {
		h := b.header
		h.bits = bits
		if err := p.checkWork(&h); !errors.Is(err, errWork) {
			t.Errorf("%08x: got %v", bits, err)
		}
	}
}

// FuzzBlock reads anything as a block. What both this package and wire take is the same.
func FuzzBlock(f *testing.F) {
	for _, blocks := range recorded(f) {
		for _, raw := range blocks {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{"regtest", "litecoin-regtest"} {
			p := Lookup(name)
			b, err := p.parseBlock(raw, nobody)
			if err != nil {
				continue
			}
			if !b.txs[len(b.txs)-1].mweb {
				same(t, b, raw)
			}
			b.height()
		}
	})
}

// FuzzTx reads anything as a transaction; wire takes the same, by the same name.
func FuzzTx(f *testing.F) {
	for p, blocks := range recorded(f) {
		for _, raw := range blocks {
			b, err := p.parseBlock(raw, nobody)
			if err != nil {
				f.Fatal(err)
			}
			for i := range b.txs {
				parts := [][]byte{b.txs[i].version, b.txs[i].body, b.txs[i].locktime}
				if w := b.txs[i].witness; w != nil {
					parts = [][]byte{b.txs[i].version, {0, flagWitness}, b.txs[i].body, w, b.txs[i].locktime}
				}
				f.Add(bytes.Join(parts, nil))
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := parseTx(raw)
		if err != nil || tx.mweb {
			return
		}
		tx.parts()
		var want wire.MsgTx
		if err := want.Deserialize(bytes.NewReader(raw)); err == nil && [32]byte(want.TxHash()) != tx.hash() {
			t.Errorf("%x has another name", raw)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	p := Lookup("mainnet")
	blocks := mainBlocks(b)
	own := hdkeys.NewOwners(func(account uint32) [20]byte {
		h := sha256.Sum256([]byte{byte(account), byte(account >> 8), byte(account >> 16), byte(account >> 24)})
		return [20]byte(h[:])
	})
	own.Watch(1_000_000)
	for _, reader := range []struct {
		name string
		read func(raw []byte) int
	}{
		{"ours", func(raw []byte) int {
			block, err := p.parseBlock(raw, &owner{key: own.Has})
			if err != nil {
				b.Fatal(err)
			}
			return len(block.txs)
		}},
		{"wire", func(raw []byte) int {
			var block wire.MsgBlock
			if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
				b.Fatal(err)
			}
			for _, tx := range block.Transactions {
				_ = tx.TxHash()
			}
			return len(block.Transactions)
		}},
	} {
		b.Run(reader.name, func(b *testing.B) {
			b.ReportAllocs()
			txs := 0
			for i := 0; b.Loop(); i++ {
				txs += reader.read(blocks[i%len(blocks)])
			}
			b.ReportMetric(float64(txs)/b.Elapsed().Seconds(), "tx/s")
		})
	}
}

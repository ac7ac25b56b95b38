package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// offline are the extended keys of people who hold cold storage: m/48h/1h/0h/2h of two seeds.
func offline(t *testing.T) (keys []*hdkeychain.ExtendedKey, descriptors []string) {
	t.Helper()
	for i := range byte(2) {
		key, err := hdkeychain.NewMaster(bytes.Repeat([]byte{50 + i}, 32), &chaincfg.RegressionNetParams)
		for _, step := range []uint32{48, 1, 0, 2} {
			if err == nil {
				key, err = key.Derive(hdkeychain.HardenedKeyStart + step)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		public, err := key.Neuter()
		if err != nil {
			t.Fatal(err)
		}
		branch, err := key.Derive(0)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, branch)
		descriptors = append(descriptors, fmt.Sprintf("[0000000%d/48h/1h/0h/2h]%s/0/*", i, public))
	}
	return keys, descriptors
}

// childrenOf returns the private keys of an address, in the order of their public ones.
func childrenOf(t *testing.T, keys []*hdkeychain.ExtendedKey, number uint32) (list []*btcec.PrivateKey) {
	t.Helper()
	for _, k := range keys {
		child, err := k.Derive(number)
		if err != nil {
			t.Fatal(err)
		}
		key, err := child.ECPrivKey()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, key)
	}
	slices.SortFunc(list, func(a, b *btcec.PrivateKey) int {
		return bytes.Compare(a.PubKey().SerializeCompressed(), b.PubKey().SerializeCompressed())
	})
	return list
}

// TestColdOnNode reads blocks that pay to cold storage and spend it, of one key and of two, and holds the sums against
// the node's.
func TestColdOnNode(t *testing.T) {
	if testing.Short() {
		return // it starts a node
	}
	kind := nodetest.Knots()
	t.Run(kind.Name, func(t *testing.T) { coldOnNode(t, kind) })
}

func coldOnNode(t *testing.T, kind *nodetest.Kind) {
	t.Helper()
	keys, list := offline(t)
	node := nodetest.Start(t, kind)
	out := nodetest.NewOutside(t, node)
	own, err := bitcoin.NewKeys(bitcoin.Lookup("regtest"), seed)
	if err != nil {
		t.Fatal(err)
	}

	for name, of := range map[string]struct {
		descriptor string
		signers    []*hdkeychain.ExtendedKey
	}{
		"one key":  {"wpkh(" + list[0] + ")", keys[:1]},
		"two keys": {"wsh(sortedmulti(2," + strings.Join(list, ",") + "))", keys},
	} {
		cold, err := bitcoin.Lookup("regtest").ParseCold(of.descriptor)
		if err != nil {
			t.Fatal(err)
		}
		network, err := bitcoin.NewClient(bitcoin.Lookup("regtest"), own.Public(), bitcoin.Options{
			Node: node.Client(node.URL, 2*time.Second), Cold: cold,
			Clock: func() bourse.Time { return bourse.TimeOf(time.Now()) },
		})
		if err != nil {
			t.Fatal(err)
		}

		coolOnNode(t, network, out, own)

		const number, amount, fee = 7, 50_000_000, 10_000
		index := network.Shape().Cold + number
		to := network.Destination(index)
		paid, err := out.Send(chain.Pay{To: to, Coin: "BTC", Amount: bourse.Units(amount)})
		if err != nil {
			t.Fatal(err)
		}
		credit := creditTo(t, network, out, to.Address)
		if credit.Amount != bourse.Units(amount) {
			t.Fatalf("%s: %+v", name, credit)
		}
		if has, err := network.Balance(t.Context(), to.Address, "BTC"); err != nil || has != credit.Amount {
			t.Errorf("%s: the node says %s, %v", name, has.Format(0), err)
		}

		at := chain.Outpoint{Tx: paid, Index: credit.Index}
		hot := scriptOf(t, network.Destination(chain.IndexHot).Address)
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash(at.Tx), Index: at.Index}})
		tx.AddTxOut(wire.NewTxOut(amount-fee, hot))
		signCold(t, tx, childrenOf(t, of.signers, number), amount)
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		node.Ask(nil, "sendrawtransaction", hex.EncodeToString(raw.Bytes()))

		b := next(t, network, out)
		debits := slices.Concat(debitsOf(b)...)
		want := chain.Debit{Address: to.Address, Coin: "BTC", Amount: bourse.Units(amount), Spent: at}
		if len(debits) != 1 || debits[0] != want {
			t.Errorf("%s: it sees %+v spent", name, debits)
		}
	}
}

// coolOnNode moves coins of the hot wallet to cold storage, and reads the block that has the move.
func coolOnNode(t *testing.T, network *bitcoin.Client, out *nodetest.Outside, own *bitcoin.Keys) {
	t.Helper()
	const funds, amount = 90_000_000, 40_000_000
	hot := network.Destination(chain.IndexHot)
	funded, err := out.Send(chain.Pay{To: hot, Coin: "BTC", Amount: bourse.Units(funds)})
	if err != nil {
		t.Fatal(err)
	}
	at := chain.Outpoint{Tx: funded, Index: creditTo(t, network, out, hot.Address).Index}

	to := network.Destination(network.Shape().Cold + chain.ColdAddresses - 1)
	fees, err := network.Fees(t.Context(), "BTC")
	if err != nil {
		t.Fatal(err)
	}
	u, err := network.Prepare(t.Context(), &chain.Payment{
		Kind: bourse.SignedCool, Coin: "BTC", Amount: bourse.Units(amount), To: to, CostCap: fees.Cost,
		Inputs: []chain.Input{{Outpoint: at, Owner: chain.IndexHot, Coin: "BTC", Amount: bourse.Units(funds)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, hash, err := own.Sign(u.Raw)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := network.Broadcast(t.Context(), raw); err != nil || v.Kind != chain.Accepted {
		t.Fatal(v, err)
	}

	left := bourse.Units(funds - amount).Minus(u.Cost)
	want := map[string]bourse.Amount{to.Address: bourse.Units(amount), network.Destination(chain.IndexChange).Address: left}
	for _, tx := range next(t, network, out).Txs {
		for _, c := range tx.Credits {
			if tx.Hash == hash && want[c.Address] != c.Amount {
				t.Errorf("%s has %s", c.Address, c.Amount.Format(0))
			}
			if tx.Hash == hash {
				delete(want, c.Address)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("the block has none of %v", want)
	}
}

// next mines a block and reads it.
func next(t *testing.T, network *bitcoin.Client, out *nodetest.Outside) *chain.Block {
	t.Helper()
	head, err := out.Mine(1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := network.Block(t.Context(), head.Height)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// creditTo mines a block and returns its credit to an address.
func creditTo(t *testing.T, network *bitcoin.Client, out *nodetest.Outside, to string) chain.Credit {
	t.Helper()
	for _, tx := range next(t, network, out).Txs {
		for _, c := range tx.Credits {
			if c.Address == to {
				return c
			}
		}
	}
	t.Fatalf("nothing arrives at %s", to)
	return chain.Credit{}
}

func debitsOf(b *chain.Block) (list [][]chain.Debit) {
	for i := range b.Txs {
		list = append(list, b.Txs[i].Debits)
	}
	return list
}

// scriptOf returns the script of an address of regtest.
func scriptOf(t *testing.T, text string) []byte {
	t.Helper()
	to, err := address.DecodeAddress(text, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	script, err := txscript.PayToAddrScript(to)
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// signCold signs the only input of a transaction with all keys of its address.
func signCold(t *testing.T, tx *wire.MsgTx, keys []*btcec.PrivateKey, amount int64) {
	t.Helper()
	hashes := txscript.NewTxSigHashes(tx, txscript.NewCannedPrevOutputFetcher(nil, 0))
	if len(keys) == 1 {
		script := append([]byte{0, 20}, address.Hash160(keys[0].PubKey().SerializeCompressed())...)
		witness, err := txscript.WitnessSignature(tx, hashes, 0, amount, script, txscript.SigHashAll, keys[0], true)
		if err != nil {
			t.Fatal(err)
		}
		tx.TxIn[0].Witness = witness
		return
	}

	multi := txscript.NewScriptBuilder().AddInt64(int64(len(keys)))
	for _, k := range keys {
		multi.AddData(k.PubKey().SerializeCompressed())
	}
	script, err := multi.AddInt64(int64(len(keys))).AddOp(txscript.OP_CHECKMULTISIG).Script()
	if err != nil {
		t.Fatal(err)
	}
	tx.TxIn[0].Witness = wire.TxWitness{nil}
	for _, k := range keys {
		signature, err := txscript.RawTxInWitnessSignature(tx, hashes, 0, amount, script, txscript.SigHashAll, k)
		if err != nil {
			t.Fatal(err)
		}
		tx.TxIn[0].Witness = append(tx.TxIn[0].Witness, signature)
	}
	tx.TxIn[0].Witness = append(tx.TxIn[0].Witness, script)
}

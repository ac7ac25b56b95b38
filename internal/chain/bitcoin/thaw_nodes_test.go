package bitcoin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestThawOnNode brings coins back from cold storage, of one key and of two of three, signed by a node and by a key of ours.
// The node reads the drafts as we do, and takes what was signed.
func TestThawOnNode(t *testing.T) {
	if testing.Short() {
		return // it starts a node
	}
	kind := nodetest.Knots()
	t.Run(kind.Name, func(t *testing.T) {
		node := nodetest.Start(t, kind)
		out := nodetest.NewOutside(t, node)
		t.Run("one key", func(t *testing.T) { thawOnNode(t, node, out, false) })
		t.Run("two of three keys", func(t *testing.T) { thawOnNode(t, node, out, true) })
	})
}

// coldSeed is the seed of a person with a key of cold storage.
func coldSeed(person byte) []byte { return bytes.Repeat([]byte{person + 70}, 32) }

// descriptors returns the descriptor of cold storage, and the same with the private key of the first person.
func descriptors(t *testing.T, several bool) (public, private string) {
	t.Helper()
	var keys []string
	for person := range byte(3) {
		one, multi, err := bitcoin.ColdKeys(bitcoin.Lookup("regtest"), coldSeed(person))
		if err != nil {
			t.Fatal(err)
		}
		if !several {
			keys = append(keys, one)
			break
		}
		keys = append(keys, multi)
	}
	wrapped := "wpkh(%s)"
	path := []uint32{84, 1, 0}
	if several {
		wrapped, path = "wsh(sortedmulti(2,%s))", []uint32{48, 1, 0, 2}
	}
	public = fmt.Sprintf(wrapped, strings.Join(keys, ","))

	key, err := hdkeychain.NewMaster(coldSeed(0), &chaincfg.RegressionNetParams)
	for _, step := range path {
		if err == nil {
			key, err = key.Derive(hdkeychain.HardenedKeyStart + step)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	keys[0] = key.String() + "/0/*"
	return public, fmt.Sprintf(wrapped, strings.Join(keys, ","))
}

func thawOnNode(t *testing.T, node *nodetest.Node, out *nodetest.Outside, several bool) {
	t.Helper()
	public, private := descriptors(t, several)
	p := bitcoin.Lookup("regtest")
	cold, err := p.ParseCold(public)
	if err != nil {
		t.Fatal(err)
	}
	own, err := bitcoin.NewKeys(p, seed)
	if err != nil {
		t.Fatal(err)
	}
	network, err := bitcoin.NewClient(p, own.Public(), bitcoin.Options{
		Node: node.Client(node.URL, 10*time.Second), Cold: cold, Clock: func() bourse.Time { return bourse.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}

	const each, amount = 50_000_000, 70_000_000
	coins := map[chain.Outpoint]chain.Input{}
	ask := &chain.Payment{Kind: bourse.SignedWarm, Coin: "BTC", Amount: bourse.Units(amount)}
	for number := range uint32(2) {
		to := network.Destination(network.Shape().Cold + 5*number)
		paid, err := out.Send(chain.Pay{To: to, Coin: "BTC", Amount: bourse.Units(each)})
		if err != nil {
			t.Fatal(err)
		}
		in := chain.Input{
			Outpoint: chain.Outpoint{Tx: paid, Index: creditTo(t, network, out, to.Address).Index},
			Owner:    network.Shape().Cold + 5*number, Coin: "BTC", Amount: bourse.Units(each),
		}
		coins[in.Outpoint], ask.Inputs = in, append(ask.Inputs, in)
	}
	draft, err := network.Draft(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(draft.PSBT)
	agrees(t, node, text, draft.Cost, several)

	var byNode struct {
		PSBT     string `json:"psbt"`
		Complete bool   `json:"complete"`
	}
	node.Ask(&byNode, "descriptorprocesspsbt", text, []any{map[string]any{"desc": private, "range": []int{0, 999}}})
	if byNode.Complete == several {
		t.Fatalf("signed by the node: %+v", byNode)
	}
	signed := byNode.PSBT
	if several {
		o, err := bitcoin.NewOffline(p, coldSeed(2), own.Public(), cold, bourse.Units(100_000))
		if err != nil {
			t.Fatal(err)
		}
		ours, m, err := o.Sign([]byte(text))
		if err != nil || m.Hot != bourse.Units(amount) || m.Cost != draft.Cost {
			t.Fatalf("%+v, %v", m, err)
		}
		signed += "\n" + ours
		node.Ask(&text, "combinepsbt", []string{byNode.PSBT, ours})
	} else {
		text = byNode.PSBT
	}

	raw, err := network.FromCold([]byte(signed), func(at chain.Outpoint) (chain.Input, bool) { in, ok := coins[at]; return in, ok })
	if err != nil {
		t.Fatal(err)
	}
	var final struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	node.Ask(&final, "finalizepsbt", text)
	if !final.Complete || !strings.HasSuffix(hex.EncodeToString(raw), final.Hex) {
		t.Errorf("the node makes %s of it, and we %x", final.Hex, raw)
	}

	if v, err := network.Broadcast(t.Context(), raw); err != nil || v.Kind != chain.Accepted {
		t.Fatal(v, err)
	}
	if at, err := network.State(t.Context(), raw); err != nil || at.Status != chain.TxWaiting {
		t.Errorf("%+v, %v", at, err)
	}
	hot := network.Destination(chain.IndexHot).Address
	b := next(t, network, out)
	for _, tx := range b.Txs {
		if len(tx.Debits) == 2 && len(tx.Credits) == 2 && tx.Credits[0].Address == hot && tx.Credits[0].Amount == bourse.Units(amount) {
			return
		}
	}
	t.Errorf("the block has %+v", b.Txs)
}

// keyPath is a path of a key in what the node reads.
type keyPath struct {
	Path string `json:"path"`
}

// agrees holds a draft against what the node reads of it.
func agrees(t *testing.T, node *nodetest.Node, text string, cost bourse.Amount, several bool) {
	t.Helper()
	var read struct {
		Fee    float64 `json:"fee"`
		Inputs []struct {
			Paths    []keyPath `json:"bip32_derivs"`
			Previous struct {
				ID string `json:"txid"`
			} `json:"non_witness_utxo"`
			Script struct {
				Type string `json:"type"`
			} `json:"witness_script"`
		} `json:"inputs"`
		Outputs []struct {
			Paths []keyPath `json:"bip32_derivs"`
		} `json:"outputs"`
	}
	node.Ask(&read, "decodepsbt", text)
	keys, script, first := 1, "", "m/84h/1h/0h/0/0"
	if several {
		keys, script, first = 3, "multisig", "m/48h/1h/0h/2h/0/0"
	}
	if got := fmt.Sprintf("%.8f", read.Fee); got != cost.Format(8) && got != "0"+cost.Format(8) {
		t.Errorf("the node reads a fee of %s, and it is %s", got, cost.Format(8))
	}
	if len(read.Inputs) != 2 || len(read.Outputs) != 2 || len(read.Outputs[1].Paths) != keys {
		t.Fatalf("the node reads %+v", read)
	}
	in := read.Inputs[0]
	if len(in.Paths) != keys || in.Script.Type != script || in.Previous.ID == "" ||
		strings.ReplaceAll(in.Paths[0].Path, "'", "h") != first {
		t.Errorf("the node reads the input %+v", in)
	}

	var analyzed struct {
		Fee  float64 `json:"fee"`
		Next string  `json:"next"`
	}
	node.Ask(&analyzed, "analyzepsbt", text)
	if analyzed.Fee != read.Fee || analyzed.Next != "signer" {
		t.Errorf("the node analyzes %+v", analyzed)
	}
}

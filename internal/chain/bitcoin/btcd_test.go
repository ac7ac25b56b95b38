package bitcoin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/rpc"
)

// TestNoIndex asks a node without an index about a transaction, which may be mined for all it knows.
func TestNoIndex(t *testing.T) {
	for text, want := range map[string]error{
		"No information available about transaction 01":                                                   nil,
		"The transaction index must be enabled to query the blockchain (specify --txindex)":               chain.ErrOdd,
		"No such mempool transaction. Use -txindex or provide a block hash":                               chain.ErrOdd,
		"No such mempool transaction. Blockchain transactions are still in the process of being indexed.": chain.ErrOdd,
	} {
		c := asking(t, map[string]string{"getrawtransaction": `{"error":{"code":-5,"message":"` + text + `"},"id":ID}`})
		if place, err := c.place(t.Context(), chain.Hash{1}); !errors.Is(err, want) || place != (txPlace{}) {
			t.Errorf("%s: got %v, %v", text, place, err)
		}
	}
}

// TestWithoutREST reads blocks of a node that ends the connection of a request for a resource, as btcd
// does. It is asked for one once. A node that served a block by REST and ends a connection has failed.
func TestWithoutREST(t *testing.T) {
	var serves, down, asked atomic.Bool
	c := asking(t, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			asked.Store(true)
		}
		switch {
		case r.Method == http.MethodGet && serves.Load():
			_, _ = w.Write([]byte{1})
		case r.Method == http.MethodGet || down.Load():
			panic(http.ErrAbortHandler)
		default:
			var q struct {
				ID uint64 `json:"id"`
			}
			_ = json.NewDecoder(r.Body).Decode(&q)
			_, _ = fmt.Fprintf(w, `{"result":"02","id":%d}`, q.ID)
		}
	}))
	defer s.Close()
	node, err := rpc.New(rpc.Options{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	c.options.Node = node
	want := func(raw string, asks bool, err error) {
		t.Helper()
		asked.Store(false)
		got, e := c.blockBytes(t.Context(), chain.Hash{1})
		if string(got) != raw || !errors.Is(e, err) || asked.Load() != asks {
			t.Errorf("got %x, %v, asked for a resource: %t; want %x, %v, %t", got, e, asked.Load(), raw, err, asks)
		}
	}

	down.Store(true)
	want("", true, chain.ErrSilent) // the node is away
	down.Store(false)
	want("\x02", true, nil)
	want("\x02", false, nil)

	c = asking(t, nil)
	c.options.Node = node
	serves.Store(true)
	want("\x01", true, nil)
	serves.Store(false)
	want("", true, chain.ErrSilent)
	serves.Store(true)
	want("\x01", true, nil)
}

// TestSearch counts the outputs of an address by btcd's index of addresses: two pages, one transaction
// on both of them.
func TestSearch(t *testing.T) {
	k := keysOf(t, "simnet")
	address := NewCodec(k.params, k.Public()).Destination(1).Address
	script, _, err := k.params.scriptOf(address)
	if err != nil {
		t.Fatal(err)
	}
	// Each pays the address 7 units and another one 5.
	var list []string
	for i := range searchPage + 2 {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
		tx.AddTxOut(wire.NewTxOut(5, []byte{0x51}))
		tx.AddTxOut(wire.NewTxOut(7, script))
		var raw bytes.Buffer
		_ = tx.Serialize(&raw)
		list = append(list, fmt.Sprintf(`{"hex":"%x","txid":%q}`, raw.Bytes(), tx.TxID()))
	}
	pages := map[float64]string{
		0: strings.Join(list[:searchPage], ","), searchPage: strings.Join(list[searchPage-1:searchPage+1], ","),
	}

	unspent := `{"bestblock":"` + formatHash(chain.Hash{3}) + `"}`
	spent := 0
	c := asking(t, nil)
	c.options.Node = answering(t, func(method string, params []any) string {
		switch {
		case method == "searchrawtransactions":
			return `{"result":[` + pages[params[2].(float64)] + `],"id":ID}`
		case method == "gettxout" && params[1] == 1.0 && params[2] == false:
			if spent++; spent <= 3 {
				return `{"result":null,"id":ID}`
			}
			return `{"result":` + unspent + `,"id":ID}`
		}
		return `{"error":{"code":-32601,"message":"Method not found"},"id":ID}`
	})
	c.Codec = NewCodec(k.params, k.Public())
	if sum, err := c.Balance(t.Context(), address, "BTC"); err != nil || sum != bourse.Units(7*(searchPage+1-3)) {
		t.Errorf("got %s, %v", sum.Format(0), err)
	}

	other := strings.Replace(list[1], `"txid":"`, `"txid":"0`, 1)
	for page, want := range map[string]error{
		"": chain.ErrOdd, `{}`: chain.ErrOdd, other: chain.ErrOdd, list[1]: nil,
		strings.Join(list, ","): chain.ErrOdd, // more than it was asked for
		strings.Replace(list[1], list[1][len(list[1])-10:], list[2][len(list[2])-10:], 1): chain.ErrOdd,
	} {
		pages[0] = page
		if sum, err := c.Balance(t.Context(), address, "BTC"); !errors.Is(err, want) {
			t.Errorf("%.80s: got %s, %v", page, sum.Format(0), err)
		}
	}
}

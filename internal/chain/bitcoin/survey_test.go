package bitcoin

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestSurvey tells operators what a node lacks.
func TestSurvey(t *testing.T) {
	var genesis bytes.Buffer
	if err := chaincfg.MainNetParams.GenesisBlock.Header.Serialize(&genesis); err != nil {
		t.Fatal(err)
	}
	hash := formatHash(Lookup("mainnet").Genesis)
	for _, c := range []struct {
		info, index string
		has, lacks  string
		behind      uint64
	}{
		{`"blocks":7,"headers":7`, `{"txindex":{"synced":true}}`, "index history", "rest", 0},
		{`"blocks":7,"headers":9`, `{}`, "history", "index rest", 2},
		{`"blocks":7,"headers":7,"pruned":true,"pruneheight":3`, `{"txindex":{"synced":true}}`, "index", "history rest", 0},
		{`"blocks":7,"headers":7,"pruned":true,"pruneheight":0`, `{"txindex":{"synced":true}}`, "index history", "rest", 0},
	} {
		s, err := asking(t, map[string]string{
			"getblockhash": `{"result":"` + hash + `","id":ID}`, "getindexinfo": `{"result":` + c.index + `,"id":ID}`,
			"getblockchaininfo": `{"result":{` + c.info + `,"bestblockhash":"` + hash + `"},"id":ID}`,
			"getblockheader":    `{"result":"` + hex.EncodeToString(genesis.Bytes()) + `","id":ID}`,
			"getnetworkinfo":    `{"result":{"subversion":"/Node:1/"},"id":ID}`,
		}).Survey(t.Context())
		if err != nil || s.Chain != Lookup("mainnet").Identity() || s.Software != "/Node:1/" || s.Head.Height != 7 || s.Behind != c.behind {
			t.Errorf("%s: %+v, %v", c.info, s, err)
		}
		has, lacks := "", ""
		for _, a := range s.Abilities {
			if a.Has {
				has += " " + a.Name
			} else {
				lacks += " " + a.Name
			}
		}
		if strings.TrimSpace(has) != c.has || strings.TrimSpace(lacks) != c.lacks {
			t.Errorf("%s: it has%s and lacks%s", c.info, has, lacks)
		}
	}
}

// TestOtherChain tells a node of another chain from one that is not so far yet.
func TestOtherChain(t *testing.T) {
	main, test := formatHash(Lookup("mainnet").Genesis), formatHash(Lookup("testnet4").Genesis)
	for answer, want := range map[string]error{
		`{"result":"` + main + `","id":ID}`:                                   nil,
		`{"result":"` + test + `","id":ID}`:                                   chain.ErrOtherChain,
		`{"error":{"code":-8,"message":"Block height out of range"},"id":ID}`: chain.ErrNoBlock,
	} {
		if err := asking(t, map[string]string{"getblockhash": answer}).CheckChain(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: %v", answer, err)
		}
	}

	c := asking(t, map[string]string{"getblockhash": `{"result":"` + main + `","id":ID}`})
	c.options.Start = &chain.BlockRef{Height: 5, Hash: Lookup("testnet4").Genesis}
	if err := c.CheckChain(t.Context()); !errors.Is(err, chain.ErrOtherChain) || !errors.Is(err, chain.ErrOdd) {
		t.Errorf("another block at the height of start: %v", err)
	}
}

// TestPruned tells a block that the node threw away from an answer that is odd.
func TestPruned(t *testing.T) {
	main := formatHash(Lookup("mainnet").Genesis)
	for text, want := range map[string]bool{
		"Block not available (pruned data)":          true,
		"Block not available (not fully downloaded)": false,
	} {
		_, err := asking(t, map[string]string{
			"getblockhash": `{"result":"` + main + `","id":ID}`, "getblock": `{"error":{"code":-1,"message":"` + text + `"},"id":ID}`,
		}).Block(t.Context(), 7)
		if errors.Is(err, chain.ErrPruned) != want || !errors.Is(err, chain.ErrOdd) || want && !strings.Contains(err.Error(), "block 7") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

package cosmos

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// Params defines one network.
type Params struct {
	// Chain is the chain id, which each signature covers.
	Chain string
	// Prefix begins addresses.
	Prefix string
	// Coin is the coin of fees, Denom its denomination and Decimals those of the denomination.
	Coin     chain.CoinID
	Denom    string
	Decimals uint8
	// Tokens are the other listed coins. The id of each is its denomination.
	Tokens []chain.Coin
	// ByHand is true if blocks come on demand, so that a head may be old.
	ByHand bool
}

// known are the chains that the adapter connects to. Test chains are told by the signer's list, and not here.
var known = []Params{
	{Chain: "cosmoshub-4", Prefix: "cosmos", Coin: "ATOM", Denom: "uatom", Decimals: 6},
	{Chain: "provider", Prefix: "cosmos", Coin: "ATOM", Denom: "uatom", Decimals: 6},
	{Chain: "dev-1", Prefix: "cosmos", Coin: "ATOM", Denom: "uatom", Decimals: 6, ByHand: true},
}

// All returns the known chains, without tokens.
func All() []*Params {
	list := make([]*Params, len(known))
	for i := range known {
		p := known[i]
		list[i] = &p
	}
	return list
}

// Lookup returns a chain by its id.
func Lookup(id string) (*Params, error) {
	var ids []string
	for _, p := range All() {
		if p.Chain == id {
			return p, nil
		}
		ids = append(ids, p.Chain)
	}
	return nil, fmt.Errorf("params of the adapter cosmos are the chain id, of %s", strings.Join(ids, ", "))
}

// Identity returns the chain's identity, which a signer pins.
func (p *Params) Identity() string { return "cosmos:" + p.Chain }

// maxAge bounds the age of the head of an operating network; zero for no bound.
func (p *Params) maxAge() bourse.Time {
	if p.ByHand {
		return 0
	}
	return 5 * bourse.Minute
}

// purpose and coinType are the hardened indices of BIP 44 and of Atom in SLIP 44.
const purpose, coinType = 44, 118

func form() *hdkeys.Form {
	return &hdkeys.Form{Network: "a Cosmos network", Purpose: purpose, CoinType: coinType, Versions: &chaincfg.MainNetParams}
}

// ParseKeys reads the exchange's public keys: [FINGERPRINT/44h/118h/ACCOUNTh]XPUB. A private key is refused.
func ParseKeys(s string) (*hdkeys.Public, error) { return form().Parse(s) }

// ParseRef reads a block's height and hash, as HEIGHT:HASH.
func ParseRef(s string) (*chain.BlockRef, error) {
	number, text, _ := strings.Cut(s, ":")
	height, err := strconv.ParseUint(number, 10, 53)
	h, ok := parseHash(text)
	if err != nil || !ok {
		return nil, errors.New("start is like HEIGHT:HASH")
	}
	return &chain.BlockRef{Height: height, Hash: h}, nil
}

// formatHash writes a hash in the network's form.
func formatHash(h chain.Hash) string { return strings.ToUpper(hex.EncodeToString(h[:])) }

// parseHash reads a hash in either case.
func parseHash(s string) (h chain.Hash, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	return chain.Hash(b), true
}

// maxDenom bounds a denomination, in bytes.
const maxDenom = 128

// isDenom reports whether a text is a denomination: a letter, and then at least two letters, digits or marks.
func isDenom(s string) bool {
	if len(s) < 3 || len(s) > maxDenom {
		return false
	}
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && !strings.ContainsRune("/:._-", rune(c))) {
			return false
		}
	}
	return true
}

// Moves reports whether a listed coin's id is a denomination of its own on this chain.
func (p *Params) Moves(id chain.CoinID) bool {
	return isDenom(string(id)) && string(id) != p.Denom && id != p.Coin
}

package evm

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/hdkeys"
)

// etherDecimals is the number of decimals of every native coin's smallest unit.
const etherDecimals = 18

// Params defines one network.
type Params struct {
	// Chain is the chain id, which each signature covers.
	Chain uint64
	// Coin is the native coin.
	Coin chain.CoinID
	// Tokens are the listed tokens. The id of each is its contract's address.
	Tokens []chain.Coin
}

// localChains are test chains that make blocks on demand, so that a head may be old.
var localChains = []uint64{1337, 31337}

// ParseChain reads a chain id.
func ParseChain(s string) (uint64, error) {
	id, err := strconv.ParseUint(s, 10, 53)
	if err != nil || id == 0 || strconv.FormatUint(id, 10) != s {
		return 0, errors.New("params of the adapter evm are the chain id, such as 11155111")
	}
	return id, nil
}

// Identity returns the chain's identity, which a signer pins.
func (p *Params) Identity() string { return "evm:" + strconv.FormatUint(p.Chain, 10) }

// maxAge bounds the age of the head of an operating network; zero for no bound.
func (p *Params) maxAge() bourse.Time {
	if slices.Contains(localChains, p.Chain) {
		return 0
	}
	return 5 * bourse.Minute
}

// purpose and coinType are the hardened indices of BIP 44 and of Ether in SLIP 44, which all
// networks of the family share.
const purpose, coinType = 44, 60

// form is the form of the keys, which is the same for all networks of the family.
func form() *hdkeys.Form {
	return &hdkeys.Form{
		Network: "an EVM network", Purpose: purpose, CoinType: coinType, Versions: &chaincfg.MainNetParams,
	}
}

// ParseKeys reads the exchange's public keys: [FINGERPRINT/44h/60h/ACCOUNTh]XPUB. A private key is
// refused.
func ParseKeys(s string) (*hdkeys.Public, error) { return form().Parse(s) }

// ParseRef reads a block's height and hash, as HEIGHT:HASH.
func ParseRef(s string) (*chain.BlockRef, error) {
	number, hash, _ := strings.Cut(s, ":")
	height, err := strconv.ParseUint(number, 10, 53)
	h, ok := parseHash(hash)
	if err != nil || !ok {
		return nil, errors.New("start is like HEIGHT:0xHASH")
	}
	return &chain.BlockRef{Height: height, Hash: h}, nil
}

// IsContract reports whether a coin's id is an address with its checksum.
func IsContract(id chain.CoinID) bool {
	_, err := parseAddress(string(id))
	return err == nil
}

// contracts returns the listed tokens by their addresses.
func (p *Params) contracts() (map[address]chain.Coin, error) {
	list := map[address]chain.Coin{}
	for _, t := range p.Tokens {
		a, err := parseAddress(string(t.ID))
		if err != nil {
			return nil, fmt.Errorf("contract %q: %w", t.ID, err)
		}
		list[a] = t
	}
	return list, nil
}

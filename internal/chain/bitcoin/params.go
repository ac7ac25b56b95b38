package bitcoin

import (
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// rule is a network's rule for the difficulty of the next block.
type rule uint8

const (
	// ruleRetarget changes the difficulty every 2,016 blocks.
	ruleRetarget rule = iota + 1
	// ruleConstant keeps the least difficulty.
	ruleConstant
	// ruleLoose accepts any difficulty: networks of tests that lower theirs when blocks are
	// late. Their coins are worth nothing.
	ruleLoose
)

// Params defines one network.
type Params struct {
	// Name is the network's name in settings.
	Name string
	// Coin is its only coin.
	Coin chain.CoinID
	// Genesis is the hash of block 0, which tells networks apart.
	Genesis chain.Hash
	// Test is true if the network's coins are worth nothing.
	Test bool

	// base carries the versions of extended keys.
	base *chaincfg.Params
	// scheme begins payment URIs.
	scheme string
	// hrp begins addresses of BIP 173.
	hrp string
	// pubKeyHash and scriptHash are the version bytes of older addresses.
	pubKeyHash, scriptHash byte
	// coinType is the hardened index of BIP 44.
	coinType uint32

	rule rule
	// limit is the least difficulty, as bits of a header.
	limit uint32
	// timespan is the intended time of 2,016 blocks, in seconds.
	timespan int64
	// litecoin is true for Litecoin's proof of work (scrypt), its rule of retargeting, and
	// extension blocks.
	litecoin bool
	// maxAge bounds the age of the head of an operating network; zero for no bound.
	maxAge bourse.Time
	// floor and cap are the defaults of the fee rate, in units per 1,000 virtual bytes.
	floor, cap uint64
}

// Identity returns the name of the chain by which signers know it: its first block's hash.
func (p *Params) Identity() string { return identity(p.Genesis) }

func identity(genesis chain.Hash) string { return "bitcoin:" + formatHash(genesis) }

// twoWeeks is Bitcoin's intended time of 2,016 blocks, in seconds; Litecoin's is a quarter.
const twoWeeks = 14 * 24 * 60 * 60

// All returns the known networks.
func All() []*Params {
	bitcoins := []struct {
		of    *chaincfg.Params
		rule  rule
		test  bool
		fresh bourse.Time
	}{
		{&chaincfg.MainNetParams, ruleRetarget, false, 2 * bourse.Hour},
		{&chaincfg.TestNet4Params, ruleLoose, true, 2 * bourse.Hour},
		{&chaincfg.SigNetParams, ruleRetarget, true, 2 * bourse.Hour},
		{&chaincfg.RegressionNetParams, ruleConstant, true, 0},
		{&chaincfg.SimNetParams, ruleLoose, true, 0},
	}

	list := make([]*Params, 0, len(bitcoins)+2)
	for _, b := range bitcoins {
		p := &Params{
			Name: b.of.Name, Coin: "BTC", Genesis: chain.Hash(*b.of.GenesisHash), Test: b.test,
			base: b.of, scheme: "bitcoin:", hrp: b.of.Bech32HRPSegwit,
			pubKeyHash: b.of.PubKeyHashAddrID, scriptHash: b.of.ScriptHashAddrID, coinType: 1,
			rule: b.rule, limit: b.of.PowLimitBits, timespan: twoWeeks, maxAge: b.fresh,
			floor: 1_000, cap: 500_000,
		}
		if !b.test {
			p.coinType = 0
		}
		list = append(list, p)
	}
	return append(list, litecoinMain(), litecoinRegtest())
}

func litecoinMain() *Params {
	return &Params{
		Name: "litecoin-mainnet", Coin: "LTC",
		Genesis: hashOf("12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"),
		base:    &chaincfg.MainNetParams, scheme: "litecoin:", hrp: "ltc", pubKeyHash: 0x30, scriptHash: 0x32, coinType: 2,
		rule: ruleRetarget, limit: 0x1e0fffff, timespan: twoWeeks / 4, litecoin: true, maxAge: bourse.Hour,
		floor: 10_000, cap: 5_000_000,
	}
}

func litecoinRegtest() *Params {
	return &Params{
		Name: "litecoin-regtest", Coin: "LTC", Test: true,
		Genesis: hashOf("530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"),
		base:    &chaincfg.RegressionNetParams, scheme: "litecoin:", hrp: "rltc", pubKeyHash: 0x6f, scriptHash: 0x3a,
		coinType: 1, rule: ruleConstant, limit: 0x207fffff, timespan: twoWeeks / 4, litecoin: true,
		floor: 10_000, cap: 5_000_000,
	}
}

// Lookup returns a network by its name, or nil.
func Lookup(name string) *Params {
	all := All()
	if i := slices.IndexFunc(all, func(p *Params) bool { return p.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// decimals is the number of decimals of a coin's smallest unit.
const decimals = 8

// most is the number of units that there can ever be: 84 million litecoins.
const most = 84_000_000 * 100_000_000

// hashOf reads a hash of the source.
func hashOf(s string) chain.Hash {
	h, ok := parseHash(s)
	if !ok {
		bourse.Impossible("%q is no hash", s)
	}
	return h
}

// parseHash reads a hash in the network's form: its bytes in reverse order.
func parseHash(s string) (h chain.Hash, ok bool) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, false
	}
	slices.Reverse(b)
	copy(h[:], b)
	return h, true
}

// ParseRef reads a block's height and hash, as HEIGHT:HASH.
func ParseRef(s string) (*chain.BlockRef, error) {
	number, hash, _ := strings.Cut(s, ":")
	height, err := strconv.ParseUint(number, 10, 32)
	h, ok := parseHash(hash)
	if err != nil || !ok {
		return nil, errors.New("start is like HEIGHT:HASH")
	}
	return &chain.BlockRef{Height: height, Hash: h}, nil
}

// formatHash is the inverse of parseHash.
func formatHash(h chain.Hash) string {
	slices.Reverse(h[:])
	return hex.EncodeToString(h[:])
}

// number returns a hash as the number that is compared with a target.
func number(h chain.Hash) *big.Int {
	slices.Reverse(h[:])
	return new(big.Int).SetBytes(h[:])
}

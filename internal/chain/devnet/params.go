package devnet

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// form is a network's encoding of addresses.
type form uint8

const (
	// formWords is a prefix, a 1, and words of five bits with a checksum.
	formWords form = iota + 1
	// formHex is 0x and forty hex digits with a checksum in their case.
	formHex
)

// allotment is an initial amount of a coin.
type allotment struct {
	coin chain.CoinID
	// each is the amount of one output, times their number.
	each  bourse.Amount
	times int
}

// Params defines one network.
type Params struct {
	// Symbol is the catalogue's name of the network.
	Symbol bourse.Symbol
	// Shape describes how the network works.
	Shape chain.Shape
	form  form
	// prefix begins addresses of formWords.
	prefix string
	// scheme begins and suffix ends payment URIs of the native coin; an empty scheme
	// means none.
	scheme, suffix string
	// rate is the price of a unit of size or gas.
	rate uint64
	// gasBase, gasCoin and gasToken are the gas of a payment itself, of each message of
	// the native coin, and of each message of a token. A token message to an address
	// without that token costs half as much again.
	gasBase, gasCoin, gasToken uint64
	// lenient networks mine payments that cannot be executed, and fail them there
	// (Cosmos); others refuse them on broadcast (Ethereum).
	lenient bool
	// supply is the initial balance of each wallet of the outside world; funding is that
	// of the exchange's hot wallet, in block 1.
	supply, funding []allotment
}

// Identity returns the name of the chain by which signers know it.
func (p *Params) Identity() string { return "devnet:" + string(p.Symbol) }

// USDT is the token contract on the network ETH.
const USDT chain.CoinID = "0xdAC17F958D2ee523a2206206994597C13D831ec7"

// testCoins is the number of coins of the network TEST.
const testCoins = 60

// maxGas bounds a payment's gas, so that gas × price never overflows.
const maxGas = 1 << 40

// Networks returns the networks of the sandbox: BTC, LTC, ETH, ATOM and TEST.
func Networks() []*Params {
	return []*Params{
		bitcoinLike("BTC", "bcdev", "bitcoin:", 10, issue{300_000, 20}),
		bitcoinLike("LTC", "ltcdev", "litecoin:", 100, issue{5_000_000, 400}),
		ethereumLike(),
		cosmosLike(),
		test(),
	}
}

// Lookup returns one of Networks, or nil.
func Lookup(symbol bourse.Symbol) *Params {
	for _, p := range Networks() {
		if p.Symbol == symbol {
			return p
		}
	}
	return nil
}

// whole returns n coins of that many decimals.
func whole(n uint64, decimals uint8) bourse.Amount {
	a, ok := bourse.Units(n).Mul(bourse.Pow10(decimals))
	if !ok {
		bourse.Impossible("%d × 10^%d of a devnet's coin", n, decimals)
	}
	return a
}

// issue is how many whole coins there are in each allotment of the supply and of the funding.
type issue struct{ supply, funding uint64 }

func bitcoinLike(symbol bourse.Symbol, prefix, scheme string, rate uint64, of issue) *Params {
	coin := chain.Coin{ID: chain.CoinID(symbol), Decimals: 8}
	return &Params{
		Symbol: symbol,
		Shape:  chain.Shape{Coins: []chain.Coin{coin}, Native: coin.ID, Outputs: true, Replaces: true},
		form:   formWords, prefix: prefix, scheme: scheme, rate: rate,
		supply: []allotment{{coin.ID, whole(of.supply, 8), 4}},
		// Many outputs allow many payments between two blocks.
		funding: []allotment{{coin.ID, whole(of.funding, 8), 50}},
	}
}

func ethereumLike() *Params {
	ether, token := chain.Coin{ID: "ETH", Decimals: 18}, chain.Coin{ID: USDT, Decimals: 6}
	return &Params{
		Symbol: "ETH",
		Shape:  chain.Shape{Coins: []chain.Coin{ether, token}, Native: ether.ID, Sweeps: true, Replaces: true},
		form:   formHex, scheme: "ethereum:", suffix: "@1337", rate: 2e9,
		gasBase: 14_000, gasCoin: 7_000, gasToken: 26_000,
		supply:  []allotment{{ether.ID, whole(5_000_000, 18), 1}, {token.ID, whole(5_000_000_000, 6), 1}},
		funding: []allotment{{ether.ID, whole(10_000, 18), 1}, {token.ID, whole(20_000_000, 6), 1}},
	}
}

func cosmosLike() *Params {
	coin := chain.Coin{ID: "ATOM", Decimals: 6}
	return &Params{
		Symbol: "ATOM",
		Shape:  chain.Shape{Coins: []chain.Coin{coin}, Native: coin.ID, MemoName: "Memo"},
		form:   formWords, prefix: "cosmosdev", rate: 1,
		gasBase: 2_000, gasCoin: 3_000, lenient: true,
		supply:  []allotment{{coin.ID, whole(20_000_000, 6), 1}},
		funding: []allotment{{coin.ID, whole(1_000_000, 6), 1}},
	}
}

// test returns the network TEST, with many coins and no costs.
func test() *Params {
	p := &Params{Symbol: "TEST", Shape: chain.Shape{Outputs: true}, form: formWords, prefix: "testdev"}
	for i := range testCoins {
		id := chain.CoinID([]byte{'T', 'E', 'S', 'T', '0' + byte((i+1)/10), '0' + byte((i+1)%10)})
		p.Shape.Coins = append(p.Shape.Coins, chain.Coin{ID: id, Decimals: 8})
		p.supply = append(p.supply, allotment{id, whole(1_000_000_000, 8), 1})
		p.funding = append(p.funding, allotment{id, whole(1_000_000, 8), 4})
	}
	return p
}

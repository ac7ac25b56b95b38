package devnet

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// header is what a block's hash is made of.
type header struct {
	Network bourse.Symbol `json:"network"`
	Height  uint64        `json:"height"`
	Parent  digest        `json:"parent"`
	Time    int64         `json:"time"`
	// Branch counts the reorganisations before it, so that a block that takes
	// another's place never has its hash.
	Branch uint64 `json:"branch"`
	// Root is the hash of the transactions and of what they did.
	Root digest `json:"root"`
}

// block is a block on the wire and on disk.
type block struct {
	header
	Hash digest  `json:"hash"`
	Txs  []mined `json:"txs"`
}

// mined is a transaction in a block, with what it did.
type mined struct {
	Hash   digest  `json:"hash"`
	Raw    []byte  `json:"raw"`
	Failed bool    `json:"failed"`
	Taken  []taken `json:"taken"`
	Given  []given `json:"given"`
}

type taken struct {
	Address string       `json:"address"`
	Coin    chain.CoinID `json:"coin"`
	Amount  units        `json:"amount"`
	Tx      digest       `json:"tx"`
	Index   uint32       `json:"index"`
}

type given struct {
	Index   uint32       `json:"index"`
	Address string       `json:"address"`
	Memo    string       `json:"memo"`
	Coin    chain.CoinID `json:"coin"`
	Amount  units        `json:"amount"`
}

func (m *mined) take(from string, coin chain.CoinID, amount bourse.Amount) {
	m.Taken = append(m.Taken, taken{Address: from, Coin: coin, Amount: units(amount)})
}

// seal returns the hash of a block with this header.
func (h *header) seal() digest {
	b := append([]byte("bourse devnet block "), h.Network...)
	b = binary.LittleEndian.AppendUint64(append(b, 0), h.Height)
	b = append(b, h.Parent[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Time))
	b = binary.LittleEndian.AppendUint64(b, h.Branch)
	return sha256.Sum256(append(b, h.Root[:]...))
}

// seal gives a block the hash that it must have.
func (b *block) seal() *block {
	b.Root = rootOf(b.Txs)
	b.Hash = b.header.seal()
	return b
}

// sealed reports whether the block's hash covers what it holds.
func (b *block) sealed() bool { return b.Root == rootOf(b.Txs) && b.Hash == b.header.seal() }

// rootOf returns the hash of transactions; zero if there are none.
func rootOf(txs []mined) digest {
	if len(txs) == 0 {
		return digest{}
	}
	text, err := json.Marshal(txs)
	if err != nil {
		bourse.Impossible("hash of a block: %v", err)
	}
	return sha256.Sum256(text)
}

func (b *block) ref() chain.BlockRef {
	return chain.BlockRef{Height: b.Height, Hash: chain.Hash(b.Hash)}
}

// genesis gives the wallets of the outside world what they begin with.
func genesis(p *Params, outside PublicKey) *block {
	b := &block{header: header{Network: p.Symbol}}
	m := mined{Hash: sha256.Sum256([]byte("genesis of " + string(p.Symbol)))}
	give := func(index uint32, coin chain.CoinID, amount bourse.Amount) {
		m.Given = append(m.Given, given{
			Index: uint32(len(m.Given)), Address: p.address(outside, index), Coin: coin, Amount: units(amount),
		})
	}
	for index := range uint32(wallets) {
		for _, a := range p.supply {
			for range a.times {
				give(index, a.coin, a.each)
			}
		}
	}
	if !p.Shape.Outputs {
		give(poorWallet, p.Shape.Native, costOf(poorGas, p.rate))
	}
	b.Txs = []mined{m}
	return b.seal()
}

// The outside world's addresses, by index.
const (
	// wallets is how many take turns in paying, so that payments do not hang on
	// one another.
	wallets = 8
	// poorWallet can pay for gas and has nothing else: what it sends fails.
	poorWallet = wallets
	poorGas    = 1e9
	// firstReceiver is the first address that is given to those who ask.
	firstReceiver = 1000
)

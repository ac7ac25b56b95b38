package devnet

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// header is the hashed part of a block.
type header struct {
	Network bourse.Symbol `json:"network"`
	Height  uint64        `json:"height"`
	Parent  digest        `json:"parent"`
	Time    int64         `json:"time"`
	// Branch counts the earlier reorganisations, so that a replacement of a block never
	// has the same hash.
	Branch uint64 `json:"branch"`
	// Root is the hash of the transactions and their effects.
	Root digest `json:"root"`
}

// block is the form of a block on the wire and on disk.
type block struct {
	header
	Hash digest  `json:"hash"`
	Txs  []mined `json:"txs"`
}

// mined is a transaction in a block, with its effects.
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

// seal sets the block's root and hash.
func (b *block) seal() *block {
	b.Root = rootOf(b.Txs)
	b.Hash = b.header.seal()
	return b
}

// sealed reports whether the root and the hash match the contents.
func (b *block) sealed() bool { return b.Root == rootOf(b.Txs) && b.Hash == b.header.seal() }

// rootOf returns the hash of transactions; zero for none.
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

// genesis returns the first block, with the initial funds of the outside world's wallets.
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
	// wallets is the number of wallets that pay in turn, so that payments do not depend
	// on one another.
	wallets = 8
	// poorWallet has the coin for gas and nothing else, so that its payments fail.
	poorWallet = wallets
	poorGas    = 1e9
	// firstReceiver is the index of the first address of NewAddress.
	firstReceiver = 1000
)

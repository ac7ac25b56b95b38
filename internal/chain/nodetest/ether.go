package nodetest

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
)

// EtherChain is the chain id of every node of Ethereum.
const EtherChain = 31337

const (
	// anvilSeed is the seed of the words "test … junk", from which anvil makes its accounts.
	anvilSeed = "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185" +
		"d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0"
	// payers is the number of accounts of the outside world, which pay in turn.
	payers = 60
	// poor is the account without tokens, so that its transfers fail.
	poor = payers - 1
	// firstAccount has ether, and pays by the key of firstSecret alone.
	firstAccount = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	firstSecret  = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
	// firstReceiver is the first index of addresses of payees, behind those of the payers.
	firstReceiver = 1000
)

// allotted is an account of the first block.
type allotted struct {
	Balance string            `json:"balance"`
	Code    string            `json:"code,omitempty"`
	Storage map[string]string `json:"storage,omitempty"`
}

// outsideKeys are the keys and the codec of the outside world's accounts: account n has index n, from 1.
func outsideKeys() (*evm.Keys, *evm.Codec, error) {
	seed, err := hex.DecodeString(anvilSeed)
	if err != nil {
		return nil, nil, err
	}
	p := &evm.Params{Chain: EtherChain, Coin: "ETH"}
	keys, err := evm.NewKeys(p, seed)
	if err != nil {
		return nil, nil, err
	}
	codec, err := evm.NewCodec(p, keys.Public())
	return keys, codec, err
}

// FirstKey returns the key of an account with ether, for transactions that are not the exchange's.
func FirstKey() *btcec.PrivateKey {
	secret, err := hex.DecodeString(firstSecret)
	if err != nil {
		panic(err)
	}
	key, _ := btcec.PrivKeyFromBytes(secret)
	return key
}

const genesisFile = "genesis.json"

// writeGenesis writes the first block into a node's directory: the contracts of tests, the accounts that a
// node adds of its own, and the rules of its chain.
func writeGenesis(dir string, more map[string]allotted, config map[string]any) error {
	_, keys, err := outsideKeys()
	if err != nil {
		return err
	}
	balances := map[string]string{}
	for i := range payers - 1 {
		balances[word(keys.Destination(uint32(i+1)).Address)] = word("0xe8d4a51000000") // 4,096 million tokens
	}
	delete(balances, word(keys.Destination(poor).Address))

	accounts := map[string]allotted{}
	for at, code := range map[string][]byte{
		TokenAt: token, FakeAt: token, forwarderAt: forwarder, reverterAt: reverter, catcherAt: catcher,
		destroyerAt: destroyer, burnerAt: burner, looperAt: looper,
	} {
		a := allotted{Balance: "0x0", Code: "0x" + hex.EncodeToString(code)}
		if at == TokenAt || at == FakeAt {
			a.Storage = balances
		}
		accounts[at] = a
	}
	maps.Copy(accounts, more)
	text, err := json.Marshal(map[string]any{
		"config": config, "alloc": accounts, "gasLimit": "0x1c9c380",
		"difficulty": "0x0", "timestamp": "0x1",
	})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, genesisFile), text, 0o600)
}

// word returns hexadecimal digits padded to 32 bytes.
func word(digits string) string {
	digits = strings.ToLower(strings.TrimPrefix(digits, "0x"))
	return "0x" + strings.Repeat("0", 64-len(digits)) + digits
}

// Ether is the outside world on a chain of Ethereum. It implements chaintest.Outside. Not safe for concurrent use.
type Ether struct {
	node  *Node
	keys  *evm.Keys
	codec *evm.Codec
	chain control
	// payer is the account that paid last; made counts the addresses of payees.
	payer, made uint32
	// turn counts the transactions sent to the node, and sent has the last turn of each by its name.
	turn int
	sent map[string]int
	// dropped are the transactions that Restore sends again, by their bytes.
	dropped []string
	// blocks is the number of blocks that Hide took off the chain.
	blocks uint64
}

// control makes the blocks of a node's chain, each program in its own way.
type control interface {
	// mine adds blocks, the first with all pending transactions.
	mine(count int) error
	// mineEmpty adds blocks without the pending transactions, which wait on.
	mineEmpty(count int) error
	// spike adds blocks up to one of at least this price of gas, which has the pending transactions that can pay it.
	spike(price uint64) error
	// replace takes the last blocks off the chain and adds as many empty ones, and one with these transactions
	// alone. Those of the old blocks are gone, and what else was pending is pending again.
	replace(depth int, raws ...string) error
	// hide takes the last blocks off the chain, and unhide puts them back.
	hide(blocks uint64) error
	unhide() error
	// halt takes the node away, and resume brings it back with its chain.
	halt() error
	resume() error
}

// NewEther returns the outside world of a fresh node.
func NewEther(t testing.TB, n *Node) *Ether {
	t.Helper()
	keys, codec, err := outsideKeys()
	if err != nil {
		t.Fatal(err)
	}
	o := &Ether{node: n, keys: keys, codec: codec, sent: map[string]int{}}
	o.chain = n.control(o)
	if _, err := o.Mine(1); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *Ether) call(result any, method string, params ...any) error {
	return o.node.RPC.Call(o.node.t.Context(), result, method, params...)
}

func hashOf(name string) (hash chain.Hash, err error) {
	b, err := hex.DecodeString(strings.TrimPrefix(name, "0x"))
	if err == nil && len(b) != len(hash) {
		err = fmt.Errorf("%q is no hash", name)
	}
	copy(hash[:], b)
	return hash, err
}

// Payer returns the account that has not paid for the longest time.
func (o *Ether) Payer() string { return o.codec.Destination(o.next()).Address }

func (o *Ether) next() uint32 {
	o.payer = o.payer%(poor-1) + 1
	return o.payer
}

func hexAmount(a bourse.Amount) string {
	digits := strings.TrimLeft(fmt.Sprintf("%016x%016x", a.Hi, a.Lo), "0")
	if digits == "" {
		digits = "0"
	}
	return "0x" + digits
}

// paying returns the transaction of one payment.
func paying(from uint32, p chain.Pay) order {
	if p.Coin != TokenAt && p.Coin != FakeAt {
		return order{from: from, to: p.To.Address, value: p.Amount}
	}
	return order{from: from, to: string(p.Coin), data: "a9059cbb" + pair(&p)}
}

// pair returns the address and amount of a payment as two words.
func pair(p *chain.Pay) string { return word(p.To.Address)[2:] + word(hexAmount(p.Amount))[2:] }

// Send makes a pending transaction. Several payments are of the token.
func (o *Ether) Send(pays ...chain.Pay) (chain.Hash, error) {
	if len(pays) == 1 {
		return o.submit(paying(o.next(), pays[0]))
	}
	text := "00000001"
	for i := range pays {
		text += pair(&pays[i])
	}
	return o.submit(order{from: o.next(), to: TokenAt, data: text})
}

// through sends a payment through a contract.
func (o *Ether) through(contract string, p chain.Pay) (chain.Hash, error) {
	return o.submit(order{from: o.next(), to: contract, value: p.Amount, data: word(p.To.Address)[2:]})
}

// SendFailing sends a payment that does not arrive: a token is not there, and the native coin comes
// back.
func (o *Ether) SendFailing(p chain.Pay) (chain.Hash, error) {
	if p.Coin == TokenAt {
		return o.submit(paying(poor, p))
	}
	return o.through(reverterAt, p)
}

// SendHidden pays by a contract's call.
func (o *Ether) SendHidden(p chain.Pay) (chain.Hash, error) { return o.through(forwarderAt, p) }

// SendCaught pays by a call that fails inside of a transaction that does not.
func (o *Ether) SendCaught(p chain.Pay) (chain.Hash, error) { return o.through(catcherAt, p) }

// SendEnding pays by the end of a contract.
func (o *Ether) SendEnding(p chain.Pay) (chain.Hash, error) { return o.through(destroyerAt, p) }

// SendLooping runs a contract for most of a block's gas.
func (o *Ether) SendLooping() error {
	nonce, err := o.settled(firstAccount)
	if err != nil {
		return err
	}
	t := order{to: looperAt, gas: muchGas}
	raw, err := t.signBy(FirstKey(), nonce)
	if err != nil {
		return err
	}
	return o.send(raw)
}

// NewAddress returns an unused address outside the exchange.
func (o *Ether) NewAddress() (string, error) {
	o.made++
	return o.codec.Destination(firstReceiver + o.made).Address, nil
}

// Mine adds blocks, the first with all pending transactions.
func (o *Ether) Mine(count int) (chain.BlockRef, error) {
	if err := o.chain.mine(count); err != nil {
		return chain.BlockRef{}, err
	}
	return o.head()
}

// MineEmpty adds blocks without the pending transactions.
func (o *Ether) MineEmpty(count int) (chain.BlockRef, error) {
	if err := o.chain.mineEmpty(count); err != nil {
		return chain.BlockRef{}, err
	}
	return o.head()
}

// Spike adds blocks up to one of at least this price of gas, in wei, which has the pending transactions that can pay it.
func (o *Ether) Spike(price uint64) (chain.BlockRef, error) {
	if err := o.chain.spike(price); err != nil {
		return chain.BlockRef{}, err
	}
	return o.head()
}

// block is a block with its transactions' names.
type block struct {
	Hash   string   `json:"hash"`
	Number string   `json:"number"`
	Time   string   `json:"timestamp"`
	Txs    []string `json:"transactions"`
}

func (o *Ether) block(at string) (*block, error) {
	var b *block
	if err := o.call(&b, "eth_getBlockByNumber", at, false); err != nil {
		return nil, err
	}
	if b == nil {
		return nil, errors.New("no such block")
	}
	return b, nil
}

func (o *Ether) head() (chain.BlockRef, error) {
	b, err := o.block("latest")
	if err != nil {
		return chain.BlockRef{}, err
	}
	hash, err := hashOf(b.Hash)
	if err != nil {
		return chain.BlockRef{}, err
	}
	return chain.BlockRef{Height: heightOf(b.Number), Hash: hash}, nil
}

func heightOf(number string) (height uint64) {
	_, _ = fmt.Sscanf(number, "0x%x", &height)
	return height
}

// raw returns the bytes of a transaction that the node has.
func (o *Ether) raw(name string) (text string, err error) {
	err = o.call(&text, "eth_getRawTransactionByHash", name)
	return text, err
}

// last returns the transactions of the last blocks in their order, by their bytes.
func (o *Ether) last(depth int) (raws []string, err error) {
	head, err := o.head()
	if err != nil {
		return nil, err
	}
	for height := head.Height - uint64(depth) + 1; height <= head.Height; height++ {
		b, err := o.block(fmt.Sprintf("0x%x", height))
		if err != nil {
			return nil, err
		}
		more, err := o.raws(b.Txs)
		if err != nil {
			return nil, err
		}
		raws = append(raws, more...)
	}
	return raws, nil
}

func (o *Ether) raws(names []string) (list []string, err error) {
	for _, name := range names {
		text, err := o.raw(name)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// pooled is a transaction that waits at the node.
type pooled struct {
	Hash  string `json:"hash"`
	From  string `json:"from"`
	Nonce string `json:"nonce"`
	// Most is the highest price of gas that it pays.
	Most string `json:"maxFeePerGas"`
}

// waiting returns what waits at the node.
func (o *Ether) waiting() (list []pooled, err error) {
	var content map[string]map[string]map[string]pooled
	if err := o.call(&content, "txpool_content"); err != nil {
		return nil, err
	}
	for _, byAccount := range content {
		for _, byNonce := range byAccount {
			for _, tx := range byNonce {
				list = append(list, tx)
			}
		}
	}
	slices.SortFunc(list, func(a, b pooled) int { return cmp.Compare(heightOf(a.Nonce), heightOf(b.Nonce)) })
	return list, nil
}

// pool returns the pending transactions in the order of their accounts' payments, by their bytes.
func (o *Ether) pool() (raws []string, err error) {
	list, err := o.waiting()
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list {
		names = append(names, list[i].Hash)
	}
	return o.raws(names)
}

// send gives a transaction to the node.
func (o *Ether) send(raw string) error {
	var name string
	if err := o.call(&name, "eth_sendRawTransaction", raw); err != nil {
		return err
	}
	o.turn++
	o.sent[name] = o.turn
	return nil
}

// rank orders transactions as they were sent to the node last; those of others come last.
func (o *Ether) rank(name string) int {
	if rank, known := o.sent[name]; known {
		return rank
	}
	return math.MaxInt
}

// offer makes transactions pending again. One that a conflict excludes is refused.
func (o *Ether) offer(raws []string) {
	for _, raw := range raws {
		_ = o.send(raw)
	}
}

// Reorg replaces the last blocks by one more, which are empty.
func (o *Ether) Reorg(depth int, drop bool) (chain.BlockRef, error) {
	raws, err := o.last(depth)
	if err != nil {
		return chain.BlockRef{}, err
	}
	if err := o.chain.replace(depth); err != nil {
		return chain.BlockRef{}, err
	}
	if drop {
		o.dropped = append(o.dropped, raws...)
	} else {
		slices.Reverse(raws)
		o.offer(raws)
	}
	return o.head()
}

// Restore makes dropped transactions pending again, if they are still valid.
func (o *Ether) Restore() error {
	o.offer(o.dropped)
	o.dropped = nil
	return nil
}

// DoubleSpend replaces a payment by one with the same nonce and a higher fee.
func (o *Ether) DoubleSpend(hash chain.Hash) (chain.Hash, error) {
	name := "0x" + hex.EncodeToString(hash[:])
	var old struct {
		From   string  `json:"from"`
		Nonce  string  `json:"nonce"`
		Number *string `json:"blockNumber"`
	}
	if err := o.call(&old, "eth_getTransactionByHash", name); err != nil {
		return chain.Hash{}, err
	}
	raw, err := o.raw(name)
	if err != nil {
		return chain.Hash{}, err
	}
	to, err := o.NewAddress()
	if err != nil {
		return chain.Hash{}, err
	}
	from, ok := o.payerAt(old.From)
	if !ok {
		return chain.Hash{}, fmt.Errorf("%s is not the outside world's", old.From)
	}
	o.dropped = append(o.dropped, raw)
	rival := order{from: from, to: to, value: bourse.Units(1), fee: 1600e9, tip: 2e9}
	if old.Number == nil {
		return o.submitWith(rival, heightOf(old.Nonce))
	}

	head, err := o.head()
	if err != nil {
		return chain.Hash{}, err
	}
	signed, replaced, err := o.sign(rival, heightOf(old.Nonce))
	if err != nil {
		return chain.Hash{}, err
	}
	return replaced, o.chain.replace(int(head.Height-heightOf(*old.Number)+1), signed)
}

// payerAt returns the number of an account of the outside world.
func (o *Ether) payerAt(address string) (uint32, bool) {
	for n := uint32(1); n <= poor; n++ {
		if strings.EqualFold(o.codec.Destination(n).Address, address) {
			return n, true
		}
	}
	return 0, false
}

// Hide takes the last blocks off the node's chain until it is called with zero. Their transactions
// wait meanwhile.
func (o *Ether) Hide(blocks uint64) error {
	if blocks == o.blocks {
		return nil
	}
	if o.blocks > 0 {
		if err := o.chain.unhide(); err != nil {
			return err
		}
	}
	o.blocks = blocks
	if blocks == 0 {
		return nil
	}
	raws, err := o.last(int(blocks))
	if err != nil {
		return err
	}
	if err := o.chain.hide(blocks); err != nil {
		return err
	}
	o.offer(raws)
	return nil
}

// Fund pays coins to an address and mines the payments.
func (o *Ether) Fund(to string, pays ...chain.Pay) error {
	for _, p := range pays {
		p.To.Address = to
		if _, err := o.Send(p); err != nil {
			return err
		}
	}
	_, err := o.Mine(1)
	return err
}

// Balance returns an address's balance of the native coin.
func (o *Ether) Balance(of string) (bourse.Amount, error) {
	var text string
	if err := o.call(&text, "eth_getBalance", of, "latest"); err != nil {
		return bourse.Amount{}, err
	}
	return amountOf(text)
}

// Tokens returns an address's balance of the token.
func (o *Ether) Tokens(of string) (bourse.Amount, error) {
	var text string
	call := map[string]string{"to": TokenAt, "data": "0x70a08231" + word(of)[2:]}
	if err := o.call(&text, "eth_call", call, "latest"); err != nil {
		return bourse.Amount{}, err
	}
	return amountOf(text)
}

func amountOf(text string) (a bourse.Amount, err error) {
	digits := word(text)
	_, err = fmt.Sscanf(digits[len(digits)-32:], "%016x%016x", &a.Hi, &a.Lo)
	return a, err
}

// Restart restarts the node with its chain. The pending transactions come back, as other nodes
// would send them.
func (o *Ether) Restart() error {
	pool, err := o.pool()
	if err != nil {
		return err
	}
	o.node.Stop()
	o.node.Run()
	o.offer(pool)
	return nil
}

package nodetest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
)

// AnvilChain is the chain id of anvil.
const AnvilChain = 31337

const (
	// anvilSeed is the seed of the words "test … junk", from which anvil makes its accounts.
	anvilSeed = "9dfc3c64c2f8bede1533b6a79f8570e5943e0b8fd1cf77107adf7b72cef42185" +
		"d564a3aee24cab43f80e3c4538087d70fc824eabbad596a23c97b6ee8322ccc0"
	// payers is the number of accounts of the outside world, which pay in turn.
	payers = 60
	// poor is the account without tokens, so that its transfers fail.
	poor = payers - 1
	// firstReceiver is the first index of addresses of payees, behind those of the payers.
	firstReceiver = 1000
)

// Anvil returns anvil, a node of Ethereum that tests control. Its chain begins with the contracts
// of tests. Each epoch has one block: the safe block is one below the head, the finalized one two.
func Anvil() *Kind {
	return &Kind{
		Name: "anvil",
		args: func(dir, port string) []string {
			args := []string{
				"--host", "127.0.0.1", "--port", port, "--no-mining", "--order", "fifo", "--slots-in-an-epoch", "1",
				"--accounts", fmt.Sprint(payers), "--chain-id", fmt.Sprint(AnvilChain),
			}
			if state := filepath.Join(dir, stateFile); exists(state) {
				return append(args, "--load-state", state)
			}
			return append(args, "--init", filepath.Join(dir, genesisFile))
		},
		prepare: writeGenesis,
		ready:   regexp.MustCompile(`Listening on`),
		stop:    saveState,
	}
}

const genesisFile, stateFile = "genesis.json", "state.json"

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// allotted is an account of the first block.
type allotted struct {
	Balance string            `json:"balance"`
	Code    string            `json:"code,omitempty"`
	Storage map[string]string `json:"storage,omitempty"`
}

// outsideKeys are the codec of anvil's accounts: account n has index n, from 1.
func outsideKeys() (*evm.Codec, error) {
	seed, err := hex.DecodeString(anvilSeed)
	if err != nil {
		return nil, err
	}
	p := &evm.Params{Chain: AnvilChain, Coin: "ETH"}
	keys, err := evm.NewKeys(p, seed)
	if err != nil {
		return nil, err
	}
	return evm.NewCodec(p, keys.Public())
}

// writeGenesis writes the first block into a node's directory.
func writeGenesis(dir string) error {
	keys, err := outsideKeys()
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
	} {
		a := allotted{Balance: "0x0", Code: "0x" + hex.EncodeToString(code)}
		if at == TokenAt || at == FakeAt {
			a.Storage = balances
		}
		accounts[at] = a
	}
	text, err := json.Marshal(map[string]any{
		"config": map[string]any{"chainId": AnvilChain}, "alloc": accounts, "gasLimit": "0x1c9c380",
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

// saveState writes the node's chain to the file with which its next process starts.
func saveState(n *Node) error {
	var dump string
	if err := n.RPC.Call(n.t.Context(), &dump, "anvil_dumpState", true); err != nil {
		return err
	}
	text, err := plain(dump)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(n.dir, stateFile), text, 0o600)
}

// Ether is the outside world on a chain of anvil, which signs for its accounts. It implements
// chaintest.Outside. Not safe for concurrent use.
type Ether struct {
	node *Node
	keys *evm.Codec
	// payer is the account that paid last; made counts the addresses of payees.
	payer, made uint32
	// dropped are the transactions that Restore sends again, by their bytes.
	dropped []string
	// hidden is the chain before Hide took away its last blocks.
	hidden string
	blocks uint64
}

// NewEther returns the outside world of a fresh node.
func NewEther(t testing.TB, n *Node) *Ether {
	t.Helper()
	keys, err := outsideKeys()
	if err != nil {
		t.Fatal(err)
	}
	o := &Ether{node: n, keys: keys}
	if _, err := o.Mine(1); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o *Ether) call(result any, method string, params ...any) error {
	return o.node.RPC.Call(o.node.t.Context(), result, method, params...)
}

// order is a transaction that anvil signs.
type order struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Value string `json:"value,omitempty"`
	Data  string `json:"data,omitempty"`
	Gas   string `json:"gas"`
	Nonce string `json:"nonce,omitempty"`
	Fee   string `json:"maxFeePerGas"`
	Tip   string `json:"maxPriorityFeePerGas"`
}

// submit makes a transaction pending.
func (o *Ether) submit(t order) (hash chain.Hash, err error) {
	t.Gas = "0x493e0"
	if t.Fee == "" {
		t.Fee, t.Tip = "0xba43b7400", "0x3b9aca00"
	}
	var name string
	if err := o.call(&name, "eth_sendTransaction", t); err != nil {
		return hash, err
	}
	return hashOf(name)
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
func (o *Ether) Payer() string {
	o.payer = o.payer%(poor-1) + 1
	return o.keys.Destination(o.payer).Address
}

func hexAmount(a bourse.Amount) string {
	digits := strings.TrimLeft(fmt.Sprintf("%016x%016x", a.Hi, a.Lo), "0")
	if digits == "" {
		digits = "0"
	}
	return "0x" + digits
}

// paying returns the transaction of one payment.
func paying(from string, p chain.Pay) order {
	if p.Coin != TokenAt && p.Coin != FakeAt {
		return order{From: from, To: p.To.Address, Value: hexAmount(p.Amount)}
	}
	return order{From: from, To: string(p.Coin), Data: "0xa9059cbb" + pair(&p)}
}

// pair returns the address and amount of a payment as two words.
func pair(p *chain.Pay) string { return word(p.To.Address)[2:] + word(hexAmount(p.Amount))[2:] }

// Send makes a pending transaction. Several payments are of the token.
func (o *Ether) Send(pays ...chain.Pay) (chain.Hash, error) {
	if len(pays) == 1 {
		return o.submit(paying(o.Payer(), pays[0]))
	}
	text := "0x00000001"
	for i := range pays {
		text += pair(&pays[i])
	}
	return o.submit(order{From: o.Payer(), To: TokenAt, Data: text})
}

// through sends a payment through a contract.
func (o *Ether) through(contract string, p chain.Pay) (chain.Hash, error) {
	return o.submit(order{From: o.Payer(), To: contract, Value: hexAmount(p.Amount), Data: word(p.To.Address)})
}

// SendFailing sends a payment that does not arrive: a token is not there, and the native coin comes
// back.
func (o *Ether) SendFailing(p chain.Pay) (chain.Hash, error) {
	if p.Coin == TokenAt {
		return o.submit(paying(o.keys.Destination(poor).Address, p))
	}
	return o.through(reverterAt, p)
}

// SendHidden pays by a contract's call.
func (o *Ether) SendHidden(p chain.Pay) (chain.Hash, error) { return o.through(forwarderAt, p) }

// SendCaught pays by a call that fails inside of a transaction that does not.
func (o *Ether) SendCaught(p chain.Pay) (chain.Hash, error) { return o.through(catcherAt, p) }

// NewAddress returns an unused address outside the exchange.
func (o *Ether) NewAddress() (string, error) {
	o.made++
	return o.keys.Destination(firstReceiver + o.made).Address, nil
}

// Mine adds blocks, the first with all pending transactions.
func (o *Ether) Mine(count int) (chain.BlockRef, error) {
	for range count {
		if err := o.call(nil, "evm_mine"); err != nil {
			return chain.BlockRef{}, err
		}
	}
	return o.head()
}

// block is a block with its transactions' names.
type block struct {
	Hash   string   `json:"hash"`
	Number string   `json:"number"`
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

// pool returns the pending transactions in the order of their accounts' payments, by their bytes.
func (o *Ether) pool() (raws []string, err error) {
	var content map[string]map[string]map[string]struct {
		Hash string `json:"hash"`
	}
	if err := o.call(&content, "txpool_content"); err != nil {
		return nil, err
	}
	var names []string
	for _, byAccount := range content {
		for _, byNonce := range byAccount {
			for _, tx := range byNonce {
				names = append(names, tx.Hash)
			}
		}
	}
	return o.raws(names)
}

// offer makes transactions pending again. One that a conflict excludes is refused.
func (o *Ether) offer(raws []string) {
	for _, raw := range raws {
		_ = o.call(nil, "eth_sendRawTransaction", raw)
	}
}

// alone runs a change of the chain without the pending transactions, which wait again behind it.
func (o *Ether) alone(change func() error) error {
	pool, err := o.pool()
	if err != nil {
		return err
	}
	if err := o.call(nil, "anvil_dropAllTransactions"); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	o.offer(pool)
	return nil
}

// Reorg replaces the last blocks by one more, which are empty.
func (o *Ether) Reorg(depth int, drop bool) (chain.BlockRef, error) {
	raws, err := o.last(depth)
	if err != nil {
		return chain.BlockRef{}, err
	}
	err = o.alone(func() error {
		if err := o.call(nil, "anvil_reorg", depth, []any{}); err != nil {
			return err
		}
		return o.call(nil, "evm_mine")
	})
	if err != nil {
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
	o.dropped = append(o.dropped, raw)
	rival := order{From: old.From, To: to, Value: "0x1", Nonce: old.Nonce, Fee: "0x174876e8000", Tip: "0x77359400"}
	if old.Number == nil {
		return o.submit(rival)
	}

	head, err := o.head()
	if err != nil {
		return chain.Hash{}, err
	}
	var replaced chain.Hash
	err = o.alone(func() error {
		depth := head.Height - heightOf(*old.Number) + 1
		if err := o.call(nil, "anvil_reorg", depth, []any{}); err != nil {
			return err
		}
		if replaced, err = o.submit(rival); err != nil {
			return err
		}
		return o.call(nil, "evm_mine")
	})
	return replaced, err
}

// Hide takes the last blocks off the node's chain until it is called with zero. Their transactions
// wait meanwhile.
func (o *Ether) Hide(blocks uint64) error {
	if blocks == o.blocks {
		return nil
	}
	o.blocks = blocks
	if o.hidden != "" {
		if err := o.call(nil, "anvil_dropAllTransactions"); err != nil {
			return err
		}
		if err := o.call(nil, "anvil_loadState", o.hidden); err != nil {
			return err
		}
		o.hidden = ""
	}
	if blocks == 0 {
		return nil
	}
	raws, err := o.last(int(blocks))
	if err != nil {
		return err
	}
	if err := o.call(&o.hidden, "anvil_dumpState", true); err != nil {
		return err
	}
	if err := o.call(nil, "anvil_rollback", blocks); err != nil {
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

// Balance returns what an address has of the native coin.
func (o *Ether) Balance(of string) (bourse.Amount, error) {
	var text string
	if err := o.call(&text, "eth_getBalance", of, "latest"); err != nil {
		return bourse.Amount{}, err
	}
	return amountOf(text)
}

// Tokens returns what an address has of the token.
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

// plain returns the chain that the node dumped, as it is read from a file: without compression.
func plain(dump string) ([]byte, error) {
	packed, err := hex.DecodeString(strings.TrimPrefix(dump, "0x"))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

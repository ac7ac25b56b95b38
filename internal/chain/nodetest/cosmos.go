package nodetest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
)

const (
	// CosmosChain is the chain id of the node of tests.
	CosmosChain = "dev-1"
	// IBCDenom is the denomination of a coin of another chain, with six decimals.
	IBCDenom = "ibc/F663521BF1836B00F5F177680F74BFB9A8B5654A694D0D2BC249E03CF2509013"
	// controlSocket is the node's socket for blocks on demand, in its directory.
	controlSocket = "control"
	bech32Prefix  = "cosmos"
	nativeDenom   = "uatom"
)

// Cosmos returns a chain of the Cosmos SDK with one validator, which makes blocks on demand. One account, that of the
// outside world, owns all coins of its first block.
func Cosmos() *Kind {
	return &Kind{
		Name: "cosmos",
		args: func(dir, port string) []string {
			return []string{
				"-home", dir, "-rpc", "127.0.0.1:" + port, "-control", filepath.Join(dir, controlSocket), "-rich", accountOf(outsideKey()),
			}
		},
		ready: regexp.MustCompile(`^serving`),
		stop:  func(*Node) error { return nil }, // its chain is on disk
	}
}

// outsideKey is the key of the outside world.
func outsideKey() *btcec.PrivateKey {
	secret := sha256.Sum256([]byte("the outside world"))
	key, _ := btcec.PrivKeyFromBytes(secret[:])
	return key
}

// accountOf returns the address of a key.
func accountOf(key *btcec.PrivateKey) string {
	return bech32Of(address.Hash160(key.PubKey().SerializeCompressed()))
}

func bech32Of(program []byte) string {
	text, err := bech32.EncodeFromBase256(bech32Prefix, program)
	if err != nil {
		panic(err)
	}
	return text
}

// Atoms is the outside world on a chain of the Cosmos SDK. It implements chaintest.Outside except for reorganisations,
// because blocks are final there. Not safe for concurrent use.
type Atoms struct {
	node *Node
	http http.Client
	key  *btcec.PrivateKey
	// account is the payer's number, and sequence that of its next payment.
	account, sequence uint64
	made              uint64
	// waiting are the payments that no block has, the last ones made, which a killed node forgets.
	waiting []string
}

// NewAtoms returns the outside world of a fresh node.
func NewAtoms(t testing.TB, n *Node) *Atoms {
	t.Helper()
	o := &Atoms{node: n, key: outsideKey()}
	o.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(n.dir, controlSocket))
	}}
	t.Cleanup(o.http.CloseIdleConnections)

	var err error
	if o.account, _, err = o.payer(); err != nil {
		t.Fatal(err)
	}
	return o
}

// payer returns the payer's number, and how many of its payments are in blocks.
func (o *Atoms) payer() (account, payments uint64, err error) {
	answer, err := o.query("/cosmos.auth.v1beta1.Query/AccountInfo", text(nil, 1, accountOf(o.key)))
	info := inside(answer, 1)
	return numberIn(info, 3), numberIn(info, 4), err
}

func (o *Atoms) call(result any, method string, params ...any) error {
	return o.node.RPC.Call(o.node.t.Context(), result, method, params...)
}

// query asks for the state at the head, in protobuf.
func (o *Atoms) query(path string, request []byte) ([]byte, error) {
	var r struct {
		Response struct {
			Code  uint32 `json:"code"`
			Log   string `json:"log"`
			Value []byte `json:"value"`
		} `json:"response"`
	}
	if err := o.call(&r, "abci_query", path, hex.EncodeToString(request), "0", false); err != nil {
		return nil, err
	}
	if r.Response.Code != 0 {
		return nil, errors.New(r.Response.Log)
	}
	return r.Response.Value, nil
}

// Message is a message of a transaction, with the name of its type.
type Message struct {
	URL   string
	Value []byte
}

// coinOf returns an amount of a coin.
func coinOf(coin chain.CoinID, amount bourse.Amount) string {
	return string(text(text(nil, 1, denomOf(coin)), 2, amount.Format(0)))
}

// Paying returns the message of one payment.
func (o *Atoms) Paying(p chain.Pay) Message {
	return Message{
		URL:   "/cosmos.bank.v1beta1.MsgSend",
		Value: text(text(text(nil, 1, accountOf(o.key)), 2, p.To.Address), 3, coinOf(p.Coin, p.Amount)),
	}
}

// Splitting returns one message of several payments of a coin.
func (o *Atoms) Splitting(pays ...chain.Pay) Message {
	var sum bourse.Amount
	var outputs []byte
	for _, p := range pays {
		sum = sum.Plus(p.Amount)
		outputs = text(outputs, 2, string(text(text(nil, 1, p.To.Address), 2, coinOf(p.Coin, p.Amount))))
	}
	input := text(text(nil, 1, accountOf(o.key)), 2, coinOf(pays[0].Coin, sum))
	return Message{URL: "/cosmos.bank.v1beta1.MsgMultiSend", Value: append(text(nil, 1, string(input)), outputs...)}
}

// Delegating returns a message that stakes a unit of the native coin with the validator.
func (o *Atoms) Delegating() (Message, error) {
	var s struct {
		Validator struct {
			Address string `json:"address"`
		} `json:"validator_info"`
	}
	if err := o.call(&s, "status"); err != nil {
		return Message{}, err
	}
	program, err := hex.DecodeString(s.Validator.Address)
	if err != nil {
		return Message{}, err
	}
	validator, err := bech32.EncodeFromBase256(bech32Prefix+"valoper", program)
	return Message{
		URL:   "/cosmos.staking.v1beta1.MsgDelegate",
		Value: text(text(text(nil, 1, accountOf(o.key)), 2, validator), 3, coinOf("ATOM", bourse.Units(1))),
	}, err
}

// denomOf returns the denomination of a coin.
func denomOf(coin chain.CoinID) string {
	if coin == "ATOM" || coin == "" {
		return nativeDenom
	}
	return string(coin)
}

// Do makes a pending transaction of messages of the outside world.
func (o *Atoms) Do(memo string, messages ...Message) (chain.Hash, error) {
	var body []byte
	for _, m := range messages {
		body = text(body, 1, string(text(text(nil, 1, m.URL), 2, string(m.Value))))
	}
	if memo != "" {
		body = text(body, 2, memo)
	}
	key := text(nil, 1, string(o.key.PubKey().SerializeCompressed()))
	signer := text(nil, 1, string(text(text(nil, 1, "/cosmos.crypto.secp256k1.PubKey"), 2, string(key))))
	signer = varint(text(signer, 2, string(text(nil, 1, string(varint(nil, 1, 1))))), 3, o.sequence)
	fee := varint(text(nil, 1, string(text(text(nil, 1, nativeDenom), 2, "25000"))), 2, 1_000_000)
	auth := text(text(nil, 1, string(signer)), 2, string(fee))

	signed := text(text(nil, 1, string(body)), 2, string(auth))
	hash := sha256.Sum256(varint(text(signed, 3, CosmosChain), 4, o.account))
	tx := text(signed, 3, string(ecdsa.SignCompact(o.key, hash[:], true)[1:]))

	raw := base64.StdEncoding.EncodeToString(tx)
	if err := o.offer(raw); err != nil {
		return chain.Hash{}, err
	}
	o.sequence++
	o.waiting = append(o.waiting, raw)
	return sha256.Sum256(tx), nil
}

// offer sends a transaction to the node.
func (o *Atoms) offer(raw string) error {
	var r struct {
		Code uint32 `json:"code"`
		Log  string `json:"log"`
	}
	if err := o.call(&r, "broadcast_tx_sync", raw); err != nil {
		return err
	}
	if r.Code != 0 {
		return fmt.Errorf("code %d: %s", r.Code, r.Log)
	}
	return nil
}

// Send makes a pending transaction of payments, with the memo of the first.
func (o *Atoms) Send(pays ...chain.Pay) (chain.Hash, error) {
	var messages []Message
	for _, p := range pays {
		messages = append(messages, o.Paying(p))
	}
	return o.Do(pays[0].To.Memo, messages...)
}

// SendFailing makes a pending transaction whose second payment cannot be made: the first is taken back with it.
func (o *Atoms) SendFailing(pay chain.Pay) (chain.Hash, error) {
	more := pay
	more.Amount = bourse.Amount{Hi: 1}
	return o.Send(pay, more)
}

// NewAddress returns a random address, without a key.
func (o *Atoms) NewAddress() (string, error) {
	o.made++
	program := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("payee"), o.made))
	return bech32Of(program[:20]), nil
}

// Mine adds blocks, the first with all pending transactions, but for those that the node's pool took while it made the
// block.
func (o *Atoms) Mine(count int) (chain.BlockRef, error) {
	if count == 0 {
		return o.head()
	}
	r, err := http.NewRequestWithContext(o.node.t.Context(), http.MethodGet, fmt.Sprintf("http://node/mine?blocks=%d", count), http.NoBody)
	if err != nil {
		return chain.BlockRef{}, err
	}
	answer, err := o.http.Do(r)
	if err != nil {
		return chain.BlockRef{}, err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return chain.BlockRef{}, fmt.Errorf("the node does not mine: %s", answer.Status)
	}

	_, payments, err := o.payer()
	if err != nil {
		return chain.BlockRef{}, err
	}
	o.waiting = o.waiting[uint64(len(o.waiting))-(o.sequence-payments):]
	return o.head()
}

func (o *Atoms) head() (ref chain.BlockRef, err error) {
	var s struct {
		Sync struct {
			Hash   string `json:"latest_block_hash"`
			Height string `json:"latest_block_height"`
		} `json:"sync_info"`
	}
	if err := o.call(&s, "status"); err != nil {
		return ref, err
	}
	if ref.Height, err = strconv.ParseUint(s.Sync.Height, 10, 64); err != nil {
		return ref, err
	}
	ref.Hash, err = hashOf(s.Sync.Hash)
	return ref, err
}

var errFinal = errors.New("the chain's blocks are final")

// Reorg fails: blocks are final.
func (o *Atoms) Reorg(int, bool) (chain.BlockRef, error) { return chain.BlockRef{}, errFinal }

// Restore fails: blocks are final.
func (o *Atoms) Restore() error { return errFinal }

// DoubleSpend fails: blocks are final.
func (o *Atoms) DoubleSpend(chain.Hash) (chain.Hash, error) { return chain.Hash{}, errFinal }

// Fund pays coins to an address with a memo, and mines the payments.
func (o *Atoms) Fund(to chain.Destination, pays ...chain.Pay) error {
	for i := range pays {
		pays[i].To = to
	}
	if _, err := o.Send(pays...); err != nil {
		return err
	}
	_, err := o.Mine(1)
	return err
}

// Balance returns an address's balance in the native coin.
func (o *Atoms) Balance(of string) (bourse.Amount, error) { return o.Coins(of, "ATOM") }

// Coins returns an address's balance in a coin.
func (o *Atoms) Coins(of string, coin chain.CoinID) (bourse.Amount, error) {
	value, err := o.query("/cosmos.bank.v1beta1.Query/Balance", text(text(nil, 1, of), 2, denomOf(coin)))
	if err != nil {
		return bourse.Amount{}, err
	}
	return bourse.ParseAmount(string(inside(inside(value, 1), 2)), 0)
}

// Halt kills the node's process. Its chain is on disk.
func (o *Atoms) Halt() error {
	o.node.Kill()
	return nil
}

// Resume starts the node that Halt killed, and sends it the outside world's payments that it forgot.
func (o *Atoms) Resume() error {
	o.node.Run()
	o.http.CloseIdleConnections()
	for _, raw := range o.waiting {
		if err := o.offer(raw); err != nil {
			return err
		}
	}
	return nil
}

// Holdings returns the balances of the shared address that public keys derive, and the block behind which they hold.
func (o *Atoms) Holdings(keys string, _ uint32) (map[chain.CoinID]bourse.Amount, chain.BlockRef, error) {
	public, err := cosmos.ParseKeys(keys)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	p, err := cosmos.Lookup(CosmosChain)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	codec, err := cosmos.NewCodec(p, public)
	if err != nil {
		return nil, chain.BlockRef{}, err
	}
	head, err := o.head()
	if err != nil {
		return nil, head, err
	}
	has := map[chain.CoinID]bourse.Amount{}
	for _, coin := range []chain.CoinID{"ATOM", IBCDenom} {
		if has[coin], err = o.Coins(codec.Destination(chain.IndexHot).Address, coin); err != nil {
			return nil, head, err
		}
	}
	return has, head, nil
}

// TxID names a transaction as the exchange lists it.
func (o *Atoms) TxID(hash chain.Hash) string { return fmt.Sprintf("%X", hash[:]) }

// text appends a field of bytes.
func text(b []byte, n protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), v)
}

// varint appends a field of a number; zero is left out, as signatures want it.
func varint(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

// inside returns the bytes of a field.
func inside(b []byte, want protowire.Number) []byte {
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeField(b)
		if size < 0 {
			return nil
		}
		if n == want && typ == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(b)
			v, _ := protowire.ConsumeBytes(b[tag:])
			return v
		}
		b = b[size:]
	}
	return nil
}

// numberIn returns the number of a field.
func numberIn(b []byte, want protowire.Number) uint64 {
	for len(b) > 0 {
		n, typ, size := protowire.ConsumeField(b)
		if size < 0 {
			return 0
		}
		if n == want && typ == protowire.VarintType {
			_, _, tag := protowire.ConsumeTag(b)
			v, _ := protowire.ConsumeVarint(b[tag:])
			return v
		}
		b = b[size:]
	}
	return 0
}

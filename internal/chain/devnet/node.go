package devnet

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Options configure a network.
type Options struct {
	// Seed derives the keys of the outside world; the same seed and clock make the same
	// network.
	Seed [32]byte
	// Clock returns the current time.
	Clock func() bourse.Time
	// BlockTime is the interval of Tick's blocks; zero for none.
	BlockTime bourse.Time
	// Hot is the exchange's hot wallet, funded in block 1. Empty for none.
	Hot chain.Destination
}

// Node is a network and its node. Safe for concurrent use. After a failure of the log
// other than a full disk, every change fails.
type Node struct {
	params  *Params
	options Options
	outside *Keys
	// wallets are the outside addresses that pay, with their indices.
	wallets map[string]uint32

	mu     sync.Mutex
	log    *store
	broken error
	blocks []*block
	// where maps each mined transaction to its height.
	where map[chain.Hash]uint64
	tip   *state
	// next is the state after the pool; nil if the pool is empty.
	next *state
	// pool is the content of the next block, in order; gaps wait for a lower nonce.
	pool, gaps []*pending
	// dropped are transactions that left the chain or the pool, each once. Like all
	// state, it is rebuilt from the log.
	dropped  []dropped
	branch   uint64
	sent     uint64
	receiver uint32
	// dear multiplies the price that blocks take, as when many pay; zero and one are the usual price.
	dear uint64
	// lag is the number of hidden blocks; silent hides the lag itself.
	lag    uint64
	silent bool
}

// pending is a transaction in the pool or the gaps.
type pending struct {
	tx      *transaction
	effects *mined
}

func (w *pending) hash() chain.Hash { return chain.Hash(w.effects.Hash) }

// dropped is a transaction that is neither pending nor mined.
type dropped struct {
	hash chain.Hash
	raw  []byte
}

// Open opens the network in a directory, and creates it if the directory has none.
func Open(d disk.Disk, p *Params, o Options) (*Node, error) {
	n := &Node{
		params: p, options: o, outside: NewKeys(p, o.Seed), wallets: map[string]uint32{},
		where: map[chain.Hash]uint64{}, tip: newState(p),
	}

	for index := range uint32(wallets) {
		n.wallets[p.address(n.outside.Public(), index)] = index
	}

	first := genesis(p, n.outside.Public())
	log, err := openStore(d, func(r *record) error {
		if len(n.blocks) == 0 && (r.Block == nil || r.Block.Hash != first.Hash) {
			return fmt.Errorf("this network %s was made from another seed", p.Symbol)
		}
		return n.apply(r)
	})
	if err != nil {
		return nil, err
	}

	n.log = log
	if len(n.blocks) == 0 {
		err = n.commit(&record{Block: first})
	}
	if err == nil && n.head().Height == 0 {
		err = n.fund()
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Close releases the log.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = errors.New("the network is closed")
	return n.log.file.Close()
}

// fund mines block 1 with the exchange's initial funds. A crash may leave some of its
// payments in the pool; the next start sends only the missing ones.
func (n *Node) fund() error {
	for _, a := range n.params.funding {
		if n.options.Hot.Address == "" || n.pays(a.coin) {
			continue
		}
		var pays []chain.Pay
		for range a.times {
			pays = append(pays, chain.Pay{To: n.options.Hot, Coin: a.coin, Amount: a.each})
		}
		if _, err := n.send(pays, sending{}); err != nil {
			return err
		}
	}
	return n.mine(1)
}

// pays reports whether a funding of this coin is in the pool.
func (n *Node) pays(coin chain.CoinID) bool {
	return slices.ContainsFunc(n.pool, func(w *pending) bool { return w.tx.Outputs[0].Coin == coin })
}

func (n *Node) head() *block { return n.blocks[len(n.blocks)-1] }

// commit makes a change durable and applies it.
func (n *Node) commit(r *record) error {
	if n.broken != nil {
		return n.broken
	}
	err := n.log.append(r)
	switch {
	case disk.IsFull(err):
		return err // a full disk: nothing has changed, and the caller may retry
	case err != nil:
		n.broken = fmt.Errorf("network %s: %w", n.params.Symbol, err)
		return n.broken
	}
	return n.apply(r)
}

// apply applies a record of the log. It is deterministic, so that a restart rebuilds the
// same state.
func (n *Node) apply(r *record) error {
	var off [][]byte
	if r.Cut != nil {
		var err error
		if off, err = n.cut(*r.Cut); err != nil {
			return err
		}
	}
	if r.Block != nil {
		if err := n.put(r.Block); err != nil {
			return err
		}
	}

	for _, time := range r.Empty {
		n.follow(n.draft(time).seal())
	}

	switch {
	case r.Pool != nil:
		n.replacePool(*r.Pool, off)
	case len(r.Tx) > 0:
		n.admit([][]byte{r.Tx}) // it was executed before it was written
	case r.Block != nil:
		n.refill(n.waiting())
	}

	if r.Given {
		n.receiver++
	}
	return nil
}

// cut rebuilds the state at a height from the chain below, and returns the transactions
// above it.
func (n *Node) cut(height uint64) ([][]byte, error) {
	if height >= uint64(len(n.blocks)) {
		return nil, fmt.Errorf("there is no height %d to go back to", height)
	}
	off, blocks := n.above(height), n.blocks[:height+1]
	n.blocks, n.where, n.tip = nil, map[chain.Hash]uint64{}, newState(n.params)
	n.branch++
	for _, b := range blocks {
		n.follow(b)
	}
	return off, nil
}

// put adds a block if it is the next one.
func (n *Node) put(b *block) error {
	var parent digest
	if len(n.blocks) > 0 {
		parent = n.head().Hash
	}
	if b.Height != uint64(len(n.blocks)) || b.Parent != parent || !b.sealed() {
		return fmt.Errorf("block %d does not follow", b.Height)
	}
	n.follow(b)
	return nil
}

func (n *Node) follow(b *block) {
	for i := range b.Txs {
		n.tip.follow(&b.Txs[i])
		n.where[chain.Hash(b.Txs[i].Hash)] = b.Height
	}
	n.blocks = append(n.blocks, b)
}

// waiting returns the bytes of all pending transactions, in order.
func (n *Node) waiting() [][]byte {
	var raws [][]byte
	for _, w := range slices.Concat(n.pool, n.gaps) {
		raws = append(raws, w.effects.Raw)
	}
	return raws
}

// refill rebuilds the pool from transactions that were valid on arrival, in any order.
// Mined transactions are left out; others that can no longer be executed are dropped.
func (n *Node) refill(raws [][]byte) {
	n.pool, n.gaps, n.next = nil, nil, nil
	for left := len(raws) + 1; len(raws) > 0 && len(raws) < left; {
		left = len(raws)
		raws = n.admit(raws)
	}
	for _, raw := range raws {
		n.drop(n.parse(raw).hash(), raw)
	}
}

// replacePool sets the pool. Transactions that were pending, or just left the chain, and
// are not in the new pool are dropped.
func (n *Node) replacePool(pool, off [][]byte) {
	before := slices.Concat(off, n.waiting())
	n.refill(pool)
	for _, raw := range before {
		n.drop(n.parse(raw).hash(), raw)
	}
	n.dropped = slices.DeleteFunc(n.dropped, func(d dropped) bool { return n.known(d.hash) })
}

// drop keeps a transaction for Restore.
func (n *Node) drop(hash chain.Hash, raw []byte) {
	if !slices.ContainsFunc(n.dropped, func(d dropped) bool { return d.hash == hash }) {
		n.dropped = append(n.dropped, dropped{hash, raw})
	}
}

// known reports whether a transaction is mined or pending.
func (n *Node) known(hash chain.Hash) bool {
	_, mined := n.where[hash]
	return mined || n.waits(hash) != nil
}

// parse decodes a transaction that was valid on arrival.
func (n *Node) parse(raw []byte) *transaction {
	t, err := n.params.parseTx(raw)
	if err != nil {
		bourse.Impossible("a transaction that waited: %v", err)
	}
	return t
}

// admit adds transactions that are not mined to the pool or the gaps. It returns those
// that cannot be executed yet: they may spend outputs of a later one.
func (n *Node) admit(raws [][]byte) (left [][]byte) {
	for _, raw := range raws {
		t := n.parse(raw)
		if _, mined := n.where[t.hash()]; !mined && !n.enter(t) {
			left = append(left, raw)
		}
	}
	return left
}

// enter adds a transaction to the pool or the gaps, and then the transaction that waited
// for its nonce.
func (n *Node) enter(t *transaction) bool {
	effects, err := n.ahead().execute(t)
	switch {
	case errors.Is(err, errNonceGap):
		n.gaps = append(n.gaps, &pending{t, effects})
		return true
	case err != nil:
		return false
	}

	if n.next == nil {
		n.next = n.tip.clone()
	}
	n.next.follow(effects)
	n.pool = append(n.pool, &pending{t, effects})

	for i, w := range n.gaps {
		if w.tx.From == t.From && w.tx.Nonce == t.Nonce+1 {
			n.gaps = slices.Delete(n.gaps, i, i+1)
			n.enter(w.tx) // gone if it became impossible
			return true
		}
	}
	return true
}

// ahead is the state before the next transaction.
func (n *Node) ahead() *state {
	if n.next != nil {
		return n.next
	}
	return n.tip
}

// Tick mines a block if one is due, and reports whether it did.
func (n *Node) Tick() (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	due := bourse.Time(n.head().Time) + n.options.BlockTime
	if n.options.BlockTime == 0 || n.options.Clock() < due {
		return false, nil
	}
	return true, n.mine(1)
}

// mine adds blocks; the first contains the pool.
func (n *Node) mine(count int) error {
	r := &record{}
	time := max(int64(n.options.Clock()), n.head().Time)
	if chosen := n.chosen(); len(chosen) > 0 {
		count--
		r.Block = n.draft(time)
		r.Block.Txs = chosen
		r.Block.seal()
	}
	r.Empty = slices.Repeat([]int64{time}, count)
	return n.commit(r)
}

// draft returns the next block, without transactions and hash.
func (n *Node) draft(time int64) *block {
	parent := n.head()
	return &block{header: header{
		Network: n.params.Symbol, Height: parent.Height + 1, Parent: parent.Hash, Time: time, Branch: n.branch,
	}}
}

// Reasons to refuse a transaction.
var (
	errKnown    = errors.New("already known")
	errReplaces = errors.New("another transaction with this nonce waits")
	errOutbid   = errors.New("pays too little more than the transaction that it replaces")
	errFull     = errors.New("too many transactions wait")
)

// maxGaps bounds the transactions that wait for a lower nonce.
const maxGaps = 1000

// accept adds a transaction to the pool or the gaps.
func (n *Node) accept(raw []byte) (chain.Hash, error) {
	t, err := n.params.parseTx(raw)
	if err != nil {
		return chain.Hash{}, err
	}
	if err := n.params.verify(t); err != nil {
		return chain.Hash{}, err
	}

	hash := t.hash()
	if n.known(hash) {
		return hash, errKnown
	}

	if pool, err := n.replacement(t); pool != nil || err != nil {
		if err == nil {
			err = n.commit(&record{Pool: &pool})
		}
		return hash, err
	}
	_, err = n.ahead().execute(t)
	switch {
	case errors.Is(err, errNonceLow) && t.Nonce >= n.tip.nonces[t.From], n.waitsForGap(t):
		return hash, errReplaces
	case errors.Is(err, errNonceGap) && len(n.gaps) >= maxGaps:
		return hash, errFull
	case err != nil && !errors.Is(err, errNonceGap):
		return hash, err
	}
	return hash, n.commit(&record{Tx: raw})
}

// waits returns the transaction with this hash, if it waits.
func (n *Node) waits(hash chain.Hash) *pending {
	for _, list := range [...][]*pending{n.pool, n.gaps} {
		for _, w := range list {
			if w.hash() == hash {
				return w
			}
		}
	}
	return nil
}

func (n *Node) waitsForGap(t *transaction) bool {
	return t.From != "" && slices.ContainsFunc(n.gaps, func(w *pending) bool {
		return w.tx.From == t.From && w.tx.Nonce == t.Nonce
	})
}

package nodetest

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Geth returns geth, a node of Ethereum, with the chain of [Anvil]. It has no consensus client: the outside world
// makes its blocks by the methods that geth has for tests. No block is safe or finalized.
func Geth() *Kind {
	return &Kind{
		Name: "geth",
		args: func(dir, port string) []string {
			return []string{
				"--datadir", dir, "--override.genesis", filepath.Join(dir, genesisFile), "--networkid", fmt.Sprint(EtherChain),
				"--http", "--http.addr", "127.0.0.1", "--http.port", port, "--http.api", "eth,net,web3,txpool,debug,testing",
				"--authrpc.port", "0", "--port", "0", "--nodiscover", "--maxpeers", "0", "--ipcdisable", "--cache", "64",
				// All states are kept: the chain can go back to any block, and a kill loses none.
				"--state.scheme", "hash", "--gcmode", "archive",
				"--txpool.nolocals", "--txpool.journal", "", "--txpool.accountslots", "1000", "--txpool.accountqueue", "1000",
			}
		},
		prepare: func(dir string) error { return writeGenesis(dir, systemContracts(), gethRules()) },
		ready:   regexp.MustCompile(`HTTP server started.* auth=false`),
		stop: func(n *Node) error {
			n.signal(syscall.SIGINT)
			n.wait()
			return nil
		},
		control: func(o *Ether) control { return &geth{Ether: o} },
	}
}

// gethRules are those of Ethereum's rules of 2025, from the first block on.
func gethRules() map[string]any {
	rules := map[string]any{"chainId": EtherChain, "terminalTotalDifficulty": 0}
	for _, fork := range []string{
		"homestead", "eip150", "eip155", "eip158", "byzantium", "constantinople", "petersburg", "istanbul", "berlin", "london",
	} {
		rules[fork+"Block"] = 0
	}
	blobs := map[string]any{}
	for _, fork := range []string{"shanghai", "cancun", "prague", "osaka"} {
		rules[fork+"Time"] = 0
		blobs[fork] = map[string]any{"target": 6, "max": 9, "baseFeeUpdateFraction": 5007716}
	}
	delete(blobs, "shanghai")
	rules["blobSchedule"] = blobs
	return rules
}

// systemContracts are the contracts that every block calls (EIP-7002, EIP-7251): here they do nothing. The outside
// world's accounts have ether, as anvil's have.
func systemContracts() map[string]allotted {
	list := map[string]allotted{
		"0x00000961Ef480Eb55e80D19ad83579A64c007002": {Balance: "0x0", Code: "0x00"},
		"0x0000BBdDc7CE488642fb579F8B00f3a590007251": {Balance: "0x0", Code: "0x00"},
	}
	_, codec, err := outsideKeys()
	if err != nil {
		panic(err)
	}
	rich := allotted{Balance: "0x21e19e0c9bab2400000"} // 10,000 ether
	list[firstAccount] = rich
	for n := range uint32(payers) {
		list[codec.Destination(n+1).Address] = rich
	}
	return list
}

// geth makes the blocks of geth.
type geth struct {
	*Ether
	// built are the blocks of the chain, by their heights less one: their content makes the same block again.
	built []template
	// hidden are the blocks that hide took off the chain.
	hidden []template
	// kept are the payments of the outside world that wait while the node is away.
	kept []string
}

// template is what makes a block.
type template struct {
	time uint64
	raws []string
}

// attributes are those of a block that a consensus client orders.
type attributes struct {
	Time         string `json:"timestamp"`
	Random       string `json:"prevRandao"`
	FeeRecipient string `json:"suggestedFeeRecipient"`
	Withdrawals  []any  `json:"withdrawals"`
	BeaconRoot   string `json:"parentBeaconBlockRoot"`
}

func (g *geth) mine(count int) error {
	raws, err := g.ready()
	if err != nil {
		return err
	}
	for range count {
		if err := g.add(raws); err != nil {
			return err
		}
		raws = nil
	}
	return nil
}

func (g *geth) mineEmpty(count int) error {
	for range count {
		if err := g.add(nil); err != nil {
			return err
		}
	}
	return nil
}

// spike raises the price by full blocks, whose transactions outbid what waits.
func (g *geth) spike(price uint64) error {
	for range maxFull {
		now, err := g.price()
		if err != nil {
			return err
		}
		if now >= price {
			return g.mine(1)
		}
		burning, err := g.burning()
		if err != nil {
			return err
		}
		if err := g.add(burning); err != nil {
			return err
		}
	}
	return errors.New("the price of gas does not rise")
}

const (
	// maxFull bounds the blocks of a spike: each raises the price by a tenth.
	maxFull = 200
	// muchGas is less than half of a block's gas, and than the most of a transaction (EIP-7825).
	muchGas = 14_000_000
)

// burning returns transactions that take most of a block's gas and do nothing.
func (g *geth) burning() (raws []string, err error) {
	key := FirstKey()
	nonce, err := g.settled(firstAccount)
	for range 2 {
		if err != nil {
			return nil, err
		}
		t := order{to: burnerAt, gas: muchGas}
		var raw string
		raw, err = t.signBy(key, nonce)
		raws = append(raws, raw)
		nonce++
	}
	return raws, err
}

// price returns the price of the next block's gas.
func (g *geth) price() (uint64, error) {
	var fees struct {
		Prices []string `json:"baseFeePerGas"`
	}
	if err := g.call(&fees, "eth_feeHistory", "0x1", "latest", []int{}); err != nil {
		return 0, err
	}
	return heightOf(fees.Prices[len(fees.Prices)-1]), nil
}

// ready returns the pending transactions whose turn it is and that pay the next block's price, in the order in which
// the outside world sent them, and those of others behind them.
func (g *geth) ready() (raws []string, err error) {
	list, err := g.waiting()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b pooled) int { return cmp.Compare(g.rank(a.Hash), g.rank(b.Hash)) })
	price, err := g.price()
	if err != nil {
		return nil, err
	}
	next := map[string]uint64{}
	for i := range list {
		from := list[i].From
		if _, known := next[from]; !known {
			if next[from], err = g.settled(from); err != nil {
				return nil, err
			}
		}
	}

	for taken := -1; taken < len(raws); {
		taken = len(raws)
		for i := range list {
			tx := &list[i]
			if heightOf(tx.Nonce) != next[tx.From] || heightOf(tx.Most) < price {
				continue
			}
			raw, err := g.raw(tx.Hash)
			if err != nil {
				return nil, err
			}
			raws = append(raws, raw)
			next[tx.From]++
		}
	}
	return raws, nil
}

// add adds a block of these transactions.
func (g *geth) add(raws []string) error {
	head, err := g.block("latest")
	if err != nil {
		return err
	}
	now := uint64(time.Now().Unix()) //nolint:forbidigo // for tests alone
	return g.commit(template{max(heightOf(head.Time)+1, now), raws})
}

// commit adds a block, and waits until the node's pool is without its transactions.
func (g *geth) commit(t template) error {
	const none = "0x0000000000000000000000000000000000000000"
	a := attributes{
		Time: fmt.Sprintf("0x%x", t.time), Random: word("0"), FeeRecipient: none, Withdrawals: []any{}, BeaconRoot: word("0"),
	}
	if t.raws == nil {
		t.raws = []string{}
	}
	if err := g.call(nil, "testing_commitBlockV1", a, t.raws, nil); err != nil {
		return err
	}
	g.built = append(g.built, t)

	head, err := g.block("latest")
	if err != nil {
		return err
	}
	senders, err := g.senders(head.Txs, func(a, b uint64) uint64 { return max(a, b) })
	if err != nil {
		return err
	}
	return g.until("the pool without what was mined", func() (bool, error) {
		list, err := g.waiting()
		for i := range list {
			if last, ours := senders[strings.ToLower(list[i].From)]; ours && heightOf(list[i].Nonce) <= last {
				return false, err
			}
		}
		if err != nil {
			return false, err
		}
		return g.counts(senders, func(count, last uint64) bool { return count > last })
	})
}

// senders returns for each sender of transactions one of its nonces.
func (g *geth) senders(names []string, choose func(a, b uint64) uint64) (map[string]uint64, error) {
	list := map[string]uint64{}
	for _, name := range names {
		var tx pooled
		if err := g.call(&tx, "eth_getTransactionByHash", name); err != nil {
			return nil, err
		}
		from, nonce := strings.ToLower(tx.From), heightOf(tx.Nonce)
		if old, known := list[from]; known {
			nonce = choose(old, nonce)
		}
		list[from] = nonce
	}
	return list, nil
}

// counts reports whether the pool's next nonce of each sender is as wanted.
func (g *geth) counts(senders map[string]uint64, wanted func(count, nonce uint64) bool) (bool, error) {
	for from, nonce := range senders {
		var count string
		if err := g.call(&count, "eth_getTransactionCount", from, "pending"); err != nil {
			return false, err
		}
		if !wanted(heightOf(count), nonce) {
			return false, nil
		}
	}
	return true, nil
}

// maxLooks bounds how often the node is asked for what it does by itself.
const maxLooks = 20_000

// until asks until something holds.
func (*geth) until(what string, holds func() (bool, error)) error {
	for range maxLooks {
		if done, err := holds(); done || err != nil {
			return err
		}
	}
	return errors.New("geth does not come to " + what)
}

// back takes the last blocks off the chain, and waits until the node's pool knows.
func (g *geth) back(blocks int) error {
	if blocks > len(g.built) {
		return fmt.Errorf("there are no %d blocks", blocks)
	}
	var names []string
	keep := len(g.built) - blocks
	for height := keep + 1; height <= len(g.built); height++ {
		b, err := g.block(fmt.Sprintf("0x%x", height))
		if err != nil {
			return err
		}
		names = append(names, b.Txs...)
	}
	senders, err := g.senders(names, func(a, b uint64) uint64 { return min(a, b) })
	if err != nil {
		return err
	}

	if err := g.call(nil, "debug_setHead", fmt.Sprintf("0x%x", keep)); err != nil {
		return err
	}
	g.built = g.built[:keep:keep]
	return g.until("the pool of the chain before", func() (bool, error) {
		return g.counts(senders, func(count, first uint64) bool { return count <= first })
	})
}

func (g *geth) replace(depth int, raws ...string) error {
	times := g.built[len(g.built)-min(depth, len(g.built)):]
	last := times[len(times)-1].time
	if err := g.back(depth); err != nil {
		return err
	}
	for range depth {
		last++
		if err := g.commit(template{time: last}); err != nil {
			return err
		}
	}
	return g.commit(template{last + 1, raws})
}

func (g *geth) hide(blocks uint64) error {
	g.hidden = slices.Clone(g.built[len(g.built)-int(blocks):])
	return g.back(int(blocks))
}

func (g *geth) unhide() error {
	for _, t := range g.hidden {
		if err := g.commit(t); err != nil {
			return err
		}
	}
	g.hidden = nil
	return nil
}

// halt kills the node. The outside world keeps its own payments.
func (g *geth) halt() error {
	list, err := g.waiting()
	if err != nil {
		return err
	}
	for i := range list {
		if _, ours := g.payerAt(list[i].From); !ours {
			continue
		}
		raw, err := g.raw(list[i].Hash)
		if err != nil {
			return err
		}
		g.kept = append(g.kept, raw)
	}
	g.node.Kill()
	return nil
}

// resume starts the node, gives back the blocks that it lost, and the outside world's payments.
func (g *geth) resume() error {
	g.node.Run()
	head, err := g.head()
	if err != nil {
		return err
	}
	lost := g.built[head.Height:]
	g.built = g.built[:head.Height:head.Height]
	for _, t := range lost {
		if err := g.commit(t); err != nil {
			return err
		}
	}
	g.offer(g.kept)
	g.kept = nil
	return nil
}

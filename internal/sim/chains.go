package sim

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// coin is an asset of a network. Amounts are in the network's units.
type coin struct {
	network bourse.Symbol
	// contract is the coin's ID; the ledger's asset is drawn per seed.
	contract chain.CoinID
	decimals uint8
	// confirms is the number of confirmations of a deposit.
	confirms uint32
	// least is the minimum deposit and withdrawal, fee the fee of a withdrawal.
	least, fee uint64
}

// coins are the coins of all networks, native ones first.
var coins = [...]coin{
	{"BTC", "BTC", 8, 2, 10_000, 5_000},
	{"ETH", "ETH", 18, 3, 1e16, 1e15},
	{"ETH", devnet.USDT, 6, 3, 1_000_000, 500_000},
	{"ATOM", "ATOM", 6, 2, 10_000, 10_000},
	{"TEST", "TEST01", 8, 2, 10_000, 100},
}

// listed is a ledger asset that stands for a coin. unit is the number of ledger units in
// one of the network's.
type listed struct {
	*coin
	asset bourse.AssetID
	unit  uint64
}

func (l *listed) ledger(units uint64) bourse.Amount {
	a, _ := bourse.Units(units).Mul(l.unit)
	return a
}

// network is a network with its node. It outlives the exchange's processes.
type network struct {
	world  *world
	id     bourse.NetworkID
	params *devnet.Params
	keys   *devnet.Keys
	codec  *devnet.Codec
	listed []listed

	disk   *memdisk.Disk
	node   *devnet.Node
	faults *devnet.Faults
	// deep networks reorganise deeper than the confirmations of deposits; rough is true
	// once one did.
	deep, rough bool
	rewriting   rewriting
	// stuck is the number of blocks after which the exchange outbids its payments; zero for never.
	stuck uint64
	// outputs is the number of outputs below which change is split; zero for never.
	outputs int
	// alone is how many least deposits of each asset the node alone credits in a day; zero for no bound.
	alone uint64
	// colds are the addresses of cold storage that moves were signed for.
	colds []string
	// silentUntil is the step at which the node answers again; zero if it does now.
	silentUntil uint64
	// sent are payments from outside to customers.
	sent []chain.Hash
	// checked is the last block at which the ledger was compared with the chain.
	checked bourse.BlockRef
}

const genesisTime = bourse.Time(1_700_000_000) * bourse.Second

var ownSeed, outsideSeed, coldSeed = [32]byte{1}, [32]byte{2}, [32]byte{3}

// founded has the disk of each network after its genesis: cloning it is faster than
// opening a new network.
var founded = sync.OnceValue(func() map[bourse.Symbol]*memdisk.Disk {
	disks := map[bourse.Symbol]*memdisk.Disk{}
	for _, c := range coins {
		n := network{params: devnet.Lookup(c.network), disk: memdisk.New(1), world: &world{now: genesisTime}}
		n.keys = devnet.NewKeys(n.params, ownSeed)
		n.codec = devnet.NewCodec(n.params, n.keys.Public())
		n.open()
		want(n.node.Close(), "founding a network")
		disks[c.network] = n.disk
	}
	return disks
})

func newNetwork(w *world, id bourse.NetworkID, symbol bourse.Symbol) *network {
	n := &network{world: w, id: id, params: devnet.Lookup(symbol), disk: founded()[symbol].Clone()}
	n.keys = devnet.NewKeys(n.params, ownSeed)
	n.codec = devnet.NewCodec(n.params, n.keys.Public())
	if n.params.Shape.Outputs {
		n.codec.Keep(n.cold())
	}
	n.open()
	return n
}

// cold returns the key of cold storage.
func (n *network) cold() devnet.PublicKey { return devnet.NewKeys(n.params, coldSeed).Public() }

// bands bound the hot wallet's balances of the network's assets.
func (n *network) bands() map[bourse.AssetID]wallet.Band {
	list := map[bourse.AssetID]wallet.Band{}
	for i := range n.listed {
		list[n.listed[i].asset] = wallet.Band{Low: n.listed[i].ledger(1000 * n.listed[i].least)}
	}
	return list
}

// bounds bound the network's assets that its node alone credits in a day; nil for no bound.
func (n *network) bounds() map[bourse.AssetID]bourse.Amount {
	if n.alone == 0 {
		return nil
	}
	list := map[bourse.AssetID]bourse.Amount{}
	for i := range n.listed {
		list[n.listed[i].asset] = n.listed[i].ledger(n.alone * n.listed[i].least)
	}
	return list
}

// open starts the node.
func (n *network) open() {
	var err error
	n.node, err = devnet.Open(n.disk, n.params, devnet.Options{
		Seed: outsideSeed, Clock: func() bourse.Time { return n.world.now }, Hot: n.codec.Destination(chain.IndexHot),
	})
	want(err, "opening a network")
	n.faults = devnet.NewFaults(n.node)
}

// shallow returns the number of blocks that a reorganisation may replace: less than the
// confirmations of deposits, except on deep networks.
func (n *network) shallow() int {
	if n.deep {
		return 4
	}
	most := 0
	for _, l := range n.listed {
		most = int(l.confirms) - 1
	}
	return most
}

// act makes one random event on the network.
func (n *network) act() {
	c := n.world.wallets.chance
	switch c.Below(14) {
	case 0:
		n.reorganise(c)
	case 1:
		n.replace(c)
	case 2:
		n.drop(c)
	case 3:
		n.misbehave(c)
	case 4:
		n.fallBehind(c)
	case 5:
		n.crash(c)
	case 6, 7:
		n.spike(c)
	default:
		n.mine(1 + int(c.Below(2)))
	}
}

func (n *network) mine(blocks int) {
	_, err := n.node.Mine(blocks)
	want(err, "mining")
}

func (n *network) note(what string) {
	n.world.trail.note("step %d: %s at height %d: %s", n.world.steps, n.params.Symbol, n.node.Head().Height, what)
}

// reorganise replaces the last blocks of the chain.
func (n *network) reorganise(c *chance) {
	most := n.shallow()
	if most == 0 {
		return
	}

	depth := 1 + int(c.Below(uint64(most)))
	if uint64(depth)+1 >= n.node.Head().Height {
		return
	}

	drop := c.oneIn(3)
	_, err := n.node.Reorg(depth, drop)
	want(err, "rewriting a chain")
	n.rough = n.rough || n.deep
	n.world.count(ChainReorganised)
	if drop {
		n.world.count(ChainDropped)
	}
	n.note("reorganised")
}

// replace double-spends a payment to a customer whose deposit has not been credited.
func (n *network) replace(c *chance) {
	if len(n.sent) == 0 {
		return
	}
	at := int(c.Below(uint64(len(n.sent))))
	tx, head := n.sent[at], n.node.Head()
	if n.world.process.board.State(n.id).Tip != head {
		return
	}
	for d := range n.world.truth.pair.Oracle.Deposits {
		if d.Tx == tx && (!d.Mined || d.Confirms(head.Height) > uint64(n.shallow())) {
			return
		}
	}

	n.sent = slices.Delete(n.sent, at, at+1)
	if _, err := n.node.DoubleSpend(tx); err != nil {
		return // it is gone, or too small to pay for a replacement
	}

	n.rough = n.rough || n.deep
	n.world.count(ChainReplaced)
	n.note("a payment is replaced")
}

// drop makes the node forget a transaction in its pool, or restores the forgotten ones.
func (n *network) drop(c *chance) {
	if c.oneIn(3) {
		want(n.node.Restore(), "restoring what was dropped")
		return
	}
	for _, s := range n.world.process.board.Signed(n.id) {
		if s.State == bourse.SignedAccepted && n.node.Forget(s.Tx) == nil {
			n.world.count(ChainDropped)
			n.note("a payment is forgotten")
			return
		}
	}
}

// misbehave makes the next answers wrong, late or lost.
func (n *network) misbehave(c *chance) {
	all := devnet.AllFaults()
	fault := pick(c, devnet.Silent, devnet.LostReply, devnet.Doubled, all[c.Below(uint64(len(all)))])
	method := pick(c, "", devnet.MethodHead, devnet.MethodBlock, devnet.MethodBroadcast, devnet.MethodRate)
	n.faults.Inject(fault, method, 1+int(c.Below(3)))
	switch fault {
	case devnet.Silent, devnet.Refused, devnet.Failing:
		n.world.count(ChainStalled)
	case devnet.LostReply:
		n.world.count(ChainReplyLost)
	case devnet.Doubled:
		n.world.count(ChainDoubled)
	default:
		n.world.count(ChainLied)
	}
}

// fallBehind makes the node hide its last blocks or stop answering, or ends both.
func (n *network) fallBehind(c *chance) {
	switch c.Below(4) {
	case 0:
		n.node.Lag(1+c.Below(3), c.oneIn(2))
		n.world.count(ChainBehind)
	case 1:
		n.faults.Stop()
		n.silentUntil = n.world.steps + c.between(10, 300)
		n.world.count(ChainStalled)
	default:
		n.recover()
	}
}

// spike raises the price that blocks take while a payment of the exchange waits, and ends that otherwise.
func (n *network) spike(c *chance) {
	times := uint64(1)
	waits := func(s bourse.SignedTx) bool { return s.State == bourse.SignedAccepted }
	if slices.ContainsFunc(n.world.process.board.Signed(n.id), waits) {
		times = c.between(1, 3)
	}
	want(n.node.Spike(times), "a price")
	if times > 1 {
		n.world.count(ChainDear)
	}
	n.note(fmt.Sprintf("blocks take %d times the usual price", times))
}

// recover ends all faults of the node.
func (n *network) recover() {
	n.faults.Clear()
	n.faults.Start()
	n.node.Lag(0, false)
	want(n.node.Spike(1), "a price")
	n.silentUntil = 0
}

// crash crashes the node, and restarts it from its durable state.
func (n *network) crash(c *chance) {
	if !c.oneIn(10) {
		return
	}
	n.disk = n.disk.Crash()
	n.open()
	n.world.count(ChainCrashed)
	n.note("the node crashed")
}

// wire is the transport between a wallet and a node.
type wire struct{ n *network }

// Call passes a request on, with a canceled context: simulated time stands still, so a
// late answer is a missing one.
func (c wire) Call(ctx context.Context, text []byte) ([]byte, error) {
	x := c.n.world.wallets
	leaves := bytes.Contains(text, []byte(`"method":"`+devnet.MethodBroadcast+`"`))
	if leaves {
		x.mayEnd()
	}

	ctx, cancel := context.WithCancel(ctx)
	cancel()

	reply, err := c.n.faults.Call(ctx, text)
	if leaves {
		x.mayEnd()
	}
	return reply, err
}

package wallet_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
)

var (
	walkSeeds = flag.Int("walk.seeds", 200, "how many random walks TestWalk takes")
	walkSteps = flag.Int("walk.steps", 300, "how long each is")
	walkSeed  = flag.Uint64("walk.seed", 0, "take this walk alone")
)

// walk is a random life on one network.
type walk struct {
	*world
	rng *rand.Rand
	n   *network
	// coins are what moves on the network.
	coins []*listing
	// rough walks rewrite chains deeper than deposits are waited for.
	deep bool
	sent []chain.Hash
	log  []string
}

// TestWalk mixes deposits, withdrawals, cancels, blocks, reorganisations, faults
// and crashes at random, with all invariants after each command, and wants
// everything to come to a good end.
func TestWalk(t *testing.T) {
	if *walkSeed != 0 {
		takeWalk(t, *walkSeed)
		return
	}
	seeds := *walkSeeds
	if testing.Short() {
		seeds /= 40
	}
	for lane := range 2 {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			t.Parallel()
			for seed := lane + 1; seed <= seeds; seed += 2 {
				takeWalk(t, uint64(seed))
			}
		})
	}
}

func takeWalk(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	id := []bourse.NetworkID{onBTC, onETH, onETH, onATOM, onTEST}[rng.IntN(5)]
	k := &walk{world: newWorld(t, id), rng: rng, deep: rng.IntN(5) == 0}
	k.together = rng.IntN(4) == 0
	k.stuck = []uint64{0, 1, 3}[rng.IntN(3)]
	k.open()
	k.n = k.network(id)
	for i := range listings {
		if listings[i].network == id {
			k.coins = append(k.coins, &listings[i])
		}
	}
	if rng.IntN(2) == 0 {
		for _, l := range slices.Backward(k.coins) {
			k.drain(l) // what is paid out must come in first
		}
	}
	done := false
	defer func() {
		if !done {
			t.Logf("repeat with -walk.seed=%d (network %d, deep %t)", seed, id, k.deep)
			for _, line := range k.log[max(0, len(k.log)-80):] {
				t.Log(line)
			}
		}
	}()
	for range *walkSteps {
		k.act()
	}
	k.at = nil
	if err := k.n.node.Spike(1); err != nil {
		k.tb.Fatal(err)
	}
	k.finish()
	done = true
}

func (k *walk) say(format string, args ...any) {
	k.log = append(k.log, fmt.Sprintf("%d: ", k.n.node.Head().Height)+fmt.Sprintf(format, args...))
}

// one returns whether something with a chance of one in n happens.
func (k *walk) one(n int) bool { return k.rng.IntN(n) == 0 }

func (k *walk) coin() *listing { return k.coins[k.rng.IntN(len(k.coins))] }

func (k *walk) person() bourse.AccountID { return bourse.AccountID(k.rng.IntN(people) + 1) }

func (k *walk) act() {
	switch k.rng.IntN(25) {
	case 24:
		times := uint64(1 + k.rng.IntN(3))
		k.say("a price %d times the usual one", times)
		if err := k.n.node.Spike(times); err != nil {
			k.tb.Fatal(err)
		}
	case 0, 1, 2:
		k.deposit()
	case 3, 4, 5:
		k.withdraws()
	case 6, 7:
		k.cancels()
	case 8, 9, 10, 11:
		k.now += bourse.Second
		k.say("mine")
		k.ok(k.n.node.Mine(1 + k.rng.IntN(2)))
	case 12:
		k.reorganise()
	case 13:
		k.misbehaves()
	case 14:
		k.dies()
	case 15:
		k.operator()
	default:
		k.works()
	}
}

// ok wants an operation of the network to work; it is not what is tested.
func (k *walk) ok(_ chain.BlockRef, err error) {
	if err != nil {
		k.tb.Fatal(err)
	}
}

// works lets the worker do a little, or all there is.
func (k *walk) works() {
	if k.one(2) {
		k.settle()
		return
	}
	for range k.rng.IntN(4) {
		k.step(k.n)
	}
}

func (k *walk) deposit() {
	l := k.coin()
	to := k.n.client.Destination(uint32(k.person()))
	var pays []chain.Pay
	for range 1 + k.rng.IntN(3)/2*k.rng.IntN(4) {
		pays = append(pays, chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(l.least/2 + k.rng.Uint64N(20*l.least))})
	}
	if l.network == onATOM && k.one(4) {
		for i := range pays {
			pays[i].To.Memo = "rent"
		}
	}
	if !l.outputs() && k.one(6) {
		if _, err := k.n.node.SendFailing(pays[0]); err == nil {
			k.say("failing deposit of %s", l.symbol)
		}
		return
	}
	// A sweep whose deposit a deep reorganisation took could spend the hidden money.
	if l.network == onETH && l.asset == eth && !k.deep && k.one(6) {
		_, err := k.n.node.SendHidden(pays[0])
		k.say("hidden deposit: %v", err)
		return
	}
	tx, err := k.n.node.Send(pays...)
	if err != nil {
		k.say("no deposit: %v", err) // a wallet of the outside is waiting for something
		return
	}
	k.say("deposit %x of %s, %d outputs", tx[:4], l.symbol, len(pays))
	k.sent = append(k.sent, tx)
}

func (k *walk) withdraws() {
	l, account := k.coin(), k.person()
	if k.one(3) {
		k.credit(l, account, 10*l.least)
	}
	has, _ := k.engine.Balance(account, l.asset).Available.Div64(l.unit)
	if has.Less(bourse.Units(l.least + l.fee)) {
		return
	}
	most := has.Minus(bourse.Units(l.fee + l.least))
	amount := l.least + k.rng.Uint64N(most.Lo+1)
	if most.Hi > 0 {
		amount = l.least
	}
	id, reason := k.withdraw(l, account, amount)
	k.say("withdrawal %d of %d %s: %s", id, amount, l.symbol, reason)
}

// cancels cancels a withdrawal now, or in the middle of the worker's work.
func (k *walk) cancels() {
	var ids []bourse.WalletID
	for id, d := range k.withdrawals {
		if d.Open() {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return
	}
	slices.Sort(ids)
	id := ids[k.rng.IntN(len(ids))]
	if k.one(2) {
		k.say("cancel %d: %s", id, k.cancel(id))
		return
	}
	k.atPoint(1+k.rng.IntN(6), func() { k.say("cancel %d in between: %s", id, k.cancel(id)) })
	k.settle()
	k.at = nil
}

// reorganise rewrites the chain, not deeper than deposits are waited for unless
// the walk is deep.
func (k *walk) reorganise() {
	most := k.coins[0].shallow()
	if k.deep {
		most = 4
		k.rough = true
	}
	if most == 0 {
		return
	}
	depth := 1 + k.rng.IntN(most)
	if head := k.n.node.Head().Height; uint64(depth) >= head {
		return
	}
	switch {
	case k.one(3) && len(k.sent) > 0:
		k.doubleSpend(most)
	case k.one(4):
		k.say("restore")
		if err := k.n.node.Restore(); err != nil {
			k.tb.Fatal(err)
		}
	default:
		// Before custody saw a block, its reorganisation is no deeper for that.
		k.settle()
		drop := k.one(3)
		k.say("reorganise %d, drop %t", depth, drop)
		k.ok(k.n.node.Reorg(depth, drop))
		if !k.deep {
			k.settle()
			k.say("and mine it again")
			if err := k.n.node.Restore(); err != nil {
				k.tb.Fatal(err)
			}
			k.ok(k.n.node.Mine(k.coins[0].shallow()))
		}
	}
}

// doubleSpend has a depositor take back what lies no deeper than most.
func (k *walk) doubleSpend(most int) {
	tx := k.sent[k.rng.IntN(len(k.sent))]
	for _, d := range k.deposits {
		if d.Tx == tx && d.Mined && d.Confirms(k.n.node.Head().Height) > uint64(most) {
			return
		}
	}
	if k.board.State(k.n.id).Tip != k.n.node.Head() {
		return
	}
	_, err := k.n.node.DoubleSpend(tx)
	k.say("double spend of %x: %v", tx[:4], err)
	k.sent = slices.DeleteFunc(k.sent, func(h chain.Hash) bool { return h == tx })
}

func (k *walk) misbehaves() {
	switch k.rng.IntN(4) {
	case 0:
		k.say("clear")
		k.n.faults.Clear()
		k.n.node.Lag(0, false)
	case 1:
		lag := k.rng.Uint64N(3)
		k.say("lag %d", lag)
		k.n.node.Lag(lag, k.one(2))
	default:
		all := devnet.AllFaults()
		method := []string{"", devnet.MethodHead, devnet.MethodBlock, devnet.MethodBroadcast, devnet.MethodRate}[k.rng.IntN(5)]
		fault, times := all[k.rng.IntN(len(all))], 1+k.rng.IntN(3)
		k.say("fault %d of %q, %d times", fault, method, times)
		k.n.faults.Inject(fault, method, times)
	}
}

// dies ends the process now, or in the middle of the worker's work.
func (k *walk) dies() {
	if k.one(3) {
		k.say("crash")
		k.restart()
		return
	}
	k.atPoint(1+k.rng.IntN(10), func() {
		k.say("crash in between")
		k.at = nil
		panic(crashed{})
	})
	k.settle()
	k.at = nil
}

func (k *walk) operator() {
	switch k.rng.IntN(5) {
	case 0:
		k.say("pause")
		k.pause(k.n.id, true)
	case 1, 2:
		k.say("resume")
		k.pause(k.n.id, false)
	case 3:
		account, on := k.person(), k.one(3)
		k.say("freeze %d %t", account, on)
		k.freeze(account, on)
	case 4:
		for _, d := range k.deposits {
			if d.NeedsOperator() {
				account := max(d.Account, 1)
				k.say("assign %d to %d", d.Number, account)
				k.assign(d, account)
				break
			}
		}
	}
}

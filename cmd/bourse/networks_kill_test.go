package main

import (
	"flag"
	"math/big"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var (
	networkKills = flag.Int("networks.kills", 4, "how often TestNetworkKills takes a part of each family away")
	networkSeed  = flag.Uint64("networks.seed", 0, "seed of TestNetworkKills; 0 for a new one")
)

// permissive lets everything pass that TestNetworkKills asks for.
const permissive = `networks:
  BTC: {params: regtest, max-cost: "1", hour-cost: "10000", coins: {BTC: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}}
  LTC: {params: litecoin-regtest, max-cost: "1", hour-cost: "10000", coins: {LTC: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}}
  ETH:
    adapter: evm
    params: 31337
    max-cost: "1"
    hour-cost: "10000"
    coins:
      ETH: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}
      "` + nodetest.TokenAt + `": {decimals: 6, payment: "10000", hour: "1000000", day: "1000000", free: "10000"}
  ATOM:
    adapter: cosmos
    params: dev-1
    max-cost: "1"
    hour-cost: "10000"
    coins: {ATOM: {payment: "1000", hour: "1000000", day: "1000000", free: "1000"}}
`

// permissiveOf returns permissive for the chain of a node.
func permissiveOf(r *realNode) string {
	if r.node.Params == nil || r.asset != "BTC" {
		return permissive
	}
	return strings.Replace(permissive, "params: regtest", "params: "+r.node.Params.Name, 1)
}

// killable is an outside world whose node can be taken away for a while.
type killable interface {
	world
	Halt() error
	Resume() error
	Holdings(keys string, accounts uint32) (map[chain.CoinID]bourse.Amount, chain.BlockRef, error)
	TxID(hash chain.Hash) string
}

// coinRoute is a route of a coin on a real node.
type coinRoute struct {
	route
	coin     chain.CoinID
	decimals uint8
	// address and memo are the customer's for deposits.
	address, memo string
}

// networkKilling is an exchange on a real node with a signer of its own, all three of which are taken away
// again and again, and a customer.
type networkKilling struct {
	*depositor
	outside killable
	// proxy is between the exchange and the node.
	proxy  *nodetest.Proxy
	keeper *keeper
	keys   string
	routes []coinRoute
	holder *holder
	rng    *rand.Rand
	// taken is how often each part was taken away: exchange, signer, node and connection.
	taken map[string]int
	// blocks is the number of blocks after which ledger and chain were compared.
	blocks int
}

// TestNetworkKills kills the exchange, the signer and the node, and cuts the connection to the node, at random
// moments while deposits arrive and withdrawals leave. Each deposit is credited once, each withdrawal paid once,
// and the ledger's account of the network is what the chain has on the exchange's addresses, after each block.
// Anvil's chain does not survive a kill: it is frozen instead.
func TestNetworkKills(t *testing.T) {
	if testing.Short() {
		return
	}
	for _, kind := range []*nodetest.Kind{nodetest.Knots(), nodetest.Litecoin(), nodetest.Btcd()} {
		t.Run(kind.Name, func(t *testing.T) {
			r := bitcoins(t, kind)
			newNetworkKilling(t, r, coinRoute{
				route: route{r.asset, r.asset, "0.03", "0.02"}, coin: kind.Params.Coin, decimals: r.decimals,
			}).run(30)
		})
	}
	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) {
			newNetworkKilling(t, ethers(t, kind),
				coinRoute{route: route{"ETH", "ETH", "0.3", "0.1"}, coin: "ETH", decimals: 18},
				coinRoute{route: route{"ETH", "USDT", "30", "20"}, coin: nodetest.TokenAt, decimals: 6},
			).run(3)
		})
	}
	t.Run("cosmos", func(t *testing.T) {
		newNetworkKilling(t, atoms(t), coinRoute{route: route{"ATOM", "ATOM", "3", "1"}, coin: "ATOM", decimals: 6}).run(3)
	})
}

func newNetworkKilling(t *testing.T, r realNode, all ...coinRoute) *networkKilling {
	t.Helper()
	seed := *networkSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -networks.seed=%d", seed)

	k := &networkKilling{
		outside: r.outside.(killable), proxy: nodetest.NewProxy(t, r.node), keeper: newKeeper(t, permissiveOf(&r)), routes: all,
		rng: rand.New(rand.NewPCG(seed, 1)), taken: map[string]int{},
	}
	k.keeper.start()
	k.keys = k.keeper.keys(r.asset)
	r.settings = strings.Replace(r.settings, r.node.URL, k.proxy.URL, 1)
	k.depositor = walk(t, r, k.keeper)
	k.until("the network operates", k.operating)
	var plain []route
	for i := range all {
		plain = append(plain, all[i].route)
	}
	k.holder = k.holderOn("someone", map[string]string{}, plain)
	k.holder.chains = k
	for i := range k.routes {
		r := &k.routes[i]
		to := k.holder.must("/deposit", map[string]any{"asset": r.asset, "network": r.network})
		r.address, r.memo = to.Address, to.Memo
	}
	return k
}

// run gives the customer deposits and takes the three away as often as the flag says.
func (k *networkKilling) run(deposits int) {
	k.t.Helper()
	for range deposits {
		for i := range k.routes {
			r := k.routes[i]
			r.deposit = ratTimes(r.deposit, 20)
			k.deposit(&r)
		}
	}
	k.holder.settle()

	const settleEvery = 20
	began := time.Now()
	for n := 1; n <= *networkKills && !k.t.Failed(); {
		victims := k.rng.Perm(nodeCut + 1)
		for len(victims) > 0 && n <= *networkKills && !k.t.Failed() {
			// Now and then two of them are away at the same time.
			count := min(len(victims), *networkKills-n+1, 1+k.rng.IntN(5)/4)
			k.round(victims[:count])
			victims, n = victims[count:], n+count
		}
		if done := n - 1; done%settleEvery < 3 || done == *networkKills {
			k.holder.settle()
			k.t.Logf("%d kills after %.0f s: %v; %d withdrawals acknowledged, %d without an answer, %d blocks compared",
				done, time.Since(began).Seconds(), k.taken, k.holder.withdrawals, k.holder.lost, k.blocks)
		}
	}
	k.holder.check()
	k.auditJournal()
}

// ratTimes returns a multiple of a decimal.
func ratTimes(decimal string, by int64) string {
	return new(big.Rat).Mul(number(decimal), new(big.Rat).SetInt64(by)).FloatString(6)
}

// round moves coins, and takes victims away at a random moment and brings them back.
func (k *networkKilling) round(victims []int) {
	k.t.Helper()
	if slices.Contains(victims, nodeCut) {
		k.proxy.Lose(k.broadcast)
	}
	before := k.keeper.recorded()
	k.deposits()
	sure := k.withdrawals()
	switch k.rng.IntN(3) {
	case 0: // signatures, of which the exchange may not know yet
		if sure > 0 {
			lines := before + 1 + k.rng.Int64N(sure)
			k.mined("signatures", func() bool { return k.keeper.recorded() >= lines })
		}
	case 1: // a block that the exchange may not have read yet
		k.mine(1)
	}
	for range k.rng.IntN(40) {
		k.operating()
	}

	var back []func()
	for _, victim := range victims {
		back = append(back, k.take(victim))
	}
	if !slices.Contains(victims, exchangeDies) {
		k.withdrawals()
	}
	if !slices.Contains(victims, nodeDies) {
		k.deposits()
		k.mine(k.rng.IntN(3))
	}
	for _, bring := range back {
		bring()
	}
	for range 1 + k.rng.IntN(2) {
		k.advance()
	}
}

// deposits sends some payments to the customer.
func (k *networkKilling) deposits() {
	k.t.Helper()
	for range k.rng.IntN(3) {
		k.deposit(&k.routes[k.rng.IntN(len(k.routes))])
	}
}

// withdrawals asks for some withdrawals and cancels a part of them. It returns the number of those that the
// signer signs sooner or later.
func (k *networkKilling) withdrawals() (sure int64) {
	k.t.Helper()
	for range k.rng.IntN(4) {
		w, err := k.holder.withdraw(http.DefaultClient, k.routes[k.rng.IntN(len(k.routes))].route, k.payee())
		must(k.t, err)
		if k.rng.IntN(4) == 0 {
			must(k.t, k.holder.cancel(http.DefaultClient, w))
		} else {
			sure++
		}
	}
	return sure
}

// payee returns a new address outside the exchange.
func (k *networkKilling) payee() string {
	k.t.Helper()
	address, err := k.outside.NewAddress()
	must(k.t, err)
	return address
}

// deposit makes a pending payment to the customer's address.
func (k *networkKilling) deposit(r *coinRoute) {
	k.t.Helper()
	unit := new(big.Rat).SetInt(new(big.Int).SetUint64(bourse.Pow10(r.decimals)))
	amount := bourse.Units(new(big.Rat).Mul(number(r.deposit), unit).Num().Uint64())
	hash, err := k.outside.Send(chain.Pay{To: chain.Destination{Address: r.address, Memo: r.memo}, Coin: r.coin, Amount: amount})
	must(k.t, err)
	k.holder.paid[k.outside.TxID(hash)] = r.route
}

// The parts that are taken away.
const (
	exchangeDies = iota
	signerDies
	nodeDies
	// nodeCut ends the connection to the node, after an answer to a payment was lost.
	nodeCut
)

// take takes a part away and returns the function that brings it back. A request for a withdrawal is under way
// when the exchange dies.
func (k *networkKilling) take(victim int) (bring func()) {
	k.t.Helper()
	switch victim {
	case exchangeDies:
		k.taken["exchange"]++
		asked := make(chan struct{})
		r, address := k.routes[0].route, k.payee()
		go func() {
			defer close(asked)
			_, _ = k.holder.withdraw(http.DefaultClient, r, address)
		}()
		k.kill()
		<-asked
		return k.start
	case signerDies:
		k.taken["signer"]++
		k.keeper.kill()
		return k.keeper.start
	case nodeDies:
		k.taken["node"]++
		must(k.t, k.outside.Halt())
		return func() { must(k.t, k.outside.Resume()) }
	default:
		k.taken["connection"]++
		k.proxy.Stop()
		return k.proxy.Start
	}
}

// advance mines a block and compares the ledger with the chain once the exchange has read it.
func (k *networkKilling) advance() {
	k.t.Helper()
	k.mine(1)
	k.until("the exchange read the block", k.compared)
}

// compared reports whether the exchange has read the chain's last block, and if so holds its ledger against the
// chain.
func (k *networkKilling) compared() bool {
	k.t.Helper()
	has, head, err := k.outside.Holdings(k.keys, uint32(k.holder.account))
	must(k.t, err)
	books := mustControl[struct {
		Assets   []struct{ Asset, Difference, Parked string }
		Networks []struct {
			Network string
			Height  uint64
			Owned   map[string]string
		}
	}](k.server, "solvency", map[string]any{})
	for _, a := range books.Assets {
		if a.Difference != "0" || a.Parked != "0" {
			k.t.Errorf("block %d: %+v", head.Height, a)
		}
	}
	for _, n := range books.Networks {
		if n.Network != k.asset {
			continue
		}
		if n.Height != head.Height {
			return false
		}
		for i := range k.routes {
			r := &k.routes[i]
			if owned, chain := n.Owned[r.asset], has[r.coin].Format(r.decimals); number(owned).Cmp(number(chain)) != 0 {
				k.t.Errorf("block %d: the ledger has %s %s, the chain %s", head.Height, owned, r.asset, chain)
			}
		}
	}
	k.blocks++
	return true
}

// arrived returns the balance of an address, in whole coins.
func (k *networkKilling) arrived(r route, address string) *big.Rat {
	k.t.Helper()
	if r.asset == k.asset {
		return number(k.depositor.arrived(address))
	}
	const decimals = 6
	a, err := k.outside.(*nodetest.Ether).Tokens(address)
	must(k.t, err)
	return number(a.Format(decimals))
}

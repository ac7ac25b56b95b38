package conformance

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// chain is a network of the sandbox with a coin on it, reserved by one check.
type chain struct {
	x       *exam
	network string
	coin    string
	// confirms is the depth at which a deposit is credited.
	confirms int
	// prec is the number of decimals that the network moves.
	prec int
	// small is below the least deposit; fee is between the least and the highest fee.
	small, fee string
}

// byOutput are the networks with an address for each account and more than one
// confirmation, so that a deposit can be reorganised before it is credited.
var byOutput = []string{"BTC", "LTC", "ETH"}

var sandboxChains = map[string]chain{
	"BTC":  {network: "BTC", coin: "BTC", confirms: 2, prec: 8, small: "0.000005", fee: "0.0005"},
	"LTC":  {network: "LTC", coin: "LTC", confirms: 2, prec: 8, small: "0.0005", fee: "0.0005"},
	"ETH":  {network: "ETH", coin: "ETH", confirms: 3, prec: 18, small: "0.0005", fee: "0.0005"},
	"ATOM": {network: "ATOM", coin: "ATOM", confirms: 1, prec: 6, small: "0.005", fee: "0.005"},
}

// reservations are the networks and other resources that one check at a time may change.
type reservations struct {
	mu    sync.Mutex
	freed sync.Cond
	taken map[string]bool
	// witnesses are accounts whose deposits show how far the exchange has read a network.
	witnesses map[string]*witness
}

// witness is an account with a deposit in the last block.
type witness struct{ key, address, memo string }

func newReservations() *reservations {
	r := &reservations{taken: map[string]bool{}, witnesses: map[string]*witness{}}
	r.freed.L = &r.mu
	return r
}

// reserve waits until one of several resources is free and takes it until the check ends.
func (x *exam) reserve(among ...string) string {
	r := x.exchange.reservations
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		for _, name := range among {
			if !r.taken[name] {
				r.taken[name] = true
				x.Cleanup(func() { r.release(name) })
				return name
			}
		}
		r.freed.Wait()
	}
}

// networks are all networks in the order of reservation.
var networks = []string{"BTC", "LTC", "ETH", "ATOM"}

// awake reserves networks so that no other check silences them.
func (x *exam) awake(networks ...string) {
	for _, network := range networks {
		x.reserve(network)
	}
}

func (r *reservations) release(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken[name] = false
	r.freed.Broadcast()
}

// chain reserves one of several networks and mines a block, which confirms the remains of
// earlier checks.
func (x *exam) chain(among ...string) *chain {
	x.Helper()
	c := sandboxChains[x.reserve(among...)]
	c.x = x
	c.mine(1)
	return &c
}

// token returns the network with another asset.
func (c *chain) token(asset string, prec int, small, fee string) *chain {
	t := *c
	t.coin, t.prec, t.small, t.fee = asset, prec, small, fee
	return &t
}

// outside returns a new address outside the exchange.
func (c *chain) outside() string {
	c.x.Helper()
	return text(c.x.operate("devnet", "address", c.network)["address"])
}

// received returns the balance of an address.
func (c *chain) received(address string) string {
	c.x.Helper()
	return text(c.x.operate("devnet", "balance", c.network, address, c.coin)["balance"])
}

// pays makes a pending payment from outside to an address, and returns the transaction's
// name.
func (c *chain) pays(address, memo, amount string) (txid string) {
	c.x.Helper()
	args := []string{"devnet", "send", c.network, address, c.coin, amount}
	if memo != "" {
		args = append(args, "--memo", memo)
	}
	return text(c.x.operate(args...)["txid"])
}

// gives makes a pending payment from outside to an account.
func (c *chain) gives(a *account, amount string) (txid string) {
	c.x.Helper()
	address, memo := a.address(c)
	return c.pays(address, memo, amount)
}

// address returns an account's deposit address, past any proxy.
func (a *account) address(c *chain) (address, memo string) {
	a.x.Helper()
	v := a.behind("/deposit", fields{"asset": c.coin, "network": c.network})
	if v.get("success").kind != 't' {
		a.x.broken("deposit: %s", v)
	}
	return v.get("address").text, v.get("memo").text
}

// mine mines blocks with all pending transactions, and returns once the exchange has read
// them.
func (c *chain) mine(blocks int) {
	c.x.Helper()
	if blocks > 1 {
		c.x.operate("devnet", "mine", c.network, strconv.Itoa(blocks-1))
	}
	w := c.witness()
	seen := &account{x: c.x, key: w.key}
	txid := c.plain().pays(w.address, w.memo, "0.02")
	c.x.operate("devnet", "mine", c.network)
	c.x.until(enough, "block of "+c.network, func() bool { return seen.hidden("txid", txid) != nothing })
}

// plain returns the network with its coin.
func (c *chain) plain() *chain {
	p := sandboxChains[c.network]
	p.x = c.x
	return &p
}

// witness returns the network's witness. The caller has reserved the network.
func (c *chain) witness() *witness {
	c.x.Helper()
	r := c.x.exchange.reservations
	r.mu.Lock()
	w := r.witnesses[c.network]
	r.mu.Unlock()
	if w != nil {
		return w
	}
	a := c.x.account()
	w = &witness{key: a.key}
	w.address, w.memo = a.address(c.plain())
	r.mu.Lock()
	r.witnesses[c.network] = w
	r.mu.Unlock()
	return w
}

// reorganise replaces the last blocks by others without their transactions, which are
// pending again or lost.
func (c *chain) reorganise(depth int, lost bool) {
	c.x.Helper()
	args := []string{"devnet", "reorg", c.network, strconv.Itoa(depth)}
	if lost {
		args = append(args, "--drop")
	}
	c.x.operate(args...)
}

// fallsSilent silences the network's node until the check ends or restarts it.
func (c *chain) fallsSilent() {
	c.x.Helper()
	c.x.operate("devnet", "stop", c.network)
	c.x.undo("devnet", "start", c.network)
}

func (c *chain) comesBack() {
	c.x.Helper()
	c.x.operate("devnet", "start", c.network)
}

// lags puts the network's node behind its chain by some blocks; the check's end lets it
// catch up.
func (c *chain) lags(blocks int) {
	c.x.Helper()
	c.x.operate("devnet", "lag", c.network, strconv.Itoa(blocks))
	if blocks > 0 {
		c.x.undo("devnet", "lag", c.network, "0")
	}
}

// pause stops the network's withdrawals until the check ends.
func (c *chain) pause() {
	c.x.Helper()
	c.x.operate("withdrawals", "pause", c.network)
	c.x.undo("withdrawals", "resume", c.network)
}

func (c *chain) resume() {
	c.x.Helper()
	c.x.operate("withdrawals", "resume", c.network)
}

// to returns the request of a withdrawal.
func (c *chain) to(address, amount string) fields {
	return fields{"asset": c.coin, "network": c.network, "address": address, "amount": amount, "fee": c.fee}
}

// route returns the fields that name asset and network.
func (c *chain) route() fields { return fields{"asset": c.coin, "network": c.network} }

// customer opens an account with ample funds of the network's coin.
func (c *chain) customer() *account {
	c.x.Helper()
	return c.x.account("1 " + c.coin)
}

// finest returns one unit of the last decimal of n.
func finest(decimals int) string { return "0." + strings.Repeat("0", decimals-1) + "1" }

// members returns the names of an object's members.
func members(v *value) []string {
	var list []string
	for _, m := range v.members {
		list = append(list, m.name)
	}
	return list
}

// ascending checks that the members of an object are sorted.
func (x *exam) ascending(what string, v *value) {
	x.Helper()
	if list := members(v); !slices.IsSorted(list) {
		x.Errorf("%s come as %v", what, list)
	}
}

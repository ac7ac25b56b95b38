package custody

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MaxBlocks is how many blocks of a network are remembered and can be taken
// back. It is part of the rules: changing it changes what a journal means.
const MaxBlocks = 1000

// Custody is the state of all networks and of everything that moves over them.
type Custody struct {
	// networks are by id; nil where nothing happened yet.
	networks []*Network

	// The last id of each kind that was allotted.
	lastWallet  bourse.WalletID
	lastDeposit bourse.DepositID
	lastAddress bourse.AddressID

	// deposits are those that can still change, and those that were credited in
	// a block that can still leave the chain.
	deposits map[bourse.DepositID]*bourse.Deposit
	// withdrawals are those that are open, and those that are done by a
	// transaction that can still leave the chain.
	withdrawals map[bourse.WalletID]*bourse.Withdrawal
	// open are each account's open withdrawals, by ascending id.
	open map[bourse.AccountID][]*bourse.Withdrawal
	// ready counts the approved withdrawals that wait for their networks.
	ready int

	addresses map[bourse.AddressID]*bourse.SavedAddress
	byPlace   map[savedKey]bourse.AddressID
	// books are the accounts' saved addresses, by ascending id.
	books map[bourse.AccountID][]*bourse.SavedAddress

	// delayed are the open withdrawals that wait for a time, by that, then by id.
	delayed []*bourse.Withdrawal

	// named are the client ids of withdrawals, keyed the keys of requests.
	named requests[bourse.ClientID, bourse.Withdraw]
	keyed requests[bourse.RequestHash, bourse.RequestHash]
}

// New returns the state of an exchange that has no network.
func New() *Custody {
	return &Custody{
		deposits:    map[bourse.DepositID]*bourse.Deposit{},
		withdrawals: map[bourse.WalletID]*bourse.Withdrawal{},
		open:        map[bourse.AccountID][]*bourse.Withdrawal{},
		addresses:   map[bourse.AddressID]*bourse.SavedAddress{},
		byPlace:     map[savedKey]bourse.AddressID{},
		books:       map[bourse.AccountID][]*bourse.SavedAddress{},
		named:       newRequests[bourse.ClientID, bourse.Withdraw](),
		keyed:       newRequests[bourse.RequestHash, bourse.RequestHash](),
	}
}

// Network returns the state of a network that is defined, making it if need be.
func (c *Custody) Network(id bourse.NetworkID) *Network {
	for int(id) >= len(c.networks) {
		c.networks = append(c.networks, nil)
	}
	if c.networks[id] == nil {
		c.networks[id] = newNetwork(id)
	}
	return c.networks[id]
}

// Networks yields the networks on which something happened, by id.
func (c *Custody) Networks(yield func(*Network) bool) {
	for _, n := range c.networks {
		if n != nil && !yield(n) {
			return
		}
	}
}

// AllotWallet returns the next id of a deposit or withdrawal.
func (c *Custody) AllotWallet() bourse.WalletID {
	c.lastWallet++
	return c.lastWallet
}

// AllotDeposit returns the next number of a deposit.
func (c *Custody) AllotDeposit() bourse.DepositID {
	c.lastDeposit++
	return c.lastDeposit
}

// sorted returns the values of a map by key.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	list := make([]V, len(keys))
	for i, k := range keys {
		list[i] = m[k]
	}
	return list
}

// sortedBy returns the values of a map in the order of compare.
func sortedBy[K comparable, V any](m map[K]V, compare func(a, b V) int) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, v)
	}
	slices.SortFunc(list, compare)
	return list
}

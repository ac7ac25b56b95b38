package custody

import (
	"cmp"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// MaxBlocks bounds the blocks of a network that are remembered and can be taken back. It
// is part of the rules: changing it changes the meaning of a journal.
const MaxBlocks = 1000

// Custody is the state of all networks, their deposits and withdrawals.
type Custody struct {
	// networks are by id; nil for a network without state.
	networks []*Network

	// The last allotted id of each kind.
	lastWallet  bourse.WalletID
	lastDeposit bourse.DepositID
	lastAddress bourse.AddressID

	// deposits are the deposits that can still change, and the credited ones whose block
	// can still leave the chain.
	deposits map[bourse.DepositID]*bourse.Deposit
	// withdrawals are the open ones, and the done ones whose transaction can still leave
	// the chain.
	withdrawals map[bourse.WalletID]*bourse.Withdrawal
	// open are each account's open withdrawals, by ascending id.
	open map[bourse.AccountID][]*bourse.Withdrawal
	// ready counts the approved withdrawals that wait for their networks.
	ready int

	addresses map[bourse.AddressID]*bourse.SavedAddress
	byPlace   map[savedKey]bourse.AddressID
	// books are the accounts' saved addresses, by ascending id.
	books map[bourse.AccountID][]*bourse.SavedAddress

	// delayed are the open withdrawals with a NotBefore, by that, then by id.
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

// Network returns the state of a defined network, making it if need be.
func (c *Custody) Network(id bourse.NetworkID) *Network {
	c.grow(id)
	if c.networks[id] == nil {
		c.networks[id] = newNetwork(id)
	}
	return c.networks[id]
}

// grow makes room for a network.
func (c *Custody) grow(id bourse.NetworkID) {
	for int(id) >= len(c.networks) {
		c.networks = append(c.networks, nil)
	}
}

// Networks yields the networks that have state, by id.
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

// Allotted reports whether an id of a deposit or withdrawal was allotted.
func (c *Custody) Allotted(id bourse.WalletID) bool { return id <= c.lastWallet }

// maxWallet is above every id that is allotted one by one.
const maxWallet = 1 << 62

// UseUp makes sure that an id is never allotted again: the signer knows a withdrawal of
// that id, and not of this journal. It reports false for one that no journal can have.
func (c *Custody) UseUp(id bourse.WalletID) bool {
	if id >= maxWallet {
		return false
	}
	c.lastWallet = max(c.lastWallet, id)
	return true
}

// AllotDeposit returns the next number of a deposit.
func (c *Custody) AllotDeposit() bourse.DepositID {
	c.lastDeposit++
	return c.lastDeposit
}

// byID returns the values of a map by ascending id.
func byID[K cmp.Ordered, V any](m map[K]V) []V { return ordered.Values(m, cmp.Compare[K]) }

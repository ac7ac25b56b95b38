package cosmos

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// Queries of the chain's state, answered in protobuf.
const (
	queryBalance = "/cosmos.bank.v1beta1.Query/Balance"
	queryAccount = "/cosmos.auth.v1beta1.Query/AccountInfo"
	queryConfig  = "/cosmos.base.node.v1beta1.Service/Config"
)

// Codes of the SDK.
const (
	codeOK       = 0
	codeNoQuery  = 6  // there is no such query
	codeNotFound = 22 // there is no such account
	codeSequence = 32
	codeCached   = 19
)

// answered is a query's answer.
type answered struct {
	Code   *uint32 `json:"code"`
	Log    string  `json:"log"`
	Value  data    `json:"value"`
	Height number  `json:"height"`
}

// query asks for the state behind a block.
func (c *Client) query(ctx context.Context, path string, request []byte, height number) (*answered, error) {
	var answer struct {
		Response answered `json:"response"`
	}
	if err := c.ask(ctx, &answer, "abci_query", path, hex.EncodeToString(request), height.String(), false); err != nil {
		return nil, err
	}
	r := &answer.Response
	if r.Code == nil || *r.Code == codeOK && r.Height != height {
		return nil, odd("%s: an answer about another block", path)
	}
	return r, nil
}

// refused returns an odd answer about a query's code.
func (r *answered) refused(path string) error {
	return odd("%s: code %d, %.200q", path, *r.Code, r.Log)
}

// balance asks for an address's balance behind a block.
func (c *Client) balance(ctx context.Context, address, denom string, height number) (bourse.Amount, error) {
	r, err := c.query(ctx, queryBalance, appendText(appendText(nil, 1, address), 2, denom), height)
	if err != nil {
		return bourse.Amount{}, err
	}
	if *r.Code != codeOK {
		return bourse.Amount{}, r.refused(queryBalance)
	}
	coin, err := find(r.Value, 1)
	if err != nil {
		return bourse.Amount{}, odd("%s: %v", queryBalance, err)
	}
	name, has, err := parseCoin(coin)
	if err != nil || name != denom {
		return bourse.Amount{}, odd("a balance that cannot be")
	}
	return has, nil
}

// account is an account of the chain.
type account struct {
	number, sequence uint64
}

// maxSequence exceeds the payments that one address can ever make.
const maxSequence = 1 << 40

// ownAccount asks for the hot wallet's account behind a block; nil before it received anything.
func (c *Client) ownAccount(ctx context.Context, height number) (*account, error) {
	r, err := c.query(ctx, queryAccount, appendText(nil, 1, c.hot), height)
	switch {
	case err != nil:
		return nil, err
	case *r.Code == codeNotFound:
		return nil, nil
	case *r.Code != codeOK:
		return nil, r.refused(queryAccount)
	}

	info, err := find(r.Value, 1)
	if err != nil {
		return nil, odd("%s: %v", queryAccount, err)
	}
	a := new(account)
	var address []byte
	err = fields(info, func(f field) error {
		switch f.number {
		case 1:
			address = f.bytes
		case 3:
			a.number = f.value
		case 4:
			a.sequence = f.value
		}
		return nil
	})
	if err != nil || string(address) != c.hot || a.sequence > maxSequence {
		return nil, odd("an account that cannot be")
	}
	return a, c.keep(a)
}

// keep remembers the account's number. Another one later is a lie, or another chain, which refuses signatures over it.
func (c *Client) keep(a *account) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.account == nil {
		c.account = &a.number
	}
	if *c.account != a.number {
		return odd("the account has the number %d, and had %d", a.number, *c.account)
	}
	return nil
}

// minPrice asks for the least price of gas that the node takes, in units for a million; zero if it does not tell.
func (c *Client) minPrice(ctx context.Context) (uint64, error) {
	height, err := c.height(ctx)
	if err != nil {
		return 0, err
	}
	r, err := c.query(ctx, queryConfig, nil, height)
	switch {
	case err != nil:
		return 0, err
	case *r.Code == codeNoQuery:
		return 0, nil
	case *r.Code != codeOK:
		return 0, r.refused(queryConfig)
	}
	prices, err := find(r.Value, 1)
	if err != nil {
		return 0, odd("%s: %v", queryConfig, err)
	}
	price, ok := priceIn(string(prices), c.params.Denom)
	if !ok {
		return 0, odd("a price of %.100q", prices)
	}
	return price, nil
}

// priceIn finds the price of gas of a denomination in a list such as 0.025uatom,0.1ibc/27394F…, rounded up to units for a million;
// zero if it has none.
func priceIn(list, denom string) (uint64, bool) {
	for part := range strings.SplitSeq(list, ",") {
		text, found := strings.CutSuffix(part, denom)
		if !found || text == "" || strings.Trim(text, "0123456789.") != "" {
			continue // another denomination may end alike
		}
		const places = 6
		whole, rest, _ := strings.Cut(text, ".")
		digits, more := whole+(rest + "000000")[:places], len(rest) > places && strings.Trim(rest[places:], "0") != ""
		price, err := strconv.ParseUint(digits, 10, 63)
		if err != nil {
			return 0, false
		}
		if more {
			price++
		}
		return price, true
	}
	return 0, true
}

var errUnknown = bourse.Errorf(bourse.CodeInvalid, "coin is not known")

// Balance returns an address's balance at the head.
func (c *Client) Balance(ctx context.Context, text string, coin chain.CoinID) (bourse.Amount, error) {
	address, err := c.params.parseAddress(text)
	if err != nil {
		return bourse.Amount{}, err
	}
	denom, ok := c.denom(coin)
	if !ok {
		return bourse.Amount{}, errUnknown
	}
	height, err := c.height(ctx)
	if err != nil {
		return bourse.Amount{}, err
	}
	return c.balance(ctx, address, denom, height)
}

// Nonce returns the sequence of the hot wallet's next payment at the head; zero for every other address, which pays nothing.
func (c *Client) Nonce(ctx context.Context, index uint32) (uint64, error) {
	height, err := c.height(ctx)
	if err != nil || index != chain.IndexHot {
		return 0, err
	}
	a, err := c.ownAccount(ctx, height)
	if err != nil || a == nil {
		return 0, err
	}
	return a.sequence, nil
}

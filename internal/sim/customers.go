package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// found defines the networks and their assets, one command at a time. It reports whether
// all exist.
func (x *wallets) found() bool {
	c := x.world.process.view.Catalogue()
	for _, n := range x.networks {
		if int(n.id) >= len(c.Networks) {
			x.ask(&bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
				Symbol: n.params.Symbol, Name: "network", MemoName: n.params.Shape.MemoName, Enabled: true,
			}}, true)
			return false
		}

		if n.listed == nil {
			n.listed = x.drawListed(n, c.Assets)
		}

		for _, l := range n.listed {
			if !slices.ContainsFunc(c.NetworkAssets, func(t *bourse.NetworkAsset) bool {
				return t.Network == n.id && t.Asset == l.asset
			}) {
				x.ask(&bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &bourse.NetworkAsset{
					Network: n.id, Asset: l.asset, Precision: l.decimals, Confirms: l.confirms,
					Contract: string(l.contract), Enabled: true,
					MinDeposit: l.ledger(l.least), MinWithdrawal: l.ledger(l.least),
					FeeMin: l.ledger(l.fee), FeeMax: l.ledger(10 * l.fee),
				}}, true)
				return false
			}
		}
	}
	return true
}

// drawListed draws the assets that stand for a network's coins. A token needs the native
// coin, which pays its network fees.
func (x *wallets) drawListed(n *network, assets []*bourse.Asset) []listed {
	list := []listed{}
	for i := range coins {
		c := &coins[i]
		if c.network != n.params.Symbol ||
			c.contract != n.params.Shape.Native && n.params.Shape.Native != "" && len(list) == 0 {
			continue
		}
		from := x.chance.Below(3)
		for k := range uint64(3) {
			a := assets[1+(from+k)%3]
			taken := slices.ContainsFunc(list, func(l listed) bool { return l.asset == a.ID })
			if a.Scale >= c.decimals && !taken {
				list = append(list, listed{c, a.ID, bourse.Pow10(a.Scale - c.decimals)})
				break
			}
		}
	}
	return list
}

// ask sends a request, repeated until answered if surely.
func (x *wallets) ask(cmd *bourse.Command, surely bool) {
	x.world.clients.send(&request{cmd: *cmd, opening: surely})
}

// person draws a customer.
func (x *wallets) person() bourse.AccountID {
	w := x.world
	most := uint64(1)
	for most < 8 && w.exists(bourse.AccountID(most+1)) {
		most++
	}
	return bourse.AccountID(x.chance.between(1, most))
}

// customer makes one random request of a customer or an operator.
func (x *wallets) customer(n *network) {
	if len(n.listed) == 0 {
		return
	}

	l := &n.listed[x.chance.Below(uint64(len(n.listed)))]
	switch x.chance.Below(23) {
	case 0, 1, 2, 3, 4:
		x.deposit(n, l)
	case 5, 6, 7, 8, 9:
		x.withdraw(n, l, x.person())
		if n.params.Shape.Outputs && n.params.Shape.Native != "" && x.chance.oneIn(2) {
			x.crowd(n)
		}
	case 10, 11:
		x.cancel()
	case 12:
		x.decide(n)
	case 13:
		x.pause(n, x.chance.oneIn(3))
	case 14:
		x.assign()
	case 15, 16:
		x.transfer(l)
	case 17, 18, 19:
		x.cold(n, l)
	case 21, 22:
		x.giveUpJoined(n)
	default:
		x.ask(&bourse.Command{
			Kind: bourse.CommandCredit, Account: x.person(), AssetID: l.asset, Amount: l.ledger(50 * l.least),
		}, false)
	}
}

// deposit pays to a customer from outside.
func (x *wallets) deposit(n *network, l *listed) {
	c := x.chance
	to := n.codec.Destination(uint32(x.person()))
	if to.Memo != "" && c.oneIn(6) {
		to.Memo = pick(c, "rent", longMemo) // of no account
	}

	var pays []chain.Pay
	for range 1 + c.Below(3)/2*c.Below(4) {
		pays = append(pays, chain.Pay{To: to, Coin: l.contract, Amount: bourse.Units(l.least/2 + c.Below(20*l.least))})
	}

	if !n.params.Shape.Outputs && c.oneIn(8) {
		_, _ = n.node.SendFailing(pays[0]) // the outside wallet may have nothing confirmed to spend
		return
	}

	// A sweep whose deposit a deep reorganisation took could spend the hidden money.
	if n.params.Shape.Sweeps && l.contract == n.params.Shape.Native && !n.deep && c.oneIn(8) {
		if _, err := n.node.SendHidden(pays[0]); err == nil {
			n.world.count(DepositHidden)
		}
		return
	}

	if tx, err := n.node.Send(pays...); err == nil {
		n.sent = append(n.sent, tx)
	}
}

// longMemo is as long as a memo can be.
var longMemo = strings.Repeat("m", bourse.MaxMemo)

// withdraw requests an account's payment to a fresh address, or to another customer.
func (x *wallets) withdraw(n *network, l *listed, account bourse.AccountID) {
	c := x.chance
	address, err := n.node.NewAddress()
	want(err, "an address")
	asked := &bourse.Withdraw{
		Network: n.id, Asset: l.asset, Amount: l.ledger(l.least + c.Below(20*l.least)), Fee: l.ledger(l.fee),
		Address: address,
	}
	if n.params.Shape.MemoName != "" && c.oneIn(2) {
		asked.Memo = longMemo
	}
	if c.oneIn(8) {
		asked.Internal = x.person()
		to := n.codec.Destination(uint32(asked.Internal))
		asked.Address, asked.Memo = to.Address, to.Memo
	}
	if c.oneIn(2) {
		copy(asked.ClientID[:], x.name())
	}
	x.request(bourse.CommandWithdraw, account, asked)
}

// crowd requests withdrawals of the native coin of a network of outputs at one time, so that they can share a
// transaction. Operators let that much go, and its accounts have the money.
func (x *wallets) crowd(n *network) {
	l := &n.listed[0]
	x.unlimit(l.asset)
	for range x.chance.between(1, 4) {
		account := x.person()
		x.ask(&bourse.Command{
			Kind: bourse.CommandCredit, Account: account, AssetID: l.asset, Amount: l.ledger(100 * l.least),
		}, false)
		for range x.chance.between(1, 4) {
			x.withdraw(n, l, account)
		}
	}
}

// giveUpJoined is an operator's order to give up a joined transaction that waits for a block. Some pause withdrawals
// before, so that a block can have it before there is another one in its place.
func (x *wallets) giveUpJoined(n *network) {
	for _, s := range x.world.process.board.Signed(n.id) {
		if len(s.Joined) == 0 || s.State == bourse.SignedMined {
			continue
		}
		if x.chance.oneIn(2) {
			x.pause(n, true)
		}
		of := s.Joined[x.chance.Below(uint64(len(s.Joined)))].Wallet
		x.ask(&bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: of}}, false)
		return
	}
}

// unlimit takes the limits on withdrawals of an asset from all tiers.
func (x *wallets) unlimit(asset bourse.AssetID) {
	old := x.world.process.view.Catalogue().Tiers
	if old == nil {
		return
	}
	tiers := new(bourse.Tiers)
	for _, t := range old.List {
		t.Limits = slices.Clone(t.Limits)
		for i := range t.Limits {
			if l := &t.Limits[i]; l.Asset == asset {
				l.Withdrawal = bourse.FlowLimit{}
			}
		}
		tiers.List = append(tiers.List, t)
	}
	x.ask(&bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiers}, false)
}

// transfer requests a transfer to another customer.
func (x *wallets) transfer(l *listed) {
	x.request(bourse.CommandTransfer, x.person(), &bourse.Withdraw{
		Asset: l.asset, Amount: l.ledger(1 + x.chance.Below(20*l.least)), Internal: x.person(),
	})
}

// request requests a withdrawal or a transfer. Some customers log in, some accounts put
// their money on hold, and some requests have an idempotency key.
func (x *wallets) request(kind bourse.CommandKind, account bourse.AccountID, asked *bourse.Withdraw) {
	c := x.chance
	if c.oneIn(4) {
		x.ask(&bourse.Command{
			Kind: bourse.CommandOpenSession, Account: x.person(),
			Access: &bourse.Access{
				Digest:  bourse.RowDigest{byte(c.Below(256))},
				Expires: max(1, x.world.now+bourse.Time(c.Below(uint64(60*second)))),
			},
		}, false)
	}
	if c.oneIn(8) {
		x.ask(&bourse.Command{
			Kind: bourse.CommandSecureAccount, Account: x.person(), Hold: bourse.Time(c.Below(uint64(30 * second))),
			Access: &bourse.Access{Digest: bourse.RowDigest{byte(c.Below(256))}},
		}, false)
		x.world.count(WithdrawalDelayed)
	}

	if asked.ClientID.IsZero() && c.oneIn(2) {
		copy(asked.Once.Key[:], x.name())
		asked.Once.Body[0] = 1
	}
	x.ask(&bourse.Command{Kind: kind, Account: account, Wallet: &bourse.WalletCommand{Withdraw: asked}}, false)
}

// name returns an unused request name.
func (x *wallets) name() string {
	x.names++
	return "w" + strconv.FormatUint(x.names, 36)
}

// among returns a random withdrawal that passes, or nil.
func (x *wallets) among(pass func(*bourse.Withdrawal) bool) *bourse.Withdrawal {
	var list []bourse.Withdrawal
	for d := range x.world.truth.pair.Oracle.Withdrawals {
		if pass(d) {
			list = append(list, *d)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return &list[x.chance.Below(uint64(len(list)))]
}

func (x *wallets) cancel() {
	if d := x.among((*bourse.Withdrawal).Open); d != nil {
		x.ask(&bourse.Command{
			Kind: bourse.CommandCancelWithdrawal, Account: d.Account, Wallet: &bourse.WalletCommand{ID: d.ID},
		}, false)
	}
}

// decide is an operator's decision on a withdrawal: approve, reject, or replace its
// transaction.
func (x *wallets) decide(n *network) {
	if d := x.among(func(d *bourse.Withdrawal) bool {
		return d.Network == n.id && d.Internal == 0 && d.Tx != (bourse.TxHash{}) && d.Done == 0
	}); d != nil && x.chance.oneIn(2) {
		x.ask(&bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: d.ID}}, false)
		return
	}
	if d := x.among((*bourse.Withdrawal).Open); d != nil {
		x.ask(&bourse.Command{
			Kind: bourse.CommandDecideWithdrawal, On: x.chance.oneIn(2), Wallet: &bourse.WalletCommand{ID: d.ID},
		}, false)
	}
}

func (x *wallets) pause(n *network, on bool) {
	x.ask(&bourse.Command{
		Kind: bourse.CommandPauseWithdrawals, On: on, Wallet: &bourse.WalletCommand{Network: n.id},
	}, false)
}

// assign assigns a deposit that waits for an operator to an account.
func (x *wallets) assign() {
	for d := range x.world.truth.pair.Oracle.Deposits {
		if d.NeedsOperator() {
			x.ask(&bourse.Command{
				Kind: bourse.CommandAssignDeposit, Account: max(d.Account, 1),
				Wallet: &bourse.WalletCommand{Deposit: d.Number},
			}, false)
			return
		}
	}
}

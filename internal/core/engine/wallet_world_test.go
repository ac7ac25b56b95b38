package engine_test

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

// The catalogue of these tests: two networks, one whose money lies in outputs
// and one whose money lies in accounts, with a coin and a token.
const (
	btc, eth, usdt   = bourse.AssetID(1), bourse.AssetID(2), bourse.AssetID(3)
	byOutput         = bourse.NetworkID(1)
	byAccount        = bourse.NetworkID(2)
	target           = 3
	people           = 3
	minDeposit       = 10
	minWithdrawal    = 5
	feeMin, feeMax   = 1, 9
	hot              = uint32(0)
	treasury         = bourse.AccountTreasury
	start            = 1_700_000_000 * bourse.Second
	nobody, stranger = bourse.AccountID(0), "outside"
)

// exchange is an engine under test and what its commands told.
type exchange struct {
	tb testing.TB
	e  *engine.Engine
	ev bourse.Events
	// unchecked leaves out the invariants after each command.
	unchecked bool
}

func newExchange(tb testing.TB, sandbox bool) *exchange {
	tb.Helper()
	x := &exchange{tb: tb, e: engine.New()}
	x.must(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: sandbox, Rules: bourse.CurrentRules}})
	for _, symbol := range []bourse.Symbol{"BTC", "ETH", "USDT"} {
		x.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: symbol, Name: string(symbol), Scale: 10, Enabled: true,
		}})
	}
	for _, symbol := range []bourse.Symbol{"BTC", "ETH"} {
		x.must(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
			Symbol: symbol, Name: string(symbol), Enabled: true,
		}})
	}
	for _, at := range []struct {
		n bourse.NetworkID
		a bourse.AssetID
	}{{byOutput, btc}, {byAccount, eth}, {byAccount, usdt}} {
		x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: termsOf(at.n, at.a)})
	}
	for range people {
		x.must(bourse.Command{Kind: bourse.CommandCreateAccount})
	}
	return x
}

func termsOf(n bourse.NetworkID, a bourse.AssetID) *bourse.NetworkAsset {
	return &bourse.NetworkAsset{
		Network: n, Asset: a, Precision: 10, Confirms: target, Enabled: true,
		MinDeposit: bourse.Units(minDeposit), MinWithdrawal: bourse.Units(minWithdrawal),
		FeeMin: bourse.Units(feeMin), FeeMax: bourse.Units(feeMax),
	}
}

// do applies a command and returns why it was refused. All invariants must hold
// after it.
func (x *exchange) do(cmd bourse.Command) bourse.Reason {
	x.tb.Helper()
	if err := record.Check(&cmd); err != nil {
		x.tb.Fatalf("%v: %+v", err, cmd)
	}
	x.ev.Reset()
	cmd.Seq, cmd.Time = x.e.Seq()+1, max(start, x.e.Now()+bourse.Second)
	x.e.Apply(&cmd, &x.ev)
	if !x.unchecked {
		if err := x.e.Check(); err != nil {
			x.tb.Fatalf("after %+v %+v: %v", cmd, cmd.Wallet, err)
		}
	}
	return x.ev.Outcome.Reason
}

// must applies a command that is not refused, and returns the id it tells.
func (x *exchange) must(cmd bourse.Command) uint64 {
	x.tb.Helper()
	if reason := x.do(cmd); reason != 0 {
		x.tb.Fatalf("%+v %+v was refused: %s", cmd, cmd.Wallet, reason)
	}
	return x.ev.Outcome.ID
}

// refused applies a command that is refused for a reason, and changes nothing.
func (x *exchange) refused(reason bourse.Reason, cmd bourse.Command) {
	x.tb.Helper()
	if got := x.do(cmd); got != reason {
		x.tb.Fatalf("%+v %+v: %q, not %q", cmd, cmd.Wallet, got, reason)
	}
	if len(x.ev.Transfers) > 0 || len(x.ev.Balances) > 0 {
		x.tb.Fatalf("%+v was refused and moved money", cmd)
	}
}

// restart replaces the engine by one that is restored from its snapshot.
func (x *exchange) restart() {
	x.tb.Helper()
	data := snapshot(x.e)
	e, err := engine.Restore(data, func(*bourse.Events) {})
	if err != nil {
		x.tb.Fatalf("restore: %v", err)
	}
	if e.StateHash() != x.e.StateHash() {
		x.tb.Fatal("the state hash changed by a restart")
	}
	x.e = e
}

// aDayLater lets time pass in which nothing else happens.
func (x *exchange) aDayLater() {
	tick := bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: x.e.Now() + bourse.Day}
	x.e.Apply(&tick, &x.ev)
}

func (x *exchange) credit(account bourse.AccountID, asset bourse.AssetID, units uint64) {
	x.tb.Helper()
	x.must(bourse.Command{Kind: bourse.CommandCredit, Account: account, AssetID: asset, Amount: bourse.Units(units)})
}

func walletCommand(kind bourse.CommandKind, account bourse.AccountID, w bourse.WalletCommand) bourse.Command {
	return bourse.Command{Kind: kind, Account: account, Wallet: &w}
}

func withdrawOf(asset bourse.AssetID, amount, fee uint64) *bourse.Withdraw {
	n := byAccount
	if asset == btc {
		n = byOutput
	}
	return &bourse.Withdraw{Network: n, Asset: asset, Amount: bourse.Units(amount), Fee: bourse.Units(fee), Address: stranger}
}

func withdrawCommand(account bourse.AccountID, w *bourse.Withdraw) bourse.Command {
	return walletCommand(bourse.CommandWithdraw, account, bourse.WalletCommand{Withdraw: w})
}

func cancelCommand(account bourse.AccountID, id uint64) bourse.Command {
	return walletCommand(bourse.CommandCancelWithdrawal, account, bourse.WalletCommand{ID: bourse.WalletID(id)})
}

func decideCommand(id uint64, on bool) bourse.Command {
	c := walletCommand(bourse.CommandDecideWithdrawal, 0, bourse.WalletCommand{ID: bourse.WalletID(id)})
	c.On = on
	return c
}

func pauseCommand(n bourse.NetworkID, on bool) bourse.Command {
	c := walletCommand(bourse.CommandPauseWithdrawals, 0, bourse.WalletCommand{Network: n})
	c.On = on
	return c
}

func signedCommand(s *bourse.SignedTx) bourse.Command {
	return walletCommand(bourse.CommandSigned, 0, bourse.WalletCommand{Signed: s})
}

func sentCommand(n bourse.NetworkID, tx bourse.TxHash) bourse.Command {
	return walletCommand(bourse.CommandAccepted, 0, bourse.WalletCommand{Network: n, Tx: tx})
}

func freezeCommand(account bourse.AccountID, on bool) bourse.Command {
	return bourse.Command{Kind: bourse.CommandFreezeAccount, Account: account, On: on}
}

func secureCommand(account bourse.AccountID, hold bourse.Time) bourse.Command {
	return bourse.Command{Kind: bourse.CommandSecureAccount, Account: account, Hold: hold}
}

// chain is a network of the test: blocks in order, the first at height one.
type chain struct {
	network bourse.NetworkID
	blocks  []*bourse.BlockEffect
	hashes  uint64
}

func (c *chain) hash() bourse.TxHash {
	c.hashes++
	var h bourse.TxHash
	h[0] = byte(c.network)
	binary.LittleEndian.PutUint64(h[8:], c.hashes)
	return h
}

// next makes the next block and appends it.
func (c *chain) next(txs ...bourse.TxEffect) bourse.Command {
	b := &bourse.BlockEffect{
		Network: c.network, BlockRef: bourse.BlockRef{Height: uint64(len(c.blocks)) + 1, Hash: c.hash()},
		ByOutput: c.network == byOutput, Txs: txs,
	}
	if len(c.blocks) > 0 {
		b.Parent = c.blocks[len(c.blocks)-1].Hash
	}
	c.blocks = append(c.blocks, b)
	return blockCommand(b)
}

func blockCommand(b *bourse.BlockEffect) bourse.Command {
	return walletCommand(bourse.CommandBlock, 0, bourse.WalletCommand{Block: b})
}

// back takes the last blocks away and returns their transactions.
func (c *chain) back(depth int) (bourse.Command, []bourse.TxEffect) {
	var txs []bourse.TxEffect
	for _, b := range c.blocks[len(c.blocks)-depth:] {
		txs = append(txs, b.Txs...)
	}
	c.blocks = c.blocks[:len(c.blocks)-depth]
	return walletCommand(bourse.CommandRewind, 0, bourse.WalletCommand{
		Network: c.network, Height: uint64(len(c.blocks)),
	}), txs
}

// output is a foreign transaction that brings one amount.
func (c *chain) output(owner bourse.AccountID, asset bourse.AssetID, units uint64) bourse.TxEffect {
	return bourse.TxEffect{Hash: c.hash(), Inflows: []bourse.Inflow{brings(owner, asset, units)}}
}

func brings(owner bourse.AccountID, asset bourse.AssetID, units uint64) bourse.Inflow {
	o := bourse.Inflow{Asset: asset, Amount: bourse.Units(units), Owner: owner, Address: uint32(owner)}
	if owner == treasury {
		o.Address = hot
	}
	return o
}

type spot struct {
	address uint32
	asset   bourse.AssetID
}

// unspent recomputes what outputs there are.
func (c *chain) unspent() (list []bourse.Outpoint, of map[bourse.Outpoint]bourse.Inflow) {
	of = map[bourse.Outpoint]bourse.Inflow{}
	for _, b := range c.blocks {
		for _, tx := range b.Txs {
			for _, at := range tx.Spent {
				delete(of, at)
				list = slices.DeleteFunc(list, func(o bourse.Outpoint) bool { return o == at })
			}
			for _, o := range tx.Inflows {
				at := bourse.Outpoint{Tx: tx.Hash, Index: o.Index}
				of[at] = o
				list = append(list, at)
			}
		}
	}
	return list, of
}

// has recomputes what addresses have.
func (c *chain) has() map[spot]*big.Int {
	has := map[spot]*big.Int{}
	at := func(address uint32, asset bourse.AssetID) *big.Int {
		s := spot{address, asset}
		if has[s] == nil {
			has[s] = new(big.Int)
		}
		return has[s]
	}
	for _, b := range c.blocks {
		for _, tx := range b.Txs {
			for _, t := range tx.Outflows {
				at(t.Address, t.Asset).Sub(at(t.Address, t.Asset), bigOf(t.Amount))
			}
			for _, o := range tx.Inflows {
				at(o.Address, o.Asset).Add(at(o.Address, o.Asset), bigOf(o.Amount))
			}
		}
	}
	return has
}

// mined returns the height of a transaction's block, or zero.
func (c *chain) mined(tx bourse.TxHash) uint64 {
	for _, b := range c.blocks {
		for i := range b.Txs {
			if b.Txs[i].Hash == tx {
				return b.Height
			}
		}
	}
	return 0
}

// pay makes a transaction of the exchange that spends outputs of it: what is
// neither paid nor the network's cost comes back.
func (c *chain) pay(inputs []bourse.Outpoint, amount, cost uint64) (bourse.TxEffect, bool) {
	_, of := c.unspent()
	tx := bourse.TxEffect{Hash: c.hash(), Spent: inputs}
	left := new(big.Int)
	for _, at := range inputs {
		o, there := of[at]
		if !there {
			return tx, false
		}
		tx.Outflows = append(tx.Outflows, bourse.Outflow{Address: o.Address, Asset: o.Asset, Amount: o.Amount})
		left.Add(left, bigOf(o.Amount))
	}
	left.Sub(left, new(big.Int).SetUint64(amount+cost))
	if left.Sign() > 0 {
		tx.Inflows = []bourse.Inflow{brings(treasury, btc, left.Uint64())}
	}
	return tx, left.Sign() >= 0
}

func bigOf(a bourse.Amount) *big.Int {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.Lo))
}

// own returns what one of the exchange's own accounts has, below zero if it
// owes.
func (x *exchange) own(account bourse.AccountID, asset bourse.AssetID) int64 {
	var n int64
	x.e.Holdings(func(bourse.Balance) {}, func(a bourse.AssetID, id bourse.AccountID, owes, has bourse.Amount) {
		if a == asset && id == account {
			n = int64(has.Lo) - int64(owes.Lo)
		}
	})
	return n
}

// wantOwn wants own accounts to have this.
func (x *exchange) wantOwn(asset bourse.AssetID, want map[bourse.AccountID]int64) {
	x.tb.Helper()
	for account, units := range want {
		if got := x.own(account, asset); got != units {
			x.tb.Errorf("account %d has %d of asset %d, not %d", account, got, asset, units)
		}
	}
}

// wantBalance wants a customer to have this.
func (x *exchange) wantBalance(account bourse.AccountID, asset bourse.AssetID, available, held uint64) {
	x.tb.Helper()
	b := x.e.Balance(account, asset)
	if b.Available != bourse.Units(available) || b.Held != bourse.Units(held) {
		x.tb.Errorf("account %d has %s and holds %s of asset %d, not %d and %d",
			account, b.Available.Format(0), b.Held.Format(0), asset, available, held)
	}
}

// deposit returns the last that was told of a deposit by the last command.
func (x *exchange) deposit() *bourse.Deposit {
	x.tb.Helper()
	if len(x.ev.Wallet.Deposits) == 0 {
		x.tb.Fatal("no deposit was told of")
	}
	return &x.ev.Wallet.Deposits[len(x.ev.Wallet.Deposits)-1]
}

// withdrawal returns the last that was told of a withdrawal by the last command.
func (x *exchange) withdrawal() *bourse.Withdrawal {
	x.tb.Helper()
	if len(x.ev.Wallet.Withdrawals) == 0 {
		x.tb.Fatal("no withdrawal was told of")
	}
	return &x.ev.Wallet.Withdrawals[len(x.ev.Wallet.Withdrawals)-1]
}

// mine takes in blocks without transactions.
func (x *exchange) mine(c *chain, count int) {
	x.tb.Helper()
	for range count {
		x.must(c.next())
	}
}

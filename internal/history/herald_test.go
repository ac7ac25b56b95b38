package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/history"
)

// crier is an engine with a herald. Each command also goes to an engine that is restored before
// it, whose new herald must say the same.
type crier struct {
	*testing.T
	engine *engine.Engine
	herald *history.Herald
	chain  chain
	seq    bourse.Seq
}

func newCrier(t *testing.T, genesis bourse.Genesis) *crier {
	t.Helper()
	c := &crier{T: t, engine: engine.New()}
	c.herald = history.NewHerald(c.engine)
	c.do(bourse.Command{Kind: bourse.CommandGenesis, Genesis: &genesis})
	return c
}

// do applies a command and returns its bulletins.
func (c *crier) do(cmd bourse.Command) (said []string) {
	c.Helper()
	var saved []byte
	c.engine.Snapshot(func(b []byte) { saved = append(saved, b...) })
	c.seq++
	cmd.Seq, cmd.Time = c.seq, began+bourse.Time(c.seq)*bourse.Second
	b := proclaimed(c.engine, c.herald, cmd)
	if c.seq > 1 {
		restored, err := engine.Restore(saved, func(*bourse.Events) {})
		if err != nil {
			c.Fatal(err)
		}
		if again := proclaimed(restored, history.NewHerald(restored), cmd); !slices.Equal(b.Bulletins, again.Bulletins) {
			c.Errorf("command %d says\n%+v\nafter a restart\n%+v", cmd.Seq, b.Bulletins, again.Bulletins)
		}
	}

	for i, v := range b.Bulletins {
		if v.Seq != cmd.Seq || v.Place != uint32(i) || v.Time != cmd.Time {
			c.Errorf("bulletin %d of command %d is at %+v, %d", i, cmd.Seq, v.BulletinPlace, v.Time)
		}
		said = append(said, v.Kind.String()+" "+v.Data)
	}
	return said
}

func proclaimed(e *engine.Engine, h *history.Herald, cmd bourse.Command) (b history.Batch) {
	var ev bourse.Events
	e.Apply(&cmd, &ev)
	h.Proclaim(&cmd, &ev, &b)
	return b
}

// says does a command and wants its bulletins.
func (c *crier) says(cmd bourse.Command, want ...string) {
	c.Helper()
	if got := c.do(cmd); !slices.Equal(got, want) {
		c.Errorf("command %d says\n%s\nwant\n%s", c.seq, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// block mines transactions.
func (c *crier) block(txs ...bourse.TxEffect) bourse.Command {
	b := &bourse.BlockEffect{Network: 1, BlockRef: bourse.BlockRef{Height: 1, Hash: c.chain.hash()}, Txs: txs}
	if last := len(c.chain.blocks) - 1; last >= 0 {
		b.Height, b.Parent = c.chain.blocks[last].Height+1, c.chain.blocks[last].Hash
	}
	c.chain.blocks = append(c.chain.blocks, b.BlockRef)
	return bourse.Command{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: b}}
}

// inflow pays units to an account, 0 for nobody's.
func (c *crier) inflow(units uint64, owner bourse.AccountID) bourse.TxEffect {
	return bourse.TxEffect{Hash: c.chain.hash(), Inflows: []bourse.Inflow{
		{Asset: 1, Amount: bourse.Units(units), Owner: owner, Address: 7},
	}}
}

func walletOf(kind bourse.CommandKind, w bourse.WalletCommand) bourse.Command {
	w.Network = 1
	return bourse.Command{Kind: kind, Account: 1, Wallet: &w}
}

func withdraw(units uint64, internal bourse.AccountID) bourse.Command {
	return walletOf(bourse.CommandWithdraw, bourse.WalletCommand{Withdraw: &bourse.Withdraw{
		Network: 1, Asset: 1, Amount: bourse.Units(units), Fee: bourse.Units(1), Address: "out\"side", Internal: internal,
	}})
}

// opened opens an exchange in which withdrawals need an approval, with two accounts and tiers.
func opened(t *testing.T) *crier {
	t.Helper()
	c := newCrier(t, bourse.Genesis{Rules: bourse.CurrentRules})
	var said []string
	for _, cmd := range opening()[1:] {
		if cmd.Kind != bourse.CommandCredit && (cmd.Kind != bourse.CommandCreateAccount || len(said) < markets+2) {
			said = append(said, c.do(cmd)...)
		}
	}
	want := []string{
		`market.state {"market":"A1/A0","state":"open"}`, `market.state {"market":"A2/A0","state":"open"}`,
		`market.state {"market":"A3/A0","state":"open"}`, `account.created {"account":1}`, `account.created {"account":2}`,
	}
	if !slices.Equal(said, want) {
		t.Fatalf("%q", said)
	}
	return c
}

// TestBulletins does what makes bulletins, and much that makes none.
func TestBulletins(t *testing.T) {
	c := opened(t)
	c.says(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 1, On: true}, `account.frozen {"account":1}`)
	c.says(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 1}, `account.unfrozen {"account":1}`)
	c.says(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 9})
	c.says(bourse.Command{Kind: bourse.CommandNote, Text: "note"})
	c.says(bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 2, State: bourse.MarketHalted},
		`market.state {"market":"A2/A0","state":"halted"}`)
	c.says(bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 2, State: bourse.MarketHalted})
	c.says(opening()[markets+3]) // a market is defined as it is
	c.says(walletOf(bourse.CommandPauseWithdrawals, bourse.WalletCommand{}))
	pause := walletOf(bourse.CommandPauseWithdrawals, bourse.WalletCommand{})
	pause.On = true
	c.says(pause, `network.paused {"network":"NET"}`)
	c.says(c.block())
	c.says(walletOf(bourse.CommandPauseWithdrawals, bourse.WalletCommand{}), `network.resumed {"network":"NET"}`)

	limit := bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(10)}}
	c.says(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "all"}, {Name: "few", Limits: []bourse.TierLimits{{Asset: 1, Deposit: limit}}},
	}}})
	c.says(bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 2, Level: 1}, `account.tier {"account":2,"tier":"few"}`)
}

// TestBulletinsOfDeposits has deposits that are credited, parked, too small and beyond a limit,
// and a reorganisation, which makes no bulletin twice.
func TestBulletinsOfDeposits(t *testing.T) {
	c := opened(t)
	limit := bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(10)}}
	c.do(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "all"}, {Name: "few", Limits: []bourse.TierLimits{{Asset: 1, Deposit: limit}}},
	}}})
	c.do(bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 2, Level: 1})

	const some = `"asset":"A0","network":"NET","amount":"0.00000000000`
	paid := c.inflow(5, 1)
	c.says(c.block())
	c.says(c.block(paid, c.inflow(1, 1), c.inflow(6, 0)),
		`deposit.parked {"deposit":2,"xid":2,"account":1,`+some+`1","reason":"below_minimum"}`,
		`deposit.parked {"deposit":3,`+some+`6","reason":"unknown_owner"}`)
	c.says(c.block(c.inflow(8, 2)), `deposit.credited {"deposit":1,"xid":1,"account":1,`+some+`5"}`)
	c.says(c.block(), `deposit.credited {"deposit":4,"xid":3,"account":2,`+some+`8"}`)
	c.says(walletOf(bourse.CommandAssignDeposit, bourse.WalletCommand{Deposit: 3}),
		`deposit.credited {"deposit":3,"xid":4,"account":1,`+some+`6"}`)
	c.says(c.block(c.inflow(9, 2)))
	c.says(c.block(), `deposit.waiting {"deposit":5,"xid":5,"account":2,`+some+`9"}`)
	c.says(c.block())
	admit := walletOf(bourse.CommandAssignDeposit, bourse.WalletCommand{Deposit: 5})
	admit.Account = 2
	c.says(admit, `deposit.credited {"deposit":5,"xid":5,"account":2,`+some+`9"}`)

	over := c.inflow(7, 1)
	over.Inflows[0].OverAlone = true
	c.says(c.block(over), `deposit.parked {"deposit":6,"xid":6,"account":1,`+some+`7","reason":"over_alone"}`)
	c.says(c.block())

	c.chain.blocks = c.chain.blocks[:1]
	c.says(walletOf(bourse.CommandRewind, bourse.WalletCommand{Height: 1}), `network.halted {"network":"NET","reason":"reorganisation"}`)
	c.says(c.block(paid))
	c.says(c.block())
	c.says(walletOf(bourse.CommandPauseWithdrawals, bourse.WalletCommand{}), `network.resumed {"network":"NET"}`)
}

// TestBulletinsOfWithdrawals has withdrawals that wait, are approved, denied, canceled, paid, paid
// inside, mined without paying and paid back.
func TestBulletinsOfWithdrawals(t *testing.T) {
	c := opened(t)
	c.do(c.block(c.inflow(1000, 1)))
	c.do(c.block())
	about := func(id, units int, more string) string {
		return fmt.Sprintf(`{"xid":%d,"account":1,"asset":"A0","network":"NET","amount":"0.0000000000%02d",`+
			`"fee":"0.000000000001","address":"out\"side"%s}`, id, units, more)
	}
	decide := func(id bourse.WalletID, on bool) bourse.Command {
		cmd := walletOf(bourse.CommandDecideWithdrawal, bourse.WalletCommand{ID: id})
		cmd.On = on
		return cmd
	}
	signed := func(id bourse.WalletID, tx byte) bourse.Command {
		return walletOf(bourse.CommandSigned, bourse.WalletCommand{Signed: &bourse.SignedTx{
			Network: 1, Kind: bourse.SignedWithdrawal, Wallet: id, Tx: bourse.TxHash{9, tx}, Raw: []byte{1}, Nonce: uint64(tx),
		}})
	}
	accepted := func(tx byte) bourse.Command {
		return walletOf(bourse.CommandAccepted, bourse.WalletCommand{Tx: bourse.TxHash{9, tx}})
	}

	c.says(withdraw(15, 0), "withdrawal.waiting "+about(2, 15, ""))
	c.says(decide(2, true))
	c.says(signed(2, 0))
	c.says(accepted(0), "withdrawal.done "+about(2, 15, ""))
	c.says(accepted(0))
	c.says(c.block(bourse.TxEffect{Hash: bourse.TxHash{9, 0}, Outflows: []bourse.Outflow{{Address: 7, Asset: 1, Amount: bourse.Units(1)}}}), "withdrawal.failed "+about(2, 15, `,"reason":"reverted"`))
	c.says(walletOf(bourse.CommandReleaseWithdrawal, bourse.WalletCommand{ID: 2}),
		"withdrawal.failed "+about(2, 15, `,"reason":"refunded"`))

	c.says(withdraw(11, 0), "withdrawal.waiting "+about(3, 11, ""))
	c.says(decide(3, false), "withdrawal.failed "+about(3, 11, `,"reason":"canceled"`))
	c.says(withdraw(12, 0), "withdrawal.waiting "+about(4, 12, ""))
	c.says(walletOf(bourse.CommandCancelWithdrawal, bourse.WalletCommand{ID: 4}),
		"withdrawal.failed "+about(4, 12, `,"reason":"canceled"`))
	c.says(withdraw(5000, 0)) // refused

	inside := strings.ReplaceAll(about(5, 13, `,"internal":2`), `"fee":"0.000000000001"`, `"fee":"0"`)
	c.says(withdraw(13, 2), "withdrawal.waiting "+inside)
	c.says(decide(5, true), "withdrawal.done "+inside,
		`deposit.credited {"deposit":2,"xid":6,"account":2,"asset":"A0","network":"NET","amount":"0.000000000013","from":1}`)

	c.says(withdraw(14, 0), "withdrawal.waiting "+about(7, 14, ""))
	c.says(decide(7, true))
	c.says(bourse.Command{Kind: bourse.CommandSecureAccount, Account: 1, Hold: bourse.Minute}, "withdrawal.waiting "+about(7, 14, ""))
}

// TestSandboxWithdrawalsDoNotWait approves a withdrawal within its command.
func TestSandboxWithdrawalsDoNotWait(t *testing.T) {
	c := newCrier(t, bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules})
	for _, cmd := range opening()[1:] {
		c.do(cmd)
	}
	c.says(withdraw(10, 0))
	if said := c.do(withdraw(11, 2)); len(said) != 2 || !strings.HasPrefix(said[0], "withdrawal.done") ||
		!strings.HasPrefix(said[1], "deposit.credited") {
		t.Errorf("%q", said)
	}
}

// TestBulletinsOfRandomCommands wants each end of a movement to be told once, and the same from
// every restart.
func TestBulletinsOfRandomCommands(t *testing.T) {
	if testing.Short() {
		return // a quarter of a minute
	}
	r, c := newRig(7, 1000), newCrier(t, *opening()[0].Genesis)
	for _, cmd := range opening()[1:] {
		c.do(cmd)
	}
	told := map[string]int{}
	for range 9000 {
		cmd := r.command()
		r.frame(cmd)
		for _, said := range c.do(cmd) {
			kind, _, _ := strings.Cut(said, " ")
			told[kind]++
			if kind == "withdrawal.done" || kind == "deposit.credited" {
				if told[said]++; told[said] > 1 {
					t.Errorf("told again: %s", said)
				}
			}
		}
	}
	for _, kind := range []string{
		"deposit.credited", "deposit.parked", "withdrawal.done", "withdrawal.failed", "network.halted", "network.paused", "network.resumed",
	} {
		if told[kind] == 0 {
			t.Errorf("no %s was told: %v", kind, told)
		}
	}
}

func TestBulletinKindsHaveWords(t *testing.T) {
	for k := history.BulletinKind(1); k <= history.LastBulletinKind; k++ {
		if got, known := history.ParseBulletinKind(k.String()); !known || got != k {
			t.Errorf("%s is read as %d", k, got)
		}
	}
	for _, word := range []string{"", "account", "Account.created", "account.created "} {
		if _, known := history.ParseBulletinKind(word); known {
			t.Errorf("%q was read", word)
		}
	}
	if word := (history.LastBulletinKind + 1).String(); word != "" {
		t.Errorf("an unknown kind is %q", word)
	}
}

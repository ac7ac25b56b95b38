package audit

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/record"
)

// wallets is an engine with books beside it.
type wallets struct {
	t     *testing.T
	e     *engine.Engine
	books *Books
	// spoil changes what the books are told.
	spoil func(*bourse.Events)
}

func (w *wallets) apply(kind bourse.CommandKind, change func(*bourse.Command)) {
	w.t.Helper()
	cmd := bourse.Command{Kind: kind, Seq: w.e.Seq() + 1, Time: w.e.Now() + bourse.Second, Wallet: &bourse.WalletCommand{}}
	change(&cmd)
	if err := record.Check(&cmd); err != nil {
		w.t.Fatal(err)
	}
	if record.Describe(&cmd) == "" {
		w.t.Error("a command has no words")
	}
	var ev bourse.Events
	w.e.Apply(&cmd, &ev)
	if ev.Outcome.Reason != 0 {
		w.t.Fatalf("%s: %s", record.Describe(&cmd), ev.Outcome.Reason)
	}
	if w.spoil != nil {
		w.spoil(&ev)
	}
	w.books.Enter(&ev)
}

func (w *wallets) block(height byte, parent byte, txs ...bourse.TxEffect) {
	w.t.Helper()
	w.apply(bourse.CommandBlock, func(c *bourse.Command) {
		c.Wallet.Block = &bourse.BlockEffect{
			Network: 1, BlockRef: bourse.BlockRef{Height: uint64(height), Hash: bourse.TxHash{height}},
			Parent: bourse.TxHash{parent}, Txs: txs,
		}
	})
}

// live plays a deposit, a withdrawal that is sent, one that waits, and a rewind.
func live(t *testing.T, spoil func(*bourse.Events)) *wallets {
	t.Helper()
	w := &wallets{t: t, e: engine.New(), books: NewBooks(), spoil: spoil}
	w.apply(bourse.CommandGenesis, func(c *bourse.Command) { c.Genesis = &bourse.Genesis{Sandbox: true, Rules: 1} })
	w.apply(bourse.CommandDefineAsset, func(c *bourse.Command) {
		c.Asset = &bourse.Asset{Symbol: "ETH", Name: "Ether", Scale: 3, Enabled: true}
	})
	w.apply(bourse.CommandDefineNetwork, func(c *bourse.Command) {
		c.Network = &bourse.Network{Symbol: "ETH", Name: "Ethereum", Enabled: true}
	})
	w.apply(bourse.CommandDefineNetworkAsset, func(c *bourse.Command) {
		c.NetworkAsset = &bourse.NetworkAsset{Asset: 1, Network: 1, Precision: 3, Confirms: 1, FeeMax: bourse.Units(9), Enabled: true}
	})
	w.apply(bourse.CommandCreateAccount, func(*bourse.Command) {})
	w.block(1, 0)
	w.block(2, 1, bourse.TxEffect{Hash: bourse.TxHash{7}, Inflows: []bourse.Inflow{
		{Index: 0, Asset: 1, Amount: bourse.Units(5000), Owner: 1, Address: 1},
		{Index: 1, Asset: 1, Amount: bourse.Units(4000), Owner: bourse.AccountTreasury},
	}})
	for range 2 {
		w.apply(bourse.CommandWithdraw, func(c *bourse.Command) {
			c.Account, c.Wallet.Withdraw = 1, &bourse.Withdraw{
				Network: 1, Asset: 1, Amount: bourse.Units(1000), Fee: bourse.Units(3), Address: "outside",
			}
		})
	}
	w.apply(bourse.CommandSigned, func(c *bourse.Command) {
		c.Wallet.Signed = &bourse.SignedTx{Network: 1, Kind: bourse.SignedWithdrawal, Wallet: 2, Tx: bourse.TxHash{8}, Raw: []byte{1}}
	})
	w.block(3, 2, bourse.TxEffect{Hash: bourse.TxHash{8}, Outflows: []bourse.Outflow{{Asset: 1, Amount: bourse.Units(1002)}}})
	w.apply(bourse.CommandRewind, func(c *bourse.Command) { c.Wallet.Network, c.Wallet.Height = 1, 1 })
	return w
}

func TestBooksFollowTheWallet(t *testing.T) {
	w := live(t, nil)
	if wrong := w.books.Check(w.e); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	report := networks(w.e)
	if len(report) != 1 || report[0].Halted != "reorganisation" || report[0].Height != 1 || len(report[0].Owned) != 0 {
		t.Errorf("the report is %+v", report)
	}
	assets := w.books.assets(w.e)
	if len(assets) != 1 || assets[0].WithdrawalFees != "0.003" || assets[0].Held != "1.003" || assets[0].NetworkCosts != "0" {
		t.Errorf("the assets are %+v", assets)
	}
}

// TestBooksSeeWhatIsWrong changes what the books are told, so that the engine
// looks wrong to them.
func TestBooksSeeWhatIsWrong(t *testing.T) {
	for name, spoil := range map[string]func(*bourse.Events){
		"credited twice": func(ev *bourse.Events) {
			for _, d := range ev.Wallet.Deposits {
				if d.Status == bourse.WalletDone && d.Mined {
					ev.AddTransfer(bourse.Transfer{
						Kind: bourse.TransferCredited, From: bourse.AccountPendingDeposits, To: 1, Asset: 1, Amount: d.Amount,
					})
				}
			}
		},
		"ended twice": func(ev *bourse.Events) {
			for _, d := range ev.Wallet.Withdrawals {
				if d.Status == bourse.WalletDone {
					d.Status = bourse.WalletCanceled
					ev.AddWithdrawal(bourse.EventWithdrawal, &d)
				}
			}
		},
		"nothing rewound": func(ev *bourse.Events) {
			for i := range ev.Transfers {
				if ev.Transfers[i].Kind == bourse.TransferRewound {
					ev.Transfers[i].Amount = bourse.Amount{}
				}
			}
		},
		"nothing held": func(ev *bourse.Events) {
			for i := range ev.Wallet.Withdrawals {
				ev.Wallet.Withdrawals[i].Amount = bourse.Units(1)
			}
		},
	} {
		w := live(t, spoil)
		if wrong := w.books.Check(w.e); len(wrong) == 0 {
			t.Errorf("%s, and nobody sees it", name)
		}
	}
}

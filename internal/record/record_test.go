package record_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// commands has one command of each kind with every field set that it reads, and
// the shapes of orders.
func commands() []bourse.Command {
	id, _ := bourse.ParseClientID("a-client.id:1_0")
	token := bourse.Token{1, 2, 3, 15: 16}
	one := bourse.Amount{Hi: 7, Lo: 9}
	limit := bourse.NewOrder{
		Market: 3, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC,
		SelfTrade: bourse.CancelBoth, PostOnly: true, Price: 12, Lots: bourse.MaxLots, ClientID: id,
	}
	stop := bourse.NewOrder{
		Market: 1, Side: bourse.Sell, Type: bourse.StopLimit, TIF: bourse.FOK,
		Price: bourse.MaxPrice, Stop: 5, Lots: 1,
	}
	total := bourse.NewOrder{Market: 1, Side: bourse.Sell, Type: bourse.MarketOrder, TIF: bourse.IOC, Total: one}
	profit := bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.TakeProfitMarket, TIF: bourse.GTC, Stop: bourse.MaxPrice, Total: one,
	}
	return []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Exchange: [16]byte{9}, Sandbox: true, Rules: 1}},
		{Kind: bourse.CommandSetRules, Rules: 1},
		{Kind: bourse.CommandTick},
		{Kind: bourse.CommandContinue},
		{Kind: bourse.CommandNote, Operator: 1000, Text: "market halt BTC/USDT"},
		{Kind: bourse.CommandRaise, Operator: 1000, Text: "promote"},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "BTC", Name: "Bitcoin", Scale: 12, Enabled: true, Experimental: true,
		}},
		{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
			Symbol: "ATOM", Name: "Cosmos Hub", MemoName: "Memo", Enabled: true, Experimental: true,
		}},
		{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &bourse.NetworkAsset{
			Asset: 1, Network: 2, Precision: 8, Confirms: 2, Contract: "0xabc", MinDeposit: one,
			MinWithdrawal: one, FeeMin: one, FeeMax: one, Enabled: true,
		}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 6, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.CancelNewest,
			MinOrder: one, InitialPrice: 6_000_000, MaxPrice: bourse.MaxPrice, Maker: 1, Taker: 2, Collar: 3,
		}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone, InitialPrice: 1, MaxPrice: 2, Band: 1<<32 - 1,
		}},
		{Kind: bourse.CommandSetMarketState, MarketID: 4, State: bourse.MarketDelisted},
		{Kind: bourse.CommandCreateAccount, Token: token},
		{Kind: bourse.CommandCreateAccount, Token: token, Access: &bourse.Access{Digest: bourse.RowDigest{5}}},
		{Kind: bourse.CommandFreezeAccount, Account: 5, On: true},
		{Kind: bourse.CommandSetAccountFees, Account: 5, On: true, Maker: 10, Taker: 20},
		{Kind: bourse.CommandSetAccountLevel, Account: 5, On: true, Level: 3},
		{Kind: bourse.CommandDefineFees, Fees: &bourse.FeeSchedule{VolumeAsset: 2, Levels: []bourse.FeeLevel{
			{Maker: 1000, Taker: 2000}, {Volume: one, Maker: 1, Taker: bourse.RateOne - 1},
		}}},
		{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
			{Name: "basic", Limits: []bourse.TierLimits{
				{Asset: 1, Deposit: within(1, 0), Trade: within(2, 3), Withdrawal: within(0, 4)}, {Asset: 7, Trade: within(5, 6)},
			}},
			{Name: "full"},
		}}},
		{Kind: bourse.CommandSetAccountTier, Account: 5, Level: 1},
		{Kind: bourse.CommandCreateKey, Account: 5, Token: token, Access: &bourse.Access{Digest: bourse.RowDigest{4}, Expires: 8}},
		{Kind: bourse.CommandChangeKey, Account: 5, Key: 1 << 40, Access: &bourse.Access{Digest: bourse.RowDigest{31: 4}}},
		{Kind: bourse.CommandSecureAccount, Account: 5, Hold: bourse.MaxHold, On: true},
		{Kind: bourse.CommandSecureAccount, Account: 5, Key: bourse.FirstSession + 1, Access: &bourse.Access{Digest: bourse.RowDigest{6}}},
		{Kind: bourse.CommandResetPerson, Account: 5, Hold: bourse.MaxHold, Level: uint8(bourse.ResetFactors | bourse.ResetEmail),
			Access: &bourse.Access{Digest: bourse.RowDigest{6}}, Operators: &bourse.OperatorCommand{Was: bourse.RowDigest{7}}},
		{Kind: bourse.CommandOpenSession, Account: 5, Access: &bourse.Access{Digest: bourse.RowDigest{7}, Expires: 9}},
		{Kind: bourse.CommandSetPerson, Account: 5, Access: &bourse.Access{Digest: bourse.RowDigest{8}}},
		{Kind: bourse.CommandRevokeKey, Key: bourse.LastSession},
		{Kind: bourse.CommandCredit, Account: 5, AssetID: 2, Amount: bourse.MaxAmount},
		{Kind: bourse.CommandCollectFees},
		{Kind: bourse.CommandPlace, Account: 7, NewOrder: limit},
		{Kind: bourse.CommandPlace, Account: 7, NewOrder: stop},
		{Kind: bourse.CommandPlace, Account: 7, NewOrder: total},
		{Kind: bourse.CommandPlace, Account: 7, NewOrder: profit},
		{Kind: bourse.CommandCancel, Account: 7, Order: 1 << 60},
		{Kind: bourse.CommandAmend, Account: 7, Order: 1 << 60, NewOrder: bourse.NewOrder{Price: 5}},
		{Kind: bourse.CommandAmend, Account: 7, Order: 3, NewOrder: bourse.NewOrder{Price: bourse.MaxPrice, Lots: bourse.MaxLots}},
		{Kind: bourse.CommandReplace, Account: 7, Order: 1 << 60, On: true, NewOrder: stop},
		{Kind: bourse.CommandPlaceList, Account: 7, List: &bourse.NewList{
			Type: bourse.OCO, Orders: []bourse.NewOrder{
				{Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, PostOnly: true, Price: 12, Lots: 4, ClientID: id},
				stop,
			},
		}},
		{Kind: bourse.CommandCancelList, Account: 7, Order: 1 << 60},
		{Kind: bourse.CommandCancelAll, Account: 7, MarketID: 3},
		{Kind: bourse.CommandCancelAfter, Account: 7, MarketID: 3, Hold: bourse.MaxCancelAfter},
		{Kind: bourse.CommandCancelOnClose, Account: 7},
		{Kind: bourse.CommandConnectionClosed, Account: 7, Connection: 1 << 40},
		{Kind: bourse.CommandConnectionClosed, Connection: 1 << 40},
		{Kind: bourse.CommandBlock, Wallet: &bourse.WalletCommand{Block: block()}},
		{Kind: bourse.CommandRewind, Wallet: &bourse.WalletCommand{Network: 2, Height: 99}},
		{Kind: bourse.CommandWithdraw, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: 2, Asset: 1, Amount: one, Fee: one, Address: "bc1q", Memo: "17", Internal: 8,
			Factor: true, Save: token, ClientID: id,
		}}},
		{Kind: bourse.CommandWithdraw, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: 2, Asset: 1, Amount: one, Fee: one, Address: "bc1q",
			Once: bourse.Once{Key: bourse.RequestHash{1}, Body: bourse.RequestHash{15: 2}},
		}}},
		{Kind: bourse.CommandWithdraw, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Network: 2, Asset: 1, Amount: one, Fee: one, Address: "bc1q", Again: true, ClientID: id,
		}}},
		{Kind: bourse.CommandTransfer, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Asset: 1, Amount: one, Internal: 8, Factor: true, Message: token,
			Once: bourse.Once{Key: bourse.RequestHash{1}, Body: bourse.RequestHash{15: 2}},
		}}},
		{Kind: bourse.CommandTransfer, Account: 7, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
			Asset: 1, Amount: one, Again: true, Once: bourse.Once{Key: bourse.RequestHash{1}},
		}}},
		{Kind: bourse.CommandCancelWithdrawal, Account: 7, Wallet: &bourse.WalletCommand{ID: 5}},
		{Kind: bourse.CommandDecideWithdrawal, On: true, Wallet: &bourse.WalletCommand{ID: 5}},
		{Kind: bourse.CommandSigned, Wallet: &bourse.WalletCommand{Signed: &bourse.SignedTx{
			Network: 2, Kind: bourse.SignedWithdrawal, Wallet: 5, Tx: bourse.TxHash{4}, Raw: []byte{1, 2, 3},
			Inputs: []bourse.Outpoint{{Tx: bourse.TxHash{9}, Index: 3}}, From: 4, Nonce: 1 << 40,
			Cost: bourse.AssetAmount{Asset: 3, Amount: one},
		}}},
		{Kind: bourse.CommandAccepted, Wallet: &bourse.WalletCommand{Network: 2, Tx: bourse.TxHash{4}}},
		{Kind: bourse.CommandAsking, Wallet: &bourse.WalletCommand{ID: 8}},
		{Kind: bourse.CommandRecord, Wallet: &bourse.WalletCommand{Record: 3, Chain: bourse.TxHash{5}, Signed: &bourse.SignedTx{
			Network: 2, Kind: bourse.SignedSweep, Tx: bourse.TxHash{4}, Raw: []byte{1, 2, 3}, From: 6, Nonce: 7,
			Cost: bourse.AssetAmount{Asset: 1, Amount: one},
		}}},
		{Kind: bourse.CommandRecordJoined, Wallet: &bourse.WalletCommand{Record: 4, Chain: bourse.TxHash{6}, Signed: &bourse.SignedTx{
			Network: 2, Kind: bourse.SignedWithdrawal, Wallet: 5, Tx: bourse.TxHash{7}, Raw: []byte{1, 2, 3},
			Joined: []bourse.Share{{Wallet: 5, Amount: one}, {Wallet: 9, Amount: one}},
			Inputs: []bourse.Outpoint{{Tx: bourse.TxHash{9}, Index: 3}}, Cost: bourse.AssetAmount{Asset: 3, Amount: one},
		}}},
		{Kind: bourse.CommandCool, On: true, AssetID: 2, Amount: one, Wallet: &bourse.WalletCommand{Network: 2}},
		{Kind: bourse.CommandCool, Wallet: &bourse.WalletCommand{Network: 2}},
		{Kind: bourse.CommandWarm, On: true, Wallet: &bourse.WalletCommand{Signed: &bourse.SignedTx{
			Network: 2, Kind: bourse.SignedWarm, Tx: bourse.TxHash{5}, Raw: []byte{1, 2}, Inputs: []bourse.Outpoint{{Tx: bourse.TxHash{6}, Index: 1}},
			Cost: bourse.AssetAmount{Asset: 1, Amount: one},
		}}},
		{Kind: bourse.CommandWarm, Wallet: &bourse.WalletCommand{Network: 2}},
		{Kind: bourse.CommandVoided, Wallet: &bourse.WalletCommand{ID: 8}},
		{Kind: bourse.CommandPauseWithdrawals, On: true, Wallet: &bourse.WalletCommand{Network: 2}},
		{Kind: bourse.CommandAssignDeposit, Account: 7, Wallet: &bourse.WalletCommand{Deposit: 11}},
		{Kind: bourse.CommandSaveAddress, Account: 7, Token: token, Wallet: &bourse.WalletCommand{
			Save: &bourse.SavedAddress{Network: 2, Asset: 1, Address: "bc1q", Memo: "17"},
		}},
		{Kind: bourse.CommandForgetAddress, Account: 7, Wallet: &bourse.WalletCommand{Address: 3}},
		{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: 5}},
		{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{Network: 2, Tx: bourse.TxHash{4}}},
		{Kind: bourse.CommandFollowChain, Wallet: &bourse.WalletCommand{Network: 2, Height: 1 << 33, Tx: bourse.TxHash{4}}},
		{Kind: bourse.CommandPaidWithdrawal, Wallet: &bourse.WalletCommand{ID: 9, Tx: bourse.TxHash{4}}},
		{Kind: bourse.CommandAddOperator, Token: token, Operators: &bourse.OperatorCommand{
			Define: bourse.Operator{Role: bourse.RoleOwner, Enabled: true, Digest: bourse.RowDigest{9}},
		}},
		{Kind: bourse.CommandChangeOperator, Operators: &bourse.OperatorCommand{
			Define: bourse.Operator{ID: 2, Role: bourse.RoleViewer, Digest: bourse.RowDigest{31: 9}},
		}},
		{Kind: bourse.CommandSetApprovalLimit, AssetID: 2, Amount: one},
		act(),
		{Kind: bourse.CommandApproveAct, Operators: &bourse.OperatorCommand{
			By: [2]bourse.OperatorID{1, 2}, Act: 1 << 40, Digest: bourse.ActDigest{3},
		}},
		{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
			By: [2]bourse.OperatorID{2}, Act: 7, Digest: bourse.ActDigest{31: 3},
		}},
	}
}

func block() *bourse.BlockEffect {
	return &bourse.BlockEffect{
		Network: 2, BlockRef: bourse.BlockRef{Height: 1 << 33, Hash: bourse.TxHash{1}}, Parent: bourse.TxHash{2},
		Time: 1_700_000_000 * bourse.Second, ByOutput: true, Part: 1, More: true,
		Txs: []bourse.TxEffect{
			{Hash: bourse.TxHash{3}, Inflows: []bourse.Inflow{
				{Index: 0, Asset: 1, Amount: bourse.Units(5), Owner: 7, Address: 7},
				{Index: 4, Asset: 2, Amount: bourse.MaxAmount, Owner: bourse.AccountTreasury, Address: 1 << 31, Memo: "a memo"},
			}},
			{Hash: bourse.TxHash{4}, Outflows: []bourse.Outflow{{Address: 6, Asset: 1, Amount: bourse.Units(9)}},
				Spent: []bourse.Outpoint{{Tx: bourse.TxHash{5}, Index: 6}}},
		},
	}
}

func TestEveryKindComesBack(t *testing.T) {
	seen := map[bourse.CommandKind]bool{}
	var all []byte
	for _, want := range commands() {
		if err := record.Check(&want); err != nil {
			t.Fatalf("kind %d: %v", want.Kind, err)
		}
		seen[want.Kind] = true
		if said := record.Describe(&want); said == "" || said[0] == ' ' || strings.Contains(said, "%!") {
			t.Errorf("kind %d is described as %q", want.Kind, said)
		}
		b := record.Append(nil, &want)
		all = append(all, b...)
		got := bourse.Command{Text: "left over", Order: 99, Market: &bourse.Market{}}
		n, err := record.Decode(b, &got)
		if err != nil || n != len(b) || !reflect.DeepEqual(got, want) {
			t.Errorf("kind %d: got %+v, %d, %v; want %+v", want.Kind, got, n, err, want)
		}
		for i := range b {
			if _, err := record.Decode(b[:i], &got); !errors.Is(err, record.ErrMalformed) {
				t.Errorf("kind %d cut to %d bytes: %v", want.Kind, i, err)
			}
		}
	}
	for kind := bourse.CommandKind(1); kind <= bourse.LastCommandKind; kind++ {
		if seen[kind] != record.Known(kind) {
			t.Errorf("kind %d is not tested", kind)
		}
	}
	var c bourse.Command
	for count := 0; len(all) > 0; count++ {
		n, err := record.Decode(all, &c)
		if err != nil {
			t.Fatalf("record %d of a run: %v", count, err)
		}
		all = all[n:]
	}
}

// TestEveryKindIsDescribed compares the kinds with the table of docs/format/record.md.
func TestEveryKindIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/record.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| [a-z ]+ \| .*\|$`).FindAllSubmatch(page, -1) {
		got = append(got, string(row[1]))
	}
	for kind := bourse.CommandKind(1); kind <= bourse.LastCommandKind; kind++ {
		if record.Known(kind) {
			want = append(want, strconv.Itoa(int(kind)))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has rows of the kinds %v, want %v", got, want)
	}
}

// TestBareCommandsAreChecked wants a command without its fields to be refused, unless
// it needs none.
func TestBareCommandsAreChecked(t *testing.T) {
	whole := []bourse.CommandKind{
		bourse.CommandTick, bourse.CommandContinue, bourse.CommandCollectFees, bourse.CommandCreateAccount,
	}
	for kind := range bourse.LastCommandKind + 2 {
		for _, c := range []bourse.Command{
			{Kind: kind}, {Kind: kind, Account: 1}, {Kind: kind, Account: 1, Wallet: &bourse.WalletCommand{}},
		} {
			bare := kind != bourse.CommandFreezeAccount && kind != bourse.CommandCancelAll && kind != bourse.CommandSecureAccount &&
				kind != bourse.CommandSetAccountFees && kind != bourse.CommandSetAccountLevel &&
				kind != bourse.CommandSetAccountTier &&
				kind != bourse.CommandCancelAfter && kind != bourse.CommandCancelOnClose || c.Account == 0
			if err := record.Check(&c); (err == nil) != (slices.Contains(whole, kind) || !bare) {
				t.Errorf("kind %d, %+v: %v", kind, c, err)
			}
		}
	}
}

// TestUrgentKinds lists what overtakes orders.
func TestUrgentKinds(t *testing.T) {
	want := []bourse.CommandKind{
		bourse.CommandFreezeAccount, bourse.CommandRevokeKey, bourse.CommandCancel, bourse.CommandCancelAll,
		bourse.CommandCancelWithdrawal, bourse.CommandPauseWithdrawals, bourse.CommandSecureAccount,
		bourse.CommandCancelAfter, bourse.CommandCancelOnClose, bourse.CommandConnectionClosed,
		bourse.CommandCancelList, bourse.CommandDropAct,
	}
	var got []bourse.CommandKind
	for kind := range bourse.LastCommandKind + 2 {
		if record.Urgent(kind) {
			got = append(got, kind)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("urgent are %v, must be %v", got, want)
	}
}

// TestForgedLengths puts lengths that the bytes cannot fill everywhere: they are
// refused, and nothing panics or is allocated for them.
func TestForgedLengths(t *testing.T) {
	for _, c := range commands() {
		b := record.Append(nil, &c)
		var got bourse.Command
		for at := 6; at+4 <= len(b); at++ {
			forged := bytes.Clone(b)
			copy(forged[at:], []byte{255, 255, 255, 127})
			if n, err := record.Decode(forged, &got); err == nil && !bytes.Equal(record.Append(nil, &got), forged[:n]) {
				t.Errorf("kind %d, byte %d: taken, and not what is written", c.Kind, at)
			}
		}
	}
}

func TestNewerRecordsAreRefusedByName(t *testing.T) {
	b := record.Append(nil, &bourse.Command{Kind: bourse.CommandTick})
	for _, at := range [][2]byte{{4, byte(bourse.LastCommandKind) + 1}, {5, 2}} {
		at, value := at[0], at[1]
		newer := bytes.Clone(b)
		newer[at] = value
		var c bourse.Command
		var e *record.NewerError
		if _, err := record.Decode(newer, &c); !errors.As(err, &e) || e.Kind != bourse.CommandKind(newer[4]) || e.Version != newer[5] {
			t.Errorf("byte %d = %d: %v", at, value, err)
		}
	}
}

func TestRandomOrdersComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := bourse.Command{Kind: bourse.CommandPlace, Account: bourse.AccountID(rapid.Uint32Range(1, 1<<31-1).Draw(t, "account"))}
		p := &want.NewOrder
		p.Market = bourse.MarketID(rapid.Uint16Min(1).Draw(t, "market"))
		p.Side = bourse.Side(rapid.Uint8Range(1, 2).Draw(t, "side"))
		p.Type = bourse.OrderType(rapid.Uint8Range(1, uint8(bourse.LastOrderType)).Draw(t, "type"))
		p.TIF = bourse.TimeInForce(rapid.Uint8Range(1, 3).Draw(t, "tif"))
		p.Lots = bourse.Lots(rapid.Uint64Range(1, uint64(bourse.MaxLots)).Draw(t, "lots"))
		if p.Type.HasPrice() {
			p.Price = bourse.Price(rapid.Uint64Range(1, uint64(bourse.MaxPrice)).Draw(t, "price"))
		}
		if p.Type.HasStop() {
			p.Stop = bourse.Price(rapid.Uint64Range(1, uint64(bourse.MaxPrice)).Draw(t, "stop"))
		}
		if rapid.Bool().Draw(t, "named") {
			p.ClientID, _ = bourse.ParseClientID(rapid.StringMatching(`[A-Za-z0-9._:-]{1,36}`).Draw(t, "name"))
		}
		var got bourse.Command
		if _, err := record.Decode(record.Append(nil, &want), &got); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

func TestOrdersAllocateNothing(t *testing.T) {
	buf := make([]byte, 0, 1024)
	var c bourse.Command
	for _, want := range commands() {
		if want.Kind != bourse.CommandPlace && want.Kind != bourse.CommandCancel || !want.NewOrder.ClientID.IsZero() {
			continue
		}
		if n := testing.AllocsPerRun(100, func() {
			buf = record.Append(buf[:0], &want)
			_, _ = record.Decode(buf, &c)
		}); n != 0 {
			t.Errorf("kind %d: %v allocations", want.Kind, n)
		}
	}
}

// FuzzDecode wants what decodes to encode to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, c := range commands() {
		f.Add(record.Append(nil, &c))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c bourse.Command
		n, err := record.Decode(b, &c)
		if err != nil {
			return
		}
		if again := record.Append(nil, &c); !bytes.Equal(again, b[:n]) {
			t.Fatalf("% x became % x", b[:n], again)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	c := bourse.Command{Kind: bourse.CommandPlace, Account: 7, NewOrder: bourse.NewOrder{
		Market: 3, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 12, Lots: 5,
	}}
	buf := make([]byte, 0, 1024)
	for b.Loop() {
		buf = record.Append(buf[:0], &c)
	}
}

func BenchmarkDecode(b *testing.B) {
	c := bourse.Command{Kind: bourse.CommandPlace, Account: 7, NewOrder: bourse.NewOrder{
		Market: 3, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 12, Lots: 5,
	}}
	buf := record.Append(nil, &c)
	for b.Loop() {
		if _, err := record.Decode(buf, &c); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFrameReadsEachCommandAndNothingElse(t *testing.T) {
	bytes := record.Append(nil, &bourse.Command{Kind: bourse.CommandTick})
	bytes = record.Append(bytes, &bourse.Command{Kind: bourse.CommandCancel, Account: 3, Order: 4})
	var cmd bourse.Command
	var seen []bourse.Command
	visit := func() error {
		seen = append(seen, cmd)
		return nil
	}
	f := record.Frame{First: 7, Count: 2, Time: 9, Commands: bytes}
	if err := f.Each(&cmd, nil, visit); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Seq != 7 || seen[1].Seq != 8 || seen[1].Time != 9 || seen[1].Order != 4 {
		t.Errorf("read %+v", seen)
	}
	for what, bad := range map[string]record.Frame{
		"a byte too many":       {First: 7, Count: 2, Commands: append(bytes[:len(bytes):len(bytes)], 0)},
		"a byte too few":        {First: 7, Count: 2, Commands: bytes[:len(bytes)-1]},
		"a command too few":     {First: 7, Count: 3, Commands: bytes},
		"a command unaccounted": {First: 7, Count: 1, Commands: bytes},
	} {
		if err := bad.Each(&cmd, func([]bourse.OrderID) {}, func() error { return nil }); !errors.Is(err, record.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	stop := errors.New("stop")
	if err := f.Each(&cmd, func([]bourse.OrderID) {}, func() error { return stop }); !errors.Is(err, stop) || !strings.Contains(err.Error(), "command 7") {
		t.Errorf("a visit that fails: %v", err)
	}
}

func TestFrameLooksAheadForCancels(t *testing.T) {
	var bytes []byte
	var want, told []bourse.OrderID
	const count = 100
	for i := range count {
		c := bourse.Command{Kind: bourse.CommandTick}
		if i%3 == 0 {
			c = bourse.Command{Kind: bourse.CommandCancel, Account: 3, Order: bourse.OrderID(1000 + i)}
			want = append(want, c.Order)
		}
		bytes = record.Append(bytes, &c)
	}
	var cmd bourse.Command
	f := record.Frame{First: 1, Count: count, Commands: bytes}
	err := f.Each(&cmd, func(ids []bourse.OrderID) { told = append(told, ids...) }, func() error {
		if cmd.Kind == bourse.CommandCancel && !slices.Contains(told, cmd.Order) {
			t.Errorf("command %d cancels an order that nobody expected", cmd.Seq)
		}
		return nil
	})
	if err != nil || !slices.Equal(told, want) {
		t.Errorf("told %v, must be %v: %v", told, want, err)
	}
}

// within returns a limit, in which zero is no bound.
func within(day, month uint64) bourse.FlowLimit {
	return bourse.FlowLimit{
		Day:   bourse.Bound{Set: day > 0, Most: bourse.Units(day)},
		Month: bourse.Bound{Set: month > 0, Most: bourse.Units(month)},
	}
}

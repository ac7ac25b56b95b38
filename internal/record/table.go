package record

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

// kinds is the table of commands.
var kinds = [bourse.LastCommandKind + 1]kind{
	bourse.CommandGenesis: {
		name: "genesis", noun: "genesis",
		fields: func(c *codec.Codec, cmd *bourse.Command) { c.Genesis(codec.New(c, &cmd.Genesis)) },
		check:  func(c *bourse.Command) bool { return c.Genesis != nil && bourse.KnownRules(c.Genesis.Rules) },
		details: func(c *bourse.Command) string {
			g := c.Genesis
			return fmt.Sprintf("exchange=%x sandbox=%t rules=%d", g.Exchange, g.Sandbox, g.Rules)
		},
	},
	bourse.CommandSetRules: {
		name: "rules", noun: "rules",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { codec.Uint32(c, &cmd.Rules) },
		check:     func(c *bourse.Command) bool { return bourse.KnownRules(c.Rules) },
		details:   func(c *bourse.Command) string { return fmt.Sprint(c.Rules) },
	},
	bourse.CommandRaise: {
		name: "raise", noun: "reason to raise the incarnation",
		fields:  operatorsText,
		check:   hasText,
		details: detailText,
	},
	bourse.CommandTick:     {name: "tick"},
	bourse.CommandContinue: {name: "continue"},
	bourse.CommandNote: {
		name: "note", noun: "text",
		fields:  operatorsText,
		check:   hasText,
		details: detailText,
	},

	bourse.CommandDefineAsset: {
		name: "asset", noun: "asset",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { c.Asset(codec.New(c, &cmd.Asset)) },
		check:     func(c *bourse.Command) bool { return c.Asset != nil && c.Asset.Valid() },
		details:   func(c *bourse.Command) string { return fmt.Sprintf("%+v", *c.Asset) },
	},
	bourse.CommandDefineNetwork: {
		name: "network", noun: "network",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { c.Network(codec.New(c, &cmd.Network)) },
		check:     func(c *bourse.Command) bool { return c.Network != nil && c.Network.Valid() },
		details:   func(c *bourse.Command) string { return fmt.Sprintf("%+v", *c.Network) },
	},
	bourse.CommandDefineNetworkAsset: {
		name: "network-asset", noun: "network asset",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { c.NetworkAsset(codec.New(c, &cmd.NetworkAsset)) },
		check:     func(c *bourse.Command) bool { return c.NetworkAsset != nil && c.NetworkAsset.Valid() },
		details:   func(c *bourse.Command) string { return fmt.Sprintf("%+v", *c.NetworkAsset) },
	},
	bourse.CommandDefineMarket: {
		name: "market", noun: "market",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { c.Market(codec.New(c, &cmd.Market)) },
		check:     func(c *bourse.Command) bool { return c.Market != nil && c.Market.Valid() },
		details:   func(c *bourse.Command) string { return fmt.Sprintf("%+v", *c.Market) },
	},
	bourse.CommandDefineFees: {
		name: "fees", noun: "schedule of fees",
		authority: owners,
		fields:    func(c *codec.Codec, cmd *bourse.Command) { c.FeeSchedule(codec.New(c, &cmd.Fees)) },
		check:     func(c *bourse.Command) bool { return c.Fees != nil && c.Fees.Valid() },
		details:   func(c *bourse.Command) string { return fmt.Sprintf("%+v", *c.Fees) },
	},
	bourse.CommandSetMarketState: {
		name: "market-state", noun: "market state",
		authority: moves,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint16(c, &cmd.MarketID)
			codec.Uint8(c, &cmd.State)
		},
		check: func(c *bourse.Command) bool {
			return c.MarketID > 0 && c.State >= bourse.MarketOpen && c.State <= bourse.MarketDelisted
		},
		details: func(c *bourse.Command) string { return fmt.Sprintf("market=%d %s", c.MarketID, c.State) },
	},

	bourse.CommandCreateAccount: {
		name: "account", noun: "account",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.Fixed(cmd.Token[:])
			c.Person(&cmd.Access)
		},
		check: func(c *bourse.Command) bool { return c.Access == nil || c.Access.IsPerson() },
	},
	bourse.CommandFreezeAccount: {
		name: "freeze", noun: "account", urgent: true,
		authority: freezes,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Bool(&cmd.On)
		},
		check:   isCustomers,
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d on=%t", c.Account, c.On) },
	},
	bourse.CommandSetAccountFees: {
		name: "account-fees", noun: "account fees",
		authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Bool(&cmd.On)
			codec.Uint32(c, &cmd.Maker)
			codec.Uint32(c, &cmd.Taker)
		},
		check: func(c *bourse.Command) bool {
			return isCustomers(c) && c.Maker < bourse.RateOne && c.Taker < bourse.RateOne
		},
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d on=%t maker=%s taker=%s", c.Account, c.On, c.Maker.Format(), c.Taker.Format())
		},
	},
	bourse.CommandDefineTiers: {
		name: "tiers", noun: "tiers", authority: owners,
		fields:  func(c *codec.Codec, cmd *bourse.Command) { c.Tiers(codec.New(c, &cmd.Tiers)) },
		check:   func(c *bourse.Command) bool { return c.Tiers != nil && c.Tiers.Valid() },
		details: func(c *bourse.Command) string { return describeTiers(c.Tiers) },
	},
	bourse.CommandSetAccountTier: {
		name: "account-tier", noun: "tier", authority: operator,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint8(c, &cmd.Level)
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Level < bourse.MaxTiers },
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d tier=%d", c.Account, c.Level) },
	},
	bourse.CommandSetAccountLevel: {
		name: "account-level", noun: "account level",
		authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Bool(&cmd.On)
			codec.Uint8(c, &cmd.Level)
		},
		check: func(c *bourse.Command) bool { return isCustomers(c) && (c.On || c.Level == 0) },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d fixed=%t level=%d", c.Account, c.On, c.Level)
		},
	},
	bourse.CommandCreateKey: {
		name: "key", noun: "key",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Fixed(cmd.Token[:])
			c.Access(codec.New(c, &cmd.Access))
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Access.Valid() },
		details: account,
	},
	bourse.CommandChangeKey: {
		name: "change-key", noun: "key",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Key)
			c.Access(codec.New(c, &cmd.Access))
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Key > 0 && c.Access.Valid() },
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d key=%d", c.Account, c.Key) },
	},
	bourse.CommandRevokeKey: {
		name: "revoke", noun: "key", urgent: true,
		fields:  func(c *codec.Codec, cmd *bourse.Command) { codec.Uint64(c, &cmd.Key) },
		check:   func(c *bourse.Command) bool { return c.Key > 0 },
		details: func(c *bourse.Command) string { return fmt.Sprintf("key=%d", c.Key) },
	},
	bourse.CommandSecureAccount: {
		name: "secure", noun: "hold", urgent: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Hold)
			codec.Uint64(c, &cmd.Key)
			c.Bool(&cmd.On)
			c.Person(&cmd.Access)
		},
		check: func(c *bourse.Command) bool {
			return isCustomers(c) && c.Hold >= 0 && c.Hold <= bourse.MaxHold && (c.Access == nil || c.Access.IsPerson())
		},
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d hold=%s person=%t keys=%t",
				c.Account, span(c.Hold), c.Access != nil, c.On)
		},
	},
	bourse.CommandOpenSession: {
		name: "session", noun: "session",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Access(codec.New(c, &cmd.Access))
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Access.Valid() && c.Access.Expires > 0 },
		details: account,
	},
	bourse.CommandSetPerson: {
		name: "person", noun: "person",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Fixed(codec.New(c, &cmd.Access).Digest[:])
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Access.IsPerson() },
		details: account,
	},

	bourse.CommandResetPerson: {
		name: "reset", noun: "reset of a person",
		authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Hold)
			codec.Uint8(c, &cmd.Level)
			c.Fixed(codec.New(c, &cmd.Operators).Was[:])
			c.Fixed(codec.New(c, &cmd.Access).Digest[:])
		},
		check: func(c *bourse.Command) bool {
			return isCustomers(c) && c.Hold >= 0 && c.Hold <= bourse.MaxHold && bourse.ResetParts(c.Level).Valid() &&
				c.Access.IsPerson() && c.Operators != nil && c.Operators.Was != c.Access.Digest
		},
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d %s hold=%s", c.Account, bourse.ResetParts(c.Level), span(c.Hold))
		},
	},

	bourse.CommandCredit: {
		name: "credit", noun: "credit",
		authority: operator,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint16(c, &cmd.AssetID)
			c.Amount(&cmd.Amount)
		},
		check: func(c *bourse.Command) bool { return isCustomers(c) && c.AssetID > 0 && !c.Amount.IsZero() },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d asset=%d units=%s", c.Account, c.AssetID, c.Amount.Format(0))
		},
	},
	bourse.CommandCollectFees: {name: "collect-fees", authority: owner},

	bourse.CommandPlace: {
		name: "place", noun: "order",
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.NewOrder.Valid() },
		details: describeOrder,
	},
	bourse.CommandCancel: {
		name: "cancel", noun: "order", urgent: true,
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Order > 0 },
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d order=%d", c.Account, c.Order) },
	},
	bourse.CommandAmend: {
		name: "amend", noun: "amendment",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Order)
			codec.Uint64(c, &cmd.NewOrder.Price)
			codec.Uint64(c, &cmd.NewOrder.Lots)
		},
		check: func(c *bourse.Command) bool {
			p := &c.NewOrder
			return isCustomers(c) && c.Order > 0 && (p.Price > 0 || p.Lots > 0) &&
				p.Price <= bourse.MaxPrice && p.Lots <= bourse.MaxLots
		},
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d order=%d ticks=%d lots=%d", c.Account, c.Order, c.NewOrder.Price, c.NewOrder.Lots)
		},
	},
	bourse.CommandReplace: {
		name: "replace", noun: "order",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Order)
			c.Bool(&cmd.On)
			c.NewOrder(&cmd.NewOrder)
		},
		check: func(c *bourse.Command) bool { return isCustomers(c) && c.NewOrder.Valid() },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("cancel=%d anyway=%t %s", c.Order, c.On, describeOrder(c))
		},
	},
	bourse.CommandPlaceList: {
		name: "place-list", noun: "list of orders",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.NewList(codec.New(c, &cmd.List))
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.List != nil && c.List.Valid() },
		details: describeList,
	},
	bourse.CommandCancelList: {
		name: "cancel-list", noun: "list of orders", urgent: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Order)
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && c.Order > 0 },
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d list=%d", c.Account, c.Order) },
	},
	bourse.CommandCancelAll: {
		name: "cancel-all", noun: "account", urgent: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint16(c, &cmd.MarketID)
		},
		check:   isCustomers,
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d market=%d", c.Account, c.MarketID) },
	},
	bourse.CommandCancelAfter: {
		name: "cancel-after", noun: "dead man's switch", urgent: true, free: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint16(c, &cmd.MarketID)
			codec.Uint64(c, &cmd.Hold)
		},
		check: func(c *bourse.Command) bool {
			return isCustomers(c) && c.Hold >= 0 && c.Hold <= bourse.MaxCancelAfter
		},
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d market=%d after=%s", c.Account, c.MarketID, span(c.Hold))
		},
	},
	bourse.CommandCancelOnClose: {
		name: "cancel-on-close", noun: "account", urgent: true, free: true,
		fields:  func(c *codec.Codec, cmd *bourse.Command) { codec.Uint32(c, &cmd.Account) },
		check:   isCustomers,
		details: account,
	},
	bourse.CommandConnectionClosed: {
		name: "connection-closed", noun: "connection", urgent: true, free: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &cmd.Connection)
		},
		check: func(c *bourse.Command) bool { return (c.Account == 0 || isCustomers(c)) && c.Connection > 0 },
		details: func(c *bourse.Command) string {
			if c.Account == 0 {
				return fmt.Sprintf("up-to=%d", c.Connection)
			}
			return fmt.Sprintf("account=%d connection=%d", c.Account, c.Connection)
		},
	},

	bourse.CommandBlock: {
		name: "block", noun: "block",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.EarlyBlockEffect(codec.New(c, &codec.New(c, &cmd.Wallet).Block))
		},
		second: hasLateInflows,
		later: func(c *codec.Codec, cmd *bourse.Command) {
			c.BlockEffect(codec.New(c, &codec.New(c, &cmd.Wallet).Block))
		},
		check: func(c *bourse.Command) bool {
			return c.Wallet != nil && c.Wallet.Block != nil && c.Wallet.Block.Valid()
		},
		details: describeBlock,
	},
	bourse.CommandRewind: {
		name: "rewind", noun: "block",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			w := codec.New(c, &cmd.Wallet)
			codec.Uint16(c, &w.Network)
			codec.Uint64(c, &w.Height)
		},
		check: func(c *bourse.Command) bool { return c.Wallet != nil && c.Wallet.Network > 0 },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("network=%d height=%d", c.Wallet.Network, c.Wallet.Height)
		},
	},
	bourse.CommandWithdraw: {
		name: "withdraw", noun: "withdrawal",
		fields: codeWithdraw,
		second: func(c *bourse.Command) bool { return isLong(c.Wallet.Withdraw.Memo) },
		check:  func(c *bourse.Command) bool { return asksToWithdraw(c) && !c.Wallet.Withdraw.Transfer() },
		details: func(c *bourse.Command) string {
			w := c.Wallet.Withdraw
			return fmt.Sprintf("account=%d network=%d asset=%d units=%s fee=%s "+
				"address=%q memo=%q internal=%d client_id=%s",
				c.Account, w.Network, w.Asset, w.Amount.Format(0), w.Fee.Format(0),
				w.Address, w.Memo, w.Internal, w.ClientID)
		},
	},
	bourse.CommandTransfer: {
		name: "transfer", noun: "withdrawal",
		fields: codeWithdraw,
		check:  func(c *bourse.Command) bool { return asksToWithdraw(c) && c.Wallet.Withdraw.Transfer() },
		details: func(c *bourse.Command) string {
			w := c.Wallet.Withdraw
			return fmt.Sprintf("account=%d to=%d asset=%d units=%s", c.Account, w.Internal, w.Asset, w.Amount.Format(0))
		},
	},
	bourse.CommandCancelWithdrawal: {
		name: "cancel-withdrawal", noun: "withdrawal", urgent: true,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &codec.New(c, &cmd.Wallet).ID)
		},
		check:   func(c *bourse.Command) bool { return isCustomers(c) && isWithdrawals(c) },
		details: func(c *bourse.Command) string { return fmt.Sprintf("account=%d xid=%d", c.Account, c.Wallet.ID) },
	},
	bourse.CommandDecideWithdrawal: {
		name: "decide-withdrawal", noun: "withdrawal",
		authority: decides,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.Bool(&cmd.On)
			codec.Uint64(c, &codec.New(c, &cmd.Wallet).ID)
		},
		check:   isWithdrawals,
		details: func(c *bourse.Command) string { return fmt.Sprintf("xid=%d approve=%t", c.Wallet.ID, c.On) },
	},
	bourse.CommandReplaceWithdrawal: {
		name: "replace-withdrawal", noun: "withdrawal",
		authority: outbids,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint64(c, &codec.New(c, &cmd.Wallet).ID)
		},
		check:   isWithdrawals,
		details: xid,
	},
	bourse.CommandReleaseWithdrawal: {
		name: "release-withdrawal", noun: "withdrawal",
		authority: releases,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			w := codec.New(c, &cmd.Wallet)
			codec.Uint64(c, &w.ID)
			codec.Uint16(c, &w.Network)
			c.Fixed(w.Tx[:])
		},
		check: func(c *bourse.Command) bool { return c.Wallet != nil && isWithdrawals(c) != isTransaction(c) },
		details: func(c *bourse.Command) string {
			if c.Wallet.ID == 0 {
				return fmt.Sprintf("network=%d tx=%x", c.Wallet.Network, c.Wallet.Tx)
			}
			return fmt.Sprintf("xid=%d", c.Wallet.ID)
		},
	},
	bourse.CommandPauseWithdrawals: {
		name: "pause-withdrawals", noun: "withdrawal", urgent: true,
		authority: pauses,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.Bool(&cmd.On)
			codec.Uint16(c, &codec.New(c, &cmd.Wallet).Network)
		},
		check:   func(c *bourse.Command) bool { return c.Wallet != nil && c.Wallet.Network > 0 },
		details: func(c *bourse.Command) string { return fmt.Sprintf("network=%d on=%t", c.Wallet.Network, c.On) },
	},
	bourse.CommandCool: {
		name: "cool", noun: "order to cold storage", authority: cools, fields: codeCool, check: isCool, details: describeCool,
	},
	bourse.CommandWarm: {
		name: "warm", noun: "transaction from cold storage", authority: warms, fields: codeWarm, check: isWarm, details: describeWarm,
	},
	bourse.CommandFollowChain: {
		name: "follow-chain", noun: "block", authority: owners, fields: codeFollow, check: isFollow, details: describeFollow,
	},
	bourse.CommandPaidWithdrawal: {
		name: "paid-withdrawal", noun: "withdrawal", authority: owners, fields: codePaid, check: isPaid, details: describePaid,
	},
	bourse.CommandSigned: {
		name: "signed", noun: "transaction",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.SignedTx(codec.New(c, &codec.New(c, &cmd.Wallet).Signed))
		},
		check: func(c *bourse.Command) bool {
			return c.Wallet != nil && isBySigner(c.Wallet.Signed) && len(c.Wallet.Signed.Joined) == 0
		},
		details: func(c *bourse.Command) string { return describeSigned(c.Wallet.Signed) },
	},
	bourse.CommandAsking: {
		name: "asking", noun: "withdrawal",
		fields: func(c *codec.Codec, cmd *bourse.Command) { codec.Uint64(c, &codec.New(c, &cmd.Wallet).ID) },
		check:  isWithdrawals, details: xid,
	},
	bourse.CommandRecord: {
		name: "record", noun: "entry of the signer's record", fields: codeEntry, details: describeEntry,
		check: func(c *bourse.Command) bool { return isEntry(c) && len(c.Wallet.Signed.Joined) == 0 },
	},
	bourse.CommandRecordJoined: {
		name: "record-joined", noun: "entry of the signer's record", details: describeEntry,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codeEntry(c, cmd)
			c.Shares(&cmd.Wallet.Signed.Joined)
		},
		check: func(c *bourse.Command) bool { return isEntry(c) && len(c.Wallet.Signed.Joined) > 0 },
	},
	bourse.CommandVoided: {
		name: "voided", noun: "withdrawal",
		fields: func(c *codec.Codec, cmd *bourse.Command) { codec.Uint64(c, &codec.New(c, &cmd.Wallet).ID) },
		check:  isWithdrawals, details: xid,
	},
	bourse.CommandAccepted: {
		name: "accepted", noun: "transaction",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			w := codec.New(c, &cmd.Wallet)
			codec.Uint16(c, &w.Network)
			c.Fixed(w.Tx[:])
		},
		check: func(c *bourse.Command) bool { return c.Wallet != nil && isTransaction(c) },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("network=%d tx=%x", c.Wallet.Network, c.Wallet.Tx)
		},
	},
	bourse.CommandAssignDeposit: {
		name: "assign-deposit", noun: "deposit",
		authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint64(c, &codec.New(c, &cmd.Wallet).Deposit)
		},
		check: func(c *bourse.Command) bool { return isCustomers(c) && c.Wallet != nil && c.Wallet.Deposit > 0 },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d deposit=%d", c.Account, c.Wallet.Deposit)
		},
	},
	bourse.CommandSaveAddress: {
		name: "save-address", noun: "address",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			c.Fixed(cmd.Token[:])
			c.SavedAddress(codec.New(c, &codec.New(c, &cmd.Wallet).Save))
		},
		second: func(c *bourse.Command) bool { return isLong(c.Wallet.Save.Memo) },
		check: func(c *bourse.Command) bool {
			return isCustomers(c) && c.Wallet != nil && c.Wallet.Save != nil && c.Wallet.Save.Valid()
		},
		details: func(c *bourse.Command) string {
			a := c.Wallet.Save
			return fmt.Sprintf("account=%d network=%d address=%q memo=%q", c.Account, a.Network, a.Address, a.Memo)
		},
	},
	bourse.CommandForgetAddress: {
		name: "forget-address", noun: "address",
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint32(c, &cmd.Account)
			codec.Uint32(c, &codec.New(c, &cmd.Wallet).Address)
		},
		check: func(c *bourse.Command) bool { return isCustomers(c) && c.Wallet != nil && c.Wallet.Address > 0 },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("account=%d adbkid=%d", c.Account, c.Wallet.Address)
		},
	},

	bourse.CommandAddOperator: {
		name: "add-operator", noun: "operator", authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			c.Fixed(cmd.Token[:])
			c.Operator(&codec.New(c, &cmd.Operators).Define)
		},
		check: func(c *bourse.Command) bool {
			return c.Operators != nil && c.Operators.Define.Valid() && c.Operators.Define.Enabled
		},
		details: describeOperator,
	},
	bourse.CommandChangeOperator: {
		name: "change-operator", noun: "operator", authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			def := &codec.New(c, &cmd.Operators).Define
			codec.Uint16(c, &def.ID)
			c.Operator(def)
		},
		check: func(c *bourse.Command) bool {
			return c.Operators != nil && c.Operators.Define.ID > 0 && c.Operators.Define.Valid()
		},
		details: describeOperator,
	},
	bourse.CommandSetApprovalLimit: {
		name: "approval-limit", noun: "limit of approvals", authority: owners,
		fields: func(c *codec.Codec, cmd *bourse.Command) {
			codec.Uint16(c, &cmd.AssetID)
			c.Amount(&cmd.Amount)
		},
		check: func(c *bourse.Command) bool { return c.AssetID > 0 },
		details: func(c *bourse.Command) string {
			return fmt.Sprintf("asset=%d units=%s", c.AssetID, c.Amount.Format(0))
		},
	},
	bourse.CommandAct: {name: "act", noun: "act", fields: codeAct, check: isAct, details: describeAct},
	bourse.CommandApproveAct: {
		name: "approve-act", noun: "approval", fields: codeActRef, check: isApproval, details: describeActRef,
	},
	bourse.CommandDropAct: {
		name: "drop-act", noun: "act", urgent: true, fields: codeActRef, check: isDrop, details: describeActRef,
	},
}

package bourse

// CommandKind tags a [Command].
type CommandKind uint8

// The closed set of commands, with the fields that each one reads besides Seq
// and Time.
const (
	// CommandGenesis opens the exchange; it is the first command. Genesis.
	CommandGenesis CommandKind = iota + 1
	// CommandSetRules changes the version of the rules from here on. Rules.
	CommandSetRules
	// CommandTick moves engine time. No fields.
	CommandTick
	// CommandContinue takes up work that a command left for lack of budget. No
	// fields.
	CommandContinue
	// CommandNote records what an operator asked for. Operator, Text.
	CommandNote

	// CommandDefineAsset adds or changes an asset, found by symbol. Asset.
	CommandDefineAsset
	// CommandDefineNetwork adds or changes a network, found by symbol. Network.
	CommandDefineNetwork
	// CommandDefineNetworkAsset puts an asset on a network, or changes its
	// terms there. NetworkAsset.
	CommandDefineNetworkAsset
	// CommandDefineMarket adds or changes a market, found by its assets; its
	// state is left alone. Market.
	CommandDefineMarket
	// CommandSetMarketState moves a market between its states. MarketID, State.
	CommandSetMarketState

	// CommandCreateAccount allots an account id. Token, and Access if a person has it.
	CommandCreateAccount
	// CommandFreezeAccount freezes or unfreezes an account. Account, On.
	CommandFreezeAccount
	// CommandSetAccountFees gives an account fee rates of its own, or, with On
	// false, those of the markets again. Account, On, Maker, Taker, Level.
	CommandSetAccountFees
	// CommandCreateKey allots an API key's id. Account, Token, Access.
	CommandCreateKey
	// CommandRevokeKey ends an API key or a session. Key.
	CommandRevokeKey

	// CommandCredit hands out money of the sandbox. Account, AssetID, Amount.
	CommandCredit
	// CommandSweepFees moves what the fee accounts hold to the treasury. No
	// fields.
	CommandSweepFees

	// CommandPlace asks for a new order. Account, Place.
	CommandPlace
	// CommandCancel asks for the end of an order. Account, Order.
	CommandCancel
	// CommandCancelAll asks for the end of an account's open orders. Account,
	// and MarketID unless it means all markets.
	CommandCancelAll

	// The commands of the wallet read fields of Command.Wallet, here without
	// its name.

	// CommandBlock takes in the next block of a network, or a part of it. Block.
	CommandBlock
	// CommandRewind takes back the blocks above a height, which left the chain.
	// Network, Height.
	CommandRewind
	// CommandWithdraw asks for a withdrawal. Account, Withdraw.
	CommandWithdraw
	// CommandCancelWithdrawal asks for the end of a withdrawal. Account, ID.
	CommandCancelWithdrawal
	// CommandDecideWithdrawal lets a withdrawal go, or denies it: a person's
	// word. On, ID.
	CommandDecideWithdrawal
	// CommandSigned puts a transaction of the exchange on record; only from here
	// on may it be sent. Signed.
	CommandSigned
	// CommandSent says that the network accepted a transaction. Network, Tx.
	CommandSent
	// CommandPauseWithdrawals stops a network's withdrawals, or resumes them,
	// whoever stopped them. On, Network.
	CommandPauseWithdrawals
	// CommandAssignDeposit gives a parked deposit to an account, or lets one
	// below the minimum count. Account, Deposit.
	CommandAssignDeposit
	// CommandSaveAddress adds an entry to an address book. Account, Token, Save.
	CommandSaveAddress
	// CommandForgetAddress takes an entry out of it. Account, Address.
	CommandForgetAddress
	// CommandReplaceWithdrawal lets a withdrawal be signed anew: an operator
	// knows that what was signed can never be mined. ID.
	CommandReplaceWithdrawal
	// CommandReleaseWithdrawal ends one instead and gives its money back; or,
	// with Network and Tx in place of ID, gives up a sweep or top-up. ID.
	CommandReleaseWithdrawal

	// CommandTransfer asks for a transfer to another account. Account, Withdraw,
	// without a network.
	CommandTransfer

	// CommandChangeKey changes what an API key may do and until when. Account, Key,
	// Access.
	CommandChangeKey

	// CommandSecureAccount says that how an account's person gets in was changed: for
	// a time no money leaves it, its address book trusts nothing, its sessions end except
	// Key, and with On its API keys end. Account, Hold, Key, On, and Access if the
	// person's row changes.
	CommandSecureAccount
	// CommandOpenSession allots a session's id. Account, Access.
	CommandOpenSession
	// CommandSetPerson changes the row of an account's person and nothing else.
	// Account, Access.
	CommandSetPerson

	// LastCommandKind is the newest kind that this program knows.
	LastCommandKind = CommandSetPerson
)

// Command is what the journal carries and the engine decides on: one flat
// struct for all kinds, so that none is allocated.
type Command struct {
	// Seq and Time come from the journal.
	Seq  Seq
	Time Time

	Kind     CommandKind
	On       bool
	State    MarketState
	Level    uint8
	MarketID MarketID
	AssetID  AssetID
	Account  AccountID
	Key      KeyID
	Operator uint32
	Rules    uint32
	Maker    Rate
	Taker    Rate
	Order    OrderID
	Amount   Amount
	Hold     Time
	Token    Token
	Place    Place

	Genesis      *Genesis
	Asset        *Asset
	Network      *Network
	NetworkAsset *NetworkAsset
	Market       *Market
	Wallet       *WalletCommand
	Access       *Access
	Text         string
}

// Genesis is the identity of an exchange.
type Genesis struct {
	// Exchange is a random id; journals of different exchanges never mix.
	Exchange [16]byte
	// Sandbox allows credits out of nothing, and never changes.
	Sandbox bool
	// Rules is the version of the rules at the start.
	Rules uint32
}

// CurrentRules is the newest version of the rules that this program knows.
const CurrentRules = 1

// MaxText is the longest text that a command may carry, in bytes.
const MaxText = 4096

// Check reports whether c is well formed: what can be said without knowing the
// state of the exchange. The journal takes only commands that pass. The error
// is an *Error with CodeInvalid.
func (c *Command) Check() error {
	switch c.Kind {
	case CommandTick, CommandContinue, CommandSweepFees:
		return nil
	case CommandCreateAccount:
		return need(c.Access == nil || c.Access.checkPerson(), "account")
	case CommandGenesis:
		return need(c.Genesis != nil && knownRules(c.Genesis.Rules), "genesis")
	case CommandSetRules:
		return need(knownRules(c.Rules), "rules")
	case CommandNote:
		return need(len(c.Text) > 0 && len(c.Text) <= MaxText, "text")
	case CommandDefineAsset:
		return need(c.Asset != nil && c.Asset.check(), "asset")
	case CommandDefineNetwork:
		return need(c.Network != nil && c.Network.check(), "network")
	case CommandDefineNetworkAsset:
		return need(c.NetworkAsset != nil && c.NetworkAsset.check(), "network asset")
	case CommandDefineMarket:
		return need(c.Market != nil && c.Market.check(), "market")
	case CommandSetMarketState:
		return need(c.MarketID > 0 && c.State >= MarketOpen && c.State <= MarketDelisted, "market state")
	case CommandFreezeAccount, CommandCancelAll:
		return need(c.Account.IsCustomer(), "account")
	case CommandSecureAccount:
		return need(c.Account.IsCustomer() && c.Hold >= 0 && c.Hold <= MaxHold && (c.Access == nil || c.Access.checkPerson()), "hold")
	case CommandOpenSession:
		return need(c.Account.IsCustomer() && c.Access.check() && c.Access.Expires > 0, "session")
	case CommandSetPerson:
		return need(c.Account.IsCustomer() && c.Access.checkPerson(), "person")
	case CommandCreateKey:
		return need(c.Account.IsCustomer() && c.Access.check(), "key")
	case CommandChangeKey:
		return need(c.Account.IsCustomer() && c.Key > 0 && c.Access.check(), "key")
	case CommandSetAccountFees:
		return need(c.Account.IsCustomer() && c.Maker < RateOne && c.Taker < RateOne, "account fees")
	case CommandRevokeKey:
		return need(c.Key > 0, "key")
	case CommandCredit:
		return need(c.Account.IsCustomer() && c.AssetID > 0 && !c.Amount.IsZero(), "credit")
	case CommandCancel:
		return need(c.Account.IsCustomer() && c.Order > 0, "order")
	case CommandPlace:
		return need(c.Account.IsCustomer() && c.Place.check(), "order")
	case CommandBlock, CommandRewind:
		return need(c.Wallet.check(c), "block")
	case CommandSigned, CommandSent:
		return need(c.Wallet.check(c), "transaction")
	case CommandWithdraw, CommandCancelWithdrawal, CommandDecideWithdrawal, CommandPauseWithdrawals,
		CommandReplaceWithdrawal, CommandReleaseWithdrawal, CommandTransfer:
		return need(c.Wallet.check(c), "withdrawal")
	case CommandAssignDeposit:
		return need(c.Wallet.check(c), "deposit")
	case CommandSaveAddress, CommandForgetAddress:
		return need(c.Wallet.check(c), "address")
	}
	return Errorf(CodeInvalid, "unknown command kind %d", c.Kind)
}

func need(ok bool, what string) error {
	if ok {
		return nil
	}
	return Errorf(CodeInvalid, "malformed %s", what)
}

func knownRules(v uint32) bool { return v >= 1 && v <= CurrentRules }

func (p *Place) check() bool {
	if p.Market == 0 || p.Side < Buy || p.Side > Sell || p.TIF < GTC || p.TIF > IOC ||
		p.SelfTrade > CancelBoth || p.Price > MaxPrice || p.Stop > MaxPrice || p.Lots > MaxLots {
		return false
	}
	byLots := p.Lots > 0 && p.Total.IsZero()
	switch p.Type {
	case Limit:
		return byLots && p.Price > 0 && p.Stop == 0 && (!p.PostOnly || p.TIF == GTC)
	case StopLimit:
		return byLots && p.Price > 0 && p.Stop > 0 && !p.PostOnly
	case MarketOrder:
		byTotal := p.Lots == 0 && !p.Total.IsZero()
		return (byLots || byTotal) && p.Price == 0 && p.Stop == 0 && !p.PostOnly
	}
	return false
}

func (a *Asset) check() bool {
	return ValidSymbol(a.Symbol) && a.Scale <= MaxScale && validText(a.Name)
}

func (n *Network) check() bool {
	return ValidSymbol(n.Symbol) && validText(n.Name) && (n.MemoName == "" || validText(n.MemoName))
}

func (n *NetworkAsset) check() bool {
	return n.Asset > 0 && n.Network > 0 && n.Precision <= MaxScale && n.Confirms > 0 &&
		len(n.Contract) <= 128 && !n.FeeMax.Less(n.FeeMin)
}

func (m *Market) check() bool {
	return m.Base > 0 && m.Quote > 0 && m.Base != m.Quote &&
		m.BasePrecision <= MaxScale && m.QuotePrecision <= MaxScale &&
		m.InitialPrice > 0 && m.InitialPrice <= m.MaxPrice && m.MaxPrice <= MaxPrice &&
		m.Maker < RateOne && m.Taker < RateOne && m.Collar < RateOne && (m.Band == 0 || m.Band > RateOne) &&
		m.SelfTrade >= SelfTradeNone && m.SelfTrade <= CancelBoth
}

// validText admits names for people: 1 to 128 bytes without control characters.
func validText(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 128
}

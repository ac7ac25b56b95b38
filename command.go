package bourse

// CommandKind tags a [Command].
type CommandKind uint8

// The closed set of commands. Each lists the fields it reads besides Seq and Time.
const (
	// CommandGenesis opens the exchange; it is the first command. Genesis.
	CommandGenesis CommandKind = iota + 1
	// CommandSetRules changes the version of the rules for later commands. Rules.
	CommandSetRules
	// CommandTick advances engine time. No fields.
	CommandTick
	// CommandContinue resumes work that an earlier command left for lack of budget. No
	// fields.
	CommandContinue
	// CommandNote records an operator's request. Operator, Text.
	CommandNote

	// CommandDefineAsset adds or changes an asset, identified by symbol. Asset.
	CommandDefineAsset
	// CommandDefineNetwork adds or changes a network, identified by symbol. Network.
	CommandDefineNetwork
	// CommandDefineNetworkAsset adds an asset to a network, or changes its terms there.
	// NetworkAsset.
	CommandDefineNetworkAsset
	// CommandDefineMarket adds or changes a market, identified by its assets, and leaves
	// its state alone. Market.
	CommandDefineMarket
	// CommandSetMarketState moves a market between its states. MarketID, State.
	CommandSetMarketState

	// CommandCreateAccount allots an account id. Token, and Access if a person owns it.
	CommandCreateAccount
	// CommandFreezeAccount freezes or unfreezes an account. Account, On.
	CommandFreezeAccount
	// CommandSetAccountFees gives an account its own fee rates, or, with On false, the
	// markets' rates again. Account, On, Maker, Taker.
	CommandSetAccountFees
	// CommandCreateKey allots an API key's id. Account, Token, Access.
	CommandCreateKey
	// CommandRevokeKey ends an API key or a session. Key.
	CommandRevokeKey

	// CommandCredit credits sandbox money. Account, AssetID, Amount.
	CommandCredit
	// CommandCollectFees moves the balances of the fee accounts to the treasury. No
	// fields.
	CommandCollectFees

	// CommandPlace places an order. Account, NewOrder.
	CommandPlace
	// CommandCancel cancels an order. Account, Order.
	CommandCancel
	// CommandCancelAll cancels an account's open orders. Account, and MarketID unless it
	// means all markets.
	CommandCancelAll

	// The commands of the wallet read fields of Command.Wallet, named here without the
	// prefix.

	// CommandBlock applies the next block of a network, or a part of it. Block.
	CommandBlock
	// CommandRewind reverts the blocks above a height, which left the chain. Network,
	// Height.
	CommandRewind
	// CommandWithdraw requests a withdrawal. Account, Withdraw.
	CommandWithdraw
	// CommandCancelWithdrawal cancels a withdrawal. Account, ID.
	CommandCancelWithdrawal
	// CommandDecideWithdrawal records an operator's decision to approve or deny a
	// withdrawal. On, ID.
	CommandDecideWithdrawal
	// CommandSigned records a signed transaction of the exchange, which may be sent from
	// here on. Signed.
	CommandSigned
	// CommandAccepted records that the network accepted a transaction. Network, Tx.
	CommandAccepted
	// CommandPauseWithdrawals pauses a network's withdrawals, or resumes them after a
	// pause or a halt. On, Network.
	CommandPauseWithdrawals
	// CommandAssignDeposit assigns a parked deposit to an account, or admits a deposit
	// below the minimum. Account, Deposit.
	CommandAssignDeposit
	// CommandSaveAddress adds an entry to an address book. Account, Token, Save.
	CommandSaveAddress
	// CommandForgetAddress removes an entry from an address book. Account, Address.
	CommandForgetAddress
	// CommandReplaceWithdrawal lets a withdrawal be signed anew: an operator knows that
	// its signed transaction can never be mined. ID.
	CommandReplaceWithdrawal
	// CommandReleaseWithdrawal ends a withdrawal whose signed transaction can never be
	// mined, and returns its money. ID. With Network and Tx in place of ID it drops a
	// sweep or top-up.
	CommandReleaseWithdrawal

	// CommandTransfer requests a transfer to another account. Account, Withdraw without a
	// network.
	CommandTransfer

	// CommandChangeKey changes the permissions and the expiry of an API key. Account,
	// Key, Access.
	CommandChangeKey

	// CommandSecureAccount follows a change of the credentials of an account's person:
	// for Hold no money leaves the account, its address book trusts nothing, its sessions
	// except Key end, and with On its API keys end. Account, Hold, Key, On, and Access if
	// the person's row changes.
	CommandSecureAccount
	// CommandOpenSession allots a session's id. Account, Access.
	CommandOpenSession
	// CommandSetPerson replaces the row digest of an account's person and changes nothing
	// else. Account, Access.
	CommandSetPerson

	// CommandCancelAfter arms the dead man's switch that cancels an account's open orders
	// after Hold, or, with Hold zero, disarms it. Account, Hold, and MarketID unless it
	// means all markets.
	CommandCancelAfter
	// CommandCancelOnClose allots the id of a connection whose close cancels its account's
	// open orders. Account.
	CommandCancelOnClose
	// CommandConnectionClosed closes such a connection, or, without Account, all up to
	// Connection: a process that starts has none of them. Account, Connection.
	CommandConnectionClosed

	// CommandDefineFees sets the schedule of fees. Fees.
	CommandDefineFees
	// CommandSetAccountLevel fixes an account's fee level, or, with On false, lets the
	// schedule set it again. Account, On, Level.
	CommandSetAccountLevel

	// CommandAmend changes the price or the quantity of an open order. Account, Order,
	// and of NewOrder Price and Lots, of which zero leaves the order's own.
	CommandAmend

	// CommandReplace cancels an order and places another one. If the cancel is refused, the
	// order is placed with On alone. Account, Order (zero for one that is not open), NewOrder,
	// On.
	CommandReplace

	// CommandPlaceList places the orders of a list, all or none. Account, List.
	CommandPlaceList
	// CommandCancelList cancels the open orders of a list. Account, Order: the list's id.
	CommandCancelList

	// CommandDefineTiers sets the tiers. Tiers.
	CommandDefineTiers
	// CommandSetAccountTier gives an account a tier. Account, Level.
	CommandSetAccountTier

	// The commands by and about operators read fields of Command.Operators, named here
	// without the prefix.

	// CommandAddOperator allots an operator's id. Token, Define.
	CommandAddOperator
	// CommandChangeOperator changes an operator's role and row, or ends or restores its
	// powers. Define.
	CommandChangeOperator
	// CommandSetApprovalLimit sets how much of an asset one operator approves alone in a
	// day. AssetID, Amount.
	CommandSetApprovalLimit
	// CommandAct orders a command in the name of an operator. Without By it is a break-glass
	// act, which waits. By (the second zero), Token, Digest, Reason, Record.
	CommandAct
	// CommandApproveAct is the second operator's approval of a waiting act. By, Act, Digest.
	CommandApproveAct
	// CommandDropAct ends a waiting act. By (the second zero), Act, Digest.
	CommandDropAct

	// CommandAsking precedes a request to the signer for a withdrawal's transaction: a
	// cancel waits for the signer's answer from here on. ID.
	CommandAsking
	// CommandRecord takes over the next entry of the signer's record of a network, whose
	// transaction may be sent from here on. Signed, Record, Chain.
	CommandRecord
	// CommandVoided records that the signer will sign nothing more for a withdrawal that is
	// to end, and ends it. ID.
	CommandVoided

	// CommandRaise raises the incarnation by one and pauses the withdrawals of every network.
	// Operator, Text: why.
	CommandRaise

	// CommandResetPerson replaces the row of an account's person, which an operator made: it took
	// second factors away, or has another address. Withdrawals are held, and sessions and API keys
	// end. It is refused if the person has another row than Operators.Was by then. Account, Hold,
	// Level (a ResetParts), Access (digest alone), Operators.Was.
	CommandResetPerson

	// CommandCool orders a move of an amount from the hot wallet of a network of outputs to its cold storage, or,
	// without On, ends the order and gives up its transaction, if no block has it. On, AssetID, Amount (zero without
	// On), and of Wallet Network.
	CommandCool
	// CommandWarm records a transaction that people signed, from cold storage to the hot wallet, which may be sent from
	// here on, or, without On, gives those up that no block has. On, and of Wallet Signed, or Network without On.
	CommandWarm

	// CommandFollowChain has a network whose chain changed deeper than is remembered follow the chain of its nodes,
	// from its first block on. Up to the named block nothing is credited. Network, Height, Tx: the block's hash.
	CommandFollowChain
	// CommandPaidWithdrawal marks a withdrawal as paid by a transaction of a block, in the place of one that was given
	// up. ID, Tx.
	CommandPaidWithdrawal
	// CommandRecordJoined takes over the next entry of the signer's record of a network, whose transaction pays several
	// withdrawals. Signed, Record, Chain.
	CommandRecordJoined

	// LastCommandKind is the newest kind that this program knows.
	LastCommandKind = CommandRecordJoined
)

// Command is an entry of the journal and the input of the engine. One flat struct serves
// all kinds, so that the common kinds need no allocation.
type Command struct {
	// Seq and Time are set by the journal.
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
	NewOrder NewOrder
	// Connection is set by CommandConnectionClosed alone.
	Connection ConnectionID

	Genesis      *Genesis
	Asset        *Asset
	Network      *Network
	NetworkAsset *NetworkAsset
	Market       *Market
	Fees         *FeeSchedule
	Tiers        *Tiers
	List         *NewList
	Wallet       *WalletCommand
	Access       *Access
	Operators    *OperatorCommand
	Text         string
}

// WalletCommand holds the fields of wallet commands besides Account, On, AssetID and
// Token.
type WalletCommand struct {
	Network NetworkID
	ID      WalletID
	Deposit DepositID
	Address AddressID
	Height  uint64
	Tx      TxHash
	// Record is the number of an entry of the signer's record of a network, from one, and
	// Chain the hash of the record up to it.
	Record uint64
	Chain  TxHash

	Block    *BlockEffect
	Withdraw *Withdraw
	Signed   *SignedTx
	Save     *SavedAddress
}

// Genesis is the identity of an exchange.
type Genesis struct {
	// Exchange is a random id; the journals of different exchanges never mix.
	Exchange [16]byte
	// Sandbox allows credits without a deposit. It never changes.
	Sandbox bool
	// Rules is the version of the rules at the start.
	Rules uint32
}

// The versions of the rules. A journal is replayed under the versions that it names.
const (
	// RulesOutdating are the rules since which a waiting act is outdated by a later command that
	// sets the same.
	RulesOutdating = 2
	// RulesOwn are the rules since which the exchange itself gives up transactions that wait for blocks
	// while it has owners.
	RulesOwn = 2
	// RulesRecorded are the rules since which an entry of the signer's record halts its network if it is of a
	// withdrawal that the journal does not have, whatever else its id was allotted for.
	RulesRecorded = 3
	// RulesRescue are the rules since which a payment in the coin of its costs is told from a failure that costs as
	// much.
	RulesRescue = 4
	// RulesOverAlone are the rules since which a deposit beyond what one node alone credits is its customer's, and
	// waits for an operator as one below the minimum does.
	RulesOverAlone = 4
	// RulesLongMemos are the rules since which memos have up to MaxMemo bytes, and MaxEarlyMemo before.
	RulesLongMemos = 4
	// RulesJoined are the rules since which a transaction pays several withdrawals.
	RulesJoined = 5
	// CurrentRules is the newest version of the rules that this program knows.
	CurrentRules = RulesJoined
)

// MemoBound returns the bound of memos under a version of the rules, in bytes.
func MemoBound(rules uint32) int {
	if rules < RulesLongMemos {
		return MaxEarlyMemo
	}
	return MaxMemo
}

// MaxText bounds a command's text, in bytes.
const MaxText = 4096

// The bounds of a wallet command, so that each fits a frame of the journal.
const (
	// MaxMemo bounds a memo, in bytes: chains of the Cosmos SDK take as many.
	MaxMemo = 256
	// MaxEarlyMemo bounds a memo under rules before RulesLongMemos, in bytes.
	MaxEarlyMemo = 128
	// MaxAddress bounds an address, in bytes.
	MaxAddress = 128
	// MaxBlockEntries bounds the transactions, outflows, spent outputs and inflows of a
	// part of a block, summed by TxEffect.Entries.
	MaxBlockEntries = 1000
	// MaxRaw bounds a signed transaction, in bytes.
	MaxRaw = 100_000
	// MaxInputs bounds the outputs that a signed transaction spends.
	MaxInputs = 1000
	// MaxJoined bounds the withdrawals that a transaction pays.
	MaxJoined = 100
)

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/audit"
)

// errViolations reports that an audit found violations. The report is already printed.
var errViolations = errors.New("the audit found violations")

// adminCmd operates a running exchange through the socket in its data directory.
type adminCmd struct {
	Data       string `help:"Data directory of the exchange." default:"bourse-dev" type:"path"`
	BreakGlass string `help:"Order what only operators may, as a break-glass act: it is carried out in 24 hours, unless an owner drops it; the owners get a letter at once." placeholder:"REASON" env:"-"`

	Account struct {
		Create   accountCreate   `cmd:"" help:"Open an account for an e-mail address."`
		Show     accountShow     `cmd:"" help:"Show an account and its keys."`
		Freeze   accountFreeze   `cmd:"" help:"Refuse an account's orders; its cancels work."`
		Unfreeze accountUnfreeze `cmd:"" help:"Take a frozen account's orders again."`
		Fees     accountFees     `cmd:"" help:"Give an account rates of its own, or, without rates, those of the markets."`
		Level    accountLevel    `cmd:"" help:"Fix an account's fee level, or, without a level, let the schedule set it."`
		Tier     accountTier     `cmd:"" help:"Give an account a tier, whose limits hold from its next request on."`
		Reset    accountReset    `cmd:"" help:"Take an account's second factors away, or give it another address: its sessions and keys end, its withdrawals wait."`
	} `cmd:"" help:"Accounts."`
	Key struct {
		Create keyCreate `cmd:"" help:"Make an API key. It is shown this once."`
		Revoke keyRevoke `cmd:"" help:"End an API key, everywhere and for ever."`
	} `cmd:"" help:"API keys."`
	Factor struct {
		Reset  factorReset  `cmd:"" help:"Let an account's codes come by e-mail again: its application is lost."`
		Stolen factorStolen `cmd:"" help:"Freeze an account and end every way into it: its factor or address is stolen."`
	} `cmd:"" help:"Second factors."`
	Operator struct {
		Invite operatorInvite `cmd:"" help:"Invite a person to become an operator, in production the first owner. The code is shown this once."`
		List   operatorList   `cmd:"" help:"Show the operators."`
		Change operatorChange `cmd:"" help:"Change an operator's role, or end or restore its powers."`
		Acts   operatorActs   `cmd:"" help:"Show the acts that wait, oldest first."`
		Keys   operatorKeys   `cmd:"" help:"Show the keys of operators' programs."`
		EndKey operatorEndKey `cmd:"" help:"End a key of an operator's program."`
		LogOut operatorLogOut `cmd:"" help:"End an operator's sessions and keys."`
	} `cmd:"" help:"Operators, and what they order."`
	Mail struct {
		Last mailLast `cmd:"" help:"Show the last letter to an address."`
	} `cmd:"" help:"The letters of a sandbox, which sends none."`
	Notice struct {
		Add  noticeAdd  `cmd:"" help:"Show a text to everybody."`
		List noticeList `cmd:"" help:"Show live and ended notices, newest first."`
		End  noticeEnd  `cmd:"" help:"Show a notice no longer."`
	} `cmd:"" help:"Banners, popups and announcements."`
	Webhook struct {
		Add    webhookAdd    `cmd:"" help:"Deliver events to a program of yours. Its secret is shown this once."`
		List   webhookList   `cmd:"" help:"Show the webhooks, how far they are and what fails."`
		Enable webhookEnable `cmd:"" help:"Deliver again, from where it ended, to a webhook that was disabled."`
		Remove webhookRemove `cmd:"" help:"End the deliveries to a webhook."`
		Test   webhookTest   `cmd:"" help:"Make a delivery of the kind test, and say whether it was taken."`
	} `cmd:"" help:"Programs that are told of accounts, deposits, withdrawals, halts and tiers."`
	Credit   credit   `cmd:"" help:"Hand out money of a sandbox."`
	Balances balances `cmd:"" help:"Show what an account has."`
	Market   struct {
		Halt       marketHalt       `cmd:"" help:"Take neither orders nor cancels."`
		Resume     marketResume     `cmd:"" help:"Take orders and cancels."`
		CancelOnly marketCancelOnly `cmd:"" help:"Take cancels alone."`
		Delist     marketDelist     `cmd:"" help:"Take nothing, hide the market and kill its orders."`
	} `cmd:"" help:"Markets."`
	Markets struct {
		Pause  marketsPause  `cmd:"" help:"Stop all markets, or those that are named. The answer has those that were open."`
		Resume marketsResume `cmd:"" help:"Open markets again."`
	} `cmd:"" help:"Several markets at once."`
	Fees struct {
		Collect feesCollect `cmd:"" help:"Move what fees have gathered to the treasury."`
	} `cmd:"" help:"Fees."`
	Catalogue struct {
		Show  catalogueShow  `cmd:"" help:"Show what is listed."`
		Apply catalogueApply `cmd:"" help:"List what a file says; what it leaves out stays."`
	} `cmd:"" help:"Assets, networks, markets, the schedule of fees and tiers."`
	Withdrawal  withdrawalCmd  `cmd:"" help:"Withdrawals, one by one."`
	Withdrawals withdrawalsCmd `cmd:"" help:"The withdrawals of a network."`
	Deposits    struct {
		Parked depositsParked `cmd:"" help:"Show deposits that belong to nobody known, or are too small."`
	} `cmd:"" help:"Deposits that wait for an operator."`
	Deposit struct {
		Assign depositAssign `cmd:"" help:"Give a parked deposit to an account, or let one count that is too small."`
	} `cmd:"" help:"Deposits, one by one."`
	Network struct {
		List    listNetworks   `cmd:"" help:"Show the networks: how far they are read, what they hold and what is stopped."`
		Cool    networkCool    `cmd:"" help:"Order a move from the hot wallet to cold storage."`
		EndCool networkEndCool `cmd:"" help:"End the order, and give up its transaction if no block has it."`

		PSBT     networkPSBT     `cmd:"" name:"psbt" help:"Draft a move from cold storage to the hot wallet, for those who hold the keys to sign."`
		SendPSBT networkSendPSBT `cmd:"" name:"send-psbt" help:"Send what they signed: PSBTs with their signatures, or the final transaction."`
		EndPSBT  networkEndPSBT  `cmd:"" name:"end-psbt" help:"Give up what was sent, if no block has it."`

		Follow networkFollow `cmd:"" help:"Have a network whose chain changed too deep follow the chain of its nodes, from its first block on."`
	} `cmd:"" help:"Networks."`
	Devnet devnetCmd `cmd:"" help:"The embedded networks of a sandbox."`
	Clock  struct {
		Accept clockAccept `cmd:"" help:"Follow the machine's clock after it jumped."`
	} `cmd:"" help:"Time."`
	Rules struct {
		Adopt rulesAdopt `cmd:"" help:"Follow the newest rules that this program knows, from the next command on."`
	} `cmd:"" help:"The version of the rules, which an exchange keeps over upgrades."`
	Dashboard dashboard  `cmd:"" help:"Show what works, and how much waits for operators."`
	Solvency  solvency   `cmd:"" help:"Compare what customers, fees and treasury have with the chains, by asset."`
	Status    nodeStatus `cmd:"" help:"Show what the exchange or the standby on the data directory is, and how far."`
	Log       noteLog    `cmd:"" help:"Show what operators asked for, newest first."`
	Audit     auditCmd   `cmd:"" help:"Recompute money and books from the journal alone; exit 1 on any violation."`
}

// ask calls a verb of the exchange and prints its answer.
func (p *program) ask(a *adminCmd, verb string, args any) error {
	if a.BreakGlass != "" {
		var err error
		if args, err = broken(args, a.BreakGlass); err != nil {
			return err
		}
	}
	answer, err := p.call(a, verb, args)
	if err != nil {
		return err
	}
	return p.print(answer)
}

// call calls a verb of the exchange.
func (p *program) call(a *adminCmd, verb string, args any) ([]byte, error) {
	answer, err := admin.Call(p.ctx, a.Data, verb, args)
	if errors.Is(err, admin.ErrNotRunning) {
		return nil, fmt.Errorf("no exchange runs at %s; start one with:\n  %s", a.Data, p.line("dev", "--data", a.Data))
	}
	return []byte(answer), err
}

type nodeStatus struct{}

// Run shows the node's status.
func (c *nodeStatus) Run(p *program, a *adminCmd) error { return p.ask(a, "status", c) }

// ofAccount is the account argument of a verb.
type ofAccount struct {
	Account string `arg:"" help:"Account: its number or its holder's e-mail address." json:"account"`
}

type accountCreate struct {
	Email string `arg:"" help:"E-mail address." json:"email"`
}

// Run opens an account.
func (c *accountCreate) Run(p *program, a *adminCmd) error { return p.ask(a, "account/create", c) }

type accountShow struct{ ofAccount }

// Run shows an account.
func (c *accountShow) Run(p *program, a *adminCmd) error { return p.ask(a, "account/show", c) }

type accountFreeze struct{ ofAccount }

// Run freezes an account.
func (c *accountFreeze) Run(p *program, a *adminCmd) error { return p.ask(a, "account/freeze", c) }

type accountUnfreeze struct{ ofAccount }

// Run unfreezes an account.
func (c *accountUnfreeze) Run(p *program, a *adminCmd) error { return p.ask(a, "account/unfreeze", c) }

type accountFees struct {
	ofAccount
	Maker string `help:"Share of what a maker receives, as 0.001." json:"maker_fee" placeholder:"RATE"`
	Taker string `help:"Share of what a taker receives." json:"taker_fee" placeholder:"RATE"`
}

// Run sets an account's fees.
func (c *accountFees) Run(p *program, a *adminCmd) error { return p.ask(a, "account/fees", c) }

type accountLevel struct {
	ofAccount
	Fix *uint8 `help:"Level to stay at, whatever the account trades." json:"level,omitempty" placeholder:"LEVEL"`
}

// Run sets an account's fee level.
func (c *accountLevel) Run(p *program, a *adminCmd) error { return p.ask(a, "account/level", c) }

type accountTier struct {
	ofAccount
	Tier   string `arg:"" help:"Name of the tier." json:"tier"`
	Reason string `help:"Why; it is kept for ever." required:"" json:"reason" placeholder:"TEXT"`
}

// Run gives an account a tier.
func (c *accountTier) Run(p *program, a *adminCmd) error { return p.ask(a, "account/tier", c) }

type keyCreate struct {
	ofAccount

	Name      string `help:"Name, for people." required:"" json:"name"`
	Scopes    string `help:"What the key allows, of read, trade and withdraw." default:"read,trade" json:"scopes"`
	Addresses string `help:"Addresses or networks that may use it; any, if empty." json:"addresses" placeholder:"CIDR,..."`
	Expires   string `help:"When it ends; never, if empty." json:"expires" placeholder:"RFC3339"`
	Kind      string `help:"secret, which requests show; hmac, whose secret signs them; ed25519, whose private key does." default:"secret" json:"kind"`
	// File is read here: the exchange may be another user.
	File   string `help:"Public key of an ed25519 key, in PEM." name:"public-key" json:"-" placeholder:"FILE"`
	Public string `json:"public_key" kong:"-"`
}

// Run creates a key.
func (c *keyCreate) Run(p *program, a *adminCmd) error {
	if c.File != "" {
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		c.Public = string(text)
	}
	return p.ask(a, "key/create", c)
}

type keyRevoke struct {
	Key uint64 `arg:"" name:"key-id" help:"Key's id." json:"key_id"`
}

// Run revokes a key.
func (c *keyRevoke) Run(p *program, a *adminCmd) error { return p.ask(a, "key/revoke", c) }

type accountReset struct {
	ofAccount
	Factors bool   `help:"Take the authenticator application and the passkeys away." json:"factors,omitempty"`
	Email   string `help:"The new address; unchanged, if empty." json:"email,omitempty" placeholder:"EMAIL"`
}

// Run resets an account.
func (c *accountReset) Run(p *program, a *adminCmd) error { return p.ask(a, "account/reset", c) }

type factorReset struct {
	ofAccount
	Reason string `help:"Why, and how the holder was identified; it is kept for ever." required:"" json:"reason" placeholder:"TEXT"`
}

// Run removes an authenticator application.
func (c *factorReset) Run(p *program, a *adminCmd) error { return p.ask(a, "factor/reset", c) }

type factorStolen struct {
	ofAccount
	Reason string `help:"Why; it is kept for ever." required:"" json:"reason" placeholder:"TEXT"`
	Email  string `help:"The holder's address, which becomes the account's: for an account whose row was changed from outside." json:"email,omitempty" placeholder:"EMAIL"`
}

// Run freezes an account and revokes all of its credentials.
func (c *factorStolen) Run(p *program, a *adminCmd) error { return p.ask(a, "factor/stolen", c) }

type mailLast struct {
	Email string `arg:"" help:"E-mail address." json:"email"`
}

// Run shows the last letter to an address.
func (c *mailLast) Run(p *program, a *adminCmd) error { return p.ask(a, "mail/last", c) }

type noticeAdd struct {
	Kind  string `arg:"" enum:"banner,popup,announcement" help:"Where clients show it: banner, popup or announcement." json:"kind"`
	Title string `arg:"" help:"One line." json:"title"`
	Body  string `arg:"" help:"Plain text; an empty line begins a paragraph." json:"body"`
}

// Run publishes a notice.
func (c *noticeAdd) Run(p *program, a *adminCmd) error { return p.ask(a, "notice/add", c) }

type noticeList struct {
	Before uint64 `help:"Id of the last notice seen, to go on behind it." json:"before"`
}

// Run lists notices.
func (c *noticeList) Run(p *program, a *adminCmd) error { return p.ask(a, "notice/list", c) }

type noticeEnd struct {
	ID uint64 `arg:"" help:"Notice's id." json:"id"`
}

// Run withdraws a notice.
func (c *noticeEnd) Run(p *program, a *adminCmd) error { return p.ask(a, "notice/end", c) }

type credit struct {
	ofAccount
	Asset  string `arg:"" help:"Asset." json:"asset"`
	Amount string `arg:"" help:"Amount." json:"amount"`
}

// Run credits sandbox money.
func (c *credit) Run(p *program, a *adminCmd) error { return p.ask(a, "credit", c) }

type balances struct{ ofAccount }

// Run shows balances.
func (c *balances) Run(p *program, a *adminCmd) error { return p.ask(a, "balances", c) }

// pair is the argument of the verbs of markets.
type pair struct {
	Pair string `arg:"" help:"Pair, as BTC/USDT."`
}

func (m *pair) set(p *program, a *adminCmd, state string) error {
	return p.ask(a, "market/state", map[string]string{"pair": m.Pair, "state": state})
}

type (
	marketHalt       struct{ pair }
	marketResume     struct{ pair }
	marketCancelOnly struct{ pair }
	marketDelist     struct{ pair }
)

// Run halts a market.
func (m *marketHalt) Run(p *program, a *adminCmd) error { return m.set(p, a, "halted") }

// Run opens a market.
func (m *marketResume) Run(p *program, a *adminCmd) error { return m.set(p, a, "open") }

// Run restricts a market to cancels.
func (m *marketCancelOnly) Run(p *program, a *adminCmd) error { return m.set(p, a, "cancel_only") }

// Run delists a market.
func (m *marketDelist) Run(p *program, a *adminCmd) error { return m.set(p, a, "delisted") }

type marketsPause struct {
	Pairs []string `arg:"" optional:"" help:"Pairs, as BTC/USDT; all that are open, without any." json:"pairs,omitempty"`
	State string   `help:"halted, or cancel_only, which takes cancels." enum:"halted,cancel_only" default:"halted" json:"state"`
}

// Run stops markets.
func (c *marketsPause) Run(p *program, a *adminCmd) error { return p.ask(a, "markets/pause", c) }

type marketsResume struct {
	Pairs []string `arg:"" help:"Pairs, as markets pause shows them." json:"pairs"`
}

// Run opens markets.
func (c *marketsResume) Run(p *program, a *adminCmd) error { return p.ask(a, "markets/resume", c) }

type dashboard struct{}

// Run shows what works.
func (*dashboard) Run(p *program, a *adminCmd) error { return p.ask(a, "dashboard", struct{}{}) }

type solvency struct{}

// Run shows the exchange's money.
func (*solvency) Run(p *program, a *adminCmd) error { return p.ask(a, "solvency", struct{}{}) }

type feesCollect struct{}

// Run collects fees.
func (*feesCollect) Run(p *program, a *adminCmd) error { return p.ask(a, "fees/collect", struct{}{}) }

type catalogueShow struct{}

// Run shows the catalogue in the form that apply reads.
func (*catalogueShow) Run(p *program, a *adminCmd) error {
	return p.ask(a, "catalogue/show", struct{}{})
}

type catalogueApply struct {
	File   string `arg:"" type:"existingfile" help:"YAML file, as catalogue show writes it."`
	DryRun bool   `help:"Say what would change first, and change nothing."`
}

// Run applies a catalogue file.
func (c *catalogueApply) Run(p *program, a *adminCmd) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	return p.ask(a, "catalogue/apply", map[string]any{"document": string(text), "dry_run": c.DryRun})
}

type rulesAdopt struct{}

// Run adopts the rules.
func (*rulesAdopt) Run(p *program, a *adminCmd) error { return p.ask(a, "rules/adopt", struct{}{}) }

type clockAccept struct{}

// Run accepts the clock.
func (*clockAccept) Run(p *program, a *adminCmd) error { return p.ask(a, "clock/accept", struct{}{}) }

type noteLog struct {
	Offset int `help:"How many of the newest to pass over." json:"offset"`
}

// Run shows the operators' notes.
func (c *noteLog) Run(p *program, a *adminCmd) error { return p.ask(a, "log", c) }

type auditCmd struct {
	Anchor string `help:"Directory with anchored heads, which the journal must hold." placeholder:"DIR"`
}

// audits bounds the restarts of an audit because a network advanced meanwhile.
const audits = 5

// Run audits the journal of a running or a stopped exchange. It compares a running
// sandbox with its embedded networks too.
func (c *auditCmd) Run(p *program, a *adminCmd) (err error) {
	known, err := anchored(c.Anchor)
	if err != nil {
		return err
	}
	x, err := audit.Open(a.Data)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()

	var report *audit.Report
	for range audits {
		chains := p.chains(a)
		if report, err = x.Audit(known); err != nil {
			return err
		}
		if compared(report, chains) {
			break
		}
	}

	if err := p.print(judged{verdict(report), report}); err != nil {
		return err
	}
	if len(report.Violations) > 0 {
		return errViolations
	}
	return nil
}

// judged is a report preceded by its verdict.
type judged struct {
	Verdict string `json:"verdict"`
	*audit.Report
}

func verdict(r *audit.Report) string {
	if n := len(r.Violations); n > 0 {
		return fmt.Sprintf("FAILED: %d violations, listed at the end", n)
	}
	return fmt.Sprintf("OK: the journal accounts for every balance and order up to command %d", r.Seq)
}

// chains returns the balances that a running sandbox's networks report, or nil if it does
// not run.
func (p *program) chains(a *adminCmd) (owned map[bourse.Symbol]admin.Owned) {
	answer, err := admin.Call(p.ctx, a.Data, "devnet/owned", struct{}{})
	if err != nil || json.Unmarshal(answer, &owned) != nil {
		return nil
	}
	return owned
}

// compared compares a report with the chains, and reports whether all of them were at the
// journal's heights.
func compared(r *audit.Report, chains map[bourse.Symbol]admin.Owned) bool {
	all := true
	for network, c := range chains {
		all = r.Compare(network, c.Height, c.Owned) && all
	}
	return all
}

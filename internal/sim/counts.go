package sim

import (
	"fmt"
	"strings"
)

// Kind is a kind of event in a simulation.
type Kind int

// The kinds of faults, and of their consequences.
const (
	// PowerCut: the machine stopped between two operations of the disk.
	PowerCut Kind = iota
	// PowerCutInStart: it stopped while the process was starting.
	PowerCutInStart
	// Killed: the process ended, the machine did not.
	Killed
	// KilledInStart: the same, while it was starting.
	KilledInStart
	// Stopped: the process was stopped in order.
	Stopped
	// SyncFailed: a sync failed, and the process stopped.
	SyncFailed
	// OperationFailed: another operation of the disk failed.
	OperationFailed
	// WriteFailed: a write failed, and nothing was written.
	WriteFailed
	// ShortWrite: a write ended early.
	ShortWrite
	// DiskFull: the disk had no room.
	DiskFull
	// NoRoom: a command was refused because the disk was full.
	NoRoom
	// BitFlipped: a read came with a bit flipped.
	BitFlipped
	// Decayed: a byte before the watermark was changed, and the start refused.
	Decayed
	// SnapshotDecayed: a byte of a snapshot was changed, and a start skipped it.
	SnapshotDecayed
	// TornEnd: a start found an entry that a crash had interrupted.
	TornEnd
	// Stalled: a part made no step for a while.
	Stalled
	// HistoryFailed: the history store failed.
	HistoryFailed
	// HistoryDeleted: the history store was gone at a start.
	HistoryDeleted
	// HistoryWentBack: the history store had lost its last batches at a start.
	HistoryWentBack
	// ClockForward: the clock jumped forward.
	ClockForward
	// ClockBack: the clock jumped back.
	ClockBack
	// AnswerLost: an answer did not reach its client.
	AnswerLost
	// AskedAgain: a client repeated a request of unknown outcome.
	AskedAgain
	// AnsweredTogether: a request of a batch was answered.
	AnsweredTogether
	// AnsweredAgain: a client repeated an answered request.
	AnsweredAgain
	// AnsweredAfterCrash: the same, with a crash in between.
	AnsweredAfterCrash
	// Unanswered: after a crash, the journal had a command that no client had been told
	// of.
	Unanswered
	// SnapshotTaken: the follower took a snapshot.
	SnapshotTaken
	// Restored: a start began from a snapshot.
	Restored
	// Archived: a segment went to the archive.
	Archived
	// ReadArchive: a follower began in the archive.
	ReadArchive
	// PageRead: a page of history was as expected.
	PageRead
	// PageLagged: a page was refused because history lagged.
	PageLagged
	// EndedInWallet: the process ended between two steps of a wallet.
	EndedInWallet
	// SignerCrashed: the signer crashed, with its unsynced writes surviving or not.
	SignerCrashed
	// ChainReorganised: a network's last blocks were replaced.
	ChainReorganised
	// ChainDropped: a network forgot transactions.
	ChainDropped
	// ChainReplaced: a payment was replaced by another one.
	ChainReplaced
	// ChainStalled: a node did not answer, or answered with errors.
	ChainStalled
	// ChainReplyLost: a node carried out a request, and its answer was lost.
	ChainReplyLost
	// ChainDoubled: a request reached a node twice.
	ChainDoubled
	// ChainLied: a node gave a wrong or malformed answer.
	ChainLied
	// ChainBehind: a node did not know the last blocks.
	ChainBehind
	// ChainCrashed: a node crashed and restarted.
	ChainCrashed
	// ChainDear: the price that blocks take rose.
	ChainDear
	// ChainCompared: the ledger agreed with a chain.
	ChainCompared
	// DepositHidden: a contract paid to a customer, and no block shows it.
	DepositHidden
	// DepositCredited: a deposit was credited, once.
	DepositCredited
	// WithdrawalPaid: a withdrawal was paid, once.
	WithdrawalPaid
	// WithdrawalOutbid: a wallet gave up a transaction that waited for too long.
	WithdrawalOutbid
	// MoveOutbid: a wallet gave up a sweep or top-up that waited for too long.
	MoveOutbid
	// Cooled: a move to cold storage was signed.
	Cooled
	// Warmed: a block has a move from cold storage.
	Warmed
	// ChainFollowed: more blocks of a network were replaced than are remembered, and the exchange follows the new
	// chain.
	ChainFollowed
	// MoveEnded: a move to or from cold storage was given up.
	MoveEnded
	// EndedMoveMined: a block has one that was given up.
	EndedMoveMined
	// ChangeSplit: a payment with several outputs of change was signed.
	ChangeSplit
	// Joined: a transaction that pays several withdrawals was signed.
	Joined
	// JoinedGivenUp: one was given up.
	JoinedGivenUp
	// JoinedReplaced: a transaction was signed for a withdrawal of one that was given up.
	JoinedReplaced
	// GivenUpJoinedMined: a block has a joined one that was given up.
	GivenUpJoinedMined
	// WithdrawalCanceled: a withdrawal was canceled, and nothing was paid.
	WithdrawalCanceled
	// WithdrawalDelayed: an account's money was put on hold before a withdrawal or a
	// transfer.
	WithdrawalDelayed
	// TransferPaid: money went from one customer to another, over no network.
	TransferPaid
	// Silenced: a dead man's switch canceled orders, by time or by a close.
	Silenced
	// SilencedByStart: the close of all earlier connections canceled orders.
	SilencedByStart
	// Listed: the orders of a list were accepted.
	Listed
	// ListTriggered: a stop of a list was triggered.
	ListTriggered
	// Amended: an open order was amended.
	Amended
	// Decremented: self-trade prevention took a part of an order that stays open.
	Decremented
	// Replaced: an order was canceled, and another one accepted in its place.
	Replaced
	// LevelsSet: a pass over the accounts set a fee level.
	LevelsSet
	// TradesLimited: a tier's limit on trades refused an order or an amendment.
	TradesLimited
	// WithdrawalsLimited: a tier's limit refused a withdrawal or a transfer.
	WithdrawalsLimited
	// DepositsLimited: a deposit beyond a tier's limit began to wait.
	DepositsLimited
	// DepositsOverAlone: a deposit beyond what one node alone credits waited, or its block left the chain.
	DepositsOverAlone
	kinds
)

var kindNames = [kinds]string{
	PowerCut: "power cuts", PowerCutInStart: "power cuts while starting", Killed: "kills",
	KilledInStart: "kills while starting", Stopped: "stops",
	SyncFailed: "syncs failed", OperationFailed: "operations failed", WriteFailed: "writes failed",
	ShortWrite: "short writes", DiskFull: "full disks", NoRoom: "refused for want of room",
	BitFlipped: "bits flipped", Decayed: "bytes decayed",
	SnapshotDecayed: "snapshots decayed",
	TornEnd:         "torn ends", Stalled: "stalls", HistoryFailed: "history failures",
	HistoryDeleted:  "histories deleted",
	HistoryWentBack: "histories gone back", ClockForward: "clocks forward", ClockBack: "clocks back",
	AnswerLost: "answers lost", AskedAgain: "asked again", AnsweredTogether: "answered in batches", AnsweredAgain: "answered again",
	AnsweredAfterCrash: "answered again after a crash", Unanswered: "unanswered found", SnapshotTaken: "snapshots",
	Restored: "restores", Archived: "segments archived", ReadArchive: "archives read",
	PageRead: "pages read", PageLagged: "pages that lagged",
	EndedInWallet: "ends in wallets", SignerCrashed: "signers crashed", ChainReorganised: "chains reorganised",
	ChainDropped: "payments dropped", ChainReplaced: "payments replaced", ChainStalled: "nodes stalled",
	ChainReplyLost: "nodes' answers lost", ChainDoubled: "requests doubled", ChainLied: "nodes lied",
	ChainBehind: "nodes behind", ChainCrashed: "nodes crashed", ChainDear: "prices that rose", ChainCompared: "chains compared",
	DepositHidden: "hidden deposits", DepositCredited: "deposits credited", WithdrawalPaid: "withdrawals paid",
	WithdrawalOutbid: "withdrawals outbid", WithdrawalCanceled: "withdrawals canceled",
	MoveOutbid:         "sweeps and top-ups outbid",
	ChangeSplit:        "changes split",
	Joined:             "joined transactions",
	JoinedGivenUp:      "joined transactions given up",
	JoinedReplaced:     "joined transactions replaced",
	GivenUpJoinedMined: "given up joined transactions mined",
	Cooled:             "moves to cold storage",
	Warmed:             "moves from cold storage",
	ChainFollowed:      "chains followed anew",
	MoveEnded:          "moves given up",
	EndedMoveMined:     "given up moves mined",
	WithdrawalDelayed:  "withdrawals delayed", TransferPaid: "transfers paid",
	Listed: "lists", ListTriggered: "lists triggered", Amended: "amendments",
	Decremented: "orders decremented", Replaced: "replacements",
	Silenced: "dead man's switches", SilencedByStart: "connections closed by starts", LevelsSet: "passes that set levels",
	TradesLimited: "limits on trades reached", WithdrawalsLimited: "limits on withdrawals reached",
	DepositsLimited:   "deposits beyond limits",
	DepositsOverAlone: "deposits beyond what one node credits",
}

// String returns the kind's name in the plural.
func (k Kind) String() string { return kindNames[k] }

// Counts has the number of events of each kind.
type Counts [kinds]uint64

// Add adds other counts.
func (c *Counts) Add(other *Counts) {
	for k := range c {
		c[k] += other[k]
	}
}

// Missing returns the kinds without an event.
func (c *Counts) Missing() []Kind {
	var list []Kind
	for k, n := range c {
		if n == 0 {
			list = append(list, Kind(k))
		}
	}
	return list
}

// String lists the counts.
func (c *Counts) String() string {
	parts := make([]string, 0, kinds)
	for k, n := range c {
		parts = append(parts, fmt.Sprintf("%d %s", n, Kind(k)))
	}
	return strings.Join(parts, ", ")
}

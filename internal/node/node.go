package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/api/exports"
	"github.com/bourse-exchange/bourse/internal/api/spotv1"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/api/walletv1"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/edge"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/mail"
	"github.com/bourse-exchange/bourse/internal/news"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/sqlstore/accounts"
	"github.com/bourse-exchange/bourse/internal/standby"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wallet"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// Node is an exchange on one machine.
type Node struct {
	Options

	disk     *disk.Dir
	identity journal.Identity
	log      journal.Log
	// term is the term of this process's commands.
	term      uint64
	files     *journal.Files
	snapshots *journal.Snapshots
	voids     *journal.VoidList
	// heads is nil without an anchor. accepting is true if an operator accepts a journal
	// that ends at foundTip, although other files know more.
	heads     *heads
	accepting bool
	foundTip  journal.Tip
	// role is the data directory's role before this start; peers are the nodes that may have become
	// the exchange.
	role  standby.Role
	peers []*standby.Peer
	// source serves standbys; nil without a node port.
	source *standby.Source
	store  history.Store
	// keep is the store of what belongs to accounts, notices and webhooks.
	keep    *accounts.Store
	closers []io.Closer
	// remote are the databases on servers. Owned by pollStores.
	remote []*remoteStore

	clock    *clock
	engine   *engine.Engine
	view     *view.View
	tail     *history.Tail
	reader   *history.Reader
	accounts *account.Service
	notices  *notice.Board
	office   *operator.Service
	webhooks *webhook.Service
	// deskHost is the host of the operators' listener; empty without one.
	deskHost string
	// deskCertificate is that of the operators' listener: its own, or the exchange's.
	deskCertificate *certificate.Source
	// letters holds the letters of a sandbox, which has no mail server.
	letters *mail.Box
	// faucet hands out money of a sandbox; nil in production.
	faucet *sandbox.Faucet
	// exports serves keys and pages, so that an account has one export at a time.
	exports *exports.Exports
	// post queues letters for the mail server; nil without one.
	post      *mail.Queue
	board     *wallet.Board
	networks  []*attached
	feed      *feed.Feed
	publisher *stream.Publisher
	// writes are the durations of the journal's last writes, and since is when the exchange
	// began to serve.
	writes       durations
	since        time.Time
	botFeed      *feed.Feed
	botPublisher *live.Publisher
	newsDesk     *news.Desk
	listenKeys   *binance.ListenKeys
	limits       *api.Limiter
	proxies      *edge.Proxies
	streams      *stream.Server
	// spot, wallet and bots are set by routes.
	spot       *spotv1.Spot
	wallet     *walletv1.Wallet
	bots       *binance.Facade
	botStreams *live.Live
	sequencer  *sequencer.Sequencer
	follower   *follower.Follower
	metrics    *metrics
	docs       http.Handler
	rest       *api.Server

	certificate *certificate.Source
	ready       atomic.Bool
	// hangs is true while the journal's disk does not answer. Written by watchDisk.
	hangs    atomic.Bool
	refusals refusals
	// full is true while the disk is nearly full; reserved is the number of its bytes
	// that the journal leaves free. Written by watch.
	full     atomic.Bool
	reserved atomic.Uint64
	// room has the free bytes of the data directory's disk, and the least with which orders are
	// taken. Written by watch.
	room struct{ free, least atomic.Uint64 }
	// summed has the funds that operators see.
	summed summed
	// roomKept is the length of the reserve file. It, lagging and anchorAway are owned by
	// watch.
	roomKept            int64
	lagging, anchorAway bool

	// stopLine ends the goroutines of the line.
	stopLine context.CancelFunc

	// running counts the goroutines; failed receives the first error of one of them.
	running sync.WaitGroup
	failed  chan error
}

// Run opens an exchange, serves until ctx ends, and stops it. After an error nothing more
// is acknowledged, and the process must end at once.
func Run(ctx context.Context, o Options) error {
	if err := o.check(ctx); err != nil {
		return err
	}
	n, err := assemble(ctx, o)
	if err != nil {
		return err
	}
	if err := n.serve(ctx); err != nil {
		return err
	}
	return n.close()
}

// close closes the closers, the last opened first.
func (n *Node) close() error {
	var errs []error
	for i := len(n.closers) - 1; i >= 0; i-- {
		errs = append(errs, n.closers[i].Close())
	}
	n.closers = nil
	return errors.Join(errs...)
}

// fail ends the process with the first error of the line.
func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default: // another one was first
	}
}

// refusals are the reasons that close the intake. A lane without one is open.
type refusals struct {
	mu   sync.Mutex
	lane [2][reasons]error
}

// reason is a cause that can close a lane, the most important one first.
type reason int

const (
	stopping reason = iota
	diskHangs
	clockJumped
	diskFull
	noSegment
	reasons
)

// refuse closes a lane for a reason, or withdraws the reason if err is nil.
func (n *Node) refuse(lane sequencer.Lane, why reason, err error) {
	r := &n.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lane[lane][why] = err
	for _, err := range r.lane[lane] {
		if err != nil {
			n.sequencer.Refuse(lane, err)
			return
		}
	}
	n.sequencer.Refuse(lane, nil)
}

// refusing reports whether a lane is closed.
func (n *Node) refusing(lane sequencer.Lane) bool {
	r := &n.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.lane[lane][:], func(err error) bool { return err != nil })
}

var (
	errStopping = bourse.Errorf(bourse.CodeBusy, "The exchange is going down")
	errHangs    = bourse.Errorf(bourse.CodeUnavailable,
		"The disk of the node that leads does not answer; the request was not taken, send it again: another node leads soon")
	errClock = bourse.Errorf(bourse.CodeUnavailable,
		"The exchange's clock has jumped; nothing is taken until an operator accepts it")
	errDiskFull = bourse.Errorf(bourse.CodeFull, "The exchange's disk is nearly full; only cancels are taken")
)

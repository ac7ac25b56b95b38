package node

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/connect"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/forward"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
	"github.com/bourse-exchange/bourse/internal/standby"
	"github.com/bourse-exchange/bourse/internal/wallet"
	"github.com/bourse-exchange/bourse/internal/web"
)

// Options configure an exchange.
type Options struct {
	// Data is the directory of all durable files; it is made if missing.
	Data string
	// OpenLog opens the journal's log in the data directory, and makes it if there is
	// none. It is called once; a second process gets journal.ErrInUse.
	OpenLog func(disk.Disk, journal.Options) (journal.Log, *journal.Recovery, error)
	// History and Accounts are URLs of PostgreSQL databases; empty for files in Data.
	History, Accounts string
	// Listen is the address of the interfaces, HOST:PORT; port 0 takes any.
	Listen string
	// BinanceListen is an address that serves the interface of Binance's bots from the root,
	// HOST:PORT; none if it is empty.
	BinanceListen string
	// MetricsListen is the address of metrics and profiles, HOST:PORT; none are served
	// if it is empty.
	MetricsListen string
	// AdminListen is the address of the operators' interface, HOST:PORT; none is served if it is
	// empty. One that others than this machine reach must have a certificate.
	AdminListen string
	// AdminURL is where operators reach it: the one host name and origin that it has, and what
	// their passkeys are bound to. Empty for localhost, where AdminListen is of this machine alone.
	AdminURL string
	// AdminCertificate is the certificate of AdminListen; without files it is the exchange's.
	AdminCertificate certificate.Options
	// PublicURL is the URL for clients; empty for the address listened on.
	PublicURL string
	// Cluster is how this exchange speaks to its standby.
	Cluster Cluster
	// Common is the directory of the accounts and their secrets, which the nodes of a cluster share;
	// empty for Data.
	Common string
	// Member is this node's place in a cluster; nil for an exchange on one node.
	Member *cluster.Node
	// Term is the term in which Member leads; zero without one.
	Term uint64
	// Gate takes the requests that other nodes send; nil without Member.
	Gate *forward.Gate
	// Sandbox surrounds an exchange whose money is not real; nil for production.
	Sandbox *sandbox.World
	// Networks are a sandbox's networks to connect.
	Networks []wallet.Attachment
	// Real are the networks of an exchange of real money.
	Real []connect.Settings
	// Certificate configures the source of the certificate.
	Certificate certificate.Options
	// TrustedProxies are the proxies whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	Limits         api.Limits
	// Mail carries codes to people; nil for a sandbox, which keeps letters for
	// operators to see, and for an exchange that sends none.
	Mail account.Mailer
	// Hold is how long withdrawals wait after a change of a person's means to sign in.
	Hold time.Duration
	// Captcha asks people who sign up to read a picture.
	Captcha bool
	// AlwaysConfirm asks for a second factor for a new password and for a key that can withdraw,
	// whatever the cases of an account are.
	AlwaysConfirm bool
	// Brand is how the exchange names and shows itself; nil for Bourse's own.
	Brand *brand.Brand
	// Languages are the pages' translations.
	Languages []web.Language
	// Passkeys is what passkeys are bound to; nil for none. A sandbox takes localhost.
	Passkeys *account.Party
	// People bounds one client's use of shared resources of the accounts; zero sets no limit.
	People account.Limits
	// WebhookPrivate permits webhooks to addresses that are not public, as a sandbox does.
	WebhookPrivate bool
	// SignerLimits bound the amount of an asset that the signer sends on each network.
	SignerLimits []SignerLimit
	// Signer is where a signer in a process of its own listens. Nil is one in this process, which a
	// sandbox alone may have.
	Signer *remote.Address
	// MinFree is the number of bytes that must stay free on the disk.
	MinFree uint64
	// SegmentSize is the size of the journal's files in bytes; zero for the default.
	SegmentSize int64
	// SnapshotEvery is the number of commands between snapshots; zero for the default.
	SnapshotEvery uint64
	// TailRows bounds the rows of history in memory; zero for the default.
	TailRows int
	// Void takes a command out of effect before the replay; zero for none.
	Void bourse.Seq
	// Anchor is the directory on another disk where heads of the journal are kept; empty
	// for none.
	Anchor string
	// AcceptJournal accepts a journal that ends at this command, although the anchor or
	// data derived from the journal knows more; zero for never.
	AcceptJournal bourse.Seq
	// Reason is the operator's reason to void a command or to accept a journal.
	Reason string
	// Again is the command line that started the exchange, and Admin the one of its admin
	// socket, quoted for a shell and without secrets. Errors and the log add flags and verbs
	// to them to tell operators what to run.
	Again, Admin string
	// Version is the program's version.
	Version string
	Log     *slog.Logger
	// Reload triggers reading the certificate again; it may be nil.
	Reload <-chan struct{}
	// Serving is called with the address, and the URL of operators if they have one, once the
	// exchange serves.
	Serving func(address, desk string)

	// machine reads the machine's clocks; nil for the real ones.
	machine func() reading
}

// Cluster configures how a node speaks to others.
type Cluster struct {
	// Listen is the address of the node port, HOST:PORT; empty for none.
	Listen      string
	Credentials standby.Credentials
	// Peers are the node ports of machines that may have become the exchange: while one of them is
	// of a higher incarnation this one does not serve.
	Peers []string
	// CompareEvery is the journal's time between two states that standby and exchange compare;
	// zero for the default.
	CompareEvery time.Duration
}

// Defaults of Options, and the bound beside them.
const (
	segmentSize   = 64 << 20
	snapshotEvery = 2_000_000
	// segmentsApart bounds the number of journal segments between two snapshots.
	segmentsApart = 4
	tailRows      = 200_000
	compareEvery  = 10 * time.Minute
)

const (
	// patience bounds the time to answer a request.
	patience = 10 * time.Second
	// stopWithin bounds a graceful stop.
	stopWithin = 9 * time.Second
	// keysOutlive is how long keys in memory are accepted while the server with the
	// accounts is away: long enough to bring it back, short enough to bound the use of a
	// lost key that cannot be revoked meanwhile.
	keysOutlive = time.Hour
)

func (o *Options) defaults() {
	if o.SegmentSize == 0 {
		o.SegmentSize = segmentSize
	}
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = snapshotEvery
	}
	if o.TailRows == 0 {
		o.TailRows = tailRows
	}
	if o.Brand == nil {
		o.Brand = brand.Default()
	}
	if o.Cluster.CompareEvery == 0 {
		o.Cluster.CompareEvery = compareEvery
	}
	if o.machine == nil {
		o.machine = machineClock()
	}
}

package node

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Options are what an exchange is configured with.
type Options struct {
	// Data is the directory of everything that lasts; it is made if missing.
	Data string
	// History and Accounts are URLs of PostgreSQL databases; empty for files in Data.
	History, Accounts string
	// Listen is the address of the interfaces, HOST:PORT; port 0 takes any.
	Listen string
	// MetricsListen is the address of metrics and profiles, HOST:PORT; none are served
	// if it is empty.
	MetricsListen string
	// PublicURL is where clients reach it; empty for the address listened on.
	PublicURL string
	// Sandbox opens an exchange whose money is not real.
	Sandbox bool
	// BlockTime is how far apart the embedded networks make blocks; zero makes
	// them on demand alone.
	BlockTime bourse.Time
	// Wide lists assets and markets that are there to make lists long.
	Wide bool
	// Bots keep the sandbox's markets moving.
	Bots bool
	// TLSCert and TLSKey are files; both or none.
	TLSCert, TLSKey string
	// TrustedProxies may say for whom they ask, in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	Limits         api.Limits
	// Mail carries codes to people; nil for a sandbox, which keeps letters for
	// operators to see, and for an exchange that sends none.
	Mail account.Mailer
	// Hold is how long withdrawals wait after a change of how a person gets in.
	Hold time.Duration
	// Captcha asks who signs up to read a picture.
	Captcha bool
	// ConfirmPassword asks for a second factor for a new password.
	ConfirmPassword bool
	// People bound what one client may do of what clients share of accounts; zero sets
	// no limit.
	People account.Limits
	// SignerLimits bound what the signer lets leave of an asset on each network.
	SignerLimits []SignerLimit
	// MinFree is how many bytes must stay free on the disk.
	MinFree uint64
	// SegmentSize is that of the journal's files; zero for the usual one.
	SegmentSize int64
	// SnapshotEvery is how many commands lie between snapshots; zero for the
	// usual number.
	SnapshotEvery uint64
	// TailRows bounds the rows of history in memory; zero for the usual number.
	TailRows int
	// Void takes a command out of effect before anything is replayed; zero for
	// none.
	Void bourse.Seq
	// Anchor is the directory on another disk where heads of the journal are kept; empty
	// for none.
	Anchor string
	// AcceptJournal goes on with a journal that ends at this command, although the anchor
	// or something made of the journal knows more; zero for never.
	AcceptJournal bourse.Seq
	// Reason is why an operator voids a command or accepts a journal.
	Reason string
	// Version is what the program calls itself.
	Version string
	Log     *slog.Logger
	// Reload asks for the certificate to be read again; it may be nil.
	Reload <-chan struct{}
	// Serving is told the address when the exchange serves.
	Serving func(address string)

	// machine reads the machine's clocks; nil for the real ones.
	machine func() reading
}

// What a zero in Options means, and what follows from it.
const (
	segmentSize   = 64 << 20
	snapshotEvery = 2_000_000
	// segmentsApart is how many segments of the journal lie between two snapshots at
	// most.
	segmentsApart = 4
	tailRows      = 200_000
)

const (
	// patience bounds how long a request may be worked on.
	patience = 10 * time.Second
	// stopWithin bounds a graceful stop.
	stopWithin = 9 * time.Second
	// keysOutlive is for how long keys in memory are taken while the server with the
	// accounts is away: time to bring it back, and less than it takes until people
	// who lost a key find nobody who can look after it.
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
	if o.machine == nil {
		o.machine = machineClock()
	}
}

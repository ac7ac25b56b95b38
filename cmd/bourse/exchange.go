package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/certificate"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/node"
	"github.com/bourse-exchange/bourse/internal/sandbox"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// environment reports whether a variable is set.
func environment(name string) bool {
	_, set := os.LookupEnv(name)
	return set
}

// logging holds the settings of the log, which goes to stderr.
type logging struct {
	Level  slog.Level `help:"Least level that is logged: debug, info, warn, error." default:"info" placeholder:"LEVEL"`
	Format string     `help:"text or json." enum:"text,json" default:"text"`
}

func (l *logging) logger(p *program, level *slog.LevelVar) *slog.Logger {
	level.Set(l.Level)
	o := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(p.stderr, o))
	}
	return slog.New(slog.NewTextHandler(p.stderr, o))
}

// stores holds the locations of the databases.
type stores struct {
	History  string `help:"PostgreSQL database of the history, postgres://…; a file in the data directory, if empty." placeholder:"URL"`
	Accounts string `help:"PostgreSQL database of accounts and keys; a file in the data directory, if empty." placeholder:"URL"`
}

// check refuses a location that is no URL of a database.
func (s *stores) check() error {
	for name, url := range map[string]string{"history": s.History, "accounts": s.Accounts} {
		if url != "" && !sqlstore.IsURL(url) {
			return fmt.Errorf("--%s begins with postgres://", name)
		}
	}
	return nil
}

// anchoring holds the place of the journal's anchored heads, and an operator's acceptance
// of a journal that contradicts them.
type anchoring struct {
	Anchor string `help:"Directory on another disk where heads of the journal are kept, so that a journal that was cut back or replaced is noticed; none, if empty." placeholder:"DIR"`
	Accept uint64 `help:"Go on with the journal as it is, which ends at this sequence, although the anchor or something made of the journal knows more." name:"accept-journal" placeholder:"SEQ"`
	Reason string `help:"Why a command is voided or a journal accepted; it is kept for ever." placeholder:"TEXT"`
}

func (a *anchoring) set(o *node.Options) *node.Options {
	o.Anchor, o.AcceptJournal, o.Reason = a.Anchor, bourse.Seq(a.Accept), a.Reason
	return o
}

// dev runs a sandbox.
type dev struct {
	Data    place        `help:"Directory of everything that lasts; made if missing." default:"bourse-dev"`
	Listen  string       `help:"Address to listen on; port 0 takes any." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	Binance string       `help:"Address that serves the interface of Binance's bots from the root, for those that take a host alone; none, if empty." name:"binance-listen" placeholder:"HOST:PORT"`
	Admin   string       `help:"Address of the operators' interface, on this machine; none is served, if empty." name:"admin-listen" placeholder:"HOST:PORT"`
	Block   pause        `help:"Time between the blocks of the embedded networks, as 5s or 5; 0 for blocks on demand." name:"block-time" default:"5s" placeholder:"TIME"`
	Metrics string       `help:"Address of metrics and profiles. Of several nodes the first takes it, and the others the ports behind it. Without it there are none." name:"metrics-listen" placeholder:"HOST:PORT"`
	Signer  []allowance  `help:"What the signer lets leave of an asset, on each network, as ASSET=PAYMENT:HOUR:DAY; 0 is nothing." name:"signer-limits" placeholder:"LIMIT"`
	Remote  remoteSigner `embed:"" prefix:"signer-"`
	Bots    bool         `help:"Let simulated traders keep the main markets moving." default:"true" negatable:""`
	Limits  string       `help:"production sets the limits, waits, captchas and second factors that serve has by default; none sets none." enum:"none,production" default:"none"`
	Listed  string       `help:"What is listed at the first start: demo, or wide with sixty assets more, which make lists long." name:"catalogue" enum:"demo,wide" default:"wide"`
	Brand   dressing     `help:"File with a block of settings that name and dress the exchange, as brand in deploy/bourse.yaml." placeholder:"FILE"`
	Texts   texts        `help:"Directory of the languages that the pages have beside English: files such as ar.json, made with bourse texts." name:"languages" placeholder:"DIR"`
	Real    string       `help:"YAML file of networks to connect in place of the embedded ones, each by a node of a test chain; see docs/networks.md." name:"networks" placeholder:"FILE"`
	Stores  stores       `embed:""`
	Log     logging      `embed:"" prefix:"log-"`

	Anchoring anchoring  `embed:""`
	Cluster   clustering `embed:"" prefix:"cluster-"`

	Nodes   int    `help:"Number of nodes of the sandbox, each a process with its data in a directory below --data; 1 is one process without a cluster." placeholder:"N" default:"1"`
	Node    uint64 `help:"Run one node, by its number, of a sandbox that --nodes has made; --data is the directory that --nodes got." placeholder:"N"`
	Restart bool   `help:"With --nodes, start each node again when its process ends."`
	Below   bool   `help:"End when the standard input ends, which tells that the parent of the nodes has ended." hidden:""`

	Segment   size   `help:"Size of the journal's files." name:"segment-size" default:"16MiB" hidden:""`
	Snapshots uint64 `help:"Commands between two snapshots." name:"snapshot-every" default:"2000000" hidden:""`
}

// Run runs the sandbox until it is told to stop.
func (d *dev) Run(p *program) error {
	if d.Node > 0 {
		return d.member(p)
	}
	if d.Nodes != 1 || hasNodes(string(d.Data)) {
		return d.family(p)
	}
	o, err := d.options()
	if err != nil {
		return err
	}
	o.Serving = func(address, desk string) { p.greet(string(d.Data), address, desk) }
	return p.exchange(&d.Log, o)
}

// options returns the options of the sandbox.
func (d *dev) options() (*node.Options, error) {
	if err := d.Stores.check(); err != nil {
		return nil, err
	}

	o := &node.Options{
		Data: string(d.Data), Brand: d.Brand.Brand, Languages: d.Texts, History: d.Stores.History, Accounts: d.Stores.Accounts,
		Listen: d.Listen, Cluster: d.Cluster.options(), BinanceListen: d.Binance, MetricsListen: d.Metrics,
		AdminListen:  d.Admin,
		SignerLimits: allowances(d.Signer), SegmentSize: int64(d.Segment), SnapshotEvery: d.Snapshots,
	}
	if d.Limits == "production" {
		var defaults bounds
		if err := kong.ApplyDefaults(&defaults); err != nil {
			return nil, fmt.Errorf("defaults of the limits: %w", err)
		}
		defaults.set(o)
	}
	nodes, listed, err := readNetworks(d.Real)
	if err != nil {
		return nil, err
	}
	if o.Signer, err = d.Remote.or(listed).address(); err != nil {
		return nil, err
	}
	surround(o, sandbox.Options{
		Wide: d.Listed == "wide", Bots: d.Bots, BlockTime: bourse.Time(time.Duration(d.Block).Microseconds()),
		Real: nodes,
	})
	return d.Anchoring.set(o), nil
}

// surround makes an exchange a sandbox, connected to its networks.
func surround(o *node.Options, s sandbox.Options) {
	o.Sandbox = sandbox.New(s)
	o.Networks = o.Sandbox.Attachments()
}

// serve runs a production exchange. Each setting is a flag, a variable of the environment
// and a key of the configuration file.
type serve struct {
	Config kong.ConfigFlag `help:"YAML file with settings; see deploy/bourse.yaml." placeholder:"FILE"`

	Data      place          `help:"Directory of everything that lasts; made if missing." required:""`
	Listen    string         `help:"Address to listen on." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	Binance   string         `help:"Address that serves the interface of Binance's bots from the root, for those that take a host alone; none, if empty." name:"binance-listen" placeholder:"HOST:PORT"`
	Metrics   string         `help:"Address of metrics and profiles; none are served, if empty." name:"metrics-listen" placeholder:"HOST:PORT"`
	Admin     adminListen    `embed:"" prefix:"admin-"`
	PublicURL string         `help:"Where clients reach the exchange, and the origin of its pages; the address listened on, if empty." name:"public-url" placeholder:"URL"`
	TLSCert   string         `help:"File with the certificate chain, PEM." name:"tls-cert" placeholder:"FILE"`
	TLSKey    string         `help:"File with the certificate's key, PEM." name:"tls-key" placeholder:"FILE"`
	TLSDomain string         `help:"Domain name to get a certificate for by ACME, which agrees to the authority's terms. Port 443 of the name must reach the exchange." name:"tls-domain" placeholder:"NAME"`
	ACME      acme           `embed:"" prefix:"acme-"`
	Proxies   []netip.Prefix `help:"Networks of proxies whose X-Forwarded-For is believed." name:"trusted-proxies" placeholder:"CIDR"`
	MinFree   size           `help:"Room to keep free on the disk; below it only cancels are taken." default:"1GiB"`
	Segment   size           `help:"Size of the journal's files." name:"segment-size" default:"64MiB"`
	Snapshots uint64         `help:"Commands between two snapshots." name:"snapshot-every" default:"2000000"`
	Stores    stores         `embed:""`
	Bounds    bounds         `embed:""`
	Networks  realNetworks   `help:"File of networks to connect, each by a node; see docs/networks.md. A configuration file has the block itself." placeholder:"FILE"`
	Signer    remoteSigner   `embed:"" prefix:"signer-"`
	SMTP      smtp           `embed:"" prefix:"smtp-"`
	Passkeys  passkeys       `embed:"" prefix:"passkeys-"`
	Brand     dressing       `help:"File with a block of settings that name and dress the exchange: name, logo, colours, terms, privacy, support, letters. A configuration file has the block itself." placeholder:"FILE"`
	Languages texts          `help:"Directory of the languages that the pages have beside English: files such as ar.json, made with bourse texts." placeholder:"DIR"`
	Webhook   webhooks       `embed:"" prefix:"webhook-"`
	Log       logging        `embed:"" prefix:"log-"`

	Anchoring anchoring  `embed:""`
	Cluster   clustering `embed:"" prefix:"cluster-"`
	Void      uint64     `help:"Take a command out of effect that the engine cannot apply, by its sequence; the engine is asked first." placeholder:"SEQ"`
}

// adminListen holds the settings of the operators' interface.
type adminListen struct {
	Listen string `help:"Address of the operators' interface; none is served, if empty. It takes TLS, unless only this machine reaches it." placeholder:"HOST:PORT"`
	URL    string `help:"Where operators reach it: its one host name, and what their passkeys are bound to; localhost, if empty." placeholder:"URL"`
	Cert   string `help:"File with its certificate chain, PEM; the exchange's certificate, if empty." name:"tls-cert" placeholder:"FILE"`
	Key    string `help:"File with its certificate's key, PEM." name:"tls-key" placeholder:"FILE"`
}

// acme holds the certificate authority for --tls-domain.
type acme struct {
	Directory string `help:"URL of the authority's ACME directory." default:"https://acme-v02.api.letsencrypt.org/directory" placeholder:"URL"`
	Roots     string `help:"File with the CA certificates, PEM, that the authority's own certificate is verified with; the system's, if empty." placeholder:"FILE"`
}

// bounds holds the limits on clients and customers.
type bounds struct {
	Limits limits `embed:"" prefix:"limits-"`
	People people `embed:""`
}

// set sets the bounds of an exchange, and requires the second factor for a new password and for
// keys that can withdraw.
func (b *bounds) set(o *node.Options) *node.Options {
	o.Limits, o.People, o.Hold, o.Captcha, o.AlwaysConfirm =
		b.Limits.limits(), b.People.limits(), b.People.Hold, b.People.Captcha, true
	return o
}

// limits holds rates of requests; 0 is no limit.
type limits struct {
	Account struct {
		Reads         rate `help:"Requests of one account that read." default:"20:100"`
		Orders        rate `help:"New orders of one account." default:"100:500"`
		Cancels       rate `help:"Cancels of one account." default:"200:1000"`
		Frames        rate `help:"WebSocket frames of one account." default:"500:5000"`
		Subscriptions rate `help:"Streams that one account subscribes to or leaves." default:"500:20000"`
	} `embed:"" prefix:"account-"`
	Source struct {
		Requests      rate `help:"Requests of one address without a good key." default:"50:200"`
		Frames        rate `help:"WebSocket frames of one address before auth." default:"500:5000"`
		Subscriptions rate `help:"Streams that one address subscribes to or leaves, before auth." default:"500:20000"`
		Weight        uint `help:"Weight of the requests of one address in a minute, in the interface of Binance's bots; 0 is without limit." default:"6000"`
		Connections   uint `help:"Connections of one address at a time, and a quarter of those of an IPv6 network of 48 bits; 0 is without limit." default:"1000"`
	} `embed:"" prefix:"source-"`
	FailedAuth rate `help:"Secrets that are no good, of one address." default:"1:20"`
}

func (l *limits) limits() api.Limits {
	a, s := &l.Account, &l.Source
	return api.Limits{
		Account: api.Rates{
			Reads: a.Reads.Rate, Orders: a.Orders.Rate, Cancels: a.Cancels.Rate,
			Frames: a.Frames.Rate, Subscriptions: a.Subscriptions.Rate,
		},
		Source: api.SourceRates{
			Requests: s.Requests.Rate, Frames: s.Frames.Rate, Subscriptions: s.Subscriptions.Rate,
		},
		FailedAuth: l.FailedAuth.Rate, Connections: int(min(s.Connections, math.MaxInt32)), Weight: int(min(s.Weight, math.MaxInt32)),
	}
}

// Run runs the exchange until it is told to stop.
func (s *serve) Run(p *program) error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if (s.Admin.Cert == "") != (s.Admin.Key == "") {
		return errors.New("--admin-tls-cert and --admin-tls-key go together")
	}
	if s.TLSDomain != "" && (s.TLSCert != "" || !domainName.MatchString(s.TLSDomain)) {
		return fmt.Errorf(
			"--tls-domain takes a name such as exchange.example.com, and neither --tls-cert nor --tls-key beside it; got %q",
			s.TLSDomain)
	}
	if err := publicURL(s.PublicURL); err != nil {
		return err
	}
	if err := s.Stores.check(); err != nil {
		return err
	}

	keeper, err := s.keeper()
	if err != nil {
		return err
	}
	mailer, err := s.SMTP.mailer(s.Brand.name())
	if err != nil {
		return err
	}
	party, err := s.Passkeys.party()
	if err != nil {
		return err
	}
	o := s.Anchoring.set(s.Bounds.set(&node.Options{
		Brand: s.Brand.Brand, Languages: s.Languages, Mail: mailer, Passkeys: party, WebhookPrivate: s.Webhook.Private,
		Data: string(s.Data), History: s.Stores.History, Accounts: s.Stores.Accounts, Listen: s.Listen, Cluster: s.Cluster.options(),
		BinanceListen: s.Binance, MetricsListen: s.Metrics, AdminListen: s.Admin.Listen,
		AdminURL: strings.TrimSuffix(s.Admin.URL, "/"), AdminCertificate: certificate.Options{Cert: s.Admin.Cert, Key: s.Admin.Key},
		PublicURL: strings.TrimSuffix(s.PublicURL, "/"),
		Certificate: certificate.Options{
			Cert: s.TLSCert, Key: s.TLSKey,
			ACME: certificate.ACME{Domain: s.TLSDomain, Directory: s.ACME.Directory, Roots: s.ACME.Roots},
		},
		TrustedProxies: s.Proxies, MinFree: uint64(s.MinFree),
		SegmentSize: int64(s.Segment), SnapshotEvery: s.Snapshots, Real: s.Networks.list, Signer: keeper,
		Void: bourse.Seq(s.Void), Serving: func(string, string) {},
	}))
	if isNode(string(s.Data)) {
		return p.machine(&s.Log, o)
	}
	return p.exchange(&s.Log, o)
}

// publicURL refuses a URL that a path cannot be appended to.
func publicURL(text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == "" {
		return nil
	}
	return fmt.Errorf("--public-url: %q is no address such as https://example.com", text)
}

// exchange runs an exchange.
func (p *program) exchange(l *logging, o *node.Options) error {
	return p.serving(l, o, func() error { return node.Run(p.ctx, *o) })
}

// serving sets the options that each process of an exchange has, and runs it. SIGHUP reloads the
// certificate and the level of the log.
func (p *program) serving(l *logging, o *node.Options, run func() error) error {
	level := new(slog.LevelVar)
	o.Log, o.Version, o.OpenLog = l.logger(p, level), versionText(), openLog
	o.Again, o.Admin = p.again(), p.line("admin", "--data", o.Data)

	hangup, reload := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	o.Reload = reload
	go func() {
		for range hangup {
			if again, err := p.logLevel(); err != nil {
				o.Log.Error("the level of the log stays as it is", slog.Any("error", err))
			} else {
				level.Set(again)
			}
			select {
			case reload <- struct{}{}:
			default: // a reload is already pending
			}
		}
	}()

	return run()
}

// openLog opens the journal's log on files of the data directory.
func openLog(d disk.Disk, o journal.Options) (journal.Log, *journal.Recovery, error) {
	return filelog.Open(d, o)
}

// logLevel reads the current level of the log from command line, environment and file.
func (p *program) logLevel() (slog.Level, error) {
	var c cli
	parser, err := newParser(&c)
	if err != nil {
		return 0, err
	}
	command, err := parser.Parse(p.args)
	if err != nil {
		return 0, err
	}
	if strings.HasPrefix(command.Command(), "serve") {
		return c.Serve.Log.Level, nil
	}
	return c.Dev.Log.Level, nil
}

// place is the path of a directory. An empty path is refused, because it would mean the
// working directory.
type place string

// UnmarshalText reads a path.
func (p *place) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("a directory is missing")
	}
	*p = place(kong.ExpandPath(string(text)))
	return nil
}

// size is a number of bytes, such as 64MiB.
type size uint64

// UnmarshalText reads a size.
func (s *size) UnmarshalText(text []byte) error {
	number, unit := string(text), uint64(1)
	for suffix, factor := range map[string]uint64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, factor
		}
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return fmt.Errorf("%q is no size; write bytes, or a number with KiB, MiB or GiB", text)
	}
	*s = size(n * unit)
	return nil
}

// rate is a rate such as 20:100: twenty a second, with bursts of a hundred.
type rate struct{ api.Rate }

// UnmarshalText reads a rate.
func (r *rate) UnmarshalText(text []byte) error {
	bad := fmt.Errorf("%q is no rate; write PER_SECOND or PER_SECOND:BURST, 0 for no limit", text)
	perSecond, burst, both := strings.Cut(string(text), ":")
	n, err := strconv.ParseFloat(perSecond, 64)
	if err != nil || !(n >= 0 && n <= 1e9) { // also refuses NaN
		return bad
	}
	r.Rate = api.Rate{PerSecond: n, Burst: max(int(n), 1)}
	if both {
		if r.Burst, err = strconv.Atoi(burst); err != nil || r.Burst < 1 {
			return bad
		}
	}
	return nil
}

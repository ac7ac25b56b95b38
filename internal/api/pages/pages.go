package pages

import (
	"net/http"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Options are the parts of the exchange that the pages need.
type Options struct {
	View    *view.View
	History *history.Reader
	Notices *notice.Board
	// Condition returns the condition of the parts that View does not show.
	Condition func() Condition
	Clock     func() time.Time
}

// Pages implements the interface.
type Pages struct {
	Options
	all, state edition
}

// New returns the interface.
func New(o Options) *Pages { return &Pages{Options: o} }

// Endpoints returns the endpoints of the interface.
func (p *Pages) Endpoints() []v2.Endpoint {
	return []v2.Endpoint{
		{Method: http.MethodGet, Path: "/markets", Compress: true, Answer: p.markets},
		{Method: http.MethodGet, Path: "/candles", Fields: candlesFields, Compress: true, Answer: p.candles},
		{Method: http.MethodGet, Path: "/status", Compress: true, Answer: p.status},
	}
}

// market returns the market of a pair, or nil.
func (p *Pages) market(pair bourse.Pair) *bourse.Market { return p.View.Catalogue().Market(pair) }

// staleAfter is the age up to which an edition is served.
const staleAfter = time.Second

// edition is an answer that all visitors share, as it was at most staleAfter ago. The zero
// value is ready to use. Safe for concurrent use.
type edition struct {
	mu   sync.Mutex
	made time.Time
	body *coding.Document
}

// read returns the answer, and encodes it anew if it is too old. Others wait for that.
func (e *edition) read(now time.Time, encode func(*wire.Writer)) *coding.Document {
	e.mu.Lock()
	defer e.mu.Unlock()
	if age := now.Sub(e.made); e.body == nil || age >= staleAfter || age < 0 {
		w := wire.NewWriter(nil)
		w.Object()
		encode(w)
		w.EndObject()
		e.made, e.body = now, coding.NewDocument(w.Bytes())
	}
	return e.body
}

// share answers with an edition.
func (p *Pages) share(c *v2.Call, e *edition, encode func(*wire.Writer)) error {
	if err := c.Err(); err != nil {
		return err
	}
	c.Share(e.read(p.Clock(), encode))
	return nil
}

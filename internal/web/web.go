package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/browser"
	"github.com/bourse-exchange/bourse/internal/brand"
	"github.com/bourse-exchange/bourse/internal/coding"
)

//go:embed all:dist
var dist embed.FS

// The files of the build that have a meaning of their own.
const (
	indexFile   = "index.html"
	consoleFile = "operator.html"
	sourcesFile = "SOURCES"
	// assets is the folder of the files with the hash of their content in their names, and
	// consoleAssets that of the operators' console.
	assets        = "assets/"
	consoleAssets = "operator/assets/"
)

// site is one of the two builds in dist. They share no script.
type site struct {
	// index is the file of its document, and texts that of its English texts.
	index, texts string
	// caching is the Cache-Control of the document.
	caching string
	// has reports whether a file of dist belongs to it.
	has func(name string) bool
	// routes are the addresses of pages. A star stands for one segment.
	routes []string
}

// The sites of customers and of operators.
var (
	customers = site{
		index: indexFile, texts: textsFile, caching: revalidated,
		has: func(name string) bool { return name != consoleFile && !strings.HasPrefix(name, "operator/") },
		routes: []string{
			"/", "/trade", "/trade/*", "/wallet", "/wallet/deposit", "/wallet/withdraw", "/wallet/faucet",
			"/history", "/account", "/log-in", "/sign-up", "/reset", "/undo", "/status",
		},
	}
	operators = site{
		index: consoleFile, texts: consoleTexts, caching: unstored,
		has: func(name string) bool { return name == "favicon.svg" || strings.HasPrefix(name, "operator/") },
		routes: []string{
			"/", "/operator", "/operator/log-in", "/operator/accept", "/operator/withdrawals", "/operator/deposits",
			"/operator/acts", "/operator/accounts", "/operator/accounts/*", "/operator/markets", "/operator/networks",
			"/operator/catalogue", "/operator/notices", "/operator/webhooks", "/operator/operators", "/operator/keys",
			"/operator/log", "/operator/settings",
		},
	}
)

// Pages serves the pages of a site.
type Pages struct {
	routes []string
	index  *coding.File
	// files are the other files, by path.
	files map[string]*coding.File
	// metered limits a handler by the source of its requests.
	metered func(http.Handler) http.Handler
	headers browser.Headers
}

// New returns the embedded pages of customers in the dress of a brand and in added languages beside
// English, compressed by an encoder for clients that want it. metered limits a handler by the source
// of its requests.
func New(
	b *brand.Brand, languages []Language, encoder *coding.Encoder, metered func(http.Handler) http.Handler,
	headers browser.Headers,
) *Pages {
	return newPages(&customers, b, languages, encoder, &Pages{metered: metered, headers: headers})
}

// NewConsole is New for the pages of operators.
func NewConsole(
	b *brand.Brand, languages []Language, encoder *coding.Encoder, metered func(http.Handler) http.Handler,
	headers browser.Headers,
) *Pages {
	return newPages(&operators, b, languages, encoder, &Pages{metered: metered, headers: headers})
}

// newPages gives pages the files of a site.
func newPages(s *site, b *brand.Brand, languages []Language, encoder *coding.Encoder, p *Pages) *Pages {
	p.routes, p.files = s.routes, map[string]*coding.File{}
	dress := newDress(b, languages, englishOf(s.texts))
	for name, body := range dress.files {
		p.files["/"+name] = coding.NewFile(kindOf(name), caching(name), body, encoder)
	}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := dist.ReadFile(name)
		if err != nil {
			return err
		}

		switch name = strings.TrimPrefix(name, "dist/"); {
		case name == sourcesFile, name == textsFile, name == consoleTexts:
		case name == s.index:
			p.index = coding.NewFile(kindOf(name), s.caching, dress.index(body), encoder)
		case s.has(name):
			p.files["/"+name] = coding.NewFile(kindOf(name), caching(name), body, encoder)
		}
		return nil
	})
	if err != nil || p.index == nil {
		bourse.Impossible("embedded pages without %s: %v", s.index, err)
	}
	return p
}

const (
	revalidated = "no-cache"
	unstored    = "no-store"
	immutable   = "public, max-age=31536000, immutable"
)

func caching(name string) string {
	if strings.HasPrefix(name, assets) || strings.HasPrefix(name, consoleAssets) {
		return immutable
	}
	return revalidated
}

// kinds are the Content-Types of files, by extension.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".md": "text/plain; charset=utf-8", ".png": "image/png",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8", ".webmanifest": "application/manifest+json",
	".woff2": "font/woff2",
}

// kindOf returns the Content-Type of a file.
func kindOf(name string) string {
	kind, known := kinds[path.Ext(name)]
	if !known {
		bourse.Impossible("embedded page %s has no Content-Type", name)
	}
	return kind
}

// Before serves the pages and their files, and passes other requests on.
func (p *Pages) Before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := p.files[r.URL.Path]
		page := file == nil && p.isRoute(r.URL.Path)
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead, file == nil && !page:
			next.ServeHTTP(w, r)
		case page && !wantsPage(w, r):
			next.ServeHTTP(w, r)
		case page:
			p.serve(w, r, p.index, http.StatusOK)
		default:
			p.serve(w, r, file, http.StatusOK)
		}
	})
}

// Missing answers requests for an address that does not exist: with a page that says so, if
// the client asks for HTML, else next answers.
func (p *Pages) Missing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if (r.Method == http.MethodGet || r.Method == http.MethodHead) && wantsPage(w, r) {
			p.serve(w, r, p.index, http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *Pages) serve(w http.ResponseWriter, r *http.Request, file *coding.File, status int) {
	p.metered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.headers.SetPage(w.Header())
		file.Serve(w, r, status)
	})).ServeHTTP(w, r)
}

// isRoute reports whether a path is the address of a page.
func (p *Pages) isRoute(path string) bool {
	return slices.ContainsFunc(p.routes, func(route string) bool {
		prefix, one := strings.CutSuffix(route, "*")
		if !one {
			return path == route
		}
		rest, ok := strings.CutPrefix(path, prefix)
		return ok && rest != "" && !strings.Contains(rest, "/")
	})
}

// wantsPage reports whether a client asks for HTML: browsers do, for a page. An address
// answers other clients as before.
func wantsPage(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Accept")
	return strings.Contains(r.Header.Get("Accept"), "text/html")
}

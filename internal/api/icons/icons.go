package icons

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Handler serves /icons/SYMBOL.svg for the catalogue's symbols; other paths go to missing.
func Handler(v *view.View, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/icons/"), ".svg")
		catalogue := v.Catalogue()
		asset, network := catalogue.Asset(bourse.Symbol(name)), catalogue.Network(bourse.Symbol(name))

		if !ok || asset == nil && network == nil {
			missing.ServeHTTP(w, r)
			return
		}

		h := w.Header()
		h.Set("Content-Type", "image/svg+xml")
		h.Set("Cache-Control", "public, max-age=86400")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		h.Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(draw(name, asset != nil)) // the client may be gone
	})
}

// draw returns the icon of a symbol as SVG.
func draw(symbol string, asset bool) []byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(symbol)) // never fails
	hue := h.Sum32() % 360
	letters := symbol[:min(3, len(symbol))]
	if digits := strings.TrimLeft(symbol, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"); digits != "" && digits != symbol {
		letters = symbol[:1] + digits[:min(2, len(digits))]
	}
	shape := `<circle cx="32" cy="32" r="32"`
	if !asset {
		shape = `<rect width="64" height="64" rx="12"`
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="%s">`+
		`%s fill="hsl(%d 60%% 42%%)"/>`+
		`<text x="32" y="33" fill="#fff" font-family="system-ui,sans-serif" font-size="22" font-weight="600" `+
		`text-anchor="middle" dominant-baseline="central">%s</text></svg>`, symbol, shape, hue, letters)
}

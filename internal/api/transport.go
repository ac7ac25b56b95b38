package api

import (
	"net/http"
	"strings"
)

// Header values that every answer shares.
var (
	anyOrigin   = []string{"*"}
	corsMethods = []string{"GET, POST, PUT, PATCH, DELETE, OPTIONS"}
	corsHeaders = []string{"Content-Type, Authorization, Idempotency-Key, " +
		headerKey + ", " + headerTimestamp + ", " + headerWindow + ", " + headerSignature +
		", X-MBX-APIKEY, X-MBX-TIME-UNIT"}
	corsMaxAge = []string{"86400"}
	jsonType   = []string{"application/json"}

	varyEncoding = []string{"Accept-Encoding"}
)

// Transport wraps all interfaces: runs of slashes in a path count as one slash, every
// path answers OPTIONS, and pages of any origin may read answers, because authority comes
// from keys and never from cookies. Paths with segments of dots go to missing, because the
// mux would redirect them.
func Transport(next, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Access-Control-Allow-Origin"] = anyOrigin

		if r.Method == http.MethodOptions {
			h["Access-Control-Allow-Methods"] = corsMethods
			h["Access-Control-Allow-Headers"] = corsHeaders
			h["Access-Control-Max-Age"] = corsMaxAge
			w.WriteHeader(http.StatusNoContent)
			return
		}

		if path, changed := singleSlashes(r.URL.Path); changed {
			clean := *r.URL
			clean.Path, clean.RawPath = path, ""
			r = r.WithContext(r.Context())
			r.URL = &clean
		}

		if hasDots(r.URL.Path) {
			missing.ServeHTTP(w, r)
			return
		}

		next.ServeHTTP(w, r)
	})
}

// singleSlashes collapses runs of slashes, and reports whether there were any.
func singleSlashes(path string) (string, bool) {
	if !strings.Contains(path, "//") {
		return path, false
	}
	var b strings.Builder
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			b.WriteByte(path[i])
		}
	}
	return b.String(), true
}

// hasDots reports whether a path has a segment of one or two dots.
func hasDots(path string) bool {
	return strings.Contains(path, "/.") &&
		(strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../"))
}

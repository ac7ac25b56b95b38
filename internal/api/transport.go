package api

import (
	"net/http"
	"strings"
)

// headerOrigin is the header that lets pages of other origins read an answer.
const headerOrigin = "Access-Control-Allow-Origin"

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
// from keys and never from cookies. The paths for our own pages, where it comes from a
// cookie, are for no other origin. Paths with segments of dots go to missing, because the
// mux would redirect them.
func Transport(next, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path, changed := singleSlashes(r.URL.Path); changed {
			clean := *r.URL
			clean.Path, clean.RawPath = path, ""
			r = r.WithContext(r.Context())
			r.URL = &clean
		}

		if !forOwnPages(r.URL.Path) && allowAnyOrigin(w, r) {
			return
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

// forOwnPages reports whether a path is for our own pages alone.
func forOwnPages(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first == "web" || first == "operator" || first == "dev"
}

// allowAnyOrigin lets pages of any origin read the answer, and reports whether the request
// asked for that alone.
func allowAnyOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	h := w.Header()
	h[headerOrigin] = anyOrigin
	if r.Method != http.MethodOptions {
		return false
	}

	h["Access-Control-Allow-Methods"] = corsMethods
	h["Access-Control-Allow-Headers"] = corsHeaders
	h["Access-Control-Max-Age"] = corsMaxAge
	w.WriteHeader(http.StatusNoContent)
	return true
}

package browser

import "net/http"

// Content security policies: of this package's documents, and of other answers.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types svelte-trusted-html bourse"
	dataPolicy = "default-src 'none'; frame-ancestors 'none'"
)

// Headers are those of answers to pages.
type Headers struct {
	// Encrypted has browsers ask by TLS alone, for a year.
	Encrypted bool
}

// SetPage sets the headers of a page or of its files.
func (s Headers) SetPage(h http.Header) { s.set(h, pagePolicy) }

// SetPrivate sets the headers of an answer for the holder of a cookie alone.
func (s Headers) SetPrivate(h http.Header) {
	s.set(h, dataPolicy)
	h.Set("Cache-Control", "no-store")
}

func (s Headers) set(h http.Header, policy string) {
	h.Del("Access-Control-Allow-Origin") // api.Transport sets it for the interfaces
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	if s.Encrypted {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

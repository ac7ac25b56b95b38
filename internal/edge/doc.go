// Package edge judges connections before a request is served: how many are admitted,
// which address a request came from, and which host names are this machine's.
//
// It stands between node's listeners and the interfaces.
//
// Invariants: a peer that is no trusted proxy speaks for itself alone; connections leave
// the process the file descriptors that it needs for itself; the memory of warnings is
// bounded.
//
// Read admission.go, proxies.go and hosts.go; each stands on its own. Not here: rates of
// requests (api), which count admitted requests.
package edge

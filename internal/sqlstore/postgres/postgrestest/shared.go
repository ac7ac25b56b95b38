package postgrestest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the server of this test binary.
var shared struct {
	mu     sync.Mutex
	server *Server
}

// Main runs a test binary's tests, and stops the server that they started. Call it from
// TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if s := shared.server; s != nil {
		if err := s.Stop(); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, err)
			code = 1
		}
	}
	os.Exit(code)
}

// Database returns the URL of a new database on the shared server of this test binary.
// The first call starts the server.
func Database(t testing.TB) string {
	t.Helper()
	Need(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		s, err := Start()
		if err != nil {
			t.Fatal(err)
		}
		shared.server = s
	}
	url, err := shared.server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// Places returns a new place for a store by kind of database: files in a temporary
// directory, and databases on a server, which skip a test without one.
func Places(file func(t testing.TB) string) map[string]func(t testing.TB) string {
	return map[string]func(t testing.TB) string{"SQLite": file, "PostgreSQL": Database}
}

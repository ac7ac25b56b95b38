package stream

import "github.com/bourse-exchange/bourse/internal/api"

// ping shows that the connection is alive.
func ping(*conn, *api.Request, string) error { return nil }

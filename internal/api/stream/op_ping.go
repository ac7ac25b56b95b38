package stream

import "github.com/bourse-exchange/bourse/internal/api"

// ping answers without an effect.
func ping(*conn, *api.Form, string) error { return nil }

package stream

import "github.com/bourse-exchange/bourse/internal/api"

// ping answers without an effect.
func ping(*session, *api.Form, string) error { return nil }

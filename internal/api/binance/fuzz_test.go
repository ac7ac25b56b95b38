package binance

import (
	"strings"
	"testing"
)

// FuzzForms reads parameters of any query and form: each is there once, and nothing but the
// signature is left out of the signed text.
func FuzzForms(f *testing.F) {
	f.Add("symbol=BTCUSDT&timestamp=1", "signature=00")
	f.Add("signature=a&a=%zz", "&&=")
	f.Fuzz(func(t *testing.T, query, form string) {
		payload, signature := Payload(query, form)
		if !strings.Contains(query+form, signature) || len(payload)+len(signature) > len(query)+len(form) {
			t.Errorf("payload %q, signature %q", payload, signature)
		}
		if !strings.Contains(query+"&"+form, signatureName+"=") && string(payload) != query+form {
			t.Errorf("without a signature the payload is %q", payload)
		}
		p, err := ParseForms(query, form)
		if err != nil {
			if Known(err) == nil {
				t.Errorf("an internal error: %v", err)
			}
			return
		}
		seen := map[string]bool{}
		for _, g := range p.list {
			if seen[g.name] {
				t.Errorf("%q is there twice", g.name)
			}
			seen[g.name] = true
		}
		e := newOrderEndpoint()
		if err := p.check(&e); err != nil && Known(err) == nil {
			t.Errorf("an internal error: %v", err)
		}
	})
}

package rpc

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// FuzzAnswer decodes anything that a node may answer: a result, the node's own error, or
// nothing.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `null`, `{"id":1}`, `{"result":1,"error":null,"id":1}`, `{"jsonrpc":"2.0","result":1e-8,"id":1}`,
		`{"result":null,"error":{"code":-8,"message":"x"},"id":1}`, `{"result":1,"error":{},"id":1}`, `[{"id":1}]`,
		`{"id":1,"result":-0.5e400}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var n Number
		err := decode(text, 1, "method", &n)
		if node := new(Error); err != nil && !errors.Is(err, chain.ErrOdd) && !errors.As(err, &node) {
			t.Errorf("got %v", err)
		}
		if a, ok := n.Units(8); ok && err != nil && !a.IsZero() {
			t.Errorf("%s of an answer that is none", a.Format(0))
		}
	})
}

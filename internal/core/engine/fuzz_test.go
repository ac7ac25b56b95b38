package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
)

// FuzzEngine lets a fuzzer choose the commands that the engine, the naive
// exchange and a restored engine must agree on.
func FuzzEngine(f *testing.F) {
	for n := range uint64(4) {
		seed := enginetest.Seed(n)
		data := make([]byte, 4000)
		for i := range data {
			data[i] = byte(seed.Below(256))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		src := enginetest.Bytes(data)
		agree(t, &src, 0, 4000)
	})
}

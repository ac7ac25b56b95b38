package chain

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// TestMemosCatchTypos: one digit changed, or two neighbours exchanged, is no
// account's memo.
func TestMemosCatchTypos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.Uint32Range(1, uint32(bourse.AccountSandbox)-1).Draw(t, "account")
		memo := accountMemo(index)
		if back, ok := accountOfMemo(memo); !ok || back != index {
			t.Fatalf("%s is %d, %t", memo, back, ok)
		}
		i := rapid.IntRange(0, len(memo)-1).Draw(t, "digit")
		typo := []byte(memo)
		typo[i] = rapid.SampledFrom([]byte("0123456789")).Draw(t, "typed")
		if other, ok := accountOfMemo(string(typo)); ok && other != index {
			t.Fatalf("%s, typed for %s, is %d", typo, memo, other)
		}
		swapped := []byte(memo)
		swapped[i], swapped[max(i-1, 0)] = swapped[max(i-1, 0)], swapped[i]
		if other, ok := accountOfMemo(string(swapped)); ok && other != index {
			t.Fatalf("%s, typed for %s, is %d", swapped, memo, other)
		}
	})
	for _, bad := range []string{"", "0", "1", "98", "098", "0198", "+195", "195 ", memoTreasury, strconv.FormatUint(1<<63, 10)} {
		if index, ok := accountOfMemo(bad); ok {
			t.Errorf("%q is the memo of %d", bad, index)
		}
	}
}

//go:build zoo

package zoo

import (
	"os"
	"strconv"
)

// loose is the number of the active bug; zero is none.
var loose = parse(os.Getenv("ZOO_BUG")) //nolint:forbidigo // read once, and never in the product

func parse(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic("ZOO_BUG: " + err.Error())
	}
	return n
}

// Loose reports whether the bug with this number is active.
func Loose(number int) bool { return number == loose }

package conformance

import (
	"os"
	"strings"
)

// golden holds JSON against testdata/golden/NAME.json: a pattern with every
// field of the specification's table, in its order. $NAME in it stands for one
// of the words, which come as name and text in turn.
func (x *exam) golden(got *value, name string, words ...string) {
	x.Helper()
	b, err := os.ReadFile("testdata/golden/" + name + ".json")
	if err != nil {
		x.broken("%v", err)
	}
	for i := 0; i+1 < len(words); i += 2 {
		words[i] = "$" + words[i]
	}
	x.match(got, strings.NewReplacer(words...).Replace(string(b)))
}

package devnet

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAddressesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(Networks()).Draw(t, "network")
		to := program(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "program"))
		text := p.formatAddress(to)
		if back, err := p.parseAddress(text); err != nil || back != to {
			t.Fatalf("%s is %x, %v", text, back, err)
		}
		back, err := p.parseAddress(strings.ToUpper(text))
		if p.form == formWords && (err != nil || back != to) || p.form == formHex && err == nil {
			t.Fatalf("%s in upper case is %x, %v", text, back, err)
		}
	})
}

package nodetest

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	idForm  = regexp.MustCompile(`"id":\d+`)
	hexForm = regexp.MustCompile(`[0-9a-f]{64}|[0-9A-F]{64}`)
)

// headerBytes is the length of a Bitcoin block's header; longer answers can be whole blocks.
const headerBytes = 80

// Spoils returns, by name, the ways in which a node's answers are changed.
func Spoils() map[string]func([]byte) []byte {
	with := func(form *regexp.Regexp, by string) func([]byte) []byte {
		return func(b []byte) []byte { return form.ReplaceAll(b, []byte(by)) }
	}
	// answers replaces an answer of JSON-RPC, but for its id.
	answers := func(text string) func([]byte) []byte {
		return func(b []byte) []byte {
			id := idForm.Find(b)
			if id == nil {
				return b
			}
			return []byte(`{"jsonrpc":"2.0",` + text + `,` + string(id) + `}`)
		}
	}
	result := func(text string) func([]byte) []byte { return answers(`"result":` + text) }

	return map[string]func([]byte) []byte{
		"nothing":   func([]byte) []byte { return nil },
		"half":      func(b []byte) []byte { return b[:len(b)/2] },
		"twice":     func(b []byte) []byte { return append(bytes.Clone(b), b...) },
		"a page":    func([]byte) []byte { return []byte("<html>it works</html>") },
		"null":      result("null"),
		"a number":  result("7"),
		"a text":    result(`"x"`),
		"a list":    result("[]"),
		"an object": result("{}"),
		"an error":  answers(`"error":{"code":-1,"message":"no"}`),
		"other id":  with(idForm, `"id":12345678`),
		"digits": func(b []byte) []byte {
			if len(b) > headerBytes && !strings.HasPrefix(string(b), "{") {
				b = bytes.Clone(b) // a block by REST
				b[len(b)/2] ^= 1
			}
			return hexForm.ReplaceAllFunc(b, func(h []byte) []byte {
				h = bytes.Clone(h)
				h[31] = "123456789abcdef0ABCDEF0"[strings.IndexByte("0123456789abcdefABCDEF", h[31])]
				return h
			})
		},
	}
}

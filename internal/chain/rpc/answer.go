package rpc

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse/internal/chain"
)

// maxReason bounds a node's words in an error, in bytes.
const maxReason = 200

// request is a call on the wire.
type request struct {
	Version string `json:"jsonrpc"`
	ID      uint64 `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// answer is a call's answer. Old nodes send both a result and an error, one of them null, and
// no version.
type answer struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  jsontext.Value `json:"result"`
	Error   *Error         `json:"error"`
}

// Error is a node's refusal of a call.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	// Data is the node's addition, in a form of its own.
	Data jsontext.Value `json:"data"`
}

// Details returns the text that the node adds, or its words; cut to a length that a log bears.
func (e *Error) Details() string {
	text := e.Message
	if e.Data.Kind() == jsontext.KindString {
		if err := json.Unmarshal(e.Data, &text); err != nil {
			text = e.Message
		}
	}
	return text[:min(len(text), maxReason)]
}

// Error returns the node's words, cut to a length that a log bears.
func (e *Error) Error() string {
	return fmt.Sprintf("the node answers %d: %q", e.Code, e.Message[:min(len(e.Message), maxReason)])
}

func odd(format string, args ...any) error {
	return fmt.Errorf("%w: %s", chain.ErrOdd, fmt.Sprintf(format, args...))
}

// decode decodes the answer to a request.
func decode(text []byte, id uint64, method string, result any) error {
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return odd("%s: no answer of JSON-RPC", method)
	}
	switch {
	case string(a.ID) != fmt.Sprint(id):
		return odd("%s: the answer to another request", method)
	case a.Error != nil && len(a.Result) > 0 && a.Result.Kind() != jsontext.KindNull:
		return odd("%s: a result and an error", method)
	case a.Error != nil:
		return fmt.Errorf("%s: %w", method, a.Error)
	case len(a.Result) == 0:
		return odd("%s: neither a result nor an error", method)
	}

	if result == nil {
		return nil
	}
	if err := json.Unmarshal(a.Result, result); err != nil {
		return odd("%s: the result has another form", method)
	}
	return nil
}

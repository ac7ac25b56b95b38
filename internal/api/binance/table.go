package binance

import (
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Security is the kind of permission that an endpoint needs.
type Security uint8

// The kinds of permissions. All but None and UserStream need a signature; UserStream needs a
// key alone.
const (
	None Security = iota
	UserStream
	UserData
	Trade
	Withdraw
)

// String returns the word of the documented interface.
func (s Security) String() string {
	return [...]string{"NONE", "USER_STREAM", "USER_DATA", "TRADE", "WITHDRAW"}[s]
}

// scope returns the scope that a key needs; zero for none.
func (s Security) scope() account.Scopes {
	return [...]account.Scopes{0, account.ScopeRead, account.ScopeRead, account.ScopeTrade, account.ScopeWithdraw}[s]
}

// State tells how much of an endpoint, a parameter or a field is served.
type State uint8

// The states.
const (
	// Served is as documented.
	Served State = iota
	// Differs is served, with a difference that the note tells.
	Differs
	// NotServed is refused, or absent from answers, for the reason that the note tells.
	NotServed
)

// String returns the word of docs/binance.md.
func (s State) String() string { return [...]string{"served", "differs", "not served"}[s] }

// Param is a documented parameter of a request.
type Param struct {
	Name     string
	Required bool
	State    State
	// Note is a sentence, required unless the state is Served.
	Note string
}

// Field is a documented field of an answer, or several of one state.
type Field struct {
	// Names are separated by spaces; a dot leads into an object or the objects of a list.
	Names string
	State State
	// Note is a sentence, required unless the state is Served.
	Note string
}

// Weight is a request's share of its source's limit a minute.
type Weight struct {
	// Of returns the weight of a request; Text tells it.
	Of   func(*Params) int
	Text string
}

// Endpoint is one method on one path.
type Endpoint struct {
	// Method is the HTTP method and Path the path below the prefix.
	Method, Path string
	// WS is the name of the method in the WebSocket interface; empty for none.
	WS       string
	Security Security
	Weight   Weight
	Params   []Param
	Fields   []Field
	State    State
	// Note is a sentence, required unless the state is Served.
	Note string
	// Class selects the limit of an account that a request counts against.
	Class api.Class
	// Repeatable names the parameter with which a request has its effect once, however
	// often it is sent; a signed request with it may be repeated. Empty for none.
	Repeatable string
	// Harmless is set if a request changes nothing although it needs Trade.
	Harmless bool
	// Counts is the number of orders that a request counts as in the limits of orders.
	Counts int
	// Answer writes the answer to r.Out. If it returns an error, its output is dropped.
	Answer func(f *Facade, r *Request) error
}

// param returns a parameter by its name; nil if the endpoint has none.
func (e *Endpoint) param(name string) *Param {
	if e.Security != None && slices.Contains(signing, name) {
		return &Param{Name: name}
	}
	for i := range e.Params {
		if e.Params[i].Name == name {
			return &e.Params[i]
		}
	}
	return nil
}

// The parameters of every request that is signed.
const (
	timestamp     = "timestamp"
	recvWindow    = "recvWindow"
	signatureName = "signature"
)

var signing = []string{timestamp, recvWindow, signatureName}

// fixed returns the weight of an endpoint whose requests all weigh as much.
func fixed(n int) Weight { return Weight{Of: func(*Params) int { return n }} }

// weighed returns a weight that depends on the parameters, as text tells.
func weighed(text string, of func(*Params) int) Weight { return Weight{of, text} }

// need returns required parameters that are served.
func need(names string) []Param { return params(names, true) }

// prefixed returns fields behind a prefix.
func prefixed(prefix string, fields []Field) (list []Field) {
	for _, f := range fields {
		var names []string
		for name := range strings.FieldsSeq(f.Names) {
			names = append(names, prefix+name)
		}
		list = append(list, Field{strings.Join(names, " "), f.State, f.Note})
	}
	return list
}

// may returns optional parameters that are served.
func may(names string) []Param { return params(names, false) }

func params(names string, required bool) (list []Param) {
	for _, name := range strings.Fields(names) {
		list = append(list, Param{Name: name, Required: required})
	}
	return list
}

// unserved returns parameters that are refused, for a reason.
func unserved(note, names string) (list []Param) {
	for _, name := range strings.Fields(names) {
		list = append(list, Param{Name: name, State: NotServed, Note: note})
	}
	return list
}

// Endpoints returns the table of the documented endpoints: those of the public REST interface,
// and those of the wallet's that bots call.
func Endpoints() []Endpoint {
	return slices.Concat(generalEndpoints(), marketEndpoints(), tradeEndpoints(), accountEndpoints(), walletEndpoints(),
		streamEndpoints())
}

package devnet

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fault is a way in which a node or the way to it misbehaves.
type Fault uint8

// The closed set of faults.
const (
	// Silent: the connection is there and never answers; the request does not
	// arrive.
	Silent Fault = iota + 1
	// LostReply: the request arrives, its answer never does.
	LostReply
	// Refused: there is no connection.
	Refused
	// Doubled: the request arrives twice, and its second answer is given.
	Doubled
	// Cut: the answer ends in its middle.
	Cut
	// Garbage: the answer is no JSON.
	Garbage
	// WrongID: the answer is to another request.
	WrongID
	// Stale: the answer is what this method's request before was told.
	Stale
	// Failing: the node answers with an error.
	Failing
	// LieNegative, LieFloat, LieNull, LieHuge and LieText: every number, or
	// every text, in the answer is another one.
	LieNegative
	LieFloat
	LieNull
	LieHuge
	LieText
	// LieMore: the answer has a member that it should not have.
	LieMore

	lastFault = LieMore
)

// AllFaults returns each of them.
func AllFaults() []Fault {
	var all []Fault
	for f := Silent; f <= lastFault; f++ {
		all = append(all, f)
	}
	return all
}

var errRefused = errors.New("connection refused")

// rule says which calls go wrong, and how.
type rule struct {
	fault  Fault
	method string
	left   int
}

// Faults stands in front of a node, and misbehaves as it is told. It
// implements [Transport]; its methods may be called by anybody.
type Faults struct {
	behind Transport

	mu      sync.Mutex
	stopped bool
	rules   []*rule
	// last is each method's answer before, without its id.
	last map[string]answer
	// hold, if it is set, is waited for in front of each call.
	hold func(ctx context.Context) error
}

// NewFaults returns a layer without faults.
func NewFaults(behind Transport) *Faults {
	return &Faults{behind: behind, last: map[string]answer{}}
}

// Inject makes the next calls of a method go wrong, or those of all methods if
// it is empty; so many times, or until Clear if times is zero.
func (f *Faults) Inject(fault Fault, method string, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{fault, method, times})
}

// Clear ends all that was injected.
func (f *Faults) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules, f.hold = nil, nil
}

// Stop makes the node silent until Start.
func (f *Faults) Stop() { f.stop(true) }

// Start ends Stop.
func (f *Faults) Start() { f.stop(false) }

func (f *Faults) stop(stopped bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = stopped
}

// Hold makes each call wait for a function first, which may take its time or
// end the call with an error. Nil ends it.
func (f *Faults) Hold(hold func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = hold
}

// choose takes the rule that is next for a method.
func (f *Faults) choose(method string) (Fault, func(context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return Silent, f.hold
	}
	for i, r := range f.rules {
		if r.method != "" && r.method != method {
			continue
		}
		if r.left == 1 {
			f.rules = slices.Delete(f.rules, i, i+1)
		} else if r.left > 1 {
			r.left--
		}
		return r.fault, f.hold
	}
	return 0, f.hold
}

// Call passes a request on, or does not.
func (f *Faults) Call(ctx context.Context, text []byte) ([]byte, error) {
	var asked request
	if err := json.Unmarshal(text, &asked); err != nil {
		return nil, err
	}
	fault, hold := f.choose(asked.Method)
	if hold != nil {
		if err := hold(ctx); err != nil {
			return nil, err
		}
	}
	switch fault {
	case Silent:
		<-ctx.Done()
		return nil, ctx.Err()
	case Refused:
		return nil, errRefused
	case Doubled:
		if _, err := f.behind.Call(ctx, text); err != nil {
			return nil, err
		}
	default: // the rest is about the answer
	}
	reply, err := f.behind.Call(ctx, text)
	if err != nil {
		return nil, err
	}
	if fault == LostReply {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return f.twist(fault, &asked, reply)
}

// twist gives an answer the form that a fault has.
func (f *Faults) twist(fault Fault, asked *request, reply []byte) ([]byte, error) {
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		return nil, err
	}
	f.mu.Lock()
	before := f.last[asked.Method]
	f.last[asked.Method] = a
	f.mu.Unlock()
	switch fault {
	case Cut:
		return reply[:len(reply)/2], nil
	case Garbage:
		return []byte("<html>502 Bad Gateway</html>"), nil
	case WrongID:
		a.ID++
	case Stale:
		a = before
		a.ID = asked.ID
	case Failing:
		a.Result, a.Error = nil, &fault500
	case LieMore:
		a.Result = jsontext.Value(bytes.Replace(a.Result, []byte("{"), []byte(`{"extra":1,`), 1))
	case LieNegative, LieFloat, LieNull, LieHuge, LieText:
		a.Result = lie(fault, a.Result)
	default:
		return reply, nil
	}
	return json.Marshal(&a)
}

var fault500 = fault{codeBroken, "internal error"}

// lie changes every number or text in a value.
func lie(kind Fault, value jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	in, to := jsontext.NewDecoder(bytes.NewReader(value)), jsontext.NewEncoder(&out)
	for {
		// Names come in pairs with values; only the values are lies.
		depth, position := in.StackIndex(in.StackDepth())
		name := depth == '{' && position%2 == 0
		token, err := in.ReadToken()
		if err != nil {
			return bytes.TrimSpace(out.Bytes())
		}
		if err := to.WriteToken(twisted(kind, token, name)); err != nil {
			return value
		}
	}
}

func twisted(kind Fault, token jsontext.Token, name bool) jsontext.Token {
	number := token.Kind() == '0'
	switch {
	case name:
		return token
	case kind == LieNegative && number:
		return jsontext.Int(-1)
	case kind == LieFloat && number:
		return jsontext.Float(0.5)
	case kind == LieNull && (number || token.Kind() == '"'):
		return jsontext.Null
	case kind == LieHuge && number:
		return jsontext.Uint(1<<64 - 1)
	case kind == LieText && token.Kind() == '"':
		return jsontext.String("0" + token.String())
	}
	return token
}

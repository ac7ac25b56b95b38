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

// Fault is a failure of a node or of the connection to it.
type Fault uint8

// The closed set of faults.
const (
	// Silent: the request does not arrive, and the connection never answers.
	Silent Fault = iota + 1
	// LostReply: the request arrives, its answer does not.
	LostReply
	// Refused: the connection is refused.
	Refused
	// Doubled: the request arrives twice, and the client gets the second answer.
	Doubled
	// Cut: the answer is cut in half.
	Cut
	// Garbage: the answer is not JSON.
	Garbage
	// WrongID: the answer has another request's id.
	WrongID
	// Stale: the answer is that of the method's previous request.
	Stale
	// Failing: the answer is an error.
	Failing
	// LieNegative, LieFloat, LieNull, LieHuge and LieText: every number, or every text,
	// in the answer is replaced.
	LieNegative
	LieFloat
	LieNull
	LieHuge
	LieText
	// LieMore: the answer has an unknown member.
	LieMore

	lastFault = LieMore
)

// AllFaults returns all faults.
func AllFaults() []Fault {
	var all []Fault
	for f := Silent; f <= lastFault; f++ {
		all = append(all, f)
	}
	return all
}

var errRefused = errors.New("connection refused")

// rule selects the calls that fail, and how.
type rule struct {
	fault  Fault
	method string
	left   int
}

// Faults is a transport in front of a node that fails on request. It implements
// [Transport]. Safe for concurrent use.
type Faults struct {
	behind Transport

	mu      sync.Mutex
	stopped bool
	rules   []*rule
	// last is each method's previous answer.
	last map[string]answer
	// hold, if set, runs before each call.
	hold func(ctx context.Context) error
}

// NewFaults returns a transport without faults.
func NewFaults(behind Transport) *Faults {
	return &Faults{behind: behind, last: map[string]answer{}}
}

// Inject makes the next calls of a method fail, or of all methods if method is empty:
// times calls, or all until Clear if times is zero.
func (f *Faults) Inject(fault Fault, method string, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &rule{fault, method, times})
}

// Clear ends all injected faults and the hold.
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

// Hold runs a function before each call, which may block or end the call with an error.
// Nil ends it.
func (f *Faults) Hold(hold func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = hold
}

// choose consumes the next rule for a method.
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

// Call forwards a request, or fails it.
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
	default: // the other faults concern the answer
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

// twist applies a fault to an answer.
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

// lie replaces every number or text in a value.
func lie(kind Fault, value jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	in, to := jsontext.NewDecoder(bytes.NewReader(value)), jsontext.NewEncoder(&out)
	for {
		// Names alternate with values; only values are replaced.
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

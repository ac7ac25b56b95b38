package binance

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
)

// MaxParams bounds the parameters of a request.
const MaxParams = 64

// Params are the parameters of a request, from wherever they came: a query and a form, or a
// JSON object. The first error sticks, and values read after it are zero: an endpoint reads its
// parameters in the order in which they are refused, then checks Err once.
type Params struct {
	list []given
	// few has the list as long as it is short.
	few [12]given
	err error
}

// given is a parameter of a request.
type given struct{ name, value string }

// Err returns the first error of reading; nil if there was none.
func (p *Params) Err() error { return p.err }

// Fail keeps the first error; nil is ignored.
func (p *Params) Fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// ParseForms reads the parameters of a query and of a form. One that both have is the
// query's.
func ParseForms(query, form string) (*Params, error) {
	p := new(Params)
	for _, text := range [...]string{query, form} {
		before := len(p.list)
		for part := range strings.SplitSeq(text, "&") {
			if part == "" {
				continue
			}
			name, value, _ := strings.Cut(part, "=")
			name, err := url.QueryUnescape(name)
			if err != nil {
				return nil, errIllegal
			}
			if value, err = url.QueryUnescape(value); err != nil {
				return nil, illegal(name)
			}
			if err := p.add(before, given{name, value}); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// add adds a parameter unless an earlier source has it. The parameters of its own source
// begin at an index.
func (p *Params) add(begin int, g given) error {
	for i := range p.list {
		if p.list[i].name != g.name {
			continue
		}
		if i >= begin {
			return errTwice
		}
		return nil
	}
	if len(p.list) == MaxParams {
		return errTooMany
	}
	if p.list == nil {
		p.list = p.few[:0]
	}
	p.list = append(p.list, g)
	return nil
}

// Add adds a parameter of a request that has no forms. A second one of a name is an error.
func (p *Params) Add(name, value string) error { return p.add(0, given{name, value}) }

// Raw returns a parameter as it was sent, and whether it was.
func (p *Params) Raw(name string) (string, bool) {
	for i := range p.list {
		if p.list[i].name == name {
			return p.list[i].value, true
		}
	}
	return "", false
}

// Has reports whether a parameter was sent.
func (p *Params) Has(name string) bool {
	_, has := p.Raw(name)
	return has
}

// check refuses a parameter that the endpoint does not have or does not serve, an empty one, and
// the absence of a required one.
func (p *Params) check(e *Endpoint) error {
	known := 0
	for i := range p.list {
		if e.param(p.list[i].name) != nil {
			known++
		}
	}
	if known < len(p.list) {
		return unread(known, len(p.list))
	}

	for i := range p.list {
		about := e.param(p.list[i].name)
		switch {
		case p.list[i].value == "" && about.Required:
			return missing(about.Name)
		case p.list[i].value == "":
			return Errorf(codeEmpty, "Parameter '%s' was empty.", p.list[i].name)
		case about.State == NotServed:
			return Errorf(codeUnsupported, "Parameter '%s' is not served: %s", about.Name, about.Note)
		}
	}
	for i := range e.Params {
		if about := &e.Params[i]; about.Required && !p.Has(about.Name) {
			return missing(about.Name)
		}
	}
	return nil
}

// Text returns a parameter; empty if it is absent or after an error.
func (p *Params) Text(name string) string {
	if p.err != nil {
		return ""
	}
	text, _ := p.Raw(name)
	return text
}

// Int returns an integer parameter in [low, high]; absent is usual. A greater one is refused.
func (p *Params) Int(name string, low, high, usual int64) int64 {
	n := p.Long(name, usual)
	switch {
	case p.err != nil:
		return 0
	case n > high:
		p.Fail(Errorf(codeMandatory, "'%s' contains unexpected value. Cannot be greater than %d.", name, high))
		return 0
	case n < low:
		p.Fail(invalid(name))
		return 0
	}
	return n
}

// Limit returns the parameter limit; absent is usual, and a greater one than most is most, as
// bots expect.
func (p *Params) Limit(usual, most int) int {
	n := p.Long("limit", int64(usual))
	if p.err == nil && n < 1 {
		p.Fail(invalid("limit"))
	}
	return int(min(max(n, 0), int64(most)))
}

// Long returns an integer parameter that is not negative; absent is usual.
func (p *Params) Long(name string, usual int64) int64 {
	text := p.Text(name)
	if text == "" {
		return usual
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			p.Fail(illegalIn(name, "^[0-9]{1,20}$"))
			return 0
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.Fail(Errorf(codeOverflow, "Parameter '%s' overflowed.", name))
	}
	return n
}

// Bool returns a boolean parameter; absent is usual.
func (p *Params) Bool(name string, usual bool) bool {
	switch strings.ToLower(p.Text(name)) {
	case "":
		return usual
	case "true":
		return true
	case "false":
		return false
	}
	p.Fail(invalid(name))
	return false
}

// microsecondsFrom is the least number that is a time in microseconds: in milliseconds it
// would be in the year 5138.
const microsecondsFrom = 1e14

// Time returns a time in milliseconds or microseconds, and whether it was sent.
func (p *Params) Time(name string) (bourse.Time, bool) {
	n := p.Long(name, 0)
	if p.err != nil || !p.Has(name) {
		return 0, false
	}
	return parsedTime(n), true
}

// Until returns the last microsecond of a time that bounds a list, and whether it was sent.
func (p *Params) Until(name string) (bourse.Time, bool) {
	t, has := p.Time(name)
	if has && p.Long(name, 0) < microsecondsFrom {
		t += millisecond - 1
	}
	return t, has
}

func parsedTime(n int64) bourse.Time {
	if n < microsecondsFrom {
		n *= int64(millisecond)
	}
	return bourse.Time(n)
}

// One returns the index of a parameter's value among words; absent is the index of usual, or
// -1 if that is no word. e is the error for any other value.
func (p *Params) One(name, usual string, e *Error, words ...string) int {
	text := p.Text(name)
	if text == "" {
		text = usual
	}
	for i, word := range words {
		if word == text {
			return i
		}
	}
	if p.err == nil && p.Has(name) {
		p.Fail(e)
	}
	return -1
}

// List returns a parameter that is a JSON array of texts, such as ["BTCUSDT","ETHUSDT"].
func (p *Params) List(name string, most int) []string {
	text := p.Text(name)
	if text == "" {
		return nil
	}
	var list []string
	if json.Unmarshal([]byte(text), &list) != nil || len(list) == 0 {
		p.Fail(illegalIn(name, `^\["[A-Z0-9_.-]{1,64}"(,"[A-Z0-9_.-]{1,64}")*\]$`))
		return nil
	}
	if len(list) > most {
		p.Fail(Errorf(codeTooMany, "Parameter '%s' may have at most %d entries.", name, most))
		return nil
	}
	return list
}

package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"strings"
)

// mutation is one change of one answer or message.
type mutation struct {
	at   place
	name string
	// rank orders the mutations of a check: first the ones that only a check of the
	// content notices, crude ones last.
	rank int
	// apply makes the change, and reports whether it changed anything.
	apply func(*passage) bool
}

// crude is the rank of mutations that fail any check that reads the answer; they prove
// nothing about its assertions.
const crude = 3

// Changes of a stream, as opposed to one message.
const (
	dropMessage   = "drop the message"
	repeatMessage = "send the message twice"
	swapMessages  = "send the message after the next"
)

func (m *mutation) String() string {
	where := fmt.Sprintf("answer %d", m.at.index)
	if m.at.connection > 0 {
		where = fmt.Sprintf("message %d of connection %d", m.at.index, m.at.connection)
	}
	return where + ": " + m.name
}

// mutations returns the changes of a passage.
func mutations(p passage) []mutation {
	var list []mutation
	add := func(rank int, name string, apply func(*passage) bool) {
		list = append(list, mutation{p.at, name, rank, apply})
	}
	if p.value != nil && p.value.kind != 'n' {
		for _, c := range changes(p.value, "") {
			add(c.rank, c.name, func(p *passage) bool {
				v := p.value.clone()
				if !c.apply(v) {
					return false
				}
				p.value = v
				return true
			})
		}
	}
	switch {
	case p.at.connection == 0:
		mutateHead(p, add)
	case p.value != nil:
		for _, name := range [...]string{dropMessage, repeatMessage, swapMessages} {
			add(1, name, func(*passage) bool { return false })
		}
	default:
		add(0, "close with another code", func(p *passage) bool {
			p.status = 1000
			return true
		})
	}
	return list
}

// mutateHead adds changes of status and headers.
func mutateHead(p passage, add func(int, string, func(*passage) bool)) {
	rank := 0
	other := http.StatusOK
	if p.status == http.StatusOK {
		other = http.StatusInternalServerError
		if p.value.has("success") {
			rank = crude
		}
	}
	add(rank, fmt.Sprintf("status %d", other), func(p *passage) bool {
		p.status = other
		return true
	})
	for _, name := range [...]string{
		"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Allow", "Content-Type",
		"Content-Encoding", "ETag", "Vary",
		"Access-Control-Expose-Headers", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After",
	} {
		if p.header.Get(name) != "" {
			add(2, "without "+name, func(p *passage) bool {
				p.header.Del(name)
				return true
			})
		}
	}
	for _, name := range [...]string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		if n := p.header.Get(name); n != "" {
			add(0, "another "+name, func(p *passage) bool {
				p.header.Set(name, nextNumber(n))
				return true
			})
		}
	}
	add(2, "set a cookie", func(p *passage) bool {
		p.header.Set("Set-Cookie", "a=b")
		return true
	})
}

// edit changes a JSON value in place, given its root.
type edit struct {
	name  string
	rank  int
	apply func(root *value) bool
}

// changes returns the edits of a value and its parts.
func changes(v *value, at string) []edit {
	var list []edit
	switch v.kind {
	case '{':
		list = changesOfObject(v)
	case '[':
		list = changesOfArray(v)
	default:
		list = changesOfScalar(v)
	}
	for i := range list {
		list[i].name = strings.TrimSpace(at + " " + list[i].name)
	}
	return list
}

// within turns edits of a part into edits of the whole.
func within(list []edit, find func(*value) *value) []edit {
	for i, e := range list {
		list[i].apply = func(root *value) bool {
			part := find(root)
			return part != nil && e.apply(part)
		}
	}
	return list
}

func changesOfObject(v *value) []edit {
	list := []edit{{"null added", 1, func(v *value) bool {
		v.members = append(v.members, member{"added", nothing})
		return true
	}}}
	if len(v.members) > 1 {
		list = append(list, edit{"first fields swapped", 1, func(v *value) bool {
			if len(v.members) < 2 {
				return false
			}
			v.members[0], v.members[1] = v.members[1], v.members[0]
			return true
		}})
	}
	for _, m := range v.members {
		name := m.name
		list = append(list, edit{name + " dropped", 1, func(v *value) bool {
			for i, m := range v.members {
				if m.name == name {
					v.members = append(v.members[:i], v.members[i+1:]...)
					return true
				}
			}
			return false
		}})
		parts := changes(m.value, "."+name)
		if name == "success" {
			for i := range parts {
				parts[i].rank = crude
			}
		}
		list = append(list, within(parts, func(v *value) *value {
			if part := v.get(name); part != nothing {
				return part
			}
			return nil
		})...)
	}
	return list
}

func changesOfArray(v *value) []edit {
	n := len(v.items)
	if n == 0 {
		return []edit{{"row made up", 0, func(v *value) bool {
			v.items = append(v.items, &value{kind: '{'})
			return true
		}}}
	}
	list := []edit{
		{"last row dropped", 0, func(v *value) bool {
			v.items = v.items[:max(0, len(v.items)-1)]
			return true
		}},
		{"first row twice", 0, func(v *value) bool {
			if len(v.items) == 0 {
				return false
			}
			v.items = append(v.items[:1:1], v.items...)
			return true
		}},
	}
	if n > 1 {
		list = append(list, edit{"first rows swapped", 0, func(v *value) bool {
			if len(v.items) < 2 {
				return false
			}
			v.items[0], v.items[1] = v.items[1], v.items[0]
			return true
		}})
	}
	for _, i := range sample(n) {
		list = append(list, within(changes(v.items[i], fmt.Sprintf("[%d]", i)), func(v *value) *value {
			if i < len(v.items) {
				return v.items[i]
			}
			return nil
		})...)
	}
	return list
}

// sample returns the indices of n rows to change: the first two and the last.
func sample(n int) []int {
	switch n {
	case 1:
		return []int{0}
	case 2:
		return []int{0, 1}
	}
	return []int{0, 1, n - 1}
}

// opposites maps words to their replacements.
var opposites = map[string]string{
	"BUY": "SELL", "SELL": "BUY", "MAKER": "TAKER", "TAKER": "MAKER", "OPEN": "FILLED", "FILLED": "KILLED",
	"KILLED": "CANCELED", "CANCELED": "KILLED", "GTC": "IOC", "IOC": "FOK", "FOK": "GTC",
	"LIMIT": "MARKET", "MARKET": "LIMIT", "STOP_LIMIT": "LIMIT",
	"STOP_MARKET": "TAKE_PROFIT_MARKET", "TAKE_PROFIT_LIMIT": "STOP_LIMIT", "TAKE_PROFIT_MARKET": "STOP_MARKET",
	"DEPOSIT": "WITHDRAWAL", "WITHDRAWAL": "DEPOSIT", "PENDING": "PROCESSING", "PROCESSING": "PENDING", "DONE": "PENDING",
	"orderAccepted": "orderUpdate", "orderUpdate": "orderAccepted", "orderRejected": "orderUpdate",
}

func changesOfScalar(v *value) []edit {
	switch v.kind { //nolint:exhaustive // objects and arrays are no scalars, and null has nothing to change
	case '"':
		return []edit{
			{"changed", 0, func(v *value) bool {
				v.text = otherText(v.text)
				return true
			}},
			{"made large", 0, makeLarge},
			{"made a number", 1, func(v *value) bool {
				v.kind = '0'
				if placeholders["#dec"].form.FindString(v.text) == "" {
					v.text = "7"
				}
				return true
			}},
		}
	case '0':
		return []edit{
			{"changed", 0, func(v *value) bool {
				v.text = nextNumber(v.text)
				return true
			}},
			{"made large", 0, makeLarge},
			{"made a text", 1, func(v *value) bool {
				v.kind = '"'
				return true
			}},
		}
	case 't', 'f':
		return []edit{{"changed", 0, func(v *value) bool {
			v.kind ^= 't' ^ 'f'
			return true
		}}}
	}
	return nil
}

// makeLarge prefixes a number with a digit.
func makeLarge(v *value) bool {
	if v.text == "" || strings.Trim(v.text, "0123456789.") != "" {
		return false
	}
	v.text = "9" + v.text
	return true
}

// otherText returns a different text of the same kind.
func otherText(s string) string {
	if o, ok := opposites[s]; ok {
		return o
	}
	if s == "" || strings.Trim(s, "0123456789.-") != "" {
		return s + "x"
	}
	if last := s[len(s)-1]; last < '9' {
		return s[:len(s)-1] + string(last+1)
	}
	return s[:len(s)-1] + "8"
}

func nextNumber(s string) string {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return "7"
	}
	return n.Add(n, big.NewInt(1)).String()
}

package conformance

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// placeholders match values that change from run to run: the kind of JSON value and the
// form of its text.
var placeholders = map[string]struct {
	kind byte
	form *regexp.Regexp
}{
	"#time":    {'"', regexp.MustCompile(`^[1-9][0-9]{9}\.[0-9]{6}$`)},
	"#unix":    {'0', regexp.MustCompile(`^[1-9][0-9]{9}$`)},
	"#micros":  {'0', regexp.MustCompile(`^[1-9][0-9]{15}$`)},
	"#int":     {'0', regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)},
	"#id":      {'0', regexp.MustCompile(`^[1-9][0-9]*$`)},
	"#dec":     {'"', regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`)},
	"#pct":     {'"', regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)},
	"#text":    {'"', regexp.MustCompile(`^[^\n]+$`)},
	"#plain":   {'"', regexp.MustCompile(`.`)},
	"#secret":  {'"', regexp.MustCompile(`^[0-9a-f]{64}$`)},
	"#keykind": {'"', regexp.MustCompile(`^(secret|hmac|ed25519)$`)},
	"#hex32":   {'"', regexp.MustCompile(`^[0-9a-f]{32}$`)},
	"#url":     {'"', regexp.MustCompile(`^https?://[^/]+/.+$`)},

	"#full":   {'"', regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`)},
	"#pair":   {'"', regexp.MustCompile(`^[A-Z0-9_]+/[A-Z0-9_]+$`)},
	"#symbol": {'"', regexp.MustCompile(`^[A-Z0-9_]+$`)},
	"#over":   {'"', regexp.MustCompile(`^[A-Z0-9_]*$`)},
	"#line":   {'"', regexp.MustCompile(`^[^\n]*$`)},
	"#name":   {'"', regexp.MustCompile(`^[A-Za-z0-9._:-]{1,36}$`)},
	"#side":   {'"', regexp.MustCompile(`^(BUY|SELL)$`)},
	"#type":   {'"', regexp.MustCompile(`^(LIMIT|MARKET|(STOP|TAKE_PROFIT)_(LIMIT|MARKET))$`)},
	"#tif":    {'"', regexp.MustCompile(`^(GTC|FOK|IOC)$`)},
	"#status": {'"', regexp.MustCompile(`^(OPEN|FILLED|CANCELED|KILLED|REJECTED)$`)},
	"#list":   {'"', regexp.MustCompile(`^OCO$`)},
	"#done":   {'"', regexp.MustCompile(`^(OPEN|DONE)$`)},
	"#role":   {'"', regexp.MustCompile(`^(MAKER|TAKER)$`)},
	"#event":  {'"', regexp.MustCompile(`^order(Accepted|Rejected|Update)$`)},
	"#kind":   {'"', regexp.MustCompile(`^(DEPOSIT|WITHDRAWAL|TRANSFER_IN|TRANSFER_OUT)$`)},
	"#stage":  {'"', regexp.MustCompile(`^(PENDING|PROCESSING|PENDING_CANCEL|CANCELED|DONE)$`)},
	"#reason": {'"', regexp.MustCompile(`^[A-Z_]+$`)},
	"#code":   {'"', codeForm()},
}

// codeForm matches the codes that docs/errors.md lists.
func codeForm() *regexp.Regexp {
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		panic(err)
	}
	var list []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z0-9_]+)` \\|").FindAllSubmatch(page, -1) {
		list = append(list, string(m[1]))
	}
	return regexp.MustCompile("^(" + strings.Join(list, "|") + ")$")
}

// mismatch compares a value with a pattern: JSON in which strings that begin with # are
// placeholders. The order of fields counts. It returns the first difference, or "".
func mismatch(got, pattern *value) string { return mismatchAt("", got, pattern) }

func mismatchAt(at string, got, pattern *value) string {
	if p, ok := placeholders[pattern.text]; ok && pattern.kind == '"' {
		if byte(got.kind) != p.kind || !p.form.MatchString(got.text) {
			return fmt.Sprintf("%s is %s, want %s", at, got, pattern.text)
		}
		return ""
	}
	switch {
	case got.kind != pattern.kind || got.text != pattern.text:
		return fmt.Sprintf("%s is %s, want %s", at, got, pattern)
	case got.names() != pattern.names():
		return fmt.Sprintf("%s has fields [%s], want [%s]", at, got.names(), pattern.names())
	case len(got.items) != len(pattern.items):
		return fmt.Sprintf("%s has %d rows, want %d", at, len(got.items), len(pattern.items))
	}
	for i, m := range got.members {
		if d := mismatchAt(at+"."+m.name, m.value, pattern.members[i].value); d != "" {
			return d
		}
	}
	for i, item := range got.items {
		if d := mismatchAt(fmt.Sprintf("%s[%d]", at, i), item, pattern.items[i]); d != "" {
			return d
		}
	}
	return ""
}

// match checks an answer or message against a pattern.
func (x *exam) match(got *value, pattern string) {
	x.Helper()
	want, err := parseValue([]byte(pattern))
	if err != nil {
		x.broken("pattern %s: %v", pattern, err)
	}
	if got == nil {
		x.Errorf("no JSON, want %s", pattern)
		return
	}
	if d := mismatch(got, want); d != "" {
		x.Errorf("answer%s\n got %s\nwant %s", d, got, pattern)
	}
}

// matchAll checks messages against patterns in order.
func (x *exam) matchAll(got []*value, patterns ...string) {
	x.Helper()
	for i, pattern := range patterns {
		if i >= len(got) {
			x.Errorf("%d messages, want %d; the next is %s", len(got), len(patterns), pattern)
			return
		}
		x.match(got[i], pattern)
	}
	if len(got) > len(patterns) {
		x.Errorf("%d messages, want %d; the next is %s", len(got), len(patterns), got[len(patterns)])
	}
}

// equal compares a text with the wanted one.
func (x *exam) equal(what, got, want string) {
	x.Helper()
	if got != want {
		x.Errorf("%s is %q, want %q", what, got, want)
	}
}

// same compares lists of texts.
func (x *exam) same(what string, got []string, want ...string) {
	x.Helper()
	x.equal(what, strings.Join(got, " "), strings.Join(want, " "))
}

// coded expects an error with a code.
func (x *exam) coded(a *answer, code string) {
	x.Helper()
	x.failed(a)
	x.equal("code", a.value.get("code").text, code)
}

// fails expects an error with exactly this text.
func (x *exam) fails(a *answer, text string) {
	x.Helper()
	x.failed(a)
	if got := a.value.get("error").text; got != text {
		x.Errorf("error is %q, want %q", got, text)
	}
}

// failsNaming expects an error whose text has these words.
func (x *exam) failsNaming(a *answer, words ...string) {
	x.Helper()
	x.failed(a)
	for _, word := range words {
		if got := a.value.get("error").text; !strings.Contains(got, word) {
			x.Errorf("error is %q, which does not name %q", got, word)
		}
	}
}

// failed checks the form of an error.
func (x *exam) failed(a *answer) {
	x.Helper()
	if a.status != 200 {
		x.Errorf("status %d, want 200 with an error", a.status)
	}
	x.match(a.value, `{"success":false,"error":"#text","code":"#code"}`)
}

// succeeds expects success true.
func (x *exam) succeeds(a *answer) {
	x.Helper()
	if a.status != 200 || a.value.get("success").kind != 't' {
		x.Errorf("%d %s, want success", a.status, a.value)
	}
}

// answers expects success true and this JSON.
func (x *exam) answers(a *answer, pattern string) {
	x.Helper()
	x.succeeds(a)
	x.match(a.value, pattern)
}

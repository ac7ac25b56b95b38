package abuse

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tally counts the outcomes of a crowd's steps.
type tally struct {
	wants  []string
	status int
	// full permits status 500 for a full disk: V2 has no other status for a retryable
	// error.
	full bool

	mu sync.Mutex
	// answers counts all answers, taken the successful ones, limited those with status
	// 429, and turned the steps for which the exchange closed the connection.
	answers, taken, limited, turned int
	// seen are the wanted texts received, broken the forbidden answers.
	seen   map[string]bool
	broken []string
	texts  map[string]int
}

var number = regexp.MustCompile(`[0-9]+`)

// count counts an answer or its absence.
func (l *tally) count(a *answer, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.turned++
		l.text("no answer: " + tail(err.Error()))
		return
	}
	l.answers++

	unforeseen := l.status != 0 && a.status != l.status && a.status != http.StatusTooManyRequests
	full := l.full && bytes.Contains(a.body, []byte("disk is"))
	switch {
	case a.status >= http.StatusInternalServerError && a.status != http.StatusNetworkAuthenticationRequired && !full, unforeseen:
		l.broken = append(l.broken, fmt.Sprintf("%d %.200s", a.status, a.body))
	case a.limited():
		l.limited++
	case a.taken():
		l.taken++
	}
	if l.status != 0 && a.status == l.status {
		l.seen[fmt.Sprint(a.status)] = true
	}
	l.look(fmt.Appendf(nil, "%d %s", a.status, a.body))
	if a.taken() {
		l.text("taken")
	} else {
		l.text(fmt.Sprintf("%d %.90s", a.status, a.body))
	}
}

// tail returns the end of a text, the telling part of most errors.
func tail(s string) string { return s[max(0, len(s)-40):] }

// note records a step without an answer.
func (l *tally) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look([]byte(what))
	l.text(what)
}

// turn counts a step for which the exchange closed the connection.
func (l *tally) turn(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turned++
	l.look([]byte(what))
	l.text(what)
}

// look searches for wanted texts. The caller holds mu.
func (l *tally) look(body []byte) {
	for _, w := range l.wants {
		if !l.seen[w] && bytes.Contains(body, []byte(w)) {
			l.seen[w] = true
		}
	}
}

// text records an answer. The caller holds mu.
func (l *tally) text(s string) {
	if s = number.ReplaceAllString(s, "#"); len(l.texts) < 50 || l.texts[s] > 0 {
		l.texts[s]++
	}
}

// refused returns the number of answers refused for other reasons than a limit.
func (l *tally) refused() int { return l.answers - l.taken - l.limited }

// most returns the most frequent answer.
func (l *tally) most() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, s := range slices.SortedFunc(maps.Keys(l.texts), func(a, b string) int { return l.texts[b] - l.texts[a] }) {
		lines = append(lines, fmt.Sprintf("%d × %s", l.texts[s], s))
	}
	return strings.Join(lines[:min(len(lines), 8)], "\n    ")
}

// missing returns the wanted texts that were never received.
func (l *tally) missing() (list []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status != 0 && !l.seen[fmt.Sprint(l.status)] {
		list = append(list, fmt.Sprint("status ", l.status))
	}
	for _, w := range l.wants {
		if !l.seen[w] {
			list = append(list, w)
		}
	}
	return list
}

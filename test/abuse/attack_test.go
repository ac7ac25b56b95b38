package abuse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// attack is one attack of a file:
//
//	attack orders without money
//	  crowd 16 accounts
//	  pace 25
//	  send POST /spot/open_orders/new {"api_key":"<<key>>","pair":"<<pair>>", ...}
//	  wants INSUFFICIENT_FUNDS
//
// The words about the crowd:
//
//	crowd N KIND      the attackers: strangers without an account, accounts with a key
//	                  and without money, sessions, which have logged in, or signers,
//	                  accounts with a key of the kind hmac. Each member has a client
//	                  address of its own
//	funds AMOUNT ASSET... the credits of each account of the crowd
//	connections N     the connections of each member; the default is 1
//	pace N            the steps of each connection per second; 0 is one after each
//	                  answer
//	fresh             each step is taken from another address, on a new connection
//	neighbour         the trader of the first market has the first member's address
//	book PAIR FROM STEP LEVELS
//	                  other accounts sell at LEVELS prices before; a tenth of them in
//	                  the short form
//	band RATIO        ATOM/USDT takes prices within this ratio of the last and the initial one
//	least DURATION    the least length of a window of the full form
//	disk N, memory N  the most KiB that an attacker adds in a second
//	confirmed         the accounts of sessions have all cases of the second factor on
//	nothing           no command of the attack may be journaled
//	stream PATH       the path of the attack's streams; the default is /stream
//
// The words that are steps, taken in turn by each connection:
//
//	send METHOD PATH [BODY]  sends a request, in V2 with the key or session in a header
//	header NAME: VALUE       adds a header to the step before
//	sign WINDOW              signs the step before, for a window in milliseconds
//	keep NAME                keeps a field of the answer to the step before, as <<NAME>>
//	captcha EMAIL            reads a captcha and signs up with it
//	join EMAIL               signs up, confirms the address and logs in
//	text TEXT, ping TEXT, empty, pong TEXT
//	                         writes a frame to the stream, and opens it if needed
//	times N                  repeats the step before N times in one write
//	deaf                     does not read the stream
//	unread METHOD PATH [BODY] sends a request and does not read the answer
//	idle N                   holds N silent connections open
//	part TEXT                holds a connection open that sends only this
//
// "first" before a step takes it once, before the windows. The expectations:
//
//	wants TEXT        an answer must contain this
//	status N          every answer has this status
//
// The placeholders <<...>> are: key, session, n (a unique number), pair and price (of a
// main market, in turn), email (a new address), victim (the address of a person who logs
// in meanwhile), theirs (an open order of a trader), kept fields, "hex N" and "digits N"
// (at random), "number N" (digits without a leading zero), "N * text", and "count FROM
// STEP", a decimal that rises by STEP with each use on the connection.
type attack struct {
	file, name string
	line       int

	members     int
	kind        string
	funds       []string
	connections int
	pace        float64
	fresh       bool
	neighbour   bool
	confirmed   bool
	book        *ladder
	band        string
	least       time.Duration
	// disk and memory are bounds in KiB per attacker and second.
	disk, memory float64
	// nothing is set if no command of the attack may be journaled.
	nothing bool
	// path is that of streams.
	path string

	first, steps []step
	// last is the list, first or steps, to which a step was added last.
	last   *[]step
	wants  []string
	status int
}

// step is an action of a connection.
type step struct {
	word string
	// text is the line after the word.
	text    string
	headers [][2]string
	keep    []string
	times   int
	// window is that of a signed request, in milliseconds; zero for others.
	window int64
}

// ladder is an existing book.
type ladder struct {
	pair, from, step string
	levels           int
}

// Default bounds of an attack. An account that may order makes frames of a block each;
// most attempts of a stranger are not stored.
const (
	usualDisk   = 24
	fundedDisk  = 64
	usualMemory = 1024
)

// usualStream is the path of streams.
const usualStream = "/stream"

// enough is the least number of attacks in a file.
const enough = 3

// readAttacks reads a file of testdata.
func readAttacks(t *testing.T, file string) (list []*attack) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(line, "attack "); ok {
			list = append(list, &attack{file: file, name: name, line: i + 1, connections: 1})
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words, ok := strings.CutPrefix(line, "  ")
		if !ok || len(list) == 0 {
			t.Fatalf("%s:%d: not a line of an attack", file, i+1)
		}
		if err := list[len(list)-1].parse(i+1, words); err != nil {
			t.Fatalf("%s:%d: %s: %v", file, i+1, words, err)
		}
	}
	for _, a := range list {
		a.check(t)
	}
	if len(list) < enough {
		t.Errorf("%s has %d attacks, wanted are %d", file, len(list), enough)
	}
	return list
}

// check refuses an attack without steps and sets its defaults.
func (a *attack) check(t *testing.T) {
	t.Helper()
	if a.members == 0 || len(a.steps) == 0 || len(a.wants) == 0 && a.status == 0 {
		t.Fatalf("%s:%d: an attack has a crowd, a step, and what is wanted", a.file, a.line)
	}
	if a.disk == 0 && len(a.funds) > 0 {
		a.disk = fundedDisk
	}
	if a.disk == 0 {
		a.disk = usualDisk
	}
	if a.memory == 0 {
		a.memory = usualMemory
	}
	if a.path == "" {
		a.path = usualStream
	}
}

// parse parses a line.
func (a *attack) parse(line int, text string) (err error) {
	word, rest, _ := strings.Cut(text, " ")
	into := &a.steps
	if word == "first" {
		into = &a.first
		word, rest, _ = strings.Cut(rest, " ")
	}

	switch word {
	case "crowd":
		_, err = fmt.Sscanf(rest, "%d %s", &a.members, &a.kind)
		if err == nil && !slices.Contains([]string{"strangers", "accounts", "sessions", "signers"}, a.kind) {
			err = fmt.Errorf("no such crowd: %s", a.kind)
		}
	case "funds":
		words := strings.Fields(rest)
		for i := 0; i+1 < len(words); i += 2 {
			a.funds = append(a.funds, words[i]+" "+words[i+1])
		}
	case "connections":
		a.connections, err = strconv.Atoi(rest)
	case "pace":
		a.pace, err = strconv.ParseFloat(rest, 64)
	case "fresh":
		a.fresh = true
	case "nothing":
		a.nothing = true
	case "neighbour":
		a.neighbour = true
	case "confirmed":
		a.confirmed = true
	case "book":
		a.book = &ladder{}
		_, err = fmt.Sscanf(rest, "%s %s %s %d", &a.book.pair, &a.book.from, &a.book.step, &a.book.levels)
	case "band":
		a.band = rest
	case "least":
		a.least, err = time.ParseDuration(rest)
	case "disk":
		a.disk, err = strconv.ParseFloat(rest, 64)
	case "memory":
		a.memory, err = strconv.ParseFloat(rest, 64)
	case "stream":
		a.path = rest
	case "wants":
		a.wants = append(a.wants, rest)
	case "status":
		a.status, err = strconv.Atoi(rest)
	case "send", "captcha", "join", "text", "ping", "pong", "empty", "deaf", "unread", "idle", "part":
		*into = append(*into, step{word: word, text: rest, times: 1})
		a.last = into
	default:
		return a.amend(word, rest)
	}
	return err
}

// amend parses a word that changes the previous step.
func (a *attack) amend(word, rest string) (err error) {
	if a.last == nil {
		return errors.New("no step comes before")
	}
	s := &(*a.last)[len(*a.last)-1]

	switch word {
	case "header":
		name, value, _ := strings.Cut(rest, ": ")
		s.headers = append(s.headers, [2]string{name, value})
	case "sign":
		s.window, err = strconv.ParseInt(rest, 10, 64)
	case "keep":
		s.keep = append(s.keep, rest)
	case "times":
		s.times, err = strconv.Atoi(rest)
	default:
		return errors.New("no such word")
	}
	return err
}

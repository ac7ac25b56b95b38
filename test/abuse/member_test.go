package abuse

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// member is an attacker of a crowd.
type member struct {
	*siege
	key, session, source string
	// signer is the key that signs of a crowd of signers.
	signer signer
	conns  []*connection
	rounds atomic.Uint64
}

// connection is one of a member's, used by one goroutine.
type connection struct {
	*member
	client *http.Client
	stream *stream
	// held are silent connections, unread ones whose answers are not read.
	held   []net.Conn
	unread *mute
	kept   map[string]string
	counts map[string]int64
	tally  *tally
	random *rand.Rand
	// turn is the number of steps taken.
	turn int
}

// sources counts the client addresses used.
var sources atomic.Uint32

// newSource returns an unused loopback address in a network of 16 bits: attackers and
// honest clients have different networks.
func newSource(network byte) string {
	n := sources.Add(1)
	return fmt.Sprintf("127.%d.%d.%d", network, n>>8&0xff, n&0xff)
}

// The networks of the clients.
const (
	tradersNetwork   = 10
	peopleNetwork    = 20
	attackersNetwork = 60 // and the following ones, one for each 65,536 addresses
)

// clientFrom returns a client whose connections come from one address.
func clientFrom(source string, keep bool) *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		DisableKeepAlives: !keep, DisableCompression: true, MaxIdleConnsPerHost: 2,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialFrom(ctx, source, address)
		},
	}}
}

// dialFrom connects from an address.
func dialFrom(ctx context.Context, source, address string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: patience}
	return d.DialContext(ctx, "tcp", address)
}

// answer is the result of a request.
type answer struct {
	status int
	body   []byte
}

// taken reports whether the request succeeded.
func (a *answer) taken() bool {
	return a.status == http.StatusOK && !bytes.Contains(a.body, []byte(`"success":false`))
}

// limited reports whether a limit refused the request.
func (a *answer) limited() bool {
	return a.status == http.StatusTooManyRequests || bytes.Contains(a.body, []byte("Too many requests"))
}

// request sends a request.
func request(client *http.Client, method, url, body, secret string, headers [][2]string) (answer, error) {
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(context.Background(), method, url, in)
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for _, h := range headers {
		r.Header.Set(h[0], h[1])
	}
	res, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	out, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	return answer{res.StatusCode, out}, err
}

// do takes a step of the attack.
func (c *connection) do(s *step) {
	text := c.expand(s.text)
	switch s.word {
	case "send":
		c.send(s, text)
	case "captcha":
		c.captcha(text)
	case "join":
		c.join(text)
	case "unread":
		c.ignore(text)
	case "idle":
		c.hold(text, "")
	case "part":
		c.hold("1", text)
	default:
		c.frames(s, text)
	}
}

// send sends a request and counts the answer.
func (c *connection) send(s *step, text string) {
	client := c.asker()
	for range s.times {
		method, rest, _ := strings.Cut(text, " ")
		path, body, _ := strings.Cut(rest, " ")
		headers := c.expandHeaders(s.headers)
		if s.window != 0 {
			headers = append(c.signer.sign(method, path, body, s.window), headers...)
		}
		a, err := request(client, method, "http://"+c.x.address+path, body, c.secretFor(path), headers)
		c.tally.count(&a, err)
		for _, name := range s.keep {
			if v := fieldOf(a.body, name); v != "" {
				c.kept[name] = v
			}
		}
	}
}

// asker returns the client for the next request.
func (c *connection) asker() *http.Client {
	if c.attack.fresh {
		return clientFrom(newSource(attackersNetwork+byte(sources.Load()>>16)), false)
	}
	return c.client
}

// secretFor returns the secret for the header of a request; V1 has it in the body.
func (c *connection) secretFor(path string) string {
	switch {
	case c.signer.key != "", !strings.HasPrefix(path, "/account/v2") && !strings.HasPrefix(path, "/wallet/v2"):
		return ""
	case c.session != "":
		return c.session
	}
	return c.key
}

func (c *connection) expandHeaders(list [][2]string) (out [][2]string) {
	for _, h := range list {
		out = append(out, [2]string{h[0], c.expand(h[1])})
	}
	return out
}

// fieldOf returns a field of an answer, a number or a string.
func fieldOf(body []byte, name string) string {
	at := regexp.MustCompile(`"` + regexp.QuoteMeta(name) + `":"?([^",}]*)`).FindSubmatch(body)
	if at == nil {
		return ""
	}
	return string(at[1])
}

var placeholder = regexp.MustCompile(`<<(.*?)>>`)

// numbers is the last number given out.
var numbers atomic.Uint64

// expand replaces the placeholders <<...>>.
func (c *connection) expand(text string) string {
	if !strings.Contains(text, "<<") {
		return text
	}
	at := int(c.rounds.Add(1)) % len(mainMarkets)
	return placeholder.ReplaceAllStringFunc(text, func(s string) string { return c.one(s[2:len(s)-2], at) })
}

func (c *connection) one(name string, market int) string {
	switch name {
	case "key":
		return c.key
	case "session":
		return c.session
	case "n":
		return strconv.FormatUint(numbers.Add(1), 10)
	case "pair":
		return mainMarkets[market].pair
	case "price":
		return mainMarkets[market].at(0)
	case "email":
		return fmt.Sprintf("x%d@crowd.example", numbers.Add(1))
	case "victim":
		return victim
	case "theirs":
		return strconv.FormatInt(c.honest.traders[market].open.Load(), 10)
	}
	word, rest, _ := strings.Cut(name, " ")
	switch n, err := strconv.Atoi(word); {
	case word == "hex":
		n, _ = strconv.Atoi(rest)
		b := make([]byte, n/2)
		for i := range b {
			b[i] = byte(c.random.Uint32())
		}
		return hex.EncodeToString(b)
	case word == "digits":
		n, _ = strconv.Atoi(rest)
		return fmt.Sprintf("%0*d", n, c.random.IntN(pow10(n)))
	case word == "number":
		n, _ = strconv.Atoi(rest)
		return strconv.Itoa(pow10(n-1) + c.random.IntN(9*pow10(n-1)))
	case word == "count":
		from, by, _ := strings.Cut(rest, " ")
		c.counts[rest]++
		return rise(from, by, c.counts[rest]-1)
	case err == nil && strings.HasPrefix(rest, "* "):
		return strings.Repeat(rest[2:], n)
	}
	if v, ok := c.kept[name]; ok {
		return v
	}
	return "1"
}

func pow10(n int) int {
	p := 1
	for range n {
		p *= 10
	}
	return p
}

// rise returns from + times × by; both decimals have the same number of decimals.
func rise(from, by string, times int64) string {
	_, fraction, _ := strings.Cut(from, ".")
	a, _ := strconv.ParseInt(strings.ReplaceAll(from, ".", ""), 10, 64)
	b, _ := strconv.ParseInt(strings.ReplaceAll(by, ".", ""), 10, 64)
	sum := a + times*b
	if fraction == "" {
		return strconv.FormatInt(sum, 10)
	}
	scale := int64(pow10(len(fraction)))
	return fmt.Sprintf("%d.%0*d", sum/scale, len(fraction), sum%scale)
}

// join signs up and confirms the address, whose mail the attacker can read.
func (c *connection) join(email string) {
	p := &person{honest: c.honest, email: email, password: "battery staple", client: clientFrom(c.source, true)}
	defer p.client.CloseIdleConnections()
	if err := p.join(); err != nil {
		c.tally.turn(err.Error())
		return
	}
	c.tally.note("joined")
}

// captcha reads a captcha and signs up an address with it.
func (c *connection) captcha(email string) {
	a, err := signUp(c.client, c.x.address, email, "battery staple")
	c.tally.count(&a, err)
}

// hold opens connections that send only a text, up to a number.
func (c *connection) hold(many, text string) {
	most, _ := strconv.Atoi(many)
	before := len(c.held)
	if c.held = stillOpen(c.held); len(c.held) < before {
		c.tally.turn("closed")
	}
	for range most - len(c.held) {
		conn, err := dialFrom(context.Background(), c.source, c.x.address)
		if err != nil {
			c.tally.turn("no connection")
			return
		}
		_, _ = io.WriteString(conn, text)
		c.held = append(c.held, conn)
	}
	c.tally.note("held")
}

// stillOpen removes the connections that the exchange has closed.
func stillOpen(list []net.Conn) []net.Conn {
	open := list[:0]
	for _, conn := range list {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Microsecond))
		if _, err := conn.Read(make([]byte, 1)); err == nil || !isTimeout(err) {
			_ = conn.Close()
			continue
		}
		open = append(open, conn)
	}
	return open
}

// mute is a connection whose answers are not read.
type mute struct{ net.Conn }

// ignore sends a request and does not read the answer.
func (c *connection) ignore(text string) {
	method, rest, _ := strings.Cut(text, " ")
	path, body, _ := strings.Cut(rest, " ")
	ask := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", method, path, c.x.address, len(body), body)
	for range 2 {
		if c.unread == nil {
			conn, err := dialFrom(context.Background(), c.source, c.x.address)
			if err != nil {
				c.tally.turn("no connection")
				return
			}
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			c.unread = &mute{conn}
		}
		_ = c.unread.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := io.WriteString(c.unread, ask)
		if err == nil || isTimeout(err) {
			c.tally.note("asked")
			return
		}
		_ = c.unread.Close()
		c.unread = nil
		c.tally.turn("cut")
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// close closes all of the connection's sockets.
func (c *connection) close() {
	c.client.CloseIdleConnections()
	for _, conn := range c.held {
		_ = conn.Close()
	}
	if c.unread != nil {
		_ = c.unread.Close()
	}
	if c.stream != nil {
		c.stream.close()
	}
	c.held, c.unread, c.stream = nil, nil, nil
}

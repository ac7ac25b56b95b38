package account

import (
	"crypto/subtle"
	"fmt"
	"io"
	"math/big"
	"sync"

	"crypto/rand"

	"github.com/bourse-exchange/bourse"
)

// The bounds of codes that people read and write back.
const (
	codeDigits = 6
	// maxWrong is how many wrong tries end a code.
	maxWrong = 5
	// mostCodes is how many are out at most.
	mostCodes = 1 << 17
)

// purpose says what a code is for, so that none opens another door.
type purpose uint8

const (
	forFactor purpose = iota + 1
	forSignUp
	forReset
	forEmail
	forCaptcha
)

// codeName is what a code is about.
type codeName struct {
	purpose purpose
	// subject is an address, an account and a digest, or a picture.
	subject string
}

// code is one that is out.
type code struct {
	// text is empty where the answer is not ours to know.
	text    string
	expires bourse.Time
	wrong   int
	// about is what happens when it comes back.
	about any
}

// codes are those that are out. They live in memory alone: they are good for
// minutes, and nothing that was never written can be read in a copy.
type codes struct {
	mu  sync.Mutex
	out map[codeName]*code
}

// put sends a code out, in place of the one that was out under its name. It
// reports whether there is room.
func (c *codes) put(name codeName, is *code, now bourse.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out) >= mostCodes {
		for n, old := range c.out {
			if now >= old.expires {
				delete(c.out, n)
			}
		}
	}
	if _, again := c.out[name]; !again && len(c.out) >= mostCodes {
		return false
	}
	c.out[name] = is
	return true
}

// find returns what a code is about; false if none is out.
func (c *codes) find(name codeName, now bourse.Time) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := c.out[name]
	if is == nil || now >= is.expires {
		return nil, false
	}
	return is.about, true
}

// drop calls a code back.
func (c *codes) drop(name codeName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.out, name)
}

// verdict is what became of a try.
type verdict uint8

const (
	absent verdict = iota + 1
	wrong
	right
)

// try takes a code back: it is out no longer when it was right, or wrong too
// often. good may judge in place of the text.
func (c *codes) try(name codeName, given string, now bourse.Time, good func() bool) (any, verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	is := c.out[name]
	if is == nil || now >= is.expires {
		return nil, absent
	}
	ok := is.text != "" && subtle.ConstantTimeCompare([]byte(is.text), []byte(given)) == 1
	if good != nil {
		ok = good()
	}
	if ok {
		delete(c.out, name)
		return is.about, right
	}
	if is.wrong++; is.wrong >= maxWrong {
		delete(c.out, name)
	}
	return nil, wrong
}

// newCode draws a code.
func newCode(random io.Reader) (string, error) {
	n, err := rand.Int(random, big.NewInt(1_000_000))
	if err != nil {
		return "", fmt.Errorf("drawing a code: %w", err)
	}
	return fmt.Sprintf("%0*d", codeDigits, n), nil
}

// CheckCode reports what is wrong with the form of a code that came in a field.
// The error is an *bourse.Error with CodeInvalid.
func CheckCode(field, text string) error {
	good := len(text) == codeDigits
	for _, c := range []byte(text) {
		good = good && c >= '0' && c <= '9'
	}
	if !good {
		return bourse.Errorf(bourse.CodeInvalid, "%s: must be %d digits", field, codeDigits)
	}
	return nil
}

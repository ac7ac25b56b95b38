package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"

	"github.com/bourse-exchange/bourse"
)

// The bounds of passwords, in bytes.
const (
	minPassword = 8
	maxPassword = 254
)

// What a hash costs: the least that OWASP's Password Storage Cheat Sheet advises
// for argon2id.
const (
	argonKiB    = 19 << 10
	argonPasses = 2
	argonLanes  = 1
	argonSalt   = 16
	argonHash   = 32
)

// atOnce is how many hashes are computed at the same time: each one takes argonKiB
// of memory and a processor.
const atOnce = 2

// CheckPassword reports what is wrong with the form of a new password in a field. The
// error is an *bourse.Error with CodeInvalid.
func CheckPassword(field, password string) error {
	if len(password) < minPassword || len(password) > maxPassword {
		return bourse.Errorf(bourse.CodeInvalid, "%s: must have %d to %d bytes", field, minPassword, maxPassword)
	}
	return nil
}

// hasher computes hashes of passwords, a few at a time, and takes only so many at once
// of a source: the processors that hash are shared by strangers.
type hasher struct {
	slots chan struct{}
	most  int

	mu      sync.Mutex
	waiting map[netip.Addr]int
}

func newHasher(most int) *hasher {
	return &hasher{slots: make(chan struct{}, atOnce), most: most, waiting: map[netip.Addr]int{}}
}

// enter waits for a slot. leave must follow if it returns no error.
func (h *hasher) enter(ctx context.Context, from netip.Addr) error {
	if !h.count(from) {
		return errTooMany
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		h.uncount(from)
		return errTooMany
	}
}

func (h *hasher) leave(from netip.Addr) {
	<-h.slots
	h.uncount(from)
}

func (h *hasher) count(from netip.Addr) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.most > 0 && h.waiting[from] >= h.most {
		return false
	}
	h.waiting[from]++
	return true
}

func (h *hasher) uncount(from netip.Addr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[from]--; h.waiting[from] == 0 {
		delete(h.waiting, from)
	}
}

// hash returns a new hash, in the form that is used everywhere, with its salt and
// costs.
func (h *hasher) hash(ctx context.Context, from netip.Addr, random io.Reader, password string) (string, error) {
	salt := make([]byte, argonSalt)
	if _, err := io.ReadFull(random, salt); err != nil {
		return "", fmt.Errorf("drawing a salt: %w", err)
	}
	if err := h.enter(ctx, from); err != nil {
		return "", err
	}
	defer h.leave(from)

	sum := argon2.IDKey([]byte(password), salt, argonPasses, argonKiB, argonLanes, argonHash)
	return fmt.Sprintf(argonForm, argon2.Version, argonKiB, argonPasses, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(sum)), nil
}

const argonForm = "$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s"

var errHash = errors.New("a stored password hash is malformed")

// verify reports whether a password is the one of a hash. It takes as long for an
// account without one.
func (h *hasher) verify(ctx context.Context, from netip.Addr, hash, password string) (bool, error) {
	if err := h.enter(ctx, from); err != nil {
		return false, err
	}
	defer h.leave(from)

	if hash == "" {
		argon2.IDKey([]byte(password), make([]byte, argonSalt), argonPasses, argonKiB, argonLanes, argonHash)
		return false, nil
	}
	var version, kib, passes uint32
	var lanes uint8
	var tail string
	if n, _ := fmt.Sscanf(hash, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &kib, &passes, &lanes, &tail); n != 5 {
		return false, errHash
	}
	salt, sum, err := splitHash(tail)
	if err != nil || version != argon2.Version {
		return false, errHash
	}
	got := argon2.IDKey([]byte(password), salt, passes, kib, lanes, uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1, nil
}

func splitHash(tail string) (salt, sum []byte, err error) {
	first, second, _ := strings.Cut(tail, "$")
	if salt, err = base64.RawStdEncoding.DecodeString(first); err != nil {
		return nil, nil, err
	}
	sum, err = base64.RawStdEncoding.DecodeString(second)
	return salt, sum, err
}

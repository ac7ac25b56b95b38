package account

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"runtime"
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

// The cost of a hash: of the argon2id settings that OWASP's Password Storage Cheat Sheet
// calls equally strong, the one with the least memory. Each hash allocates its memory
// anew, and garbage collection slows trading down.
const (
	argonKiB    = 7 << 10
	argonPasses = 5
	argonLanes  = 1
	argonSalt   = 16
	argonHash   = 32
)

// atOnce bounds concurrent hashes. Each takes a processor and argonKiB of memory; at
// least half of the processors stay free for trading.
var atOnce = min(max(1, runtime.NumCPU()/2), 4)

// CheckPassword checks the length of a new password in a field. The error is an
// *bourse.Error with CodeInvalid.
func CheckPassword(field, password string) error {
	if len(password) < minPassword || len(password) > maxPassword {
		return bourse.Errorf(bourse.CodeInvalid, "%s: must have %d to %d bytes", field, minPassword, maxPassword)
	}
	return nil
}

// hasher hashes passwords. It bounds the concurrent hashes, and the hashes that one
// source runs or waits for.
type hasher struct {
	slots chan struct{}
	most  int

	mu      sync.Mutex
	waiting map[netip.Addr]int
}

func newHasher(slots, most int) *hasher {
	return &hasher{slots: make(chan struct{}, slots), most: most, waiting: map[netip.Addr]int{}}
}

// enter waits for a slot. Each successful enter needs a leave.
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

// hash returns a new hash in the PHC string format, with its salt and cost.
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

// verify reports whether a password matches a hash. An empty hash takes as long and never
// matches.
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

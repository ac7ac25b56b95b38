package binance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Holders finds the holders of keys.
type Holders interface {
	// Holder returns the identity of a key that was authenticated before, if it is still good
	// and may be used from an address.
	Holder(key bourse.KeyID, from netip.Addr) (account.Identity, error)
}

// listenFor is the time for which a listen key lives, unless it is extended.
const listenFor = bourse.Hour

// ListenKeys are the keys with which older clients listen to user data: each is of one API key
// and ends with it, and is good from the addresses that the API key is good from. There is one
// at most for each API key. They are kept in memory, as hashes. Safe for concurrent use.
type ListenKeys struct {
	Holders

	clock func() time.Time
	// secret makes listen keys.
	secret []byte

	mu     sync.Mutex
	byKey  map[bourse.KeyID]*listenKey
	byHash map[[sha256.Size]byte]*listenKey
	// serial is the number of the last listen key; swept is the time of the last sweep.
	serial uint64
	swept  bourse.Time
}

// listenKey is a listen key.
type listenKey struct {
	hash    [sha256.Size]byte
	key     bourse.KeyID
	serial  uint64
	expires bourse.Time
}

// NewListenKeys returns no listen keys yet.
func NewListenKeys(h Holders, random io.Reader, clock func() time.Time) (*ListenKeys, error) {
	secret := make([]byte, sha256.Size)
	if _, err := io.ReadFull(random, secret); err != nil {
		return nil, err
	}
	return &ListenKeys{
		Holders: h, clock: clock, secret: secret,
		byKey: map[bourse.KeyID]*listenKey{}, byHash: map[[sha256.Size]byte]*listenKey{},
	}, nil
}

// IsListenKey reports whether a text has the form of a listen key.
func IsListenKey(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == hex.EncodedLen(sha256.Size)
}

func (l *ListenKeys) now() bourse.Time { return bourse.TimeOf(l.clock()) }

// Create returns the listen key of an API key, and extends it if it exists.
func (l *ListenKeys) Create(who account.Identity) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.sweep(now)

	k := l.byKey[who.Key]
	if k == nil || now >= k.expires {
		l.remove(k)
		l.serial++
		k = &listenKey{key: who.Key, serial: l.serial}
		k.hash = sha256.Sum256([]byte(l.text(k)))
		l.byKey[k.key], l.byHash[k.hash] = k, k
	}
	k.expires = now + listenFor
	return l.text(k)
}

// text returns a listen key.
func (l *ListenKeys) text(k *listenKey) string {
	mac := hmac.New(sha256.New, l.secret)
	b := binary.BigEndian.AppendUint64(nil, uint64(k.key))
	_, _ = mac.Write(binary.BigEndian.AppendUint64(b, k.serial)) // a hash never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// Extend lets a listen key of an API key live from now on.
func (l *ListenKeys) Extend(who account.Identity, text string) error {
	return l.change(who, text, func(k *listenKey) { k.expires = l.now() + listenFor })
}

// End ends a listen key of an API key.
func (l *ListenKeys) End(who account.Identity, text string) error {
	return l.change(who, text, l.remove)
}

func (l *ListenKeys) change(who account.Identity, text string, do func(*listenKey)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.byHash[sha256.Sum256([]byte(text))]
	if k == nil || k.key != who.Key || l.now() >= k.expires {
		return ErrListenKey
	}
	do(k)
	return nil
}

// Find returns the holder of a listen key that is used from an address.
func (l *ListenKeys) Find(text string, from netip.Addr) (account.Identity, error) {
	l.mu.Lock()
	k := l.byHash[sha256.Sum256([]byte(text))]
	good := k != nil && l.now() < k.expires
	l.mu.Unlock()
	if !good {
		return account.Identity{}, ErrListenKey
	}
	who, err := l.Holder(k.key, from)
	if err != nil || !who.Scopes.Has(account.ScopeRead) {
		return account.Identity{}, ErrListenKey
	}
	return who, nil
}

// remove forgets a listen key, which may be nil. The caller holds mu.
func (l *ListenKeys) remove(k *listenKey) {
	if k != nil {
		delete(l.byKey, k.key)
		delete(l.byHash, k.hash)
	}
}

// sweep drops expired keys, once a minute. The caller holds mu.
func (l *ListenKeys) sweep(now bourse.Time) {
	if now-l.swept < bourse.Minute && now >= l.swept {
		return
	}
	l.swept = now
	for _, k := range l.byKey {
		if now >= k.expires {
			l.remove(k)
		}
	}
}

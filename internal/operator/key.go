package operator

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// KeyID names an operator's key. Ids rise and are never reused.
type KeyID uint32

// KeyScope is the part of its operator's powers that a key has.
type KeyScope uint8

// The scopes. The second includes the first.
const (
	// KeyReads reads.
	KeyReads KeyScope = iota + 1
	// KeyOperates also orders what needs no passkey.
	KeyOperates
)

var keyScopeWords = [...]string{"", "read", "operate"}

// String returns read or operate.
func (k KeyScope) String() string {
	if int(k) >= len(keyScopeWords) {
		return ""
	}
	return keyScopeWords[k]
}

// ParseKeyScope reads read or operate.
func ParseKeyScope(s string) (KeyScope, bool) {
	at := slices.Index(keyScopeWords[:], s)
	return KeyScope(max(at, 0)), at > 0
}

// The bounds of keys.
const (
	// MaxKeyDays bounds the life of a key.
	MaxKeyDays = 90
	// MaxKeys bounds the keys of an operator that have not ended.
	MaxKeys = 16
	// usedStep is the resolution of a key's last use, so that a busy key writes one row a minute.
	usedStep = bourse.Minute
)

// Key is an operator's key without its secret.
type Key struct {
	ID       KeyID
	Operator bourse.OperatorID
	// Name is the operator's, for people.
	Name  string
	Scope KeyScope
	// Addresses are the networks that the key may be used from; none means any.
	Addresses        []netip.Prefix
	Created, Expires bourse.Time
	// Used is the time of the last use, accurate to usedStep; zero for never.
	Used bourse.Time
	// Hash is the hash of the secret, and MAC vouches for all of the above but ID and Used.
	Hash, MAC [32]byte
}

// KeyStore keeps keys. Safe for concurrent use.
type KeyStore interface {
	// AddOperatorKey adds a key, sets its id, and removes the keys that ended before its creation.
	AddOperatorKey(ctx context.Context, k *Key) error
	// OperatorKey returns the key with a hash; false if there is none.
	OperatorKey(ctx context.Context, hash [32]byte) (Key, bool, error)
	// OperatorKeys returns all keys by ascending id.
	OperatorKeys(ctx context.Context) ([]Key, error)
	// UseOperatorKey notes the time of a key's use.
	UseOperatorKey(ctx context.Context, id KeyID, now bourse.Time) error
	// DropOperatorKey removes a key.
	DropOperatorKey(ctx context.Context, id KeyID) error
	// DropOperatorKeys removes the keys of an operator.
	DropOperatorKeys(ctx context.Context, id bourse.OperatorID) error
}

// Orderer names the operator of an order, the key that it came by, and its reason.
type Orderer struct {
	By bourse.OperatorID
	// Key is the operator's key that ordered it; zero for the operator in person.
	Key    KeyID
	Reason string
}

// Text returns the reason as the journal keeps it: one that came by a key names the key.
func (o *Orderer) Text() string {
	if o.Key == 0 {
		return o.Reason
	}
	return fmt.Sprintf("key %d: %s", o.Key, o.Reason)
}

// Poses reports whether the reason of an operator in person reads as if a key had ordered it.
func (o *Orderer) Poses() bool {
	rest, named := strings.CutPrefix(strings.TrimSpace(o.Reason), "key ")
	number, _, found := strings.Cut(rest, ":")
	_, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
	return o.Key == 0 && named && found && err == nil
}

// ErrPerson is the error for a key's request that only an operator in person may make.
var ErrPerson = bourse.Errorf(bourse.CodeForbidden, "Forbidden: it takes an operator's passkey, and no key")

// errEnded is the error for a key whose operator was disabled, or logged out, while the key was made.
var errEnded = bourse.Errorf(bourse.CodeForbidden, "Forbidden: the operator's access was ended meanwhile")

// Caller returns the operator behind an identity of Authenticate, and the key; zero for a session.
func Caller(who *account.Identity) (bourse.OperatorID, KeyID) {
	return bourse.OperatorID(who.Account & payers), KeyID(who.Key)
}

// payers is the number of operators' ids. Limits are counted by account, so that each key has an
// account of its own: its operator's id, and above it 16 bits of its own.
const payers = 1<<16 - 1

// payer returns the account that pays for a key's requests: never the operator's own, and
// another one for each of 65,535 keys in a row.
func (k *Key) payer() bourse.AccountID {
	return bourse.AccountID(k.Operator) | bourse.AccountID(1+uint32(k.ID)%payers)<<16
}

// MakeKey makes a key of an operator, good for some days. Name, Scope and Addresses are those of k,
// which gets all else. The secret is returned this once. The errors are *bourse.Errors, those of the
// store and of note, which is called before the secret is returned.
func (s *Service) MakeKey(ctx context.Context, k *Key, days int, note func(*Key) error) (account.Secret, error) {
	endings := s.endings(k.Operator)
	o, found := s.ByID(k.Operator)
	if !found || !o.Enabled {
		return "", ErrPerson
	}
	if err := s.checkKey(ctx, k, days); err != nil {
		return "", err
	}
	k.Created = s.now()
	k.Expires = k.Created + bourse.Time(days)*bourse.Day
	secret, err := s.sealKey(k, &o)
	if err != nil {
		return "", err
	}
	if err := s.Store.AddOperatorKey(ctx, k); err != nil {
		return "", err
	}

	err = note(k)
	if s.endings(k.Operator) != endings {
		err = cmp.Or(err, error(errEnded))
	}
	if err != nil {
		return "", errors.Join(err, s.Store.DropOperatorKey(context.WithoutCancel(ctx), k.ID))
	}
	return secret, nil
}

// checkKey validates a key that is to be made.
func (s *Service) checkKey(ctx context.Context, k *Key, days int) (err error) {
	k.Name = strings.TrimSpace(k.Name)
	switch {
	case k.Name == "" || len(k.Name) > maxName:
		return bourse.Errorf(bourse.CodeInvalid, "name: 1 to %d bytes", maxName)
	case k.Scope != KeyReads && k.Scope != KeyOperates:
		return bourse.Errorf(bourse.CodeInvalid, "scope: read or operate")
	case days < 1 || days > MaxKeyDays:
		return bourse.Errorf(bourse.CodeInvalid, "days: 1 to %d", MaxKeyDays)
	}
	if k.Addresses, err = account.CheckAddresses(k.Addresses); err != nil {
		return err
	}

	keys, err := s.Keys(ctx)
	if err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(one Key) bool { return one.Operator != k.Operator })
	if len(keys) >= MaxKeys {
		return bourse.Errorf(bourse.CodeRefused, "an operator has at most %d keys; end one first", MaxKeys)
	}
	return nil
}

// keyPrefix begins the secret of each key. It tells keys from sessions, and lets scanners for leaked secrets find
// keys.
const keyPrefix = "bourse_op_"

// sealKey draws the secret of a key, and sets the key's hash and MAC.
func (s *Service) sealKey(k *Key, o *bourse.Operator) (account.Secret, error) {
	chance := make([]byte, codeChance)
	if _, err := io.ReadFull(s.Random, chance); err != nil {
		return "", fmt.Errorf("drawing a key: %w", err)
	}
	plain := s.keySecret(chance)
	k.Hash = sha256.Sum256(plain)
	k.MAC = s.keyMAC(k, o)
	return account.Secret(keyPrefix + hex.EncodeToString(plain)), nil
}

// keySecret returns the bytes of a secret: chance, and a MAC over it. An invented secret costs no
// request to the store.
func (s *Service) keySecret(chance []byte) []byte {
	m := hmac.New(sha256.New, derived("secrets of keys", s.Seal[:]))
	_, _ = m.Write(chance) // a hash never fails
	return append(slices.Clip(chance), m.Sum(nil)[:codeChance]...)
}

// keyMAC returns the MAC over a key and its operator's row: write access to the store is not enough
// to make or change a key.
func (s *Service) keyMAC(k *Key, o *bourse.Operator) [32]byte {
	m := hmac.New(sha256.New, derived("keys", s.Seal[:]))
	texts := []string{string(k.Hash[:]), string(o.Token[:]), k.Name}
	for _, p := range k.Addresses {
		texts = append(texts, p.String())
	}
	writeFields(m, texts, uint64(k.Operator), uint64(k.Scope), uint64(k.Created), uint64(k.Expires))
	return [32]byte(m.Sum(nil))
}

// IsKey reports whether a secret has the form of a key's.
func IsKey(secret account.Secret) bool { return strings.HasPrefix(string(secret), keyPrefix) }

// byKey returns the identity behind the secret of a key that has not ended, of an enabled operator, and
// from one of the key's networks. Any other secret is [account.ErrUnauthorized]. A use that cannot be
// noted is logged alone: programs read and stop things on a full disk, too.
func (s *Service) byKey(ctx context.Context, secret account.Secret, from netip.Addr) (who account.Identity, err error) {
	plain, err := hex.DecodeString(strings.TrimPrefix(string(secret), keyPrefix))
	if err != nil || len(plain) != 2*codeChance || !hmac.Equal(plain, s.keySecret(plain[:codeChance])) {
		return who, account.ErrUnauthorized
	}
	k, found, err := s.Store.OperatorKey(ctx, sha256.Sum256(plain))
	if err != nil {
		return who, err
	}
	now := s.now()
	if !found || k.Expires <= now || !account.Admits(k.Addresses, from) || !s.isGood(&k) {
		return who, account.ErrUnauthorized
	}

	if k.Used+usedStep <= now {
		if err := s.Store.UseOperatorKey(ctx, k.ID, now); err != nil {
			s.Log.Warn("the use of an operator's key was not noted", slog.Any("key", k.ID), slog.Any("error", err))
		}
	}
	who = account.Identity{Account: k.payer(), Key: bourse.KeyID(k.ID), Scopes: account.ScopeRead, Expires: k.Expires}
	if k.Scope == KeyOperates {
		who.Scopes |= account.ScopeTrade
	}
	return who, nil
}

// isGood reports whether a key's operator is enabled and has no keys that are still to be removed, and whether the
// key's row is as this service made it.
func (s *Service) isGood(k *Key) bool {
	o, found := s.ByID(k.Operator)
	if !found || !o.Enabled || s.isLeaving(k.Operator) {
		return false
	}
	if mac := s.keyMAC(k, &o); !hmac.Equal(k.MAC[:], mac[:]) {
		s.OnForged("operator's key", fmt.Errorf("key %d of operator %d was not made here, or was changed", k.ID, k.Operator))
		return false
	}
	return true
}

// MayOperate reports whether the identity of a key has the scope operate.
func MayOperate(who *account.Identity) bool { return who.Scopes.Has(account.ScopeTrade) }

// Keys returns the keys that have not ended, by ascending id. It leaves out keys with a wrong MAC.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	keys, err := s.Store.OperatorKeys(ctx)
	if err != nil {
		return nil, err
	}
	now := s.now()
	return slices.DeleteFunc(keys, func(k Key) bool { return k.Expires <= now || !s.isGood(&k) }), nil
}

// EndKey ends a key, once note has returned. Operators end their own keys; owners, and the machine's
// socket, with the id zero, any. The errors are *bourse.Errors and those of the store and of note.
func (s *Service) EndKey(ctx context.Context, by bourse.OperatorID, id KeyID, note func() error) error {
	keys, err := s.Keys(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(keys, func(k Key) bool { return k.ID == id })
	if at < 0 {
		return bourse.Errorf(bourse.CodeNotFound, "there is no key %d of an operator", id)
	}
	if err := s.mayEnd(by, keys[at].Operator); err != nil {
		return err
	}
	if err := note(); err != nil {
		return err
	}
	return s.Store.DropOperatorKey(context.WithoutCancel(ctx), id) // the journal says that it ended
}

// mayEnd returns an error unless an operator may end the access of another one.
func (s *Service) mayEnd(by, of bourse.OperatorID) error {
	if o, found := s.ByID(by); by == 0 || by == of || found && o.Role == bourse.RoleOwner {
		return nil
	}
	return bourse.Errorf(bourse.CodeForbidden, "Forbidden: it takes the role %s for another operator", bourse.RoleOwner)
}

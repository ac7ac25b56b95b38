package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// OrderKey makes a key for the holder of an account, with a name that no other live key
// has. The secret is empty if the key was made before under the same k.Once, because a
// secret is shown once. The session or key that asks must still be live when the key is
// made: a reset may have ended it while the request waited. The errors are those of
// CreateKey, and *bourse.Errors with CodeConflict if the name is used or k.Once stands
// for another request, and CodeUnknown if the outcome of an earlier request is pending.
func (s *Service) OrderKey(ctx context.Context, who Identity, k NewKey, v Visit) (bourse.KeyID, Shown, error) {
	account := who.Account
	defer s.naming.Lock(account)()
	if !s.lives(account, who.Key) {
		return 0, Shown{}, ErrUnauthorized
	}
	if id, err := s.keyOnce(ctx, account, &k); id != 0 || err != nil {
		return id, Shown{}, err
	}
	if err := s.checkKeyName(ctx, account, 0, k.Name); err != nil {
		return 0, Shown{}, err
	}
	// Without cancellation: releasing the lock before the decision would let a key be
	// made after a reset.
	id, shown, err := s.CreateKey(context.WithoutCancel(ctx), account, k)
	if err == nil {
		s.log(ctx, account, madeKey, v, k.Name)
	}
	return id, shown, err
}

// CheckKey validates an order of a key, before a second factor is asked for. It returns
// the id of the key if it was made before.
func (s *Service) CheckKey(ctx context.Context, account bourse.AccountID, k NewKey) (bourse.KeyID, error) {
	if id, err := s.keyOnce(ctx, account, &k); id != 0 || err != nil {
		return id, err
	}
	if err := k.check(s.now()); err != nil {
		return 0, err
	}
	if err := s.checkRoom(account); err != nil {
		return 0, err
	}
	return 0, s.checkKeyName(ctx, account, 0, k.Name)
}

// keyOnce returns the key made under k.Once for the same request; zero if there is none.
func (s *Service) keyOnce(ctx context.Context, account bourse.AccountID, k *NewKey) (bourse.KeyID, error) {
	if k.Once.IsZero() {
		return 0, nil
	}
	row, found, err := s.Store.KeyOnce(ctx, account, k.Once)
	switch {
	case err != nil || !found:
		return 0, err
	case row.Request != k.Request:
		return 0, errOnce
	case row.ID == 0:
		return 0, bourse.Errorf(bourse.CodeUnknown, "Outcome unknown")
	}
	return row.ID, nil
}

var errOnce = bourse.Errorf(bourse.CodeConflict, "The Idempotency-Key stands for another request")

// checkRoom refuses a key beyond MaxKeys, so that the engine's refusal is not journaled.
func (s *Service) checkRoom(account bourse.AccountID) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.facts.account(account); f != nil && len(f.keys) >= bourse.MaxKeys {
		return refusal(bourse.TooMany)
	}
	return nil
}

// checkKeyName refuses a name that another live key of the account has.
func (s *Service) checkKeyName(ctx context.Context, account bourse.AccountID, but bourse.KeyID, name string) error {
	keys, err := s.Keys(ctx, account)
	if err != nil {
		return err
	}
	for i := range keys {
		if keys[i].Revoked == 0 && keys[i].ID != but && keys[i].Name == name {
			return bourse.Errorf(bourse.CodeConflict, "description: there is a key with it")
		}
	}
	return nil
}

// Key returns a live key of an account. The error is an *bourse.Error with CodeNotFound,
// or CodeForbidden if another account owns it.
func (s *Service) Key(ctx context.Context, account bourse.AccountID, id bourse.KeyID) (Key, error) {
	s.mu.RLock()
	f := s.facts.keys[id]
	s.mu.RUnlock()
	switch {
	case f == nil:
		return Key{}, refusal(bourse.UnknownKey)
	case f.account != account:
		return Key{}, errForeign
	}
	keys, err := s.Keys(ctx, account)
	if err != nil {
		return Key{}, err
	}
	for i := range keys {
		if keys[i].ID == id {
			return keys[i], nil
		}
	}
	return Key{}, refusal(bourse.UnknownKey)
}

// CheckChange validates a change of a key. The errors are *bourse.Errors with CodeInvalid
// and CodeConflict, and those of Key.
func (s *Service) CheckChange(ctx context.Context, k *Key) error {
	_, err := s.checkChange(ctx, k)
	return err
}

// checkChange validates a change and returns the key before it.
func (s *Service) checkChange(ctx context.Context, k *Key) (Key, error) {
	was, err := s.Key(ctx, k.Account, k.ID)
	if err != nil {
		return Key{}, err
	}
	asked := NewKey{Name: k.Name, Scopes: k.Scopes, Addresses: k.Addresses}
	if k.Expires != was.Expires {
		asked.Expires = k.Expires
	}
	if err := asked.check(s.now()); err != nil {
		return Key{}, err
	}
	k.Addresses = asked.Addresses
	return was, s.checkKeyName(ctx, k.Account, k.ID, k.Name)
}

// ChangeKey changes a key's name, scopes, addresses and expiry. The name is not part of
// the digest, so that a rename needs no command. The session or key that asks must still
// be live. The errors are those of CheckChange.
func (s *Service) ChangeKey(ctx context.Context, who Identity, k *Key, v Visit) error {
	defer s.naming.Lock(k.Account)()
	if !s.lives(who.Account, who.Key) {
		return ErrUnauthorized
	}
	was, err := s.checkChange(ctx, k)
	if err != nil {
		return err
	}

	if err := s.Ready(bourse.CommandChangeKey); err != nil {
		return err
	}
	if k.sameTerms(&was) {
		return s.renameKey(ctx, &was, k.Name, v)
	}

	change := &KeyChange{Key: *k}
	if change.Salt, err = s.newSalt(); err != nil {
		return err
	}
	if err := s.Store.AddKeyChange(ctx, change); err != nil {
		return err
	}

	if err := s.decideChange(ctx, change); err != nil {
		return err
	}
	s.log(ctx, k.Account, changedKey, v, k.Name)
	s.tellHolder(ctx, k.Account, fmt.Sprintf("API key %d was changed: %s.", k.ID, Terms(k)))
	return nil
}

func (k *Key) sameTerms(other *Key) bool {
	return k.Scopes == other.Scopes && k.Expires == other.Expires && slices.Equal(k.Addresses, other.Addresses)
}

// renameKey writes the name of a key, after decisions still to be confirmed, since those
// write names as well.
func (s *Service) renameKey(ctx context.Context, was *Key, name string, v Visit) error {
	if name == was.Name {
		return nil
	}
	if err := s.Confirm(ctx); err != nil {
		return err
	}
	if err := s.Store.NameKey(ctx, was.ID, name); err != nil {
		return err
	}
	s.log(ctx, was.Account, changedKey, v, name)
	return nil
}

// decideChange submits the change of a key. The rest of the row is taken from memory,
// because the stored row may be forged.
func (s *Service) decideChange(ctx context.Context, c *KeyChange) error {
	s.mu.Lock()
	was := s.byKey[c.ID]
	if was == nil {
		s.mu.Unlock()
		if err := s.Store.DropKeyChange(ctx, c); err != nil {
			return err
		}
		return refusal(bourse.UnknownKey)
	}
	digest := was.row().with(c).digest()
	s.changing[digest] = c
	s.mu.Unlock()

	_, err := s.do(ctx, &bourse.Command{
		Kind: bourse.CommandChangeKey, Account: c.Account, Key: c.ID,
		Access: &bourse.Access{Digest: digest, Expires: c.Expires},
	})
	switch {
	case err == nil:
		// The change holds, even if the store fails now: a later Confirm writes it.
		_ = s.Confirm(context.WithoutCancel(ctx))
	case notTaken(err):
		s.mu.Lock()
		delete(s.changing, digest)
		s.mu.Unlock()
		if failed := s.Store.DropKeyChange(context.WithoutCancel(ctx), c); failed != nil {
			s.OnFailure("a change of a key was not dropped", failed)
		}
	}
	return err
}

// EndKey revokes a key of an account. The errors are those of Key and of a command.
func (s *Service) EndKey(ctx context.Context, account bourse.AccountID, id bourse.KeyID, v Visit) error {
	k, err := s.Key(ctx, account, id)
	if err != nil {
		return err
	}
	if err := s.RevokeKey(ctx, id); err != nil {
		return err
	}
	s.log(ctx, account, revokedKey, v, k.Name)
	return nil
}

// storeKey writes a pending key.
func (s *Service) storeKey(ctx context.Context, row *KeyRow) error {
	err := s.Store.AddKey(ctx, row)
	if errors.Is(err, ErrTaken) {
		return errOnce
	}
	return err
}

// Shown are the credentials of a new key, which are shown once.
type Shown struct {
	// APIKey is the secret of the key, or the id of one that signs.
	APIKey Secret
	// Secret signs the requests of a key of KindHMAC; empty for other kinds.
	Secret Secret
}

// CreateKey makes a key for an account. Its credentials are returned this once. The errors
// are those of a command, and *bourse.Errors with CodeInvalid and CodeMissing.
func (s *Service) CreateKey(ctx context.Context, account bourse.AccountID, k NewKey) (bourse.KeyID, Shown, error) {
	if err := k.check(s.now()); err != nil {
		return 0, Shown{}, err
	}
	if err := s.checkRoom(account); err != nil {
		return 0, Shown{}, err
	}
	if err := s.Ready(bourse.CommandCreateKey); err != nil {
		return 0, Shown{}, err
	}

	row, shown, err := s.newKeyRow(account, &k)
	if err != nil {
		return 0, Shown{}, err
	}
	if err := s.storeKey(ctx, row); err != nil {
		return 0, Shown{}, err
	}
	cmd := &bourse.Command{
		Kind: bourse.CommandCreateKey, Account: account, Token: row.Token,
		Access: &bourse.Access{Digest: row.digest(), Expires: row.Expires},
	}

	id, err := s.decide(ctx, cmd, row)
	if err != nil {
		return 0, Shown{}, err
	}
	s.tellHolder(ctx, account, fmt.Sprintf("API key %d was made: %s.", id, Terms(&row.Key)))
	return bourse.KeyID(id), shown, nil
}

// newKeyRow draws the credentials of a new key and returns its row.
func (s *Service) newKeyRow(account bourse.AccountID, k *NewKey) (row *KeyRow, shown Shown, err error) {
	if shown.APIKey, err = newSecret(s.Random); err != nil {
		return nil, Shown{}, err
	}
	row = &KeyRow{Hash: shown.APIKey.hash(), Key: Key{
		Account: account, Name: k.Name, Kind: k.Kind, Scopes: k.Scopes, Addresses: k.Addresses,
		Expires: k.Expires, Created: s.now(),
	}, Once: k.Once, Request: k.Request}

	if row.Token, err = s.newToken(); err != nil {
		return nil, Shown{}, err
	}
	if row.Salt, err = s.newSalt(); err != nil {
		return nil, Shown{}, err
	}
	shown.Secret, err = s.newMaterial(row, k)
	return row, shown, err
}

// RevokeKey revokes a key, immediately and on every node.
func (s *Service) RevokeKey(ctx context.Context, key bourse.KeyID) error {
	if _, err := s.do(ctx, &bourse.Command{Kind: bourse.CommandRevokeKey, Key: key}); err != nil {
		return err
	}
	// The key is revoked, even if the store fails now: a later Confirm writes the time.
	_ = s.Confirm(context.WithoutCancel(ctx))
	return nil
}

// Keys returns an account's live keys and its last MostEnded revoked ones, by ascending
// id. Whether a key is live, and its terms, are the journal's and not the rows'.
func (s *Service) Keys(ctx context.Context, account bourse.AccountID) ([]Key, error) {
	rows, err := s.Store.KeysOf(ctx, account)
	if err != nil {
		return nil, err
	}

	s.mu.RLock()
	defer s.mu.RUnlock()
	keys := make([]Key, 0, len(rows))
	for i := range rows {
		k := rows[i].Key
		f := s.facts.keys[k.ID]
		switch {
		case f != nil && f.account != account:
			continue
		case f != nil:
			k.Revoked = 0
			if c := s.byKey[k.ID]; c != nil {
				k.Kind, k.Scopes, k.Addresses, k.Expires = c.kind, c.Scopes, c.addresses, c.Expires
			}
		case k.Revoked == 0: // the store does not know yet
			k.Revoked = s.now()
		}
		keys = append(keys, k)
	}
	return s.withHidden(account, keys), nil
}

// withHidden adds the live keys of an account that its rows do not show, because a third
// party changed them. The caller holds mu.
func (s *Service) withHidden(account bourse.AccountID, keys []Key) []Key {
	f := s.facts.account(account)
	if f == nil {
		return keys
	}
	for _, id := range f.keys {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.ID == id }) {
			continue
		}
		k := Key{ID: id, Account: account}
		if c := s.byKey[id]; c != nil {
			k = c.row().Key
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.ID, b.ID) })
	return keys
}

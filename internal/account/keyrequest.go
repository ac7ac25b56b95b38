package account

import (
	"context"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// MakeKey makes a key that its holder asks for, once the second factor of a session
// confirms it. Nothing is shown if the key was made before under the same k.Once. MakeKey sets
// act's Case and What, and returns the errors of CheckKey, SecondFactor and OrderKey.
func (s *Service) MakeKey(ctx context.Context, who Identity, k NewKey, act Act) (Key, Shown, error) {
	id, err := s.CheckKey(ctx, who.Account, k)
	if err != nil {
		return Key{}, Shown{}, err
	}

	var shown Shown
	if id == 0 {
		if id, shown, err = s.confirmKey(ctx, who, k, act); err != nil {
			return Key{}, Shown{}, err
		}
	}

	made, err := s.Key(ctx, who.Account, id)
	return made, shown, err
}

// confirmKey asks for the second factor of a new key and orders it.
func (s *Service) confirmKey(ctx context.Context, who Identity, k NewKey, act Act) (bourse.KeyID, Shown, error) {
	terms := Terms(&Key{Kind: k.Kind, Scopes: k.Scopes, Addresses: k.Addresses, Expires: k.Expires})
	act.Case, act.What = s.keyCases(k.Scopes), "Make an API key: "+terms
	if err := s.SecondFactor(ctx, who, act); err != nil {
		return 0, Shown{}, err
	}
	return s.OrderKey(ctx, who, k, act.Visit)
}

// EditKey changes a key as its holder asks. New terms (scopes, addresses or expiry) are
// confirmed like a new key; a new name alone needs no second factor. EditKey sets act's Case
// and What, and returns the errors of CheckChange, SecondFactor and ChangeKey.
func (s *Service) EditKey(ctx context.Context, who Identity, k *Key, terms bool, act Act) error {
	if err := s.CheckChange(ctx, k); err != nil {
		return err
	}

	if terms {
		act.Case, act.What = s.keyCases(k.Scopes), fmt.Sprintf("Change API key %d: %s", k.ID, Terms(k))
		if err := s.SecondFactor(ctx, who, act); err != nil {
			return err
		}
	}
	return s.ChangeKey(ctx, who, k, act.Visit)
}

// keyCases returns the cases that protect the making of a key: one with the scope
// withdraw, which needs no second factor later, is protected like a withdrawal at least.
func (s *Service) keyCases(scopes Scopes) Cases {
	switch {
	case !scopes.Has(ScopeWithdraw):
		return CaseAPIKey
	case s.AlwaysConfirm:
		return 0
	}
	return CaseAPIKey | CaseWithdrawal
}

// LiveKeys returns an account's keys that are not revoked, by ascending id.
func (s *Service) LiveKeys(ctx context.Context, account bourse.AccountID) ([]Key, error) {
	keys, err := s.Keys(ctx, account)
	return slices.DeleteFunc(keys, func(k Key) bool { return k.Revoked != 0 }), err
}

package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/view"
)

type accountCreateArgs struct {
	Email string `json:"email"`
}

func (s *Server) accountCreate(ctx context.Context, a accountCreateArgs) (any, error) {
	if err := s.note(ctx, "account create"); err != nil {
		return nil, err
	}

	id, err := s.Accounts.Create(ctx, a.Email)
	return struct {
		Account bourse.AccountID `json:"account"`
	}{id}, err
}

type keyAnswer struct {
	Key       bourse.KeyID `json:"key_id"`
	Name      string       `json:"name"`
	Kind      string       `json:"kind"`
	Scopes    string       `json:"scopes"`
	Addresses []string     `json:"addresses,omitempty"`
	Created   int64        `json:"created"`
	Expires   int64        `json:"expires,omitzero"`
	Revoked   bool         `json:"revoked"`
}

func (s *Server) accountShow(ctx context.Context, a accountArgs) (any, error) {
	who, found, err := s.Accounts.ByID(ctx, a.Account)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, bourse.Errorf(bourse.CodeNotFound, "account: no person has it")
	}

	keys, err := s.Accounts.Keys(ctx, who.ID)
	if err != nil {
		return nil, err
	}

	list := make([]keyAnswer, len(keys))
	for i := range keys {
		list[i] = describeKey(&keys[i])
	}

	standing, _ := s.View.Account(who.ID)
	return struct {
		Account bourse.AccountID `json:"account"`
		Email   string           `json:"email"`
		Created int64            `json:"created"`
		Frozen  bool             `json:"frozen"`
		Orders  uint64           `json:"orders"`
		Trades  uint64           `json:"trades"`
		Tier    string           `json:"tier"`
		feeLevel
		Keys []keyAnswer `json:"keys"`
	}{
		who.ID, who.Email, who.Created.Seconds(), standing.Frozen, standing.Orders, standing.Fills,
		s.View.Catalogue().Tiers.Name(standing.Tier), levelOf(&standing), list,
	}, nil
}

func describeKey(k *account.Key) keyAnswer {
	d := keyAnswer{
		Key: k.ID, Name: k.Name, Kind: k.Kind.String(), Scopes: k.Scopes.String(), Created: k.Created.Seconds(),
		Expires: k.Expires.Seconds(), Revoked: k.Revoked != 0,
	}
	for _, p := range k.Addresses {
		d.Addresses = append(d.Addresses, p.String())
	}
	return d
}

type accountArgs struct {
	Account bourse.AccountID `json:"account"`
}

// numbered replaces the e-mail address in the member account by the number of its
// account. A string of digits becomes a number. Arguments without such a member are
// returned unchanged.
func (s *Server) numbered(ctx context.Context, args jsontext.Value) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	var name string
	named := json.Unmarshal(args, &members) == nil && members["account"].Kind() == '"' &&
		json.Unmarshal(members["account"], &name) == nil
	if !named {
		return args, nil
	}

	id, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		if !strings.Contains(name, "@") {
			return nil, bourse.Errorf(bourse.CodeInvalid, "account: %q is neither a number nor an e-mail address", name)
		}
		who, found, err := s.Accounts.ByEmail(ctx, name)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, bourse.Errorf(bourse.CodeNotFound, "no account has the e-mail address %s", name)
		}
		id = uint64(who.ID)
	}

	members["account"] = strconv.AppendUint(nil, id, 10)
	return json.Marshal(members)
}

func (s *Server) accountFreeze(ctx context.Context, a accountArgs) (any, error) {
	return s.freeze(ctx, a.Account, true)
}

func (s *Server) accountUnfreeze(ctx context.Context, a accountArgs) (any, error) {
	return s.freeze(ctx, a.Account, false)
}

func (s *Server) freeze(ctx context.Context, id bourse.AccountID, on bool) (any, error) {
	text := "account freeze"
	if !on {
		text = "account unfreeze"
	}

	_, err := s.noted(ctx, fmt.Sprintf("%s %d", text, id),
		&bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: on})
	return struct {
		Account bourse.AccountID `json:"account"`
		Frozen  bool             `json:"frozen"`
	}{id, on}, err
}

type accountFeesArgs struct {
	Account bourse.AccountID `json:"account"`
	// Maker and Taker are empty to restore the markets' own rates.
	Maker string `json:"maker_fee,omitempty"`
	Taker string `json:"taker_fee,omitempty"`
}

func (s *Server) accountFees(ctx context.Context, a accountFeesArgs) (any, error) {
	cmd := bourse.Command{Kind: bourse.CommandSetAccountFees, Account: a.Account, On: a.Maker+a.Taker != ""}
	if cmd.On {
		var err error
		if cmd.Maker, err = bourse.ParseRate(a.Maker); err != nil {
			return nil, bourse.Errorf(bourse.CodeInvalid, "maker fee: %v", err)
		}
		if cmd.Taker, err = bourse.ParseRate(a.Taker); err != nil {
			return nil, bourse.Errorf(bourse.CodeInvalid, "taker fee: %v", err)
		}
	}

	_, err := s.noted(ctx, fmt.Sprintf("account fees %d %s %s", a.Account, a.Maker, a.Taker), &cmd)
	return a, err
}

type accountLevelArgs struct {
	Account bourse.AccountID `json:"account"`
	// Level is nil to let the schedule set it.
	Level *uint8 `json:"level,omitempty"`
}

func (s *Server) accountLevel(ctx context.Context, a accountLevelArgs) (any, error) {
	cmd := bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: a.Account}
	text := fmt.Sprintf("account level %d", a.Account)
	if a.Level != nil {
		cmd.On, cmd.Level = true, *a.Level
		text += fmt.Sprintf(" --fix %d", *a.Level)
	}
	if _, err := s.noted(ctx, text, &cmd); err != nil {
		return nil, err
	}

	standing, _ := s.View.Account(a.Account)
	return struct {
		Account bourse.AccountID `json:"account"`
		feeLevel
	}{a.Account, levelOf(&standing)}, nil
}

// feeLevel is an account's fee level in answers.
type feeLevel struct {
	Level uint8 `json:"fee_level"`
	Fixed bool  `json:"fee_level_fixed"`
}

func levelOf(a *view.Account) feeLevel { return feeLevel{a.FeeLevel, a.FixedLevel} }

type keyCreateArgs struct {
	Account bourse.AccountID `json:"account"`
	Name    string           `json:"name"`
	Scopes  string           `json:"scopes"`
	// Kind is empty for secret. PublicKey is PEM, for ed25519.
	Kind      string `json:"kind,omitempty"`
	PublicKey string `json:"public_key,omitempty"`
	// Addresses are separated by commas; empty allows any.
	Addresses string `json:"addresses,omitempty"`
	// Expires is RFC 3339; empty never expires.
	Expires string `json:"expires,omitempty"`
}

func (s *Server) keyCreate(ctx context.Context, a keyCreateArgs) (any, error) {
	k, err := a.asked()
	if err != nil {
		return nil, err
	}

	text := fmt.Sprintf("key create %d --scopes %s --kind %s", a.Account, strings.TrimSpace(k.Scopes.String()), k.Kind)
	if err := s.note(ctx, text); err != nil {
		return nil, err
	}

	id, shown, err := s.Accounts.CreateKey(ctx, a.Account, k)
	return struct {
		Key    bourse.KeyID `json:"key_id"`
		APIKey string       `json:"api_key"`
		Secret string       `json:"secret,omitempty"`
	}{id, string(shown.APIKey), string(shown.Secret)}, err
}

// asked returns the key that the arguments describe.
func (a *keyCreateArgs) asked() (k account.NewKey, err error) {
	k.Name = a.Name
	if k.Kind, err = account.ParseKind(a.Kind); err != nil {
		return k, err
	}
	if a.PublicKey != "" {
		if k.PublicKey, err = account.ParsePublicKey(a.PublicKey); err != nil {
			return k, err
		}
	}
	if k.Scopes, err = account.ParseScopes(a.Scopes); err != nil {
		return k, err
	}
	if a.Addresses != "" {
		if k.Addresses, err = account.ParseAddresses(a.Addresses); err != nil {
			return k, err
		}
	}

	if a.Expires != "" {
		expires, err := time.Parse(time.RFC3339, a.Expires)
		if err != nil {
			return k, bourse.Errorf(bourse.CodeInvalid, "expires: %v", err)
		}
		k.Expires = bourse.TimeOf(expires)
	}
	return k, nil
}

type keyRevokeArgs struct {
	Key bourse.KeyID `json:"key_id"`
}

func (s *Server) keyRevoke(ctx context.Context, a keyRevokeArgs) (any, error) {
	if err := s.note(ctx, fmt.Sprintf("key revoke %d", a.Key)); err != nil {
		return nil, err
	}
	return struct {
		Key     bourse.KeyID `json:"key_id"`
		Revoked bool         `json:"revoked"`
	}{a.Key, true}, s.Accounts.RevokeKey(ctx, a.Key)
}

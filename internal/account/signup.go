package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// verifyFor is how long a code that confirms an address is good.
const verifyFor = 15 * bourse.Minute

// SignUp asks for an account.
type SignUp struct {
	Email, Password string
	// Challenge and Response are those of a captcha, where one is asked for.
	Challenge, Response string
}

// ErrVerification says that a code does not confirm what it should; it may be
// over, or used.
var ErrVerification = bourse.Errorf(bourse.CodeUnauthorized, "The code is wrong, or no longer good")

// SignUp mails a code that confirms the address. It does not tell whether the
// address has an account: its holder is told by mail. The errors are
// *bourse.Errors with CodeInvalid and CodeBusy.
func (s *Service) SignUp(ctx context.Context, up SignUp) error {
	email, err := NormalizeEmail(up.Email)
	if err != nil {
		return err
	}
	if err := newPassword("password", up.Password); err != nil {
		return err
	}
	if err := s.checkCaptcha(email, up.Challenge, up.Response); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, s.Random, up.Password)
	if err != nil {
		return err
	}
	if _, has, err := s.Store.AccountOf(ctx, email); err != nil {
		return err
	} else if has {
		return s.send(ctx, email, letterExists, "")
	}
	return s.mailCode(ctx, codeName{forSignUp, email}, email, letterSignUp, hash)
}

// mailCode sends a code out that an address confirms with.
func (s *Service) mailCode(ctx context.Context, name codeName, to string, l letter, about any) error {
	text, err := newCode(s.Random)
	if err != nil {
		return err
	}
	if !s.codes.put(name, &code{text: text, expires: s.now() + verifyFor, about: about}, s.now()) {
		return errTooMany
	}
	return s.send(ctx, to, l, text)
}

// checkMailed takes a mailed code back, as often as that is allowed, and returns
// what it is about. Who counts says whose failures are counted.
func (s *Service) checkMailed(name codeName, given, who string) (any, error) {
	if !s.mailed.take(who, s.now()) {
		return nil, errTooMany
	}
	about, v := s.codes.try(name, given, s.now(), nil)
	if v != right {
		return nil, ErrVerification
	}
	s.mailed.back(who)
	return about, nil
}

// Verify makes the account whose address a code confirms. The errors are
// ErrVerification, *bourse.Errors with CodeBusy, and those of Create.
func (s *Service) Verify(ctx context.Context, email, text string, v Visit) error {
	email, err := NormalizeEmail(email)
	if err != nil {
		return err
	}
	about, err := s.checkMailed(codeName{forSignUp, email}, text, email)
	if err != nil {
		return err
	}
	hash, _ := about.(string)
	id, err := s.create(ctx, email, hash)
	if err != nil {
		return err
	}
	s.log(ctx, id, didSignUp, v, "")
	return nil
}

package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// verifyFor is the life of a code that confirms an address.
const verifyFor = 15 * bourse.Minute

// SignUp is a request for an account.
type SignUp struct {
	Email, Password string
	// Challenge and Response are those of a captcha, if captchas are on.
	Challenge, Response string
	Visit
}

// Confirmation makes the account of a sign-up.
type Confirmation struct {
	Email, Code string
	// Password is that of the sign-up. It may be empty while the address has only one
	// pending sign-up.
	Password string
	// Terms is the version of the terms that the account accepts; empty for none.
	Terms string
	Visit
}

var (
	// ErrVerification is the answer to a wrong, expired or used code.
	ErrVerification = bourse.Errorf(bourse.CodeUnauthorized, "The code is wrong, or no longer good")
	// ErrWhichSignUp says that the code alone does not identify a sign-up.
	ErrWhichSignUp = bourse.Errorf(bourse.CodeUnauthorized,
		"Several sign-ups of this address are pending; send the password of yours with its code")
)

// SignUp mails a code that confirms the address for this sign-up alone: other sign-ups of
// the address stay pending. The answer and the work are the same if the address has an
// account; its holder is told by mail. The errors are *bourse.Errors with CodeInvalid and
// CodeBusy.
func (s *Service) SignUp(ctx context.Context, up SignUp) error {
	email, err := NormalizeEmail(up.Email)
	if err != nil {
		return err
	}
	if err := CheckPassword("password", up.Password); err != nil {
		return err
	}
	if err := s.checkCaptcha(email, up.Challenge, up.Response, up.Visit); err != nil {
		return err
	}
	if err := s.spend(spending{lettersBySource, up.source().String()}); err != nil {
		return err
	}
	mute := s.spend(s.strangersLetter(email)...) != nil

	hash, err := s.hasher.hash(ctx, up.source(), s.Random, up.Password)
	if err != nil {
		return err
	}
	_, has, err := s.personOf(ctx, email)
	if err != nil || mute {
		return err
	}

	c := &Code{Subject: email, Source: up.source(), Expires: s.now() + verifyFor, Email: email, Password: hash}
	if err := s.drawApart(ForSignUp, c); err != nil {
		return err
	}
	if has {
		c.Text = "" // it confirms nothing, and counts like any other
	}
	if !s.shared.PutCode(ForSignUp, c, s.now()) {
		return errTooMany
	}
	letter, values := letterSignUp, []string{c.Text}
	if has {
		letter, values = letterExists, nil
	}
	return s.send(ctx, &Mail{To: email, Code: c.Text, Source: c.Source}, letter, values...)
}

// strangersLetter returns the quotas of a letter that strangers can cause to an address.
// Beyond them the address gets no letter and the client the usual answer: another one
// would reveal the letters that the holder asked for.
func (s *Service) strangersLetter(email string) []spending {
	return []spending{{lettersByHour, email}, {lettersByDay, email}}
}

// drawApart draws the text of a code, unlike the subject's pending ones.
func (s *Service) drawApart(p Purpose, c *Code) error {
	out := s.shared.CodesOf(p, c.Subject, s.now())
draw:
	for {
		text, err := newCode(s.Random)
		if err != nil {
			return err
		}
		for i := range out {
			if out[i].Text == text {
				continue draw
			}
		}
		c.Text = text
		return nil
	}
}

// Verify makes the account of a confirmed address. The errors are ErrVerification,
// ErrWhichSignUp, ErrTermsVersion, *bourse.Errors with CodeBusy, and those of Create.
func (s *Service) Verify(ctx context.Context, in Confirmation) error {
	email, err := NormalizeEmail(in.Email)
	if err != nil {
		return err
	}
	if in.Terms != "" {
		if err := s.CheckTerms(in.Terms); err != nil {
			return err
		}
	}
	pending := s.shared.CodesOf(ForSignUp, email, s.now())
	if in.Password == "" && len(pending) > 1 {
		return ErrWhichSignUp
	}

	var match uint64
	return s.tryMailed(try{purpose: ForSignUp, subject: email, visit: in.Visit}, func() (func(*Code) bool, error) {
		for i := range pending {
			ok, err := s.confirms(ctx, &pending[i], &in)
			if err != nil {
				return nil, err
			}
			if ok {
				match = pending[i].ID
			}
		}
		return func(c *Code) bool { return c.ID == match }, nil
	}, func(c *Code) error {
		id, err := s.create(ctx, email, c.Password)
		if err == nil {
			s.shared.DropCodes(ForSignUp, email, nil)
			s.log(ctx, id, didSignUp, in.Visit, "")
			s.acceptWith(ctx, id, &in)
		}
		return err
	})
}

// acceptWith notes the terms that a new account accepted. If it fails, the next log-in asks again.
func (s *Service) acceptWith(ctx context.Context, id bourse.AccountID, in *Confirmation) {
	if in.Terms == "" {
		return
	}
	if err := s.AcceptTerms(context.WithoutCancel(ctx), id, in.Terms, in.Visit); err != nil {
		s.OnFailure("accepted terms were not noted", err)
	}
}

// confirms reports whether a confirmation matches a sign-up's code and, if given, its
// password.
func (s *Service) confirms(ctx context.Context, c *Code, in *Confirmation) (bool, error) {
	if !is(in.Code)(c) || in.Password == "" {
		return is(in.Code)(c), nil
	}
	return s.hasher.verify(ctx, in.source(), c.Password, in.Password)
}

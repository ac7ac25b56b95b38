package account

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bourse-exchange/bourse"
)

// Letter is the text of a letter. A word in braces stands for a value, such as {code}.
type Letter struct {
	Subject string `yaml:"subject"`
	Text    string `yaml:"text"`
}

// letter is the built-in text of a letter to a holder.
type letter struct {
	// name is the operators' name of it, to replace its text.
	name string
	Letter
	// values are the names of the values in its text, each of which a replacement must have.
	values []string
	// more are the names of further values, which a replacement may leave out.
	more []string
}

const ignore = "\n\nIf this was not you, ignore this message."

var (
	letterSignUp = letter{"sign-up", Letter{"Confirm your account",
		"Your code is {code}. It confirms your new account, with the password that " +
			"was chosen with it." + ignore}, []string{"code"}, nil}
	letterExists = letter{"exists", Letter{"You have an account",
		"Somebody asked for a new account with this address, which has one already." + ignore}, nil, nil}
	letterReset = letter{"reset", Letter{"Reset your password", "Your code is {code}. It sets a new password." + ignore},
		[]string{"code"}, nil}
	letterEmail = letter{"e-mail", Letter{"Confirm your new address",
		"Your code is {code}. It makes this the address of your account." + ignore}, []string{"code"}, nil}
	letterFactor = letter{"factor", Letter{"Confirm your request",
		"Your code is {code}. It confirms one request that was made with your account:\n\n{request}\n\n" +
			"If this was not you, change your password."}, []string{"code", "request"}, nil}
	letterChanged = letter{"changed", Letter{"Your account was changed",
		"{change}\n\nIf this was not you, reset your password and write to us."}, []string{"change"}, nil}
	letterUndo = letter{"undo", Letter{"The address of your account was changed",
		"The address of your account was changed to {address}.\n\n" +
			"If this was not you, undo it within seven days at {page}: your code is {code}. It makes this the address again, " +
			"ends all sessions, keys and the password, and holds withdrawals."}, []string{"address", "code"}, []string{"page"}}
	letterUndone = letter{"undone", Letter{"The address of your account was changed back",
		"The holder of {address} took the change of address back. " +
			"Sessions, keys and the password have ended, and withdrawals wait. If that address is no longer yours, " +
			"write to us at once."}, []string{"address"}, nil}
	letterNews = letter{"news", Letter{"What happened in your account",
		"{news}\n\nThe page of your account turns these letters off."}, []string{"news"}, nil}
)

// letters are the letters by name.
var letters = func() map[string]letter {
	byName := map[string]letter{}
	for _, l := range []letter{
		letterSignUp, letterExists, letterReset, letterEmail, letterFactor, letterChanged, letterUndo, letterUndone, letterNews,
	} {
		byName[l.name] = l
	}
	return byName
}()

// The bounds of an operator's letter, in bytes.
const (
	maxSubject = 200
	maxLetter  = 4096
)

// CheckLetters refuses texts that do not fit the letters of their names. The error is an
// *bourse.Error with CodeInvalid.
func CheckLetters(own map[string]Letter) error {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		known, ok := letters[name]
		if !ok {
			return bourse.Errorf(bourse.CodeInvalid, "%q is none of %s", name,
				strings.Join(slices.Sorted(maps.Keys(letters)), ", "))
		}
		if err := known.check(own[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// check refuses a replacement that lacks a value, or is too long. An empty subject or text
// stays ours.
func (l *letter) check(own Letter) error {
	switch {
	case len(own.Subject) > maxSubject || strings.ContainsFunc(own.Subject, control) || !utf8.ValidString(own.Subject):
		return bourse.Errorf(bourse.CodeInvalid, "subject: must be at most %d bytes in one line", maxSubject)
	case len(own.Text) > maxLetter || !utf8.ValidString(own.Text):
		return bourse.Errorf(bourse.CodeInvalid, "text: must be at most %d bytes of UTF-8", maxLetter)
	case own.Text == "":
		return nil
	}
	for _, value := range l.values {
		if !strings.Contains(own.Text, "{"+value+"}") {
			return bourse.Errorf(bourse.CodeInvalid, "text: must have {%s}", value)
		}
	}
	return nil
}

// write returns a letter's subject and text, with its values in their order. Every letter ends
// with the exchange's name, and its support's address if there is one.
func (o *Options) write(l letter, values ...string) Letter {
	text := l.Letter
	if own := o.Letters[l.name]; own.Subject != "" {
		text.Subject = own.Subject
	}
	if own := o.Letters[l.name]; own.Text != "" {
		text.Text = strings.TrimSpace(own.Text)
	}

	names := slices.Concat(l.values, l.more)
	pairs := make([]string, 0, 2*len(values))
	for i, value := range values {
		pairs = append(pairs, "{"+names[i]+"}", value)
	}
	text.Text = strings.NewReplacer(pairs...).Replace(text.Text)
	text.Text += "\n\n" + o.Issuer
	if o.Support != "" {
		text.Text += "\n" + o.Support
	}
	return text
}

// page returns the address of a page, such as /undo, as letters name it.
func (o *Options) page(path string) string {
	if o.Pages != nil {
		if at := o.Pages(); at != "" {
			return at + path
		}
	}
	return "the exchange's page " + path
}

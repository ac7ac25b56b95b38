package accountv2_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/account"
)

// source returns the header that sets a request's source address.
func source(address string) string { return fromHeader + ": " + address }

const (
	battery  = "battery staple"
	stranger = "198.51.100.66"
)

// TestSignUpIsNotHijacked lets a stranger sign up with the same address, before and after
// its holder. The holder's code must open the account only with the holder's password.
func TestSignUpIsNotHijacked(t *testing.T) {
	e := newExchange(t)
	up := func(password, from string) string {
		e.want("POST /signup", `{"email":"`+ada+`","password":"`+password+`"}`, "", 200, `{}`, source(from))
		return e.code(ada)
	}
	up("hijack before", stranger)
	mine := up(password, "192.0.2.7")
	theirs := up("hijack after!", stranger)

	verify := func(code, password string) string {
		return `{"email":"` + ada + `","code":"` + code + `","password":"` + password + `"}`
	}
	bare := `{"email":"` + ada + `","code":"` + mine + `"}`
	e.fails("PATCH /signup", bare, "", 401, "INVALID_VERIFICATION_CODE")
	if got := e.ask("PATCH /signup", bare, ""); !strings.Contains(got.Body.String(), "Several sign-ups") {
		t.Errorf("the answer does not say why: %s", got.Body)
	}
	e.fails("PATCH /signup", verify(theirs, password), "", 401, "INVALID_VERIFICATION_CODE")
	e.fails("PATCH /signup", verify(mine, "hijack after!"), "", 401, "INVALID_VERIFICATION_CODE")
	e.fails("PATCH /signup", verify(mine, "short"), "", 400, "VALIDATION_ERROR")
	for range 6 { // a stranger cannot end the holder's code
		e.fails("PATCH /signup", verify(other(theirs), "hijack after!"), "", 401, "INVALID_VERIFICATION_CODE", source(stranger))
	}
	e.want("PATCH /signup", verify(mine, password), "", 200, `{}`)
	e.logIn(ada)
	e.fails("PATCH /signup", verify(theirs, "hijack after!"), "", 401, "INVALID_VERIFICATION_CODE", source(stranger))
}

// TestEndedSignUpStillCounts checks that a sign-up whose code was ended by wrong attempts
// still requires the password for a later one.
func TestEndedSignUpStillCounts(t *testing.T) {
	e := newExchange(t)
	e.want("POST /signup", `{"email":"`+ada+`","password":"`+password+`"}`, "", 200, `{}`)
	for range 5 {
		e.fails("PATCH /signup", `{"email":"`+ada+`","code":"`+other(e.code(ada))+`"}`, "", 401, "INVALID_VERIFICATION_CODE")
	}
	e.want("POST /signup", `{"email":"`+ada+`","password":"hijack after!"}`, "", 200, `{}`, source(stranger))
	e.fails("PATCH /signup", `{"email":"`+ada+`","code":"`+e.code(ada)+`"}`, "", 401, "INVALID_VERIFICATION_CODE")
}

// TestResetEndsKeys checks that a password reset revokes keys for good, and that the
// holder was told of the key.
func TestResetEndsKeys(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	key := account.Secret(secret.FindString(e.ask("POST /api-keys", `{"description":"http://evil.example/","scopes":["withdraw"]}`, session).Body.String()))
	e.lastLetter(ada, "API key 1 was made: scopes withdraw, from anywhere, without expiry")
	if m, _ := e.box.Last(ada); strings.Contains(m.Text, "evil") {
		t.Errorf("a letter bears what a client wrote: %q", m.Text)
	}
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	e.want("PATCH /password", `{"email":"`+ada+`","code":"`+e.code(ada)+`","password":"`+battery+`"}`, "", 200, `{}`)
	e.fails("GET /activity", "", key, 403, "INVALID_KEY")
	e.fails("GET /email", "", session, 403, "INVALID_KEY")
}

// lastLetter checks the text of the last letter to an address.
func (e *exchange) lastLetter(to, want string) {
	e.Helper()
	if m, _ := e.box.Last(to); !strings.Contains(m.Text, want) {
		e.Errorf("the last letter to %s is %q, want %q", to, m.Text, want)
	}
}

const countess = "countess@example.com"

// move changes the address of an account, confirmed by the code mailed to the old one.
func (e *exchange) move(session account.Secret, from, to string) {
	e.Helper()
	put := `{"email":"` + to + `","password":"` + password + `"}`
	e.fails("PUT /email", put, session, 511, "REQUIRE_2FA")
	e.want("PUT /email", with(put, "code2FA", e.code(from)), session, 200, `{"email":"`+from+`","pendingChange":"`+to+`"}`)
	e.want("PATCH /email", `{"code":"`+e.code(to)+`"}`, session, 200, `{"email":"`+to+`","pendingChange":null}`)
}

// TestAddressChangeIsConfirmed checks that a change of address needs the current second
// factor besides the password.
func TestAddressChangeIsConfirmed(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	put := `{"email":"` + countess + `","password":"` + password + `"}`
	e.fails("PUT /email", strings.Replace(put, password, battery, 1), session, 401, "WRONG_PASSWORD")
	e.fails("PUT /email", put, session, 511, "REQUIRE_2FA")
	e.lastLetter(ada, "Change the address of the account to "+countess)
	if e.letters[countess] != 0 {
		t.Error("the new address was mailed before the old one confirmed")
	}
	e.want("GET /email", "", session, 200, `{"email":"`+ada+`","pendingChange":null}`)
	e.fails("PUT /email", with(put, "code2FA", other(e.code(ada))), session, 403, "INVALID_2FA")
	e.want("PUT /email", with(put, "code2FA", e.code(ada)), session, 200, `{"email":"`+ada+`","pendingChange":"`+countess+`"}`)

	url := e.confirmed("PUT /mfa/providers/GA", `{}`, session,
		`{"url":"otpauth://totp/Bourse:ada@example.com?algorithm=SHA1&digits=6&issuer=Bourse&period=30&SECRET","secret":"SECRET"}`)
	e.want("POST /mfa/providers/GA", `{"code2FA":"`+e.totpCode(url)+`"}`, session, 200, `{}`)
	e.want("GET /email", "", session, 200, `{"email":"`+ada+`","pendingChange":null}`) // confirmed by another factor
	e.want("PUT /email", put, session, 511, `{"error":{"code":"REQUIRE_2FA","msg":"your authenticator app"}}`)
}

// TestUndoAddress lets a thief take over an account and its holder recover it from the
// old address.
func TestUndoAddress(t *testing.T) {
	e := newExchange(t)
	thief := e.join(ada)
	e.move(thief, ada, countess)
	e.lastLetter(ada, "c***@example.com")
	undo := `{"email":"` + ada + `","code":"` + e.code(ada) + `"}`
	key := account.Secret(secret.FindString(e.ask("POST /api-keys", `{"description":"one"}`, thief).Body.String()))
	e.fails("PUT /mfa/providers/GA", `{}`, thief, 511, "REQUIRE_2FA")
	url := e.want("PUT /mfa/providers/GA", `{"code2FA":"`+e.code(countess)+`"}`, thief, 200,
		`{"url":"otpauth://totp/Bourse:countess@example.com?algorithm=SHA1&digits=6&issuer=Bourse&period=30&SECRET","secret":"SECRET"}`)
	e.want("POST /mfa/providers/GA", `{"code2FA":"`+e.totpCode(url)+`"}`, thief, 200, `{}`)

	for range 6 { // a stranger cannot end the code
		e.ask("DELETE /email", strings.Replace(undo, e.code(ada), other(e.code(ada)), 1), "", source(stranger))
	}
	e.fails("DELETE /email", strings.Replace(undo, ada, mallory, 1), "", 401, "INVALID_VERIFICATION_CODE")
	e.fails("DELETE /email", `{"email":"`+ada+`","code":"12345"}`, "", 400, "VALIDATION_ERROR")
	e.fails("DELETE /email", `{"email":"`+ada+`"}`, "", 400, "MISSING_DATA")
	e.fails("DELETE /email", "", "", 401, "UNAUTHORIZED")
	e.now = e.now.Add(6 * 24 * time.Hour)
	e.want("DELETE /email", undo, "", 200, `{}`)
	e.lastLetter(countess, "a***@example.com")
	e.fails("DELETE /email", undo, "", 401, "INVALID_VERIFICATION_CODE")
	e.fails("GET /email", "", thief, 403, "INVALID_KEY")
	e.fails("GET /activity", "", key, 403, "INVALID_KEY")
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"`+password+`"}`, "", 401, "LOGIN_FAILED")
	who, _, err := e.accounts.ByEmail(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if until := e.accounts.HeldUntil(who.ID); until.Std().Before(e.now.Add(7 * 24 * time.Hour)) {
		t.Errorf("withdrawals wait until %v", until.Std())
	}

	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	e.want("PATCH /password", `{"email":"`+ada+`","code":"`+e.code(ada)+`","password":"`+password+`"}`, "", 200, `{}`)
	session := e.logIn(ada)
	if f, err := e.accounts.Factors(t.Context(), who.ID); err != nil || f.Used || f.Prepared {
		t.Errorf("the thief's application is still there: %+v %v", f, err)
	}
	e.want("GET /email", "", session, 200, `{"email":"`+ada+`","pendingChange":null}`)
}

// TestUndoReachesOverChanges checks that the first address reverts a chain of changes,
// after which the codes of the later ones are invalid; and that a code expires after 7
// days.
func TestUndoReachesOverChanges(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.move(session, ada, countess)
	first := e.code(ada)
	e.move(session, countess, mallory)
	between := e.code(countess)
	e.want("DELETE /email", `{"email":"`+ada+`","code":"`+first+`"}`, "", 200, `{}`)
	e.fails("DELETE /email", `{"email":"`+countess+`","code":"`+between+`"}`, "", 401, "INVALID_VERIFICATION_CODE")

	late := newExchange(t)
	session = late.join(ada)
	late.move(session, ada, countess)
	late.now = late.now.Add(7 * 24 * time.Hour)
	late.fails("DELETE /email", `{"email":"`+ada+`","code":"`+late.code(ada)+`"}`, "", 401, "INVALID_VERIFICATION_CODE")
}

// TestStrangersLockNobodyOut lets strangers log in wrongly and request resets. The holder
// must still be able to change the password with a session, log in from a known source,
// reset the password and receive second factors.
func TestStrangersLockNobodyOut(t *testing.T) {
	e := newLimited(t, account.Limits{WrongPasswords: 100, WrongCodes: 20, Letters: 20, LettersToAddress: 5, LettersBySource: 20})
	session := e.join(ada)
	for i := range 30 {
		from := source(fmt.Sprintf("198.51.100.%d", i))
		e.ask("POST /sessions", `{"email":"`+ada+`","password":"wrong horse"}`, "", from)
		e.ask("DELETE /password", `{"email":"`+ada+`"}`, "", from)
		e.ask("PATCH /password", `{"email":"`+ada+`","code":"000000","password":"`+battery+`"}`, "", from)
	}
	if n := e.letters[ada]; n > 1+5 {
		t.Errorf("strangers caused %d letters", n-1)
	}
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"`+password+`"}`, "", 429, "RATE_LIMIT", source(stranger))

	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":false}}`, session, cases(false, false, false))
	e.logIn(ada)
	e.want("PUT /password", `{"oldPassword":"`+password+`","password":"`+battery+`"}`, session, 200, `{}`)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	mine := e.code(ada)
	for i := range 30 { // repeated requests from elsewhere neither replace nor end the code
		from := source(fmt.Sprintf("203.0.113.%d", i))
		e.ask("DELETE /password", `{"email":"`+ada+`"}`, "", from)
		e.ask("PATCH /password", `{"email":"`+ada+`","code":"`+other(mine)+`","password":"`+battery+`"}`, "", from)
	}
	e.want("PATCH /password", `{"email":"`+ada+`","code":"`+mine+`","password":"`+password+`"}`, "", 200, `{}`)
	e.logIn(ada)
}

// TestLiveCodeIsMailedAgain requests a code twice from one source, and expects the same
// one.
func TestLiveCodeIsMailedAgain(t *testing.T) {
	e := newExchange(t)
	e.join(ada)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	code, letters := e.code(ada), e.letters[ada]
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	if e.code(ada) != code || e.letters[ada] != letters+1 {
		t.Errorf("asked again: code %s, was %s, %d letters", e.code(ada), code, e.letters[ada]-letters)
	}
}

// TestResetCodeDies checks that a reset code is invalid after a change of the password or
// the address.
func TestResetCodeDies(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	reset := `{"email":"` + ada + `","code":"` + e.code(ada) + `","password":"` + battery + `"}`
	e.want("PUT /password", `{"oldPassword":"`+password+`","password":"correct horses"}`, session, 200, `{}`)
	e.fails("PATCH /password", reset, "", 401, "INVALID_VERIFICATION_CODE")
	e.want("PUT /password", `{"oldPassword":"correct horses","password":"`+password+`"}`, session, 200, `{}`)

	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	reset = `{"email":"` + ada + `","code":"` + e.code(ada) + `","password":"` + battery + `"}`
	e.move(session, ada, countess)
	e.fails("PATCH /password", reset, "", 401, "INVALID_VERIFICATION_CODE")
	e.fails("PATCH /password", strings.Replace(reset, ada, countess, 1), "", 401, "INVALID_VERIFICATION_CODE")
}

// drawing matches the drawn values of a captcha.
var drawing = regexp.MustCompile(`"(challenge|img)":"[^"]+"`)

// TestUnknownAddressesCostAlike sends the same requests for an address with an account
// and one without, far beyond all limits, and expects the same answers, but for what a
// captcha draws, and the same calls to the store.
func TestUnknownAddressesCostAlike(t *testing.T) {
	limits := account.Limits{WrongPasswords: 12, WrongCodes: 6, Letters: 20, LettersToAddress: 3, LettersBySource: 6}
	for what, request := range map[string][2]string{
		"log in":   {"POST /sessions", `{"email":"EMAIL","password":"wrong horse"}`},
		"sign up":  {"POST /signup", `{"email":"EMAIL","password":"wrong horse"}`},
		"verify":   {"PATCH /signup", `{"email":"EMAIL","code":"000000","password":"wrong horse"}`},
		"forgot":   {"DELETE /password", `{"email":"EMAIL"}`},
		"reset":    {"PATCH /password", `{"email":"EMAIL","code":"000000","password":"wrong horse"}`},
		"undo":     {"DELETE /email", `{"email":"EMAIL","code":"0000-0000-0000-0000"}`},
		"captchas": {"GET /signup/captcha?email=EMAIL", ""},
	} {
		t.Run(what, func(t *testing.T) {
			e := newLimited(t, limits)
			e.join(ada)
			observe := func(email, from string) (seen []string) {
				for range 14 {
					e.calls = nil
					got := e.ask(strings.Replace(request[0], "EMAIL", email, 1), strings.Replace(request[1], "EMAIL", email, 1), "", source(from))
					seen = append(seen, fmt.Sprint(got.Code, drawing.ReplaceAllString(got.Body.String(), `"$1"`), e.calls))
				}
				return seen
			}
			known, unknown := observe(ada, "198.51.100.1"), observe("nobody@example.com", "203.0.113.1")
			if !slices.Equal(known, unknown) {
				t.Errorf("they differ:\n%v\n%v", known, unknown)
			}
		})
	}
}

// TestGuessingCodesFromOneSource checks that only a source that guesses codes of many
// accounts is refused.
func TestGuessingCodesFromOneSource(t *testing.T) {
	e := newLimited(t, account.Limits{WrongCodes: 20})
	e.join(ada)
	e.want("DELETE /password", `{"email":"`+ada+`"}`, "", 200, `{}`)
	answers := map[int]int{}
	for i := range 100 {
		email := fmt.Sprintf("p%d@example.com", i)
		e.ask("DELETE /password", `{"email":"`+email+`"}`, "", source(stranger))
		got := e.ask("PATCH /password", `{"email":"`+email+`","code":"000000","password":"`+battery+`"}`, "", source(stranger))
		answers[got.Code]++
	}
	if answers[401] != 20 || answers[429] != 80 {
		t.Errorf("100 guesses: %v", answers)
	}
	e.want("PATCH /password", `{"email":"`+ada+`","code":"`+e.code(ada)+`","password":"`+battery+`"}`, "", 200, `{}`)
}

// TestGuessingOneAccount checks that five wrong attempts end a code, and that other
// sources than the code's have ten attempts a day.
func TestGuessingOneAccount(t *testing.T) {
	e := newLimited(t, account.Limits{LettersToAddress: 5})
	e.join(ada)
	answers := map[int]int{}
	for i := range 40 {
		from := source(fmt.Sprintf("203.0.113.%d", i))
		if i < 20 {
			e.ask("DELETE /password", `{"email":"`+ada+`"}`, "", from)
		}
		for range 10 {
			got := e.ask("PATCH /password", `{"email":"`+ada+`","code":"000000","password":"`+battery+`"}`, "", from)
			answers[got.Code]++
		}
	}
	// One of the letters was that of the sign-up.
	if e.letters[ada] != 5 || answers[401] != 4*5+10 || answers[200] != 0 {
		t.Errorf("%d letters; guesses: %v", e.letters[ada], answers)
	}
}

// TestLettersToStrangers lets an account request sixty addresses, and expects five
// letters an hour and ten a day.
func TestLettersToStrangers(t *testing.T) {
	e := newLimited(t, account.Limits{LettersToAddress: 5, LettersBySource: 20})
	session := e.join(ada)
	for hour := range 3 {
		sent := 0
		for i := range 60 {
			to := fmt.Sprintf("p%d-%d@example.com", hour, i)
			put := `{"email":"` + to + `","password":"` + password + `"}`
			if got := e.ask("PUT /email", put, session); got.Code == 511 {
				e.ask("PUT /email", with(put, "code2FA", e.code(ada)), session)
			}
			sent += e.letters[to]
		}
		if want := []int{5, 5, 0}[hour]; sent != want {
			t.Errorf("in hour %d strangers got %d letters, want %d", hour, sent, want)
		}
		e.now = e.now.Add(time.Hour + time.Second)
	}
}

// TestLettersOfASource checks that only the source at its limit gets no more letters.
func TestLettersOfASource(t *testing.T) {
	e := newLimited(t, account.Limits{LettersToAddress: 5, LettersBySource: 20})
	answers := map[int]int{}
	for i := range 30 {
		answers[e.ask("POST /signup", fmt.Sprintf(`{"email":"p%d@example.com","password":"%s"}`, i, password), "", source(stranger)).Code]++
	}
	if answers[200] != 20 || answers[429] != 10 {
		t.Errorf("30 sign-ups: %v", answers)
	}
	e.want("POST /signup", `{"email":"`+ada+`","password":"`+password+`"}`, "", 200, `{}`)
}

// TestLettersSayWhatTheyConfirm reads the letters of second factors.
func TestLettersSayWhatTheyConfirm(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	for _, c := range []struct{ what, body, says string }{
		{"PUT /mfa/providers/GA", `{}`, "Prepare an authenticator application"},
		{"PUT /email", `{"email":"` + countess + `","password":"` + password + `"}`, "Change the address of the account to countess@example.com"},
		{"PATCH /mfa/cases", `{"cases":{"LOGIN":true,"API_KEY":true,"WITHDRAWAL":false}}`,
			"Change what a second factor is asked for, LOGIN,API_KEY on, WITHDRAWAL off"},
	} {
		e.fails(c.what, c.body, session, 511, "REQUIRE_2FA")
		e.lastLetter(ada, c.says+"\n\nIt came from 192.0.2.7.")
	}
	e.confirmed("PATCH /mfa/cases", `{"cases":{"LOGIN":true,"API_KEY":true}}`, session, cases(true, false, true))
	e.fails("POST /sessions", `{"email":"`+ada+`","password":"`+password+`"}`, "", 511, "REQUIRE_2FA")
	e.lastLetter(ada, "Log in")
	e.fails("POST /api-keys", `{"description":"call +1 900 123456","scopes":["read","withdraw"],"ips":["192.0.2.0/24"],"expires":1700000100}`, session, 511, "REQUIRE_2FA")
	e.lastLetter(ada, "Make an API key: scopes read,withdraw, from [192.0.2.0/24], until 2023-11-14T22:15:00Z")
	if m, _ := e.box.Last(ada); strings.Contains(m.Text, "call") {
		t.Errorf("the letter bears a client's text: %q", m.Text)
	}
}

// TestPasswordIsConfirmed checks that a new password needs the second factor if the
// exchange demands it.
func TestPasswordIsConfirmed(t *testing.T) {
	e := newExchange(t)
	session := e.join(ada)
	e.accounts.AlwaysConfirm = true
	put := `{"oldPassword":"` + password + `","password":"` + battery + `"}`
	e.fails("PUT /password", strings.Replace(put, password, "wrong horse", 1), session, 401, "WRONG_PASSWORD")
	e.fails("PUT /password", put, session, 511, "REQUIRE_2FA")
	e.lastLetter(ada, "Change the password")
	e.want("PUT /password", with(put, "code2FA", e.code(ada)), session, 200, `{}`)
}

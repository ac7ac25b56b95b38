package abuse

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// victim is an e-mail address that the attackers know.
const victim = "victim@people.example"

// person has an account with a password.
type person struct {
	*honest
	email, password, session string
	client                   *http.Client
}

// must sends a request that must succeed.
func (p *person) must(method, path string, body fields) ([]byte, error) {
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	a, err := request(p.client, method, "http://"+p.x.address+"/account/v2"+path, text, p.session, nil)
	if err == nil && !a.taken() {
		err = fmt.Errorf("%d %s", a.status, a.body)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s %s: %w", p.email, method, path, err)
	}
	return a.body, nil
}

// join signs up and logs in.
func (p *person) join() error {
	a, err := signUp(p.client, p.x.address, p.email, p.password)
	if err == nil && !a.taken() {
		err = fmt.Errorf("%d %s", a.status, a.body)
	}
	if err != nil {
		return fmt.Errorf("%s: signing up: %w", p.email, err)
	}
	code, err := p.x.code(p.email)
	if err != nil {
		return err
	}
	if _, err := p.must(http.MethodPatch, "/signup", fields{"email": p.email, "code": code, "password": p.password}); err != nil {
		return err
	}
	return p.logIn()
}

// logIn starts a session.
func (p *person) logIn() error {
	p.session = ""
	body, err := p.must(http.MethodPost, "/sessions", fields{"email": p.email, "password": p.password})
	if err == nil {
		p.session = fieldOf(body, "apiKey")
	}
	return err
}

// reset sets a new password with a mailed code.
func (p *person) reset() error {
	p.session = ""
	if _, err := p.must(http.MethodDelete, "/password", fields{"email": p.email}); err != nil {
		return err
	}
	code, err := p.x.code(p.email)
	if err != nil {
		return err
	}
	p.password += "!"
	_, err = p.must(http.MethodPatch, "/password", fields{"email": p.email, "code": code, "password": p.password})
	return err
}

// confirmEverything turns all cases of the second factor on.
func (p *person) confirmEverything() error {
	cases := fields{"cases": fields{"LOGIN": true, "WITHDRAWAL": true, "API_KEY": true}}
	if _, err := p.must(http.MethodPatch, "/mfa/cases", cases); err == nil {
		return errors.New("no second factor was asked for")
	}
	code, err := p.x.code(p.email)
	if err != nil {
		return err
	}
	cases["code2FA"] = code
	_, err = p.must(http.MethodPatch, "/mfa/cases", cases)
	return err
}

// logOut ends the session.
func (p *person) logOut() error {
	_, err := p.must(http.MethodDelete, "/sessions/current", nil)
	p.session = ""
	return err
}

// visitCommands bounds the commands of a visit: an account, its password, the holds and
// revocations of a reset.
const visitCommands = 12

// knownEvery is the number of visits in the full form per log-in of the known person: an
// account has 100 log-ins an hour.
const knownEvery = 4

// visit lets a newcomer sign up, log in, reset the password and log in again, and often
// the known person log in and out.
func (h *honest) visit() error {
	h.commands.Add(visitCommands)
	h.visits++
	p := &person{honest: h, email: fmt.Sprintf("new%d@people.example", numbers.Add(1)), password: "correct horse"}
	p.client = clientFrom(newSource(peopleNetwork), true)
	defer p.client.CloseIdleConnections()
	newcomer := inTurn(p.join, p.reset, p.logIn, p.logOut)
	if *fullFlag && h.visits%knownEvery != 1 {
		return newcomer
	}
	return errors.Join(newcomer, inTurn(h.known.logIn, h.known.logOut))
}

// inTurn calls the steps until one fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse/internal/outside"
)

// operator runs the operator's commands.
type operator struct {
	// command is the command line before the verb.
	command []string
	// socket is a client of the operators' socket, nil if its path is unknown. Frequent
	// verbs use it directly, because a thousand starts of the command take longer than
	// all checks.
	socket *http.Client
	// cluster has the commands and sockets of several nodes; nil for one.
	cluster *cluster
}

// do runs a verb and returns its output.
func (o *operator) do(args ...string) (map[string]any, error) {
	out, err := o.run(args)
	if err != nil {
		return nil, fmt.Errorf("admin %s: %w", strings.Join(args, " "), err)
	}
	answer := map[string]any{}
	if out = bytes.TrimSpace(out); len(out) > 0 {
		if err := json.Unmarshal(out, &answer); err != nil {
			return nil, fmt.Errorf("admin %s: %w", strings.Join(args, " "), err)
		}
	}
	return answer, nil
}

// run carries a verb out, of several nodes at the leader.
func (o *operator) run(args []string) (out []byte, err error) {
	if o.cluster == nil {
		return o.carryOut(args)
	}
	err = o.cluster.taken(func(at int) (bool, error) {
		one := operator{command: []string{o.cluster.binary, "admin", "--data", o.cluster.dir(at)}, socket: o.cluster.sockets[at]}
		out, err = one.carryOut(args)
		return err == nil || !notDone(err), err
	})
	return out, err
}

// sure carries a verb out again until there is an answer, which unrest may lose. It is for what a check undoes.
func (o *operator) sure(args []string) error {
	for {
		_, err := o.run(args)
		if err == nil || o.cluster == nil || !unanswered(err) {
			return err
		}
	}
}

// unanswered reports whether nobody knows if a verb was carried out.
func unanswered(err error) bool {
	return slices.ContainsFunc([]string{"EOF", "reset by peer", "broken pipe", "Outcome unknown"}, func(why string) bool {
		return strings.Contains(err.Error(), why)
	})
}

// notDone reports whether an operator's verb was not carried out, because the node does not lead.
func notDone(err error) bool {
	return undialed(err) || slices.ContainsFunc([]string{"nothing was done", "no exchange runs", notTaken}, func(why string) bool {
		return strings.Contains(err.Error(), why)
	})
}

func (o *operator) carryOut(args []string) ([]byte, error) {
	if path, body := frequent(args); path != "" && o.socket != nil {
		return o.ask(path, body)
	}
	words := append(o.command[1:len(o.command):len(o.command)], args...)
	out, err := exec.Command(o.command[0], words...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

// frequent returns the socket's request for the verbs that open accounts and write notices.
func frequent(args []string) (path string, body fields) {
	switch {
	case args[0] == "account" && args[1] == "create":
		return "account/create", fields{"email": args[2]}
	case args[0] == "key" && args[1] == "create" && len(args) == 7:
		return "key/create", fields{"account": number(args[2]), "name": args[4], "scopes": args[6], "addresses": "", "expires": ""}
	case args[0] == "notice" && args[1] == "add":
		return "notice/add", fields{"kind": args[2], "title": args[3], "body": args[4]}
	case args[0] == "notice" && args[1] == "end":
		return "notice/end", fields{"id": number(args[2])}
	case args[0] == "credit":
		return "credit", fields{"account": number(args[1]), "asset": args[2], "amount": args[3]}
	}
	return "", nil
}

func (o *operator) ask(path string, body fields) ([]byte, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return outside.Post(o.socket, "http://admin/"+path, b)
}

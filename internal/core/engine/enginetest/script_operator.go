package enginetest

import (
	"fmt"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// hire reads NAME ROLE [disabled], of a new operator or of one to change.
func (s *Script) hire(verb string, words []string) error {
	plain, set := split(words, "disabled")
	if err := want(plain, 2); err != nil {
		return err
	}
	role, ok := bourse.ParseOperatorRole(plain[1])
	if !ok {
		return fmt.Errorf("no role %s", plain[1])
	}

	cmd := &bourse.Command{Kind: bourse.CommandAddOperator, Operators: &bourse.OperatorCommand{
		Define: bourse.Operator{Role: role, Enabled: set["disabled"] == "", Digest: bourse.RowDigest{1}},
	}}
	if verb == "change" {
		id, err := s.operatorNamed(plain[0])
		if err != nil {
			return err
		}
		cmd.Kind, cmd.Operators.Define.ID = bourse.CommandChangeOperator, id
	} else if _, ok := s.hired[plain[0]]; !ok {
		s.hired[plain[0]] = bourse.OperatorID(len(s.hired) + 1)
	}
	return s.apply(cmd)
}

func (s *Script) operatorNamed(name string) (bourse.OperatorID, error) {
	if id, ok := s.hired[name]; ok || name == "nobody" {
		return id, nil
	}
	return 0, fmt.Errorf("no operator %s", name)
}

// act reads OPERATOR [wrong] and a command.
func (s *Script) act(words []string) error {
	if len(words) < 2 {
		return want(words, 2)
	}
	by, err := s.operatorNamed(words[0])
	if err != nil {
		return err
	}
	wrong := words[1] == "wrong"
	if words = words[1:]; wrong {
		words = words[1:]
	}

	s.ordering = func(ordered *bourse.Command) error {
		cmd := record.NewAct(s.pair.Engine.Genesis(), by, bourse.Token{byte(s.seq)}, "why", ordered)
		if wrong {
			cmd.Operators.Digest[0]++
		}
		return s.apply(&cmd)
	}
	err = s.verb(words)
	s.ordering = nil
	return err
}

// decide reads OPERATOR ACT.
func (s *Script) decide(verb string, words []string) error {
	if err := want(words, 2); err != nil {
		return err
	}
	var r reader
	by, err := s.operatorNamed(words[0])
	read(&r, 0, err)
	id, err := strconv.ParseUint(words[1], 10, 64)
	if read(&r, 0, err); r.err != nil {
		return r.err
	}

	cmd := &bourse.Command{Kind: bourse.CommandDropAct, Operators: &bourse.OperatorCommand{
		By: [2]bourse.OperatorID{by}, Act: bourse.Seq(id),
	}}
	if verb == "approve" {
		cmd.Kind, cmd.Operators.By = bourse.CommandApproveAct, [2]bourse.OperatorID{1, by}
	}
	if at := s.pair.Oracle.waitingAct(cmd.Operators.Act); at >= 0 {
		a := &s.pair.Oracle.acts[at]
		cmd.Operators.Digest = a.Digest
		if verb == "approve" && a.By[0] != 0 {
			cmd.Operators.By[0] = a.By[0]
		}
	}
	return s.apply(cmd)
}

func (s *Script) showOperator(o *bourse.Operator) {
	state := "enabled"
	if !o.Enabled {
		state = "disabled"
	}
	s.tell("operator %d is %s, %s", o.ID, o.Role, state)
}

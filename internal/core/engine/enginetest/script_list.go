package enginetest

import (
	"slices"
	"strconv"

	"github.com/bourse-exchange/bourse"
)

// oco reads ACCOUNT, then two orders as in place, parted by the word and.
func (s *Script) oco(words []string) error {
	if len(words) == 0 {
		return want(words, 1)
	}

	cmd := bourse.Command{Kind: bourse.CommandPlaceList, List: &bourse.NewList{Type: bourse.OCO}}
	rest := words[1:]
	for len(rest) > 0 {
		end := slices.Index(rest, "and")
		if end < 0 {
			end = len(rest)
		}
		one, err := s.placing(append([]string{words[0]}, rest[:end]...))
		if err != nil {
			return err
		}
		cmd.Account = one.Account
		cmd.List.Orders = append(cmd.List.Orders, one.NewOrder)
		rest = rest[min(end+1, len(rest)):]
	}
	return s.apply(&cmd)
}

// ofAccount reads ACCOUNT ID and applies a command about the id.
func (s *Script) ofAccount(kind bourse.CommandKind, words []string) error {
	if err := want(words, 2); err != nil {
		return err
	}
	id, err := s.accountNamed(words[0])
	if err != nil {
		return err
	}
	order, err := strconv.ParseUint(words[1], 10, 64)
	if err != nil {
		return err
	}
	return s.apply(&bourse.Command{Kind: kind, Account: id, Order: bourse.OrderID(order)})
}

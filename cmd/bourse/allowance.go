package main

import (
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/node"
)

// allowance is a limit of the signer, such as BTC=5:20: five in an hour, twenty in a day.
type allowance node.SignerLimit

// UnmarshalText reads a limit.
func (a *allowance) UnmarshalText(text []byte) error {
	symbol, amounts, named := strings.Cut(string(text), "=")
	hour, day, both := strings.Cut(amounts, ":")
	if !named || !both || symbol == "" {
		return fmt.Errorf("%q is no limit of the signer; write ASSET=HOUR:DAY, such as BTC=5:20", text)
	}
	a.Asset = bourse.Symbol(symbol)
	for _, f := range [...]struct {
		text string
		to   *bourse.Amount
	}{{hour, &a.Hour}, {day, &a.Day}} {
		var err error
		if *f.to, err = bourse.ParseAmount(f.text, node.SignerScale); err != nil {
			return fmt.Errorf("%q is no limit of the signer: %w", text, err)
		}
	}
	return nil
}

func allowances(list []allowance) (limits []node.SignerLimit) {
	for _, a := range list {
		limits = append(limits, node.SignerLimit(a))
	}
	return limits
}

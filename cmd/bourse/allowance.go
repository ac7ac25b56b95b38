package main

import (
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/node"
)

// allowance is a limit of the signer, such as BTC=1:5:20: one in a withdrawal, five in an
// hour, twenty in a day. BTC=5:20 is BTC=5:5:20.
type allowance node.SignerLimit

// UnmarshalText reads a limit.
func (a *allowance) UnmarshalText(text []byte) error {
	symbol, amounts, named := strings.Cut(string(text), "=")
	parts := strings.Split(amounts, ":")
	if len(parts) == 2 {
		parts = append(parts[:1:1], parts...)
	}
	if !named || len(parts) != 3 || symbol == "" {
		return fmt.Errorf("%q is no limit of the signer; write ASSET=PAYMENT:HOUR:DAY, such as BTC=1:5:20", text)
	}

	a.Asset = bourse.Symbol(symbol)
	for i, to := range [...]*bourse.Amount{&a.Payment, &a.Hour, &a.Day} {
		var err error
		if *to, err = bourse.ParseAmount(parts[i], node.SignerScale); err != nil {
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

// Package bourse is the vocabulary of the exchange: amounts, prices, orders,
// trades, commands, events and errors.
//
// It stands at the bottom of the layers: everything imports it and it imports
// nothing of ours. Its types carry no behaviour beyond arithmetic, parsing and
// formatting; what is done with them is decided in internal/core.
//
// Invariants: no value here holds a float; money is an [Amount] at the ledger
// scale of its asset; a price is a count of ticks and a quantity a count of
// lots of its market; every enum starts at one, so that zero means absent.
//
// Read amount.go and decimal.go first, then order.go, command.go and event.go.
// The tour of the whole system is in internal/core/engine.
package bourse

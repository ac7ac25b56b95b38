// Package bourse is the vocabulary of the exchange: amounts, prices, orders, trades,
// commands, events and errors.
//
// It is the bottom layer: every package imports it, and it imports no package of the
// module. Its types have no behaviour beyond arithmetic, parsing, formatting and
// checks of form; internal/core decides on them.
//
// Invariants: no value is a float; money is an [Amount] at the ledger scale of its asset;
// a price is a count of ticks and a quantity a count of lots of its market; every enum
// starts at one, so that zero means absent.
//
// Read amount.go and decimal.go first, then order.go, command.go and event.go. The tour
// of the whole system is in internal/core/engine.
package bourse

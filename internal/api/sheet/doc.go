// Package sheet writes rows as CSV (RFC 4180) for spreadsheets.
//
// It stands at the edge, beside the interfaces that answer with CSV, and imports none of ours.
//
// Invariants: no cell is a formula to a spreadsheet, whoever wrote its text.
package sheet

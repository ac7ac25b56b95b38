// Package sheet writes rows as CSV (RFC 4180) for spreadsheets.
//
// It stands at the edge, beside the interfaces that answer with CSV.
//
// Invariants: no cell is a formula to a spreadsheet, whatever its text.
package sheet

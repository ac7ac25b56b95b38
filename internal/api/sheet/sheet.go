package sheet

import (
	"encoding/csv"
	"io"
	"regexp"
)

// Writer writes rows. Not safe for concurrent use.
type Writer struct{ out *csv.Writer }

// NewWriter returns a writer of rows.
func NewWriter(out io.Writer) *Writer {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	return &Writer{w}
}

// Rows writes rows without the carriage returns in their cells. It changes the cells of rows.
func (w *Writer) Rows(rows ...[]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = plain(row[i])
		}
	}
	return w.out.WriteAll(rows)
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// formula matches the start of a formula: at the start of a cell, or after a semicolon, which
// separates cells where the decimal sign is a comma. Spaces and quotes may come before. East Asian
// spreadsheets take the wide signs as well.
var formula = regexp.MustCompile(`(^|;)([\s\pZ"]*[=+\-@＝＋－＠]|[\t\r\n])`)

// plain returns a cell that is text, or a decimal, to a spreadsheet: a quote comes before what
// would be a formula.
func plain(cell string) string {
	if decimal.MatchString(cell) {
		return cell
	}
	return formula.ReplaceAllString(cell, "$1'$2")
}

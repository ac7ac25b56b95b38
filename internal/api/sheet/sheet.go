package sheet

import (
	"encoding/csv"
	"io"
	"regexp"
	"strings"
)

// Writer writes rows. Not safe for concurrent use.
type Writer struct{ out *csv.Writer }

// NewWriter returns a writer of rows.
func NewWriter(out io.Writer) *Writer {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	return &Writer{w}
}

// Rows writes rows, without the carriage returns in their cells. Their cells are changed.
func (w *Writer) Rows(rows ...[]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = plain(row[i])
		}
	}
	return w.out.WriteAll(rows)
}

// starters begin what spreadsheets take for a formula, or for the end of a cell before one.
const starters = "=+-@\t\r\n"

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// plain returns a cell that is text, or a decimal, to a spreadsheet: one that would be a formula
// begins with a quote.
func plain(cell string) string {
	if cell == "" || !strings.ContainsRune(starters, rune(cell[0])) || decimal.MatchString(cell) {
		return cell
	}
	return "'" + cell
}

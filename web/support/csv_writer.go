package support

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/waitroom/waitroom/ledger/history"
)

// csvWriter writes RFC 4180: records end in CRLF, and a cell's own line breaks stay as they are. It keeps the
// first error until Flush.
type csvWriter struct {
	*bufio.Writer
	sheet *sheet // nil for programs
}

func newCSVWriter(w io.Writer, sheet *sheet) *csvWriter {
	out := csvTo(w, sheet)
	if sheet == nil {
		out.write(columns)
	} else {
		out.write(sheet.headings(columns))
	}
	return out
}

// csvTo writes for a sheet the mark that tells Excel of UTF-8.
func csvTo(w io.Writer, sheet *sheet) *csvWriter {
	out := &csvWriter{bufio.NewWriter(w), sheet}
	if sheet != nil {
		out.text("\uFEFF")
	}
	return out
}

// at returns a time as the file's reader reads times.
func (w *csvWriter) at(when history.Time) string {
	if w.sheet == nil {
		return when.String()
	}
	return w.sheet.at(when)
}

// cell returns a column's cell that stays what it is.
func (w *csvWriter) cell(column, text string) string {
	if w.sheet == nil {
		return harmless(text)
	}
	return w.sheet.cell(column, w.sheet.translated(column, text))
}

func (w *csvWriter) row(r history.Row) {
	by := w.cells(r)
	if a, ok := r.(history.Action); ok && w.sheet != nil { // to a person in the language of the rest
		by["reason"] = w.sheet.words.DeskReason(a.Name, a.Reason)
	}
	cells := make([]string, len(columns))
	for i, name := range columns {
		cells[i] = w.cell(name, by[name])
	}
	w.write(cells)
}

// more writes a last record that says that the export has more rows, with the cursor for them.
func (w *csvWriter) more(cursor string) {
	w.write(append([]string{"more", w.cell("cursor", cursor)}, make([]string, len(columns)-2)...))
}

func (w *csvWriter) write(cells []string) {
	for i, cell := range cells {
		if i > 0 {
			w.text(",")
		}
		w.text(quoted(cell))
	}
	w.text("\r\n")
}

func (w *csvWriter) text(text string) { _, _ = w.WriteString(text) }

// quoted returns a cell in quotes. Some readers trim unquoted cells.
func quoted(cell string) string {
	if !strings.ContainsAny(cell, ",\"\r\n") && strings.TrimSpace(cell) == cell {
		return cell
	}
	return `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
}

// formulas are the characters that begin a formula, also in full width.
const formulas = "=+-@\t\r\n＝＋－＠"

// harmless prevents a spreadsheet from reading a text as a formula.
func harmless(cell string) string {
	if first, size := utf8.DecodeRuneInString(cell); size > 0 && strings.ContainsRune(formulas, first) {
		return "'" + cell
	}
	return cell
}

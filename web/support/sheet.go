package support

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones by name, also where the machine has none
	"unicode"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// sheet writes an export for Excel: in the reader's language and zone, with cells that stay what they are.
type sheet struct {
	words templates.Text
	zone  *time.Location
}

// sheetOf returns the sheet that a request for CSV asks for; nil without bom=1: that file is for programs.
// ?zone= is the reader's zone by name, UTC if it is unknown.
func sheetOf(c *gin.Context) *sheet {
	if c.Query("bom") != "1" {
		return nil
	}
	return &sheet{templates.TextIn(request.Desk.Page(c.Request)), zoneNamed(c.Query("zone"))}
}

func zoneNamed(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // the server's own
		return time.UTC
	}
	return zone
}

const excelTime = "2006-01-02 15:04:05"

func (s *sheet) at(w history.Time) string {
	if w == 0 {
		return ""
	}
	return time.UnixMilli(int64(w)).In(s.zone).Format(excelTime)
}

// heading returns a column's name; that of times names their zone.
func (s *sheet) heading(column string) string {
	words := s.words.Desk.History.Columns[column]
	if words == "" {
		words = column
	}
	if slices.Contains(instants, column) {
		words += " (" + s.zone.String() + ")"
	}
	return words
}

// headings returns those of the columns.
func (s *sheet) headings(columns []string) []string {
	list := make([]string, len(columns))
	for i, column := range columns {
		list[i] = s.heading(column)
	}
	return list
}

// The columns whose cells Excel may read as a time, and as a number.
var (
	instants = []string{"joined_at", "granted_at", "ended_at", "sent_at", "received_at", "at", "until"}
	figures  = []string{"epoch", "ticket", "fence", "seconds", "from_position", "to_position"}
)

const (
	excelDigits = 15  // of a number that Excel keeps: it replaces further ones by zeros
	excelText   = 255 // characters of a text within a formula
)

// cell returns a cell that Excel shows as it is. A text with a digit may look like a number or a date in some
// language, and some words are truth values: such a cell is a formula that returns the text.
func (s *sheet) cell(column, text string) string {
	if slices.Contains(instants, column) || slices.Contains(figures, column) && len(text) <= excelDigits {
		return text
	}
	upper := strings.ToUpper(text)
	reads := strings.ContainsFunc(text, unicode.IsDigit) || upper == "TRUE" || upper == "FALSE"
	if !reads || len([]rune(text)) > excelText || strings.ContainsFunc(text, unicode.IsControl) {
		return harmless(text)
	}
	return `="` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// translated returns a cell of a column of the contract's words in the reader's.
func (s *sheet) translated(column, word string) string {
	d := s.words.Desk
	switch column {
	case "kind":
		return orSame(d.History.Kinds[word], word)
	case "outcome", "result":
		return orSame(d.Tags[word], word)
	case "action":
		return s.words.DeskAction(word)
	}
	return word
}

func orSame(words, word string) string {
	if words == "" || word == "" {
		return word
	}
	return words
}

package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// check is one measured number with the bar that it has to reach.
type check struct {
	name  string // "p50"; "" where there is one number alone
	value float64
	unit  string
	limit float64
	least bool // the value must be at least the limit, and otherwise at most
}

// holds reports whether the bar is reached; it is false for NaN.
func (c check) holds() bool {
	if math.IsNaN(c.value) {
		return false
	}
	if c.least {
		return c.value >= c.limit
	}
	return c.value <= c.limit
}

func (c check) String() string { return strings.TrimSpace(c.name + " " + number(c.value) + c.unit) }

// errUnmeasured reports a row that was not measured.
var errUnmeasured = errors.New("not measured")

// row is one line of the table.
type row struct {
	what, bar string
	checks    []check
	open      string // why it is not known whether it holds
	err       error  // why it was not measured
	how       string // what was done, and what peers did in the same run
}

func (r row) value() string {
	if r.err != nil {
		return "–"
	}
	var values []string
	for _, c := range r.checks {
		text := c.String()
		if !c.holds() && r.open == "" && len(r.checks) > 1 {
			text = "**" + text + "**"
		}
		values = append(values, text)
	}
	return strings.Join(values, ", ")
}

// verdict returns the words for a row: met only if all its checks hold.
func (r row) verdict() string {
	switch {
	case r.err != nil:
		return "**not measured**: " + oneLine(r.err.Error())
	case r.open != "":
		return "not judged: " + r.open
	case len(r.checks) == 0:
		return "**not measured**: nothing came"
	}
	for _, c := range r.checks {
		if !c.holds() {
			return "**missed**"
		}
	}
	return "yes"
}

// table returns the rows as Markdown.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| what | bar | value | holds? |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.what, r.bar, r.value(), r.verdict())
	}
	return b.String()
}

const longestError = 300

// oneLine makes a text fit into a table's cell.
func oneLine(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "/")
	if len(text) > longestError {
		return strings.ToValidUTF8(text[:longestError], "") + " …"
	}
	return text
}

// unmeasured returns the number of rows that were not measured.
func unmeasured(rows []row) (n int) {
	for _, r := range rows {
		if r.err != nil || r.open == "" && len(r.checks) == 0 {
			n++
		}
	}
	return n
}

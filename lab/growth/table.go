package main

import (
	"math"
	"strconv"
	"strings"
)

// table writes Markdown; the first column is text, the others are numbers.
type table struct{ strings.Builder }

func newTable(head ...string) *table {
	t := &table{}
	t.row(head...)
	t.WriteString("|---|" + strings.Repeat("--:|", len(head)-1) + "\n")
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

// rounded rounds to three significant digits.
func rounded(x float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 3, 64), 64)
	return v
}

// number formats a value with three significant digits, such as 12,300.
func number(x float64) string {
	if x = rounded(x); math.Abs(x) < 100 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func percent(x float64) string { return number(math.Round(1000*x)/10) + " %" }

// whole formats a count.
func whole(x float64) string {
	digits := strconv.FormatFloat(math.Ceil(x), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// span formats a duration.
func span(seconds float64) string {
	switch {
	case seconds < 2*3600:
		return number(seconds/60) + " min"
	case seconds < 2*86400:
		return number(seconds/3600) + " h"
	case seconds < 2*365*86400:
		return number(seconds/86400) + " days"
	}
	return number(seconds/365/86400) + " years"
}

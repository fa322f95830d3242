package main

import (
	"fmt"
	"strings"
)

// columns are the columns of the table, each with its number of digits.
var columns = []struct {
	head, name string
	digits     int
}{
	{"redis MiB", "used", 2}, {"redis RSS", "redis rss", 1}, {"keys", "keys", 0}, {"streams", "streams", 0},
	{"leases", "ended leases", 0},
	{"places", "places", 0}, {"inbox", "inbox", 0}, {"index", "index", 0}, {"RSS 1", "rss 1", 1},
	{"heap 1", "heap 1", 2}, {"gorout. 1", "goroutines 1", 0}, {"files 1", "files 1", 0},
	{"RSS 2", "rss 2", 1}, {"heap 2", "heap 2", 2}, {"gorout. 2", "goroutines 2", 0}, {"files 2", "files 2", 0},
}

// table returns a row for each hour, in MiB and numbers, each the mean of six measurements.
func table(hours []sample) string {
	var b strings.Builder
	b.WriteString("hour")
	for _, c := range columns {
		fmt.Fprintf(&b, " %9s", c.head)
	}
	b.WriteString("\n")
	for h, s := range hours {
		if h == warmUp {
			b.WriteString("from here on as much is forgotten as comes:\n")
		}
		fmt.Fprintf(&b, "%4d", h+1)
		for _, c := range columns {
			fmt.Fprintf(&b, " %9.*f", c.digits, s[c.name])
		}
		b.WriteString("\n")
	}
	return b.String()
}

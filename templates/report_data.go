package templates

import "strconv"

// ReportDay sums up one day of a room, in the contract's JSON.
type ReportDay struct {
	Day          string `json:"day"`
	Joined       int    `json:"joined"`
	Completed    int    `json:"completed"`
	Cancelled    int    `json:"cancelled"`
	Expired      int    `json:"expired"`
	Forced       int    `json:"forced"`
	Removed      int    `json:"removed"`
	Dropped      int    `json:"dropped"`
	Lost         int    `json:"lost"`
	WaitP50      Millis `json:"wait_p50"`
	WaitP95      Millis `json:"wait_p95"`
	HoldP50      Millis `json:"hold_p50"`
	Codes        int    `json:"codes"`
	CodeDelayP50 Millis `json:"code_delay_p50"`
	CodeDelayP95 Millis `json:"code_delay_p95"`
	Ambiguous    int    `json:"ambiguous"`
	Rejected     int    `json:"rejected"`
	Late         int    `json:"late"`
}

// Millis is a time in ms; below zero it is not known, and null.
type Millis int64

// String returns the number; "" for none.
func (m Millis) String() string {
	if m < 0 {
		return ""
	}
	return strconv.FormatInt(int64(m), 10)
}

// MarshalJSON writes the number, or null.
func (m Millis) MarshalJSON() ([]byte, error) {
	if m < 0 {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(m), 10), nil
}

// ReportColumn is a column of a report, by its name in the JSON.
type ReportColumn struct {
	Name string
	Of   func(ReportDay) any // a string, an int or a Millis
}

// ReportColumns are the columns of a report.
var ReportColumns = []ReportColumn{
	{"day", func(d ReportDay) any { return d.Day }},
	{"joined", func(d ReportDay) any { return d.Joined }},
	{"completed", func(d ReportDay) any { return d.Completed }},
	{"cancelled", func(d ReportDay) any { return d.Cancelled }},
	{"expired", func(d ReportDay) any { return d.Expired }},
	{"forced", func(d ReportDay) any { return d.Forced }},
	{"removed", func(d ReportDay) any { return d.Removed }},
	{"dropped", func(d ReportDay) any { return d.Dropped }},
	{"lost", func(d ReportDay) any { return d.Lost }},
	{"wait_p50", func(d ReportDay) any { return d.WaitP50 }},
	{"wait_p95", func(d ReportDay) any { return d.WaitP95 }},
	{"hold_p50", func(d ReportDay) any { return d.HoldP50 }},
	{"codes", func(d ReportDay) any { return d.Codes }},
	{"code_delay_p50", func(d ReportDay) any { return d.CodeDelayP50 }},
	{"code_delay_p95", func(d ReportDay) any { return d.CodeDelayP95 }},
	{"ambiguous", func(d ReportDay) any { return d.Ambiguous }},
	{"rejected", func(d ReportDay) any { return d.Rejected }},
	{"late", func(d ReportDay) any { return d.Late }},
}

// ReportHeading returns a column's heading.
func (t Text) ReportHeading(column string) string {
	if words := t.Desk.Report.Columns[column]; words != "" {
		return words
	}
	return t.tag(column)
}

// ReportSeconds returns the heading of a column that has seconds.
func (t Text) ReportSeconds(column string) string {
	return fill(t.Desk.Report.Seconds, "column", t.ReportHeading(column))
}

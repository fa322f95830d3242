package templates

import (
	"fmt"
	"strconv"
)

// ReportView is /support/{room}/report.
type ReportView struct {
	DeskView
	Room     string
	Zone     string // of the days, by name
	From, To string // the first and the last day; "" = not known; as entered, beside an error
	Error    string // a code: invalid_time, ledger_unavailable; "" = none
	Most     int    // days at a time
	Days     []ReportDay
	Hours    []ReportHour // none of a longer period
	Periods  []ReportPeriod
	Export   string // the address of the same days as CSV
}

// ReportPeriod is a period that the page offers: some days, today as the last one.
type ReportPeriod struct {
	Days  int
	From  string
	Shown bool // the page shows it
}

// ReportDay sums up one day of a room, in the contract's JSON.
type ReportDay struct {
	Day string `json:"day"`
	ReportFigures
}

// ReportHour sums up one hour of the day over all days of a report.
type ReportHour struct {
	Hour int `json:"hour"` // from 0 to 23
	ReportFigures
}

// ReportFigures are what happened.
type ReportFigures struct {
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

// reportFigure returns a figure for a person.
func (t Text) reportFigure(value any) string {
	ms, ok := value.(Millis)
	switch live := t.Desk.Live; {
	case !ok:
		return fmt.Sprint(value)
	case ms < 0:
		return "–"
	case ms < 1000:
		return fill(live.ShortMs, "n", int(ms))
	default: // not in minutes: days are compared
		return fill(live.ShortS, "n", strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64))
	}
}

// reportData is the JSON block from which the page's script draws.
type reportData struct {
	Lang  string       `json:"lang"`
	Words DeskLiveText `json:"words"`
	Days  []ReportDay  `json:"days"`
	Hours []ReportHour `json:"hours"`
	Hour  string       `json:"hour"` // the heading of hours
}

func (v ReportView) data(t Text) reportData {
	words := t.Desk.Live
	words.Charts, words.Minute = t.Desk.Report.Charts, t.ReportHeading("day")
	words.Outcomes = t.Desk.Tags // as in the table's headings
	return reportData{Lang: t.Page.Lang, Words: words, Days: v.Days, Hours: v.Hours, Hour: t.Desk.Report.Hour}
}

package support

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const (
	reportDefault = 7   // days
	reportMost    = 400 // days
	reportHours   = 92  // days: a quarter; longer periods have no hours, which take 24 times the reads
)

// report is GET /api/support/{room}/report?from=&to=&format=.
func (d *Desk) report(c *gin.Context) {
	days, err := d.reportDays(c)
	if err != nil {
		d.Fail(c, err)
		return
	}
	switch c.DefaultQuery("format", "json") {
	case "json":
		if err := d.fillReport(c, days); err != nil {
			d.Fail(c, err)
			return
		}
		d.JSON(c, http.StatusOK, gin.H{"days": days.list, "hours": days.hours})
	case "csv":
		d.reportCSV(c, days)
	default:
		d.Refuse(c, "invalid_format")
	}
}

// ReportSpan is a part of a report's days, from Begins until before Ends, in unix ms.
type ReportSpan struct {
	Begins, Ends int64
	Day          int // from 0
	Hour         int // of the day, from 0 to 23; -1 = it counts in no hour
}

// reportDays are the days of a report, by the room's zone.
type reportDays struct {
	zone  *time.Location
	list  []templates.ReportDay
	hours []templates.ReportHour
	spans []ReportSpan
}

// reportDays reads ?from=&to=: the days of these instants. Without to, today is the last day.
func (d *Desk) reportDays(c *gin.Context) (reportDays, error) {
	zone := d.Zone(request.Room(c))
	from, err := parseTime(c.Query("from"), false, zone)
	if err != nil {
		return reportDays{}, err
	}
	to, err := parseTime(c.Query("to"), true, zone)
	if err != nil {
		return reportDays{}, err
	}
	last := dayOf(time.Now(), zone)
	if to != 0 {
		last = dayOf(time.UnixMilli(to-1), zone)
	}
	first := last.AddDate(0, 0, 1-reportDefault)
	if from != 0 {
		first = dayOf(time.UnixMilli(from), zone)
	}
	n := int(last.Sub(first).Hours()/24) + 1
	if n < 1 || n > reportMost {
		return reportDays{}, problem.Refusal("invalid_time")
	}
	days := reportDays{zone: zone, list: make([]templates.ReportDay, n), hours: []templates.ReportHour{}}
	for i := range days.list {
		day := first.AddDate(0, 0, i)
		days.list[i].Day = day.Format(time.DateOnly)
		days.addSpans(i, startOf(day, zone), startOf(day.AddDate(0, 0, 1), zone))
	}
	if n <= reportHours {
		days.hours = make([]templates.ReportHour, 24)
	}
	return days, nil
}

// addSpans adds a day, hour by hour unless the days are too many.
func (r *reportDays) addSpans(day int, begins, ends time.Time) {
	for at := begins; at.Before(ends); {
		next, hour := ends, -1
		if len(r.list) <= reportHours {
			local := at.In(r.zone)
			over := time.Duration(local.Minute())*time.Minute + time.Duration(local.Second())*time.Second
			next, hour = at.Add(time.Hour-over), local.Hour()
			if next.After(ends) { // where clocks changed by a part of an hour
				next = ends
			}
		}
		r.spans = append(r.spans, ReportSpan{Begins: at.UnixMilli(), Ends: next.UnixMilli(), Day: day, Hour: hour})
		at = next
	}
}

// fillReport reads what the days and hours have.
func (d *Desk) fillReport(c *gin.Context, r reportDays) error {
	ctx, cancel := d.Asking(c)
	defer cancel()
	days, hours, err := d.Records.Report(ctx, request.Room(c), r.spans)
	if err != nil {
		return err
	}
	for i := range r.list {
		r.list[i].ReportFigures = days[i]
	}
	for i := range r.hours {
		r.hours[i] = templates.ReportHour{Hour: i, ReportFigures: hours[i]}
	}
	return nil
}

// dayOf returns an instant's day in a zone, as midnight in UTC.
func dayOf(at time.Time, zone *time.Location) time.Time {
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// startOf returns the first instant of a day in a zone. Clocks that change at midnight leave it out, or have
// it twice.
func startOf(day time.Time, zone *time.Location) time.Time {
	const step = 15 * time.Minute // of clocks and offsets
	y, m, d := day.Date()
	at := time.Date(y, m, d, 0, 0, 0, 0, zone)
	for dayOf(at, zone).Before(day) {
		at = at.Add(step)
	}
	for before := at.Add(-step); dayOf(before, zone).Equal(day); before = before.Add(-step) {
		at = before
	}
	return at
}

// reportPeriods are the numbers of days that the page offers.
var reportPeriods = []int{7, 28, 90}

// reportPage is GET /support/{room}/report, with the days of the API.
func (d *Desk) reportPage(c *gin.Context) {
	id := request.Room(c)
	v := templates.ReportView{DeskView: d.deskView(c), Room: string(id), Most: reportMost,
		From: c.Query("from"), To: c.Query("to")}
	days, err := d.reportDays(c)
	if err == nil {
		err = d.fillReport(c, days)
	}
	status := http.StatusOK
	if err != nil {
		v.Error, status = d.PageError(c, err)
	}
	zone := d.Zone(id)
	v.Zone, v.Days, v.Hours = zone.String(), days.list, days.hours
	if n := len(v.Days); n > 0 {
		v.From, v.To = v.Days[0].Day, v.Days[n-1].Day
		v.Export = filePath(id, "report", url.Values{"from": {v.From}, "to": {v.To}})
	}
	today := dayOf(time.Now(), zone)
	for _, n := range reportPeriods {
		from := today.AddDate(0, 0, 1-n).Format(time.DateOnly)
		v.Periods = append(v.Periods, templates.ReportPeriod{Days: n, From: from,
			Shown: slices.Equal([]string{v.From, v.To}, []string{from, today.Format(time.DateOnly)})})
	}
	d.Show(c, status, v.Lang, templates.ReportPage(v))
}

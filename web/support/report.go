package support

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

const (
	reportDefault = 7   // days
	reportMost    = 400 // days
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
		d.JSON(c, http.StatusOK, gin.H{"days": days.list})
	case "csv":
		d.reportCSV(c, days)
	default:
		d.Refuse(c, "invalid_format")
	}
}

// reportDays are the days of a report, by the room's zone. Each begins at a bound, in unix ms, and ends at
// the next one.
type reportDays struct {
	zone   *time.Location
	list   []templates.ReportDay
	bounds []int64
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
	days := reportDays{zone: zone, list: make([]templates.ReportDay, n), bounds: make([]int64, n+1)}
	for i := range days.bounds {
		day := first.AddDate(0, 0, i)
		days.bounds[i] = startOf(day, zone).UnixMilli()
		if i < n {
			days.list[i].Day = day.Format(time.DateOnly)
		}
	}
	return days, nil
}

// fillReport reads what the days have.
func (d *Desk) fillReport(c *gin.Context, days reportDays) error {
	ctx, cancel := d.Asking(c)
	defer cancel()
	return d.Records.Report(ctx, request.Room(c), days.list, days.bounds)
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

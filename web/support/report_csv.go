package support

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

// reportCSV has a record for each day.
func (d *Desk) reportCSV(c *gin.Context, days reportDays) {
	err := d.fillReport(c, days)
	if err == nil {
		err = d.exported(c, request.Room(c), "exported_report")
	}
	if err != nil {
		d.Fail(c, err)
		return
	}
	csvHeader(c, "report")
	out := csvTo(c.Writer, sheetOf(c))
	headings := make([]string, len(templates.ReportColumns))
	for i, column := range templates.ReportColumns {
		headings[i] = column.Name
		if out.sheet != nil {
			headings[i] = out.sheet.reportHeading(column, days.zone)
		}
	}
	out.write(headings)
	for _, day := range days.list {
		cells := make([]string, len(templates.ReportColumns))
		for i, column := range templates.ReportColumns {
			cells[i] = out.figure(column.Of(day))
		}
		out.write(cells)
	}
	d.flush(c, out)
}

// reportHeading returns a column's heading. It names the unit of times, and the zone of days.
func (s *sheet) reportHeading(column templates.ReportColumn, zone *time.Location) string {
	words := s.words.ReportHeading(column.Name)
	switch column.Of(templates.ReportDay{}).(type) {
	case string:
		return words + " (" + zone.String() + ")"
	case templates.Millis:
		return s.words.ReportSeconds(column.Name)
	}
	return words
}

// figure returns a cell of a report: in a file for people, times are in seconds.
func (w *csvWriter) figure(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case templates.Millis:
		if w.sheet == nil || v < 0 {
			return v.String()
		}
		return strconv.FormatFloat(float64(v)/1000, 'f', 1, 64)
	}
	return ""
}

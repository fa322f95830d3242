package support

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/request"
)

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

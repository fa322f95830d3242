package support_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/support"
)

const reportPath = "/api/support/integration/report"

// busyDay has a figure of its own in each column.
func busyDay() templates.ReportFigures {
	return templates.ReportFigures{Joined: 1, Completed: 2, Cancelled: 3, Expired: 4, Forced: 5, Removed: 6, Dropped: 7,
		Lost: 8, WaitP50: 9040, WaitP95: 10_060, HoldP50: 11_000, Codes: 12, CodeDelayP50: 1300, CodeDelayP95: 1400,
		Ambiguous: 15, Rejected: 16, Late: 17}
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

func TestAReportIsTheContractsJSONWithHoursBesideIt(t *testing.T) {
	f := newFakeDesk()
	f.day = busyDay()
	h := deskHandler(t, f)
	w := f.call(t, h, "park", "GET", reportPath+"?from=2026-11-21&to=2026-11-22", "")
	require.Equal(t, http.StatusOK, w.Code)
	var got struct{ Days, Hours []json.RawMessage }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	days, err := json.Marshal(got.Days)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"day":"2026-11-21","joined":1,"completed":2,"cancelled":3,"expired":4,"forced":5,"removed":6,"dropped":7,
		"lost":8,"wait_p50":9040,"wait_p95":10060,"hold_p50":11000,"codes":12,"code_delay_p50":1300,
		"code_delay_p95":1400,"ambiguous":15,"rejected":16,"late":17},
		{"day":"2026-11-22","joined":0,"completed":0,"cancelled":0,"expired":0,"forced":0,"removed":0,"dropped":0,
		"lost":0,"wait_p50":null,"wait_p95":null,"hold_p50":null,"codes":0,"code_delay_p50":null,
		"code_delay_p95":null,"ambiguous":0,"rejected":0,"late":0}]`, string(days))
	require.Len(t, got.Hours, 24)
	require.JSONEq(t, `{"hour":9,"joined":1,"completed":2,"cancelled":3,"expired":4,"forced":5,"removed":6,
		"dropped":7,"lost":8,"wait_p50":9040,"wait_p95":10060,"hold_p50":11000,"codes":12,"code_delay_p50":1300,
		"code_delay_p95":1400,"ambiguous":15,"rejected":16,"late":17}`, string(got.Hours[9]))
	require.Equal(t, []string{"report integration"}, f.did, "to read is not audited")
	w = f.call(t, h, "park", "GET", reportPath+"?from=2026-08-21&to=2026-11-21", "")
	require.Contains(t, w.Body.String(), `"hours":[]`, "93 days")
	require.Len(t, f.spans, 93)
}

func TestAReportsHoursAreThoseOfTheRoomsZone(t *testing.T) {
	for zone, want := range map[string]string{
		"Asia/Seoul":    "15:00 0,16:00 1,17:00 2,18:00 3,19:00 4",
		"Asia/Kolkata":  "18:30 0,19:30 1,20:30 2,21:30 3,22:30 4",
		"Europe/Berlin": "22:00 0,23:00 1,00:00 2,01:00 2,02:00 3", // clocks go back on this day
	} {
		f := newFakeDesk()
		f.zone = zoneOf(t, zone)
		h := deskHandler(t, f)
		require.Equal(t, http.StatusOK,
			f.call(t, h, "park", "GET", reportPath+"?from=2026-10-25&to=2026-10-25", "").Code)
		var got []string
		for i, s := range f.spans {
			if i > 0 {
				require.Equal(t, f.spans[i-1].Ends, s.Begins)
			}
			got = append(got, fmt.Sprint(time.UnixMilli(s.Begins).UTC().Format("15:04"), " ", s.Hour))
		}
		require.Equal(t, want, strings.Join(got[:5], ","), zone)
		require.Equal(t, 23, f.spans[len(f.spans)-1].Hour)
	}
}

func TestAReportIsAFileForProgramsAndForPeople(t *testing.T) {
	f := newFakeDesk()
	f.day, f.zone = busyDay(), zoneOf(t, "Asia/Seoul")
	h := deskHandler(t, f)
	w := f.call(t, h, "park", "GET", reportPath+"?from=2026-11-21&to=2026-11-22&format=csv", "")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/csv; charset=utf-8; header=present", w.Header().Get("Content-Type"))
	require.Equal(t, "attachment; filename=waitroom-integration-report.csv", w.Header().Get("Content-Disposition"))
	require.Equal(t, "day,joined,completed,cancelled,expired,forced,removed,dropped,lost,wait_p50,wait_p95,hold_p50,"+
		"codes,code_delay_p50,code_delay_p95,ambiguous,rejected,late\r\n"+
		"2026-11-21,1,2,3,4,5,6,7,8,9040,10060,11000,12,1300,1400,15,16,17\r\n"+
		"2026-11-22,0,0,0,0,0,0,0,0,,,,0,,,0,0,0\r\n", w.Body.String())
	require.Equal(t, []string{"report integration", "audit integration exported_report"}, f.did)
	require.Equal(t, "from=2026-11-21&to=2026-11-22", f.by.Reason)
	require.Equal(t, "park", f.by.Who)

	w = f.call(t, h, "park", "GET", reportPath+"?from=2026-11-21&to=2026-11-21&format=csv&bom=1&lang=en", "")
	require.Equal(t, "\uFEFFDay (Asia/Seoul),Joined,Verified,Cancelled,Time ran out,Forced,Taken out,Away too long,"+
		"Data lost,\"Waited, median (s)\",\"Waited, p95 (s)\",\"Turn held, median (s)\",Codes delivered,"+
		"\"Code delay, median (s)\",\"Code delay, p95 (s)\",Ambiguous texts,Rejected texts,Late texts\r\n"+
		"2026-11-21,1,2,3,4,5,6,7,8,9.0,10.1,11.0,12,1.3,1.4,15,16,17\r\n", w.Body.String())
}

func TestAReportsDaysAreThoseOfTheRoomsZone(t *testing.T) {
	f := newFakeDesk()
	f.zone = zoneOf(t, "Europe/Berlin")
	h := deskHandler(t, f)
	for query, want := range map[string][]string{
		"from=2026-03-28&to=2026-03-30": {"2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00",
			"2026-03-30T00:00:00+02:00", "2026-03-31T00:00:00+02:00"}, // the second one has 23 hours
		"from=2026-10-25&to=2026-10-25": {"2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"}, // 25 hours
		// the days that these instants are in; the end is not in it
		"from=2026-03-27T23:30:00Z&to=2026-03-28T23:00:00Z": {"2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00"},
		"from=2026-03-27T22:30:00Z&to=2026-03-28T23:00:01Z": {"2026-03-27T00:00:00+01:00", "2026-03-28T00:00:00+01:00",
			"2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"},
	} {
		require.Equal(t, http.StatusOK, f.call(t, h, "park", "GET", reportPath+"?"+query, "").Code, query)
		got := make([]string, len(f.bounds()))
		for i, at := range f.bounds() {
			got[i] = time.UnixMilli(at).In(f.zone).Format(time.RFC3339)
		}
		require.Equal(t, want, got, query)
	}
}

func TestADayBeginsWhereItsZoneFirstHasIt(t *testing.T) {
	for _, c := range []struct{ zone, day, begins string }{
		{"Asia/Seoul", "2026-11-21", "2026-11-20T15:00:00Z"},
		{"America/Santiago", "2026-09-06", "2026-09-06T04:00:00Z"}, // begins at 1:00
		{"America/Havana", "2026-11-01", "2026-11-01T04:00:00Z"},   // has its first hour twice
		{"Asia/Kathmandu", "2026-11-21", "2026-11-20T18:15:00Z"},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		require.NoError(t, err)
		require.Equal(t, c.begins, support.StartOf(day, zoneOf(t, c.zone)).UTC().Format(time.RFC3339), c.zone)
	}
}

func TestAReportHasTheLastSevenDaysByDefault(t *testing.T) {
	f := newFakeDesk()
	f.zone = zoneOf(t, "Asia/Seoul")
	h := deskHandler(t, f)
	for { // today may end meanwhile
		today := support.DayOf(time.Now(), f.zone)
		require.Equal(t, http.StatusOK, f.call(t, h, "park", "GET", reportPath, "").Code)
		if !support.DayOf(time.Now(), f.zone).Equal(today) {
			continue
		}
		require.Len(t, f.bounds(), 8)
		require.Equal(t, support.StartOf(today.AddDate(0, 0, 1), f.zone).UnixMilli(), f.bounds()[7])
		break
	}
	require.Equal(t, http.StatusOK, f.call(t, h, "park", "GET", reportPath+"?to=2026-11-21", "").Code)
	require.Len(t, f.bounds(), 8)
	require.Equal(t, support.StartOf(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), f.zone).UnixMilli(), f.bounds()[7])
}

func TestABadReportIsRefusedByName(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	for query, code := range map[string]string{"from=x": "invalid_time", "to=x": "invalid_time",
		"from=2026-11-22&to=2026-11-21": "invalid_time", "from=2025-01-01&to=2026-02-05": "invalid_time",
		"from=9999-01-01": "invalid_time", "format=xml": "invalid_format", "format=": "invalid_format",
		"from=%": "invalid_time", "to=%": "invalid_time", "format=%": "invalid_format", "x=%": "invalid_query"} {
		w := f.call(t, h, "park", "GET", reportPath+"?"+query, "")
		require.Equal(t, http.StatusBadRequest, w.Code, query)
		require.Contains(t, w.Body.String(), `"code":"`+code+`"`, query)
	}
	require.Empty(t, f.did)
	require.Contains(t, f.call(t, h, "park", "GET", reportPath+"?from=x", "").Body.String(),
		"보고서에서는 대기실 시간대")
	require.Equal(t, http.StatusOK, f.call(t, h, "park", "GET", reportPath+"?from=2025-01-01&to=2026-02-04", "").Code,
		"400 days")
	require.Len(t, f.bounds(), 401)
	for path, status := range map[string]int{"/api/support/elsewhere/report": 404, reportPath + "?format=csv": 503,
		reportPath: 503} {
		f.lost = problem.Refusal("ledger_unavailable")
		require.Equal(t, status, f.call(t, h, "park", "GET", path, "").Code, path)
	}
	require.NotContains(t, f.did, "audit integration exported_report", "nothing was exported")
	require.Equal(t, http.StatusUnauthorized, ask(t, h, "GET", reportPath).Code)
}

func TestAReportsPageOfABadPeriodSaysSoAndKeepsIt(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	w := f.call(t, h, "park", "GET", "/support/integration/report?from=2026-11-22&to=2026-11-21&lang=en", "")
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "The first day may not be after the last one, and 400 days at most")
	require.Contains(t, w.Body.String(), `type="date" value="2026-11-22"`)
	require.Contains(t, w.Body.String(), `type="date" value="2026-11-21"`)
}

func TestAReportsPageHasTheDaysLatestFirst(t *testing.T) {
	f := newFakeDesk()
	f.day, f.zone = busyDay(), zoneOf(t, "Asia/Seoul")
	h := deskHandler(t, f)
	page := f.call(t, h, "park", "GET", "/support/integration/report?from=2026-11-21&to=2026-11-22&lang=en",
		"").Body.String()
	second, first := strings.Index(page, `data-day="2026-11-22"`), strings.Index(page, `data-day="2026-11-21"`)
	require.Positive(t, second)
	require.Greater(t, first, second)
	require.Contains(t, page[first:], `<td class="num">9.0 s</td>`)
	require.Contains(t, page[first:], `<td class="num">1.4 s</td>`)
	require.Contains(t, page[second:first], `<td class="num">–</td>`)
	require.Contains(t, page, `type="date" value="2026-11-21"`)
	require.Contains(t, page, `type="date" value="2026-11-22"`)
	require.Contains(t, page, "Asia/Seoul")
	nine, ten := strings.Index(page, `data-hour="9"`), strings.Index(page, `data-hour="10"`)
	require.Positive(t, nine)
	require.Contains(t, page[nine:ten], `<td class="num">9.0 s</td>`)
	require.Contains(t, page, `href="/api/support/integration/report?format=csv&amp;from=2026-11-21&amp;to=2026-11-22"`)
	require.Contains(t, page, `&amp;to=2026-11-22&amp;bom=1&amp;lang=en"`)
	for _, days := range []int{7, 28, 90} {
		from := support.DayOf(time.Now(), f.zone).AddDate(0, 0, 1-days).Format(time.DateOnly)
		shown := f.call(t, h, "park", "GET", "/support/integration/report?from="+from, "").Body.String()
		require.Equal(t, 1, strings.Count(shown, `aria-current="true"`), days)
		require.Contains(t, shown, `href="/support/integration/report?from=`+from+`" aria-current="true"`)
	}
	require.Contains(t, f.call(t, h, "park", "GET", "/support/integration", "").Body.String(),
		`href="/support/integration/report"`)
	require.NotContains(t, f.did, "audit integration exported_report")
}

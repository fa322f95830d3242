package read

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/internal/sqldb/dialect"
	"github.com/waitroom/waitroom/room/wire"
)

// Day sums up one day of a room, or one hour of all days. Percentiles are in ms, -1 without values.
type Day struct {
	Joined   int                  // places that began
	Outcomes map[wire.Outcome]int // of the places that ended

	WaitP50, WaitP95 int64 // from join to grant, of the leases granted that are over
	HoldP50          int64 // from grant to end, of the same leases, without unclaimed and lost ones

	// Messages count where they arrived, each as it belongs now.
	Codes                      int   // messages with a code that belong to a lease, other than late ones
	CodeDelayP50, CodeDelayP95 int64 // from sending, by the carrier's clock, to arrival, of the codes
	Ambiguous, Rejected, Late  int

	waits, holds, delays []int64
}

// ReportSpan is a part of a report's days, from Begins until before Ends, in unix ms.
type ReportSpan struct {
	Begins, Ends int64
	Day          int // from 0
	Hour         int // of the day, from 0 to 23; -1 = it counts in no hour
}

// Report sums up the days of spans, which are in order, and each hour of the day over all of them. There are
// no hours if no span has one.
func (r *Reader) Report(ctx context.Context, id wire.ID, spans []ReportSpan) (days, hours []Day, err error) {
	days = newDays(spans[len(spans)-1].Day + 1)
	if slices.ContainsFunc(spans, func(s ReportSpan) bool { return s.Hour >= 0 }) {
		hours = newDays(24)
	}
	reads, ctx := errgroup.WithContext(ctx) // no two figures write the same field of a Day
	for _, f := range figures {
		reads.Go(func() error {
			return r.reading(ctx, id, func(w *work) error { return w.figure(f, spans, days, hours) })
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, nil, fmt.Errorf("report: %w", err)
	}
	for _, list := range [][]Day{days, hours} {
		for i := range list {
			list[i].finish()
		}
	}
	return days, hours, nil
}

func newDays(n int) []Day {
	days := make([]Day, n)
	for i := range days {
		days[i].Outcomes = map[wire.Outcome]int{}
	}
	return days
}

// finish computes the percentiles.
func (d *Day) finish() {
	d.WaitP50, d.WaitP95 = percentiles(d.waits)
	d.HoldP50, _ = percentiles(d.holds)
	d.CodeDelayP50, d.CodeDelayP95 = percentiles(d.delays)
	d.waits, d.holds, d.delays = nil, nil, nil
}

// figure is what a report has of one table. Its query returns one text about the rows of room $1 from
// v.begins until before v.ends: a result row for each, or GROUP BY, would take longer. An index has all
// columns that the query reads.
type figure struct {
	query string
	add   func(day *Day, list string) error
}

var figures = []figure{
	{`SELECT CAST(COUNT(*) AS TEXT) FROM places
		WHERE room = $1 AND joined_at >= v.begins AND joined_at < v.ends`,
		func(day *Day, list string) error {
			n, err := strconv.Atoi(list)
			day.Joined += n
			return err
		}},
	{`SELECT STRING_AGG(outcome, ',') FROM places
		WHERE room = $1 AND ended_at >= v.begins AND ended_at < v.ends`,
		func(day *Day, list string) error {
			for outcome := range strings.SplitSeq(list, ",") {
				day.Outcomes[wire.Outcome(outcome)]++
			}
			return nil
		}},
	// The place is looked up for leases without its join, such as those of earlier versions.
	{`SELECT STRING_AGG(COALESCE(CAST(l.granted_at - COALESCE(l.joined_at, (SELECT p.joined_at FROM places p
			WHERE p.room = l.room AND p.epoch = l.epoch AND p.ticket = l.ticket)) AS TEXT), '') || ' ' ||
			CASE WHEN l.outcome IN ('unclaimed', 'lost') THEN '' ELSE CAST(l.ended_at - l.granted_at AS TEXT) END, ',')
		FROM leases l
		WHERE l.room = $1 AND l.granted_at >= v.begins AND l.granted_at < v.ends AND l.outcome IS NOT NULL`,
		addTurns},
	{`SELECT STRING_AGG(CASE COALESCE(now_result, result)
			WHEN 'matched' THEN CASE WHEN code = 0 THEN '' WHEN sent_at = 0 THEN 'code ' ELSE
				'code ' || CAST(received_at - sent_at AS TEXT) END
			WHEN 'unmatched' THEN COALESCE(now_reason, reason) ELSE COALESCE(now_result, result) END, ',')
		FROM messages WHERE room = $1 AND received_at >= v.begins AND received_at < v.ends AND state = 'judged'`,
		addMessages},
}

// figure adds a figure to the days and hours of spans.
func (w *work) figure(f figure, spans []ReportSpan, days, hours []Day) error {
	rows := dialect.NewRows(len(spans), "span BIGINT", "begins BIGINT", "ends BIGINT")
	for i, s := range spans {
		rows.Add(int64(i), s.Begins, s.Ends)
	}
	return w.EachRow(func(scan func(...any) error) error {
		var span int
		var list *string // nil: nothing happened
		if err := scan(&span, &list); err != nil || list == nil {
			return err
		}
		s := spans[span]
		err := f.add(&days[s.Day], *list)
		if err == nil && s.Hour >= 0 {
			err = f.add(&hours[s.Hour], *list)
		}
		return err
	}, rows, `SELECT v.span, (`+f.query+`) FROM v`, string(w.id))
}

func addTurns(day *Day, list string) error {
	for turn := range strings.SplitSeq(list, ",") {
		wait, hold, _ := strings.Cut(turn, " ")
		if err := errors.Join(addTime(&day.waits, wait), addTime(&day.holds, hold)); err != nil {
			return err
		}
	}
	return nil
}

func addMessages(day *Day, list string) error {
	for message := range strings.SplitSeq(list, ",") {
		switch what, delay, _ := strings.Cut(message, " "); what {
		case "code":
			day.Codes++
			if err := addTime(&day.delays, delay); err != nil {
				return err
			}
		case string(wire.Ambiguous):
			day.Ambiguous++
		case string(wire.Rejected):
			day.Rejected++
		case string(wire.Late):
			day.Late++
		}
	}
	return nil
}

// addTime adds a number of ms, at least 0: clocks differ. An empty one is not known.
func addTime(list *[]int64, ms string) error {
	if ms == "" {
		return nil
	}
	n, err := strconv.ParseInt(ms, 10, 64)
	*list = append(*list, max(n, 0))
	return err
}

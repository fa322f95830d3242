package support

import (
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
)

// historyFilter reads ?seller=&from=&to=&limit=&cursor=. Empty parameters do not narrow it.
func historyFilter(c *gin.Context) (f HistoryFilter, err error) {
	f.Cursor = c.Query("cursor")
	if text := c.Query("seller"); text != "" {
		if f.Seller, err = room.ParseSeller(text); err != nil {
			return f, err
		}
	}
	if f.From, err = parseTime(c.Query("from"), false, time.UTC); err != nil {
		return f, err
	}
	if f.To, err = parseTime(c.Query("to"), true, time.UTC); err != nil {
		return f, err
	}
	f.Limit, err = parseLimit(c.Query("limit"))
	return f, err
}

// Numbers with this many digits differ by their size: seconds reach from 1973 to 5138, milliseconds begin in
// 1973.
const (
	leastSeconds = 100_000_000
	leastMillis  = 100_000_000_000
)

// parseTime parses RFC 3339, a date of a zone, or unix milliseconds or seconds. As an end, a date stands for
// the end of its day.
func parseTime(text string, end bool, zone *time.Location) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(text, 10, 52); err == nil {
		return unixMillis(int64(n))
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			day = day.AddDate(0, 0, 1)
		}
		return startOf(day, zone).UnixMilli(), nil
	}
	// An unescaped "+" arrives as a space.
	at, err := time.Parse(time.RFC3339, strings.ToUpper(strings.ReplaceAll(text, " ", "+")))
	if err != nil {
		return 0, problem.Refusal("invalid_time")
	}
	return at.UnixMilli(), nil
}

func unixMillis(n int64) (int64, error) {
	switch {
	case n >= leastMillis:
		return n, nil
	case n >= leastSeconds:
		return n * 1000, nil
	}
	return 0, problem.Refusal("invalid_time")
}

// parseLimit parses the number of rows; 0 if it is missing.
func parseLimit(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, problem.Refusal("invalid_limit")
	}
	return int(n), nil
}

package roomsfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hoursOf returns the hours of a room from the lines under its key open.
func hoursOf(t *testing.T, lines ...string) *Hours {
	t.Helper()
	return read(t, "r:\n  open:\n    "+strings.Join(lines, "\n    ")+"\n").Of("r").Open
}

func TestARoomOpensAtTheNextTimeOfItsHours(t *testing.T) {
	seoul := []string{"weekdays: mon-fri", `times: ["09:00-12:00", 13:00-18:00]`, "time_zone: Asia/Seoul",
		"days_off: [2026-12-25]"}
	berlin := []string{"weekdays: [Sunday, mon]", "times: 02:30-04:00", "time_zone: Europe/Berlin"}
	york := []string{"weekdays: sun", "times: 02:30-10:00", "time_zone: America/New_York"}
	santiago := []string{"weekdays: sun", "times: 00:00-10:00", "time_zone: America/Santiago"}
	night := []string{"weekdays: fri", "times: 22:00-02:00", "time_zone: UTC"}
	for name, c := range map[string]struct {
		lines     []string
		now, want string // RFC 3339; want "" = open
	}{
		"within":                         {seoul, "2026-11-30T09:00:00+09:00", ""},
		"before":                         {seoul, "2026-11-30T08:59:59+09:00", "2026-11-30T09:00:00+09:00"},
		"at lunch":                       {seoul, "2026-11-30T12:00:00+09:00", "2026-11-30T13:00:00+09:00"},
		"after":                          {seoul, "2026-11-30T18:00:00+09:00", "2026-12-01T09:00:00+09:00"},
		"on Friday evening":              {seoul, "2026-11-27T18:00:00+09:00", "2026-11-30T09:00:00+09:00"},
		"before a day off and a weekend": {seoul, "2026-12-24T18:00:00+09:00", "2026-12-28T09:00:00+09:00"},
		"on a day off":                   {seoul, "2026-12-25T10:00:00+09:00", "2026-12-28T09:00:00+09:00"},
		"by another zone's clock":        {seoul, "2026-11-30T00:30:00Z", ""},
		"the clock skips its beginning":  {berlin, "2026-03-29T00:00:00+01:00", "2026-03-29T03:30:00+02:00"},
		"its beginning comes twice":      {berlin, "2026-10-25T00:00:00+02:00", "2026-10-25T02:30:00+02:00"},
		"the clock skips its beginning in the west": {york, "2027-03-14T00:00:00-05:00", "2027-03-14T03:30:00-04:00"},
		"its beginning comes after a change":        {york, "2027-11-07T00:00:00-04:00", "2027-11-07T02:30:00-05:00"},
		"the clock skips midnight":                  {santiago, "2027-09-04T12:00:00-04:00", "2027-09-05T01:00:00-03:00"},
		"over midnight, before it":                  {night, "2026-11-27T23:00:00Z", ""},
		"over midnight, after it":                   {night, "2026-11-28T01:59:00Z", ""},
		"over midnight, over":                       {night, "2026-11-28T02:00:00Z", "2026-12-04T22:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, c.now)
			require.NoError(t, err)
			got := hoursOf(t, c.lines...).OpensAt(now)
			if c.want == "" {
				require.True(t, got.IsZero(), got)
				return
			}
			want, err := time.Parse(time.RFC3339, c.want)
			require.NoError(t, err)
			require.WithinDuration(t, want, got, 0, "%s", got)
		})
	}
	require.True(t, (*Hours)(nil).OpensAt(time.Now()).IsZero(), "a room without hours is open")
}

// The days of a year with a change of clocks are each open for as long as the clock on the wall says.
func TestARoomIsOpenOnEveryDayOfAYear(t *testing.T) {
	h := hoursOf(t, "weekdays: mon-sun", "times: 00:00-24:00", "time_zone: Europe/Berlin")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 366 * 24 * 2 {
		require.True(t, h.OpensAt(now).IsZero(), now)
		now = now.Add(30 * time.Minute)
	}
}

func TestARoomOfAPrefixMayAlwaysBeOpen(t *testing.T) {
	f := read(t, "x:*:\n  open: {weekdays: mon, times: 09:00-10:00, time_zone: Asia/Seoul}\nx:1:\n  open: always\n"+
		"x:2:\n  name: two\n")
	require.Nil(t, f.Of("x:1").Open)
	require.NotNil(t, f.Of("x:2").Open)
}

func TestWrongHoursAreNamedWithTheirLine(t *testing.T) {
	for lines, want := range map[string]string{
		"open: 09:00-18:00":        `:2: r: open is "09:00-18:00": want weekdays`,
		"open:\n    weekdays: mon": `r: open has no times: want`,
		"open: {weekdays: mond, times: 9:00-10:00, time_zone: UTC}": `r: open.weekdays has "mond"`,
		"open: {weekdays: mon, times: 9-10, time_zone: UTC}":        `r: open.times has "9-10"`,
		"open: {weekdays: mon, times: 10:00-25:00, time_zone: UTC}": `r: open.times has "10:00-25:00"`,
		"open: {weekdays: mon, times: 10:00-10:00, time_zone: UTC}": `r: open.times has "10:00-10:00"`,
		"open: {weekdays: mon, times: [], time_zone: UTC}":          `r: open.times is a list: want one or a list`,
		"open: {weekdays: mon, times: [{a: b}], time_zone: UTC}":    `r: open.times has a group`,
		"open: {weekdays: mon, times: 9:00-10:00, time_zone: KST}":  `r: open.time_zone is "KST": want a zone`,
		"open:\n    weekdays: mon\n    times: 9:00-10:00\n    time_zone: UTC\n    days_off:\n" +
			"      - 25.12.2026": `:7: r: open.days_off has "25.12.2026": want dates`,
		"open:\n    weekdays: mon\n    hours: 9": `:4: r: hours is not known in open: want weekdays, times`,
	} {
		_, err := Read(write(t, "r:\n  "+lines+"\n"))
		require.ErrorContains(t, err, want)
	}
}

// A read of a pipe would never end, and one of a huge file takes all memory.
func TestWhatIsNoFileAndWhatIsHugeIsNotRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "huge"), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(dir, "huge"), 1<<40))
	for name, want := range map[string]string{"pipe": "is no file", "huge": "is over 1024 KiB"} {
		_, err := (&reader{checks: Checks{Path: filepath.Join(dir, "rooms.yaml")}}).readFile(name)
		require.ErrorContains(t, err, want)
	}
}

func TestHoursBeginAgainAfterABreak(t *testing.T) {
	for name, c := range map[string]struct{ times, begins string }{
		"the next day":             {"[\"09:00-18:00\"]", "2026-12-01T09:00:00Z"},
		"after lunch":              {"[\"09:00-12:00\", \"13:00-18:00\"]", "2026-11-30T13:00:00Z"},
		"not where times overlap":  {"[\"09:00-18:00\", \"12:30-13:00\"]", "2026-12-01T09:00:00Z"},
		"not where one ends in it": {"[\"09:00-12:45\", \"12:45-18:00\"]", "2026-12-01T09:00:00Z"},
		"never":                    {"[\"00:00-24:00\"]", "0001-01-01T00:00:00Z"},
	} {
		h := hoursOf(t, "weekdays: mon-sun", "times: "+c.times, "time_zone: UTC")
		got := h.BeginAgain(time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC))
		require.Equal(t, c.begins, got.UTC().Format(time.RFC3339), name)
	}
	require.True(t, (*Hours)(nil).BeginAgain(time.Now()).IsZero())
}

// A room whose days are all off opens on some day far ahead, which does not move with every look.
func TestARoomThatIsNeverOpenSaysTheSameForADay(t *testing.T) {
	var off []string
	for day := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC); len(off) < 70; day = day.AddDate(0, 0, 7) {
		off = append(off, day.Format(time.DateOnly))
	}
	h := hoursOf(t, "weekdays: mon", "times: 09:00-10:00", "time_zone: UTC", "days_off: ["+strings.Join(off, ", ")+"]")
	now := time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC)
	require.Equal(t, h.OpensAt(now), h.OpensAt(now.Add(time.Millisecond)))
}

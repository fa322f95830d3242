package templates_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/templates"
)

// waitsRow is the state of a room, its frame's waits, and the waits that the page shows some
// time later. All in seconds.
type waitsRow struct {
	Paused             bool
	Hold, Spread       float64
	Elapsed, Left      *float64 // of the live lease; nil while the lock is free
	Position           int
	Estimated, Maximum *int64 // the frame's
	Gone               float64
	ThenEstimated      *int64 `json:"then_estimated"`
	ThenMaximum        *int64 `json:"then_maximum"`
}

const (
	frameAt     = int64(1_800_000_000_000) // unix ms
	leaseLength = 2 * time.Minute
)

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (r waitsRow) view() room.View {
	v := room.View{Room: wire.Room{Public: wire.Public{Paused: r.Paused}, Hold: seconds(r.Hold), Spread: seconds(r.Spread)}}
	if r.Left != nil {
		v.Lease = &room.Lease{GrantedAt: frameAt - seconds(*r.Elapsed).Milliseconds(),
			ExpiresAt: frameAt + seconds(*r.Left).Milliseconds()}
	}
	return v
}

// at returns the server's waits a number of seconds after the frame.
func (r waitsRow) at(gone float64) (estimated, maximum *int64) {
	w, ok := r.view().WaitsAt(r.Position, frameAt+seconds(gone).Milliseconds(), leaseLength)
	if !ok {
		return nil, nil
	}
	return new(room.Seconds(w.Estimated)), new(room.Seconds(w.Maximum))
}

// page computes the rule of waitsNow in words.js; the table tests the two against each other.
func (r waitsRow) page(gone float64) (estimated, maximum *int64) {
	if r.Estimated == nil || r.Left == nil {
		return r.Estimated, r.Maximum
	}
	most := max(*r.Maximum-max(int64(min(gone, *r.Left)), 0), 0)
	return new(min(*r.Estimated, most)), new(most)
}

func TestPageCountsWaitsDownAsInTheTable(t *testing.T) {
	content, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	var table struct{ Waits []waitsRow }
	require.NoError(t, json.Unmarshal(content, &table))
	require.NotEmpty(t, table.Waits)
	for _, row := range table.Waits {
		estimated, maximum := row.at(0)
		require.Equal(t, [2]*int64{row.Estimated, row.Maximum}, [2]*int64{estimated, maximum}, "frame %+v", row)
		estimated, maximum = row.page(row.Gone)
		require.Equal(t, [2]*int64{row.ThenEstimated, row.ThenMaximum}, [2]*int64{estimated, maximum}, "page %+v",
			row)
	}
}

// expectedRow is an estimate, what the page knows of turns, and the wait that it shows. All in seconds.
type expectedRow struct {
	Estimated, Maximum, Hold, Spread, Left, Expected float64
	Position, Holds                                  int
	Held                                             bool
}

func (r expectedRow) usual() templates.Usual {
	return templates.Usual{Position: r.Position, Spread: r.Spread, Held: r.Held, Left: r.Left, Hold: r.Hold,
		Lease: leaseLength.Seconds(), Holds: r.Holds}
}

// The history stands in for the whole lease that an average begins with, as long as that still counts.
func TestHistoryReplacesTheWholeLeaseThatAnAverageBeginsWith(t *testing.T) {
	content, err := os.ReadFile("testdata/words.json")
	require.NoError(t, err)
	var table struct{ Expected []expectedRow }
	require.NoError(t, json.Unmarshal(content, &table))
	require.NotEmpty(t, table.Expected)
	for _, row := range table.Expected {
		require.InDelta(t, row.Expected, math.Ceil(row.usual().Expected(row.Estimated, row.Maximum)), 0, "%+v", row)
	}
}

// averages returns the hold and spread of a room whose first leases were held as long as in its history.
func averages(hold float64, holds int) (average, spread float64) {
	n, off := float64(holds), leaseLength.Seconds()-hold
	return (leaseLength.Seconds() + n*hold) / (n + 1), off * math.Sqrt(n) / (n + 1)
}

func TestWhatARoomLearnsAsInItsHistoryChangesNoExpectedWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hold := float64(rapid.IntRange(1, 120).Draw(t, "hold"))
		position := rapid.IntRange(1, 40).Draw(t, "position")
		for holds := range 9 {
			row := waitsRow{Position: position}
			row.Hold, row.Spread = averages(hold, holds)
			estimated, maximum := row.at(0)
			u := templates.Usual{Position: position, Hold: hold, Lease: leaseLength.Seconds(), Holds: holds}
			require.InDelta(t, float64(position-1)*hold, u.Expected(float64(*estimated), float64(*maximum)), 1, holds)
		}
	})
}

// Otherwise the next frame, sent when a seller joined behind, would raise the wait that the page shows.
func TestPageNeverCountsBelowTheNextFrameNorUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tenths := func(most int, name string) float64 { return float64(rapid.IntRange(0, most).Draw(t, name)) / 10 }
		elapsed, left := tenths(6000, "elapsed"), tenths(1200, "left")
		row := waitsRow{Hold: tenths(1200, "hold"), Spread: tenths(1200, "spread"), Elapsed: &elapsed, Left: &left,
			Position: rapid.IntRange(1, 10).Draw(t, "position")}
		row.Estimated, row.Maximum = row.at(0)
		past := expectedRow{Held: true, Hold: tenths(1200, "past hold"), Spread: tenths(1200, "past spread"), Position: row.Position,
			Holds: rapid.IntRange(0, 9).Draw(t, "holds")}
		before, expected := *row.Estimated, math.Inf(1)
		for gone := 0.0; gone < left+3; gone += 0.7 {
			estimated, maximum := row.page(gone)
			promised, longest := row.at(gone)
			require.GreaterOrEqual(t, *estimated, *promised, "after %v s", gone)
			require.GreaterOrEqual(t, *maximum, *longest, "after %v s", gone)
			require.LessOrEqual(t, *estimated, before)
			require.LessOrEqual(t, *estimated, *maximum)
			before = *estimated

			past.Left = max(left-gone, 0)
			shown := past.usual().Expected(float64(*promised), float64(*longest))
			require.LessOrEqual(t, shown, expected, "the next frame's, by the history")
			require.LessOrEqual(t, shown, float64(*promised))
			expected = shown
		}
	})
}

// begin returns where the lines of an element's texts begin, and its own edge.
const begin = `((e) => {
	const range = document.createRange();
	const lines = [...e.children].filter((part) => part.textContent).map((part) => {
		range.selectNodeContents(part);
		return range.getBoundingClientRect();
	});
	const edge = e.parentElement.getBoundingClientRect().left;
	const first = lines.filter((line, i) => i === 0 || line.top >= lines[i - 1].bottom);
	return first.map((line) => Math.round(line.left - edge)).join();
})(document.querySelector(".latest"))`

func TestNoDotIsLeftWhereAWaitIsBroken(t *testing.T) {
	room, tab := startFakeRoom(t), openBrowser(t)
	tab.do(chromedp.EmulateViewport(320, 740))
	tab.open(room, "en")
	room.push(t, object{"status": "waiting", "ticket": 9, "queue_position": 4, "queue_length": 6,
		"estimated_wait": 195, "maximum_wait": 447})
	tab.until(`document.body.dataset.state === "waiting"`)
	tab.until(begin + ` === "0,0"`)
	tab.until(`getComputedStyle(document.getElementById("when"), "::after").content === "none"`)
	tab.do(chromedp.EmulateViewport(1280, 740))
	tab.until(begin + ` === "0"`)
}

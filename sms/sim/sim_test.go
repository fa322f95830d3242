package sim_test

import (
	"flag"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/sms/sim"
)

var (
	tableLeases = flag.Int("sim.leases", 0, "print the table, with so many leases in every row")
	tableRows   = flag.String("sim.rows", "", "only the rows whose name this regular expression finds")
	seed        = flag.Uint64("sim.seed", 1, "the seed of chance")
)

func store(tb testing.TB) sim.Store {
	tb.Helper()
	embedded := redistest.StartEmbedded(tb)
	rdb := redis.NewClient(&redis.Options{Addr: embedded.Addr()})
	tb.Cleanup(func() { require.NoError(tb, rdb.Close()) })
	return sim.Store{Client: rdb, SetTime: embedded.SetTime}
}

func run(tb testing.TB, w sim.World, leases int) sim.Counts {
	tb.Helper()
	return runSeed(tb, w, *seed, leases)
}

func runSeed(tb testing.TB, w sim.World, seed uint64, leases int) sim.Counts {
	tb.Helper()
	counts, err := sim.Run(tb.Context(), store(tb), w, seed, leases)
	require.NoError(tb, err)
	tb.Logf("\n%s\n%s", sim.TableHead, counts.Row("", w))
	return counts
}

// slow returns the default world with a share of slow codes.
func slow(share float64) sim.World {
	w := sim.Default()
	w.Slow = share
	return w
}

// before changes a world to the time before sellers could announce asks.
func before(w sim.World) sim.World {
	w.Asking, w.Quarantine = 0, 0
	return w
}

// bars are the largest allowed shares of wrong matches with the default settings, by the share of slow codes
// and by the median time from an ask to the marketplace's button in seconds.
var bars = map[float64]map[int]float64{
	.02: {0: .003, 5: .003, 10: .003, 20: .006},
	.05: {0: .007, 5: .007, 10: .012, 20: .018},
}

// within returns how many wrong matches a number of leases may have: the bar and three standard deviations of
// a Poisson count of pairs. Pairs, because one wrong match mostly causes another after it.
func within(bar float64, leases int) int {
	mean := bar * float64(leases)
	return int(mean + 3*math.Sqrt(2*mean))
}

// hard returns a world in which most leases end while a code is on its way.
func hard() sim.World {
	w := slow(.2)
	w.Quick = sim.Lognormal{Median: 20 * time.Second, Sigma: .6}
	w.Again, w.AgainMost, w.Cancel, w.Asking, w.Adverts = 1, 5, .5, .8, 20
	w.AskToPress = sim.AskToPress(20 * time.Second)
	w.Resent, w.SameCode = .1, .3
	return w
}

// few is the number of leases in the hard world after which codes go astray if no rule prevents it.
const few = 20

func TestCodeSentWithinTheQuarantineGoesAstrayOnlyWhereAnotherTookItsPlace(t *testing.T) {
	noneGoAstray(t, few)
}

func noneGoAstray(t *testing.T, leases int) {
	for _, stamp := range []sim.Stamp{sim.Exact, sim.Second, sim.Unstamped} {
		w := hard()
		w.Stamp = stamp
		require.Zero(t, run(t, w, leases).Wrong[sim.Broken], stamp)
	}
}

// prompt returns a world in which many codes are lost, and the next seller's code is sent right after the
// previous seller's quarantine.
func prompt() sim.World {
	w := slow(.02)
	w.Lost, w.Quick, w.Cancel = .4, sim.Lognormal{Median: time.Second, Sigma: .8}, .5
	w.AskToPress = sim.AskToPress(0)
	return w
}

// clocks are the errors of a carrier's clock that are tried.
var clocks = []time.Duration{-time.Second, -2 * time.Second, -3 * time.Second, 2 * time.Second}

func TestClockThatIsOffSendsNoCodeAstray(t *testing.T) { clocksSendNoneAstray(t, 20, 1) }

func clocksSendNoneAstray(t *testing.T, leases, seeds int) {
	for _, ahead := range clocks {
		for n := range seeds {
			w := prompt()
			w.Ahead = ahead
			counts := runSeed(t, w, *seed+uint64(n), leases)
			require.Zero(t, counts.Wrong[sim.Broken], "%s, seed %d", ahead, *seed+uint64(n))
			if ahead < 0 {
				require.NotZero(t, counts.Claimed, "%s, seed %d: sellers see none of the codes that seem too old", ahead,
					*seed+uint64(n))
			}
		}
	}
}

func TestWithoutQuarantineSuchCodesDoGoAstray(t *testing.T) {
	w := hard()
	w.Quarantine, w.Promised = 0, 30*time.Second
	require.NotZero(t, run(t, w, few).Wrong[sim.Broken], "the simulation would not notice")
}

// copies returns a world in which many codes come twice.
func copies() sim.World {
	w := slow(.02)
	w.Quick, w.AskToPress = sim.Lognormal{Median: 20 * time.Second, Sigma: .6}, sim.AskToPress(0)
	w.Again, w.AgainMost, w.SentTwice = 1, 5, .4
	return w
}

func TestCodeThatIsSentTwiceAnswersOneAskAndReachesNoOtherSeller(t *testing.T) {
	counts := run(t, copies(), 30)
	require.Zero(t, counts.Wrong[sim.Repeat])
	require.Zero(t, counts.Wrong[sim.Copy])
}

func TestCodeInOtherClothesReachesNoOtherSeller(t *testing.T) {
	for _, unfiltered := range []bool{false, true} {
		w := copies()
		w.SentTwice, w.Dressed, w.Unfiltered = 0, .4, unfiltered
		require.Zero(t, run(t, w, 20).Wrong[sim.Copy], "asks without a sender: %t", unfiltered)
	}
}

func TestTextOfTheSellerWhoIsNextEndsNoTurn(t *testing.T) {
	for _, unfiltered := range []bool{false, true} {
		w := slow(.02)
		w.Hostile, w.Unfiltered = .4, unfiltered
		require.Zero(t, run(t, w, 20).Wrong[sim.Forged], "asks without a sender: %t", unfiltered)
	}
}

func TestWrongAttributionsAreWithinTheBarAndWereFarAboveIt(t *testing.T) { barHolds(t, 150) }

func barHolds(t *testing.T, leases int) {
	most := within(bars[.05][10], leases)
	require.LessOrEqual(t, run(t, slow(.05), leases).AllWrong(), most)
	require.Greater(t, run(t, before(slow(.05)), leases).AllWrong(), most)
}

func TestSameSeedPlaysTheSame(t *testing.T) {
	require.Equal(t, run(t, slow(.05), 20), run(t, slow(.05), 20))
}

// row is a row of the table.
type row struct {
	name   string
	world  sim.World
	bar    float64 // 0 = none is set
	counts sim.Counts
	err    error
	played chan struct{} // closed when counts and err are there
}

func rows(share float64) (list []*row) {
	add := func(name string, change func(*sim.World)) *row {
		w := slow(share)
		change(&w)
		list = append(list, &row{name: name, world: w, played: make(chan struct{})})
		return list[len(list)-1]
	}
	add("by time alone", func(w *sim.World) { *w = before(*w) })
	add("by time alone", func(w *sim.World) { *w = before(*w); w.Stamp = sim.Unstamped })
	for _, seconds := range []int{0, 15, 45, 60, 120} {
		add(fmt.Sprintf("quarantine %d s", seconds),
			func(w *sim.World) { w.Quarantine = time.Duration(seconds) * time.Second })
	}
	for _, seconds := range []int{0, 5, 10, 20} {
		add(fmt.Sprintf("median %d s", seconds), func(w *sim.World) {
			w.AskToPress = sim.AskToPress(time.Duration(seconds) * time.Second)
		}).bar = bars[share][seconds]
	}
	add("whole seconds", func(w *sim.World) { w.Stamp = sim.Second })
	add("no sent_at", func(w *sim.World) { w.Stamp = sim.Unstamped })
	add("asks without a sender", func(w *sim.World) { w.Unfiltered = true })
	add("codes of 4 digits", func(w *sim.World) { w.Digits = 4 })
	add("half of the further presses unasked", func(w *sim.World) { w.Unasked = .5 })
	add("one in ten presses first, asks then", func(w *sim.World) { w.PressFirst = .1 })
	add("half of the sellers ask", func(w *sim.World) { w.Asking = .5 })
	if share != .02 {
		return list
	}
	add("same text again, resent", func(w *sim.World) { w.SameCode, w.Resent = .5, .02 })
	add("sent twice", func(w *sim.World) { w.SentTwice = .1 })
	add("in other clothes", func(w *sim.World) { w.Dressed = .1 })
	add("in other clothes, asks without a sender", func(w *sim.World) { w.Dressed, w.Unfiltered = .1, true })
	add("every opt-out number misread", func(w *sim.World) { w.Adverts, w.OptOut, w.Misread = 3, 1, 1 })
	add("one in ten hostile", func(w *sim.World) { w.Hostile = .1 })
	add("one in ten hostile, asks without a sender", func(w *sim.World) { w.Hostile, w.Unfiltered = .1, true })
	add("half of the sellers ask, asks are required", func(w *sim.World) { w.Asking, w.Required = .5, true })
	add("a code ends no lease", func(w *sim.World) { w.Keep = true })
	for _, guard := range []time.Duration{time.Second, 3 * time.Second} {
		add(fmt.Sprintf("guard %s", guard), func(w *sim.World) { w.Guard = guard })
	}
	for _, ahead := range clocks {
		add(fmt.Sprintf("clock %+d s", ahead/time.Second), func(w *sim.World) { w.Ahead = ahead })
		add(fmt.Sprintf("clock %+d s, pressed at once", ahead/time.Second), func(w *sim.World) {
			w.Ahead, w.AskToPress = ahead, sim.AskToPress(0)
		})
	}
	return list
}

// TestTable prints a table of what each rule is worth (make sim).
func TestTable(t *testing.T) {
	if *tableLeases == 0 {
		t.Skip("make sim prints the table")
	}
	wanted := regexp.MustCompile(*tableRows)
	table := slices.DeleteFunc(append(rows(.02), rows(.05)...),
		func(r *row) bool { return !wanted.MatchString(r.name) })
	begun := time.Now()
	play(t, table)
	fmt.Println(sim.TableHead)
	calls := 0
	for _, r := range table {
		<-r.played
		require.NoError(t, r.err, r.name)
		calls += r.counts.Calls
		fmt.Println(r.counts.Row(r.name, r.world))
	}
	fmt.Printf("\n%d leases a row, seed %d; %d calls of the engine, %.0f a second\n", *tableLeases, *seed, calls,
		float64(calls)/time.Since(begun).Seconds())
	for _, r := range table {
		if r.world.Quarantine > 0 {
			require.Zero(t, r.counts.Wrong[sim.Broken], "%s: sent in time", r.name)
		}
		if r.bar > 0 {
			require.LessOrEqual(t, r.counts.AllWrong(), within(r.bar, r.counts.Leases), "%s: wrong", r.name)
		}
	}
}

// play simulates the rows, one on each processor at a time and each with a store of its own.
func play(t *testing.T, table []*row) {
	next := make(chan *row, len(table))
	for _, r := range table {
		next <- r
	}
	close(next)
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	for range runtime.GOMAXPROCS(0) {
		mine := store(t)
		wg.Go(func() {
			for r := range next {
				r.counts, r.err = sim.Run(t.Context(), mine, r.world, *seed, *tableLeases)
				close(r.played)
			}
		})
	}
}

package sim

import (
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Cause is the reason why a code went to a lease that did not cause it.
type Cause int

// The causes. The rules cannot recognize, or do not promise to prevent, any but the last.
const (
	SentLate  Cause = iota // sent a quarantine after its lease's end or later
	Unasked                // its seller pressed without an ask for that
	Advert                 // no cause: an advert with a number that was taken for a code
	Forged                 // no cause: a text from a personal number
	Displaced              // sent in time, but another seller's code had answered its ask
	Twin                   // sent in time, but another lease got the same text within ten minutes
	Copy                   // a second copy of a code that its own seller has
	Repeat                 // sent in time, but a second copy of an earlier code had answered its ask
	Claimed                // another seller was offered it and claimed it
	Broken                 // sent in time and not displaced: this must not happen
	causes
)

// Counts are a run's results.
type Counts struct {
	Leases    int         // granted
	Wrong     [causes]int // codes of leases that did not cause them
	WrongLate int         // of those, codes of leases that were over, which ended nothing
	Verified  int         // leases that got their own code while live
	Late      int         // codes of their own lease after its end
	Ambiguous int         // codes that could belong to two leases
	Unmatched int         // codes without a lease for another reason
	Offered   int         // codes without a lease that were offered to the holder
	Claimed   int         // of those: claimed
	BusyMS    int64       // how long holders waited for the number
	Played    time.Duration
	Calls     int // calls of the engine
}

func (t *Counts) add(u Counts) {
	t.Leases += u.Leases
	for i := range t.Wrong {
		t.Wrong[i] += u.Wrong[i]
	}
	t.WrongLate += u.WrongLate
	t.Verified += u.Verified
	t.Late += u.Late
	t.Ambiguous += u.Ambiguous
	t.Unmatched += u.Unmatched
	t.Offered += u.Offered
	t.Claimed += u.Claimed
	t.BusyMS += u.BusyMS
	t.Played += u.Played
	t.Calls += u.Calls
}

func (t *Counts) wrong(c Cause, live bool) {
	t.Wrong[c]++
	if !live {
		t.WrongLate++
	}
}

// own counts a code of its own lease, which may be live, verified before, and have had its code before.
func (t *Counts) own(live, verified, got bool) {
	switch {
	case live && !verified:
		t.Verified++
	case !live && !got:
		t.Late++
	}
}

func (t *Counts) unmatched(m message, reason room.Reason) {
	switch {
	case m.of == nil || m.repeat && m.of.got: // an advert belongs to no lease; no seller misses a copy
	case reason == room.Ambiguous:
		t.Ambiguous++
	default:
		t.Unmatched++
	}
}

// AllWrong returns how many codes went to a lease that did not cause them.
func (t Counts) AllWrong() int {
	n := 0
	for _, w := range t.Wrong {
		n += w
	}
	return n
}

// Share returns n as a percentage of the leases.
func (t Counts) Share(n int) float64 { return 100 * float64(n) / float64(max(t.Leases, 1)) }

// TableHead has the column heads of Row, as Markdown.
const TableHead = "" +
	"| rules | sent_at | slow | ask to press | wrong | **in time** | sent late, unasked | advert, forged " +
	"| displaced | twin, copy, repeat | claimed | of a lease that was over | ambiguous | unmatched | offered " +
	"| claimed | own, late | verified | leases/h | verified/h | busy s/lease |\n" +
	"| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: " +
	"| ---: | ---: | ---: | ---: | ---: | ---: |"

// Row returns the counts as a line of the table.
func (t Counts) Row(name string, w World) string {
	hours := max(t.Played.Hours(), 1e-9)
	return fmt.Sprintf("| %s | %s | %.0f %% | %.0f s | %.3f %% | **%d** | %d, %d | %d, %d | %d | "+
		"%d, %d, %d | %d | %.3f %% | %.2f %% | %.2f %% | %d | %d | %.2f %% | %.1f %% | %.1f | %.1f | %.1f |",
		name, w.Stamp, 100*w.Slow, w.AskToPress.Median.Seconds(), t.Share(t.AllWrong()), t.Wrong[Broken],
		t.Wrong[SentLate], t.Wrong[Unasked], t.Wrong[Advert], t.Wrong[Forged], t.Wrong[Displaced], t.Wrong[Twin],
		t.Wrong[Copy], t.Wrong[Repeat], t.Wrong[Claimed], t.Share(t.WrongLate), t.Share(t.Ambiguous),
		t.Share(t.Unmatched), t.Offered, t.Claimed, t.Share(t.Late), t.Share(t.Verified),
		float64(t.Leases)/hours, float64(t.Verified)/hours, float64(t.BusyMS)/1000/float64(max(t.Leases, 1)))
}

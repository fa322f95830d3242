package sim

import (
	"fmt"
	"time"

	"github.com/waitroom/waitroom/room"
)

// Cause says why a code was attributed to a lease that did not cause it.
type Cause int

// The causes. All but the last are what the rules can not tell, or do not promise.
const (
	SentLate  Cause = iota // sent later after its ask than the quarantine
	Unasked                // its seller did not say that it asks
	Advert                 // nobody caused it: an advert with a number that looks like a code
	Displaced              // sent in time, but a code of the others had answered its ask
	Twin                   // sent in time, but the very same text had gone to another within ten minutes: a repeat, or two codes alike
	Repeat                 // sent in time, but the carrier's second copy of an earlier code had answered its ask
	Claimed                // a seller was offered it and claimed it, and it was another's
	Broken                 // sent in time and nothing took its place: this must not be
	causes
)

// Tally is what happened.
type Tally struct {
	Leases    int         // granted
	Wrong     [causes]int // codes attributed to a lease that did not cause them
	WrongLate int         // those of them whose lease was over: they ended nothing
	Verified  int         // leases whose own code came while they lived
	Late      int         // codes attributed to their own lease when it was over
	Ambiguous int         // codes that could be of two
	Unmatched int         // codes attributed to none for another reason
	Offered   int         // of the codes attributed to none: offered to the holder
	Claimed   int         // of those: claimed
	BusyMS    int64       // how long holders waited for the number
	Played    time.Duration
	Calls     int // of the engine
}

func (t *Tally) add(u Tally) {
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

func (t *Tally) wrong(c Cause, live bool) {
	t.Wrong[c]++
	if !live {
		t.WrongLate++
	}
}

func (t *Tally) own(m message, live, verified bool) {
	switch {
	case !live:
		t.Late++
	case !verified:
		t.Verified++
	}
}

func (t *Tally) unmatched(m message, reason room.Reason) {
	switch {
	case m.of == nil: // an advert belongs to nobody
	case reason == room.Ambiguous:
		t.Ambiguous++
	default:
		t.Unmatched++
	}
}

// AllWrong is how many codes were attributed to a lease that did not cause them.
func (t Tally) AllWrong() int {
	n := 0
	for _, w := range t.Wrong {
		n += w
	}
	return n
}

// Share is so many in a hundred leases.
func (t Tally) Share(n int) float64 { return 100 * float64(n) / float64(max(t.Leases, 1)) }

// TableHead are the columns of Row, as Markdown.
const TableHead = "" +
	"| rules | sent_at | slow | wrong | of a lease that was over | sent late, unasked | advert | displaced | twin, repeat | claimed | **in time** | ambiguous | unmatched | offered | claimed | own, late | verified | leases/h | verified/h | busy s/lease |\n" +
	"| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"

// Row is the tally as a line of the table.
func (t Tally) Row(name string, w World) string {
	hours := max(t.Played.Hours(), 1e-9)
	return fmt.Sprintf("| %s | %s | %.0f %% | %.3f %% | %.3f %% | %d, %d | %d | %d | %d, %d | %d | **%d** | %.2f %% | %.2f %% | %d | %d | %.2f %% | %.1f %% | %.1f | %.1f | %.1f |",
		name, w.Stamp, 100*w.Slow, t.Share(t.AllWrong()), t.Share(t.WrongLate), t.Wrong[SentLate], t.Wrong[Unasked], t.Wrong[Advert], t.Wrong[Displaced],
		t.Wrong[Twin], t.Wrong[Repeat], t.Wrong[Claimed], t.Wrong[Broken], t.Share(t.Ambiguous), t.Share(t.Unmatched), t.Offered, t.Claimed,
		t.Share(t.Late), t.Share(t.Verified),
		float64(t.Leases)/hours, float64(t.Verified)/hours, float64(t.BusyMS)/1000/float64(max(t.Leases, 1)))
}

package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms/rules"
)

var (
	fine   = rules.Settings{Quarantine: 6, Behind: 1, OpenFor: 12} // a quarantine of two steps
	coarse = rules.Settings{Quarantine: 3, Behind: 1, OpenFor: 6}  // of one step
	waits  = []rules.Time{0, 1, 2}
)

// Rule 12 of docs/contract.md: no session is shown a message that another one caused by the page's way,
// whatever they ask, leave, claim and reject.
func TestNoCodeReachesAnotherSessionInAnyWorld(t *testing.T) {
	noneIn(t, fine, rules.Bounds{Leases: 2, Asks: 2, Messages: 2, Waits: waits[:2], Transit: 2, Claims: 1,
		Rejects: 1, Silent: true, Narrow: true, Skew: true, Copies: true, Strays: true})
	noneIn(t, coarse, rules.Bounds{Leases: 3, Asks: 3, Messages: 2, Waits: waits[:2], Transit: 1, Claims: 1,
		Skew: true})
}

func noneIn(t *testing.T, s rules.Settings, b rules.Bounds) {
	t.Helper()
	x := rules.Explorer{Settings: s, Bounds: b, Stop: true}
	x.Run()
	t.Logf("%+v: %d worlds, %d events", b, x.Visited, x.Steps)
	require.Empty(t, rules.Story(&s, x.Violation))
}

// The exploration finds the worlds that a rule is for, where the rule is left out.
func TestARuleLeftOutHasAWorld(t *testing.T) {
	b := rules.Bounds{Leases: 3, Asks: 3, Messages: 3, Waits: waits, Transit: 2, Claims: 1, Skew: true}
	for rule, more := range map[rules.Rule]func(*rules.Bounds){
		rules.ClockBehind:    func(b *rules.Bounds) { b.Leases = 2 },
		rules.OpenWithRight:  func(b *rules.Bounds) { b.Leases = 2 },
		rules.SecondCode:     func(*rules.Bounds) {},
		rules.BehindAnswered: func(b *rules.Bounds) { b.Leases, b.Messages = 2, 2 },
		rules.Displaced:      func(b *rules.Bounds) { b.Messages = 2 },
		rules.SameCode:       func(b *rules.Bounds) { b.Copies = true },
		rules.OneCodeOneAsk:  func(b *rules.Bounds) { b.Copies = true },
	} {
		s, b := fine, b
		s.Without = rule
		more(&b)
		x := rules.Explorer{Settings: s, Bounds: b, Stop: true}
		x.Run()
		require.NotEmpty(t, x.Violation, "without rule %b", rule)
		t.Logf("without rule %b:\n%s", rule, rules.Story(&s, x.Violation))
	}
}

// Each assumption is needed: docs/matching.md lists what goes wrong without it.
func TestAnAssumptionDroppedHasACounterexample(t *testing.T) {
	for _, a := range rules.List {
		require.NotEmpty(t, rules.Counterexample(rules.Page, a.Is), a.Holds)
	}
	require.Empty(t, rules.Counterexample(rules.Page, 0))
}

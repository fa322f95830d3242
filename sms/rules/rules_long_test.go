//go:build long

package rules_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/waitroom/waitroom/sms/rules"
)

// The same as TestNoCodeReachesAnotherSessionInAnyWorld for many more worlds: with three leases, three asks
// and three messages.
func TestNoCodeReachesAnotherSessionInAnyLargerWorld(t *testing.T) {
	all := rules.Bounds{Leases: 2, Asks: 2, Messages: 2, Waits: waits, Transit: 2, Claims: 1, Rejects: 1,
		Silent: true, Narrow: true, Skew: true, Copies: true, Strays: true}
	noneIn(t, fine, all)
	noneIn(t, fine, rules.Bounds{Leases: 3, Asks: 3, Messages: 2, Waits: waits, Transit: 2, Claims: 1, Skew: true})
	noneIn(t, coarse, rules.Bounds{Leases: 3, Asks: 3, Messages: 2, Waits: waits[:2], Transit: 2, Claims: 1,
		Rejects: 1, Silent: true, Skew: true, Copies: true})
	noneIn(t, coarse, rules.Bounds{Leases: 2, Asks: 3, Messages: 3, Waits: waits[:2], Transit: 2, Claims: 1,
		Rejects: 1, Silent: true, Skew: true, Copies: true})
	noneIn(t, coarse, rules.Bounds{Leases: 3, Asks: 3, Messages: 3, Waits: waits[:2], Transit: 1, Claims: 1,
		Skew: true})
	noneIn(t, coarse, rules.Bounds{Leases: 3, Asks: 3, Messages: 3, Waits: waits[:2], Transit: 1, Claims: 1,
		Silent: true, Copies: true})
}

// TestEngineAgreesWithTheModel for 20,000 worlds, or as many as WAITROOM_TEST_WORLDS says: 100,000 take ten
// minutes.
func TestEngineAgreesWithTheModelInManyWorlds(t *testing.T) {
	worlds := 20_000
	if n, err := strconv.Atoi(os.Getenv("WAITROOM_TEST_WORLDS")); err == nil {
		worlds = n
	}
	agrees(t, 2, worlds)
}

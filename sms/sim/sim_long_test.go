//go:build long

package sim_test

import "testing"

func TestCodeSentWithinTheQuarantineGoesAstrayOnlyWhereAnotherTookItsPlaceAtLength(t *testing.T) {
	noneGoAstray(t, 80)
}

func TestClockThatIsOffSendsNoCodeAstrayAtLength(t *testing.T) { clocksSendNoneAstray(t, 60, 5) }

func TestWrongAttributionsAreWithinTheBarAndWereFarAboveItAtLength(t *testing.T) { barHolds(t, 400) }

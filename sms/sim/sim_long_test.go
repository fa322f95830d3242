//go:build long

package sim_test

import "testing"

func TestCodeSentWithinTheQuarantineGoesAstrayOnlyWhereAnotherTookItsPlaceAtLength(t *testing.T) {
	noneGoAstray(t, 80)
}

func TestWrongAttributionsAreWithinTheBarAndWereFarAboveItAtLength(t *testing.T) { barHolds(t, 400) }

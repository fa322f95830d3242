//go:build long

package room_test

import "testing"

// These tests run the properties of the tests with similar names, on many cases instead of a few.

func TestScriptsKeepTheRulesInAnyOrderOfEventsAtLength(t *testing.T) { keepTheRules(t, 100) }

func TestNoMessageIsEverAttributedToAnotherLeaseAtLength(t *testing.T) { neverAttributed(t, 100) }

func TestRosterEqualsTheEventsAtLength(t *testing.T) { rosterEqualsEvents(t, 100) }

func TestCandidatesAreTheLeasesThatAssignTakesAtLength(t *testing.T) { candidatesAreTaken(t, 100) }

func TestAverageHoldAndSpreadAreThoseOfTheModelAtLength(t *testing.T) { learnsAsTheModel(t, 100) }

func TestThinLocksAnswerAsOthersDoInEveryStoryAtLength(t *testing.T) { storiesAreTheSame(t, 3, 12) }

func TestALockKeepsItsPromisesThinOrNotAtLength(t *testing.T) { locksKeepTheirPromises(t, 600) }

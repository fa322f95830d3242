//go:build long

package outbox_test

import "testing"

func TestOfManyTasksEachPhaseIsDoneOnceAndEachKeyInOrder(t *testing.T) {
	onceAndInOrder(t, 10, 500, 50)
}

func TestEveryStepOfALongWalkIsAsTheRulesSay(t *testing.T) { walk(t, 1000) }

//go:build long

package ledger_test

import "testing"

func TestManyRecordsAtATimeWriteWhatOneAtATimeDoesInManyJournals(t *testing.T) {
	manyAsOne(t, 2, 3, 4, 5, 6, 7)
}

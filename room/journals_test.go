package room

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJournalsOfManyRoomsAreLookedAtLessOftenThanThoseOfAFew(t *testing.T) {
	m := newMemory(time.Hour, false)
	for n := range journalsMany {
		m.journalGrew(ID(fmt.Sprint("r:", n)), journalsEvery)
	}
	begun := time.Now()
	m.journalGrew("one:more", journalsEvery)
	require.Len(t, m.takeJournals(begun.Add(journalsEvery)), journalsMany)
	require.Empty(t, m.takeJournals(begun.Add(journalsLater-time.Millisecond)))
	require.Equal(t, []ID{"one:more"}, m.takeJournals(time.Now().Add(journalsLater)))
}

package room

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJournalsOfManyRoomsAreLookedAtLessOftenThanThoseOfAFew(t *testing.T) {
	j := newJournals(true)
	for n := range journalsMany {
		j.grew(ID(fmt.Sprint("r:", n)), journalsEvery)
	}
	begun := time.Now()
	j.grew("one:more", journalsEvery)
	require.Len(t, j.take(begun.Add(journalsEvery)), journalsMany)
	require.Empty(t, j.take(begun.Add(journalsLater-time.Millisecond)))
	require.Equal(t, []ID{"one:more"}, j.take(time.Now().Add(journalsLater)))
}

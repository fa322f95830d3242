package room

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This program reads a reply that a newer one kept, with more in two of its fields.
func TestReplyWithMoreBehindACommaIsRead(t *testing.T) {
	read := func(text string) View { return (&reader{fields: strings.Fields(text)}).view() }
	const now = "1 2 3 4 5.000,6.000,abc:1,def:2 %s 7 8 9 10 1 1 11,12%s"
	of := func(paused, more string) string {
		return strings.Replace(strings.Replace(now, "%s", paused, 1), "%s", more, 1)
	}
	want := read(of("1", ""))
	require.True(t, want.Paused)
	require.Equal(t, "abc:1,def:2", want.Lineage)
	require.EqualValues(t, 12, want.Lease.ClaimBy)
	require.Equal(t, want, read(of("1,777", ",777")))
}

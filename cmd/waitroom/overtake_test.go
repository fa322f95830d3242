package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A seller that asks a second time may get the second code first. The first code was sent within its
// quarantine, and is still the seller's own: it must not go to an earlier seller whose ask stayed unanswered.
func TestCodeIsItsOwnSellersThoughTheNextCodeCameFirst(t *testing.T) {
	t.Parallel()
	const quarantine = 3 * time.Second // no step below is slow enough to take as long
	url, dsn := sqliteFile(t)
	s := newSingle(t, "sqlite", url, dsn, "--sms-quarantine", quarantine.String())
	a, ofA := s.join("a")
	b, ofB := s.join("b")
	asked := s.expect(a, s.status(a).Fence, "")
	require.Equal(t, http.StatusOK, s.do(http.MethodDelete, a, "/lock?reason=cancelled", "").status,
		"its code is lost")
	holder := s.status(b)
	require.NoError(t,
		linger(t.Context(),
			time.Until(time.UnixMilli(asked).Add(quarantine))+clocksDiffer*time.Millisecond), "the quarantine passes")

	s.expect(b, holder.Fence, "")
	first := s.carrier.write(oneRoom, time.Now(), milliseconds)
	require.NoError(t, linger(t.Context(), 5*time.Millisecond))
	s.expect(b, holder.Fence, "")
	second := s.bring(s.carrier.write(oneRoom, time.Now(), milliseconds), route{})
	require.Equal(t, answer{Result: "matched", Ticket: holder.Ticket, Fence: holder.Fence}, second.answer)
	require.Equal(t, http.StatusOK, s.do(http.MethodDelete, b, "/lock?reason=completed", "").status)

	s.bring(first, route{})
	require.Equal(t, answer{Result: "late", Ticket: holder.Ticket, Fence: holder.Fence}, first.answer)
	s.awaitFrame(ofB, first.code)
	require.Empty(t, ofA.shown())
}

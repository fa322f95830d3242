package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// counted is a turn that the replicas counted as the ledger has it.
func counted() *scenario {
	s := turn()
	s.ledger.Counted = Counted{Read: true, All: s.ledger.counts()}
	return s
}

func TestMetricsCountWhatTheLedgerHas(t *testing.T) {
	require.Equal(t, Counts{placesJoined: 2, "leases granted": 2, "place completed": 1, "place cancelled": 1,
		"lease completed": 1, "lease cancelled": 1},
		turn().ledger.counts())
	s := counted()
	require.Empty(t, s.kinds())
	s.ledger.Counted.All["place completed"]--
	s.ledger.Counted.Unseen = Counts{"place completed": 1}
	require.Empty(t, s.kinds(), "who was ended may have counted it")
}

func TestATicketGivenOutTwiceIsTwoPlacesInOneRow(t *testing.T) {
	s := counted()
	s.ledger.Incidents = []string{"ticket_reused"}
	s.ledger.Counted.All["incident ticket_reused"] = 1
	s.ledger.Counted.All[placesJoined]++
	require.Empty(t, s.kinds())
}

func TestCountsAreReadFromMetrics(t *testing.T) {
	require.Equal(t, Counts{placesJoined: 1200000, "place lost": 2, "place completed": 1, "place cancelled": -1,
		"lease expired": 3, "message matched": 4,
		"message unmatched no_lease": 5, "incident match_refused": 6},
		countsOf(`# HELP waitroom_places_joined_total Places taken.
waitroom_places_joined_total 1.2e+06
waitroom_places_ended_total{outcome="lost"} 3
waitroom_places_corrected_total{from="lost",to="completed"} 1
waitroom_places_corrected_total{from="cancelled",to="open"} 1
waitroom_leases_ended_total{outcome="expired"} 3
waitroom_messages_total{reason="",result="matched"} 4
waitroom_messages_total{reason="no_lease",result="unmatched"} 5
waitroom_ledger_incidents_total{kind="match_refused"} 6
waitroom_hub_sockets 7
`))
}

package sms

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestNumberIsTheSameHoweverAProviderWritesIt(t *testing.T) {
	for _, same := range []string{"010-1234-5678", "01012345678", "+82 10-1234-5678", "821012345678", "+82 010 1234 5678",
		"00821012345678", "tel:+82-10-1234-5678", "82 (0)10 1234 5678", "82.10.1234.5678", "sms:+821012345678",
		"001 82 10 1234 5678", "+821012345678/TYPE=PLMN", "010\u00a01234\u20115678"} {
		require.True(t, SameNumber(same, "010-1234-5678"), same)
		require.True(t, SameNumber("01012345678", same), same)
	}
	for _, other := range []string{"01012345679", "+811012345678", "1012345678", "82"} {
		require.False(t, SameNumber(other, "010-1234-5678"), other)
	}
	require.True(t, SameNumber("821588-1234", "15881234"))
}

func TestMessageToAnotherNumberIsShownToNobodyOfTheRoom(t *testing.T) {
	s := newStage(t)
	phone := "010-1234-5678"
	r := s.replica(Config{Completes: true, Phone: func(room.ID) string { return phone }})
	send := func(id string, to any) Answer {
		body, err := json.Marshal(map[string]any{"message_id": id, "from": "1588-0000", "text": smsText, "to": to})
		require.NoError(t, err)
		answer, err := r.Receive(context.Background(), integration, signed(t, testSecret, time.Now(), body), body)
		require.NoError(t, err)
		return answer
	}
	wrong := Answer{Result: room.Unmatched, Reason: room.WrongNumber}
	for i, to := range []any{"01087654321", "+82 10-8765-4321", 821087654321, "SIM 2"} {
		require.Equal(t, wrong, send(fmt.Sprint("w", i), to))
	}
	s.requireShown(s.a)
	require.Equal(t, s.matched(), send("m", "+821012345678"))
	s.requireShown(s.a, smsText)
	require.Equal(t, wrong, send("w0", "01012345678"), "a repeat gets the first answer")
	phone = ""
	s.drain()
	require.NotEqual(t, wrong, send("n", "01087654321"), "a room without a number takes all")
}

func TestMessageWithoutARecipientIsTheRoomsOwn(t *testing.T) {
	s := newStage(t)
	r := s.replica(Config{Completes: true, Phone: func(room.ID) string { return "010-1234-5678" }})
	require.Equal(t, s.matched(), r.must(t, "m", smsText, 0))
}

func TestCardIsTheSameHoweverAPhoneNamesIt(t *testing.T) {
	for _, same := range []string{"1", "SIM1", "sim 1", "SIM-1", "SIM1_KT", "Sim1 (KT)", "sim1:kt", "USIM1", "slot1",
		"1.0", "SIM#1"} {
		require.True(t, SameSIM(same, "1"), same)
		require.True(t, SameSIM("SIM1", same), same)
	}
	for _, other := range []string{"", "2", "SIM2", "0", "12", "KT", "010-1111-1111", "1111"} {
		require.False(t, SameSIM(other, "SIM1"), other)
	}
	require.True(t, SameSIM("KT", "kt "))
	require.False(t, SameSIM("010-1111-1111", "010-2222-2222"))
}

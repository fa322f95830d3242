package server

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/heard"
)

// The rooms differ in what lists their senders; a is of the prefix alone.
func TestRoomOpenToAllSendersIsNamedWithThoseOfItsCodes(t *testing.T) {
	store := redistest.Start(t)
	rooms := roomsFile(t, `
listed: {sms_from: [1588-0000]}
markets: {marketplaces: [{name: A, from: [1588-0000]}, {name: B, from: [1577-0000]}]}
half: {marketplaces: [{name: A, from: [1588-0000]}, {name: B}]}
`)
	args := append(supportArgs(t), "--redis-url", store.URL(), "--sms-webhook-secret", smsSecret, "--rooms-file", rooms,
		"--rooms", "integration,open:*,listed,markets,half", "--lease", "10m")
	r, log := logged(t, args...)
	requireLogged(t, log, "open:* takes texts of every sender")
	require.Contains(t, log.String(), "half takes texts of every sender")
	require.NotContains(t, log.String(), "listed takes")
	require.NotContains(t, log.String(), "markets takes")
	require.NotContains(t, log.String(), "open:a")

	for i, from := range []string{"1588-0000", "+8215880000", "010-1234-5678", "쿠팡", "쿠팡"} {
		s := newSeller(t, r.URL(), fmt.Sprint("s-", i))
		s.joinRoom("open:a", "")
		sent := carrierTo(t, r.URL(), "open:a", smsSecret, from, fmt.Sprint("m-", i),
			fmt.Sprintf("인증번호는 [48291%d] 입니다", i), time.Now())
		require.Equal(t, "matched", sent.text("result"), sent.body)
		s.ask("DELETE", "/api/open:a/lock", "")
	}
	s := newSeller(t, r.URL(), "s-none")
	s.joinRoom("open:a", "")
	carrierTo(t, r.URL(), "open:a", smsSecret, "1599-0000", "m-none", "안녕하세요", time.Now())

	const line = `sms_from: ["쿠팡", "+8215880000"]`
	_, log = logged(t, args...)
	requireLogged(t, log, "open:a takes texts of every sender")
	require.Contains(t, log.String(), "+8215880000")
	require.NotContains(t, log.String(), "1234-5678")
	report, _ := diagnosed(t, config(t, args...))
	require.Contains(t, report, line)
	require.NotContains(t, report, "listed takes")
	kim := newAgent(t, r.URL(), "kim")
	page := kim.ask("GET", "/support/open:a?lang=en", "").body
	require.Contains(t, page, "takes texts of every sender")
	require.Contains(t, page, "쿠팡, +8215880000")
	require.NotContains(t, kim.ask("GET", "/support/listed?lang=en", "").body, "takes texts of every sender")
}

// requireLogged waits for a line of the log.
func requireLogged(t *testing.T, log *testproc.Log, line string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), line) }, 10*time.Second,
		10*time.Millisecond)
}

func TestOnlyTheLatestSendersOfARoomAreKept(t *testing.T) {
	client := redistest.Lent(t).Client()
	engine := room.New(client, room.Config{})
	h := heard.New(client, engine, slog.New(slog.DiscardHandler))
	var want []string
	for i := range 30 {
		sender := fmt.Sprint(15880000 + i)
		h.RecordSender(t.Context(), "r", sender)
		want = append(want, sender)
		time.Sleep(time.Millisecond)
	}
	got, err := heard.Senders(t.Context(), client, engine.Names(), "r")
	require.NoError(t, err)
	slices.Reverse(want)
	require.Equal(t, want[:20], got)
}

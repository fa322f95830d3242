package server

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

func TestARoomOutsideItsHoursSaysWhenItOpens(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Seoul")
	require.NoError(t, err)
	now := time.Now().In(zone)
	opens := time.Date(now.Year(), now.Month(), now.Day()+3, 9, 0, 0, 0, zone)
	hours := fmt.Sprintf("integration:\n  open:\n    weekdays: %s\n    times: 09:00-18:00\n    "+
		"time_zone: Asia/Seoul\n", strings.ToLower(opens.Weekday().String()))
	l := startLibrary(t, "integration: {}\n")
	waiting := newSeller(t, l.URL(), "s-1")
	first := newSeller(t, l.URL(), "s-0")
	first.joinRoom("integration", "")
	waiting.joinRoom("integration", "")
	conn := open(t, l.URL())
	require.Nil(t, until(t, conn, "idle")["opens_at"])

	l.reads(hours)
	for frame := next(t, conn); frame["opens_at"] == nil; frame = next(t, conn) {
	}
	late, began := newSeller(t, l.URL(), "s-2"), time.Now()
	got := late.ask(http.MethodPost, "/api/integration/lock", `{"seller_id":"s-2"}`, "Content-Type",
		"application/json")
	requireProblem(t, got, http.StatusConflict, "room_closed")
	require.Equal(t, opens.UTC().Format("2006-01-02T15:04:05.000Z"), got.text("opens_at"))
	requireLeft(t, int64(math.Ceil(opens.Sub(began).Seconds())), began,
		int64(testSeconds(t, got.Header.Get("Retry-After"))))
	status := late.ask(http.MethodGet, "/api/integration/lock/status", "")
	require.Equal(t, got.text("opens_at"), status.text("opens_at"))

	require.EqualValues(t, 2, waiting.joinRoom("integration", "").number("ticket"))
	require.Equal(t, http.StatusOK, first.ask(http.MethodDelete, "/api/integration/lock", "").StatusCode)
	require.Equal(t, "locked", waiting.joinRoom("integration", "").text("status"), "who is in line is served")
	page := late.ask(http.MethodGet, "/rooms/integration?lang=ko", "", "Accept", "text/html").body
	require.Contains(t, page, `<div class="paused" id="closed"><strong>지금은 닫혀 있어요</strong> <span id="opens">`+
		fmt.Sprintf("%d월 %d일 오전 9:00에 열려요.", opens.Month(), opens.Day()))
	require.Regexp(t, `<form id="join-form"[^>]* hidden>`, page)

	l.reads("integration: {open: always}\n")
	require.Equal(t, "waiting", late.joinRoom("integration", "").text("status"))
	status = late.ask(http.MethodGet, "/api/integration/lock/status", "")
	require.Contains(t, status.body, `"opens_at":null`)
}

func TestSupportClosesARoomEarlyAndOpensItOutsideItsHours(t *testing.T) {
	o := openOffice(t)
	kim, seller := newAgent(t, o.a.URL(), "kim"), newSeller(t, o.b.URL(), "s-1")
	conn, desk := open(t, o.b.URL()), newAgent(t, o.b.URL(), "lee").watch("/api/support/integration/ws")
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	at := until.Format("2006-01-02T15:04:05.000Z")
	untilOpens := func(conn *websocket.Conn, want any) {
		for frame := next(t, conn); ; frame = next(t, conn) {
			if opens, has := frame["opens_at"]; has && opens == want {
				return
			}
		}
	}
	requireProblem(t, kim.act("close", `{"reason":"r"}`), http.StatusBadRequest, "invalid_until")
	kim.mustAct("close", fmt.Sprintf(`{"until":%q,"reason":"power is off"}`, until.Format(time.RFC3339)))
	untilOpens(conn, float64(until.UnixMilli()))
	untilOpens(desk, float64(until.UnixMilli()))
	refused := seller.ask(http.MethodPost, "/api/integration/lock", `{"seller_id":"s-1"}`, "Content-Type", "application/json")
	requireProblem(t, refused, http.StatusConflict, "room_closed")
	require.Equal(t, at, refused.text("opens_at"))
	require.Equal(t, at, seller.ask(http.MethodGet, "/api/integration/lock/status", "").text("opens_at"))
	kim.mustAct("open", `{"reason":"it is back"}`)
	untilOpens(conn, nil)
	untilOpens(desk, nil)
	require.Equal(t, "locked", seller.joinRoom("integration", "").text("status"))
}

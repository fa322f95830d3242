package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/templates"
)

const ownSecret = "whsec_YW5vdGhlci1zZWNyZXQtb2YtdGhlLWNhcnJpZXI="

// roomsFile writes a rooms file with a text and returns its path.
func roomsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rooms.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// library is a replica with a rooms file, and the replica's log.
type library struct {
	*replica
	t    *testing.T
	path string
	asks chan os.Signal
	log  *testproc.Log
}

func startLibrary(t *testing.T, text string, args ...string) *library {
	t.Helper()
	l := &library{t: t, path: roomsFile(t, text), asks: make(chan os.Signal), log: &testproc.Log{}}
	cfg := config(t, append([]string{"--rooms", "integration,shop:*", "--rooms-file", l.path}, args...)...)
	cfg.Reload = l.asks
	s, err := New(t.Context(), cfg, slog.New(slog.NewTextHandler(l.log, nil)))
	require.NoError(t, err)
	l.replica = run(t, s)
	return l
}

// reads writes another text to the rooms file, and waits until the replica has read it.
func (l *library) reads(text string) {
	l.t.Helper()
	require.NoError(l.t, os.WriteFile(l.path, []byte(text), 0o600))
	l.asks <- syscall.SIGHUP
	l.asks <- syscall.SIGHUP // taken when the first is done
}

func (l *library) joins(id, seller string, more string) reply {
	l.t.Helper()
	got := newSeller(l.t, l.URL(), seller).ask(http.MethodPost, "/api/"+id+"/lock",
		`{"seller_id":"`+seller+`"`+more+`}`, "Content-Type", "application/json")
	require.Contains(l.t, []int{200, 202}, got.StatusCode, got.body)
	return got
}

func TestRoomHasTheLeaseOfItsEntryAndAChangeIsForNewLeases(t *testing.T) {
	l := startLibrary(t, "shop:*: {lease: 60s}\nshop:a: {lease: 30s}\n", "--metrics-addr", "127.0.0.1:0")
	held := map[string]reply{}
	for id, seconds := range map[string]int64{"integration": 120, "shop:a": 30, "shop:b": 60} {
		began := time.Now()
		held[id] = l.joins(id, "s-1", "")
		require.EqualValues(t, seconds, held[id].number("expires_in"), id)
		l.joins(id, "s-2", "")
		third := l.joins(id, "s-3", "")
		requireLeft(t, 2*seconds, began, third.number("maximum_wait"))
		waiting := &seller{t: t, http: newHTTP(t), base: l.URL(), session: third.text("session_id")}
		status := waiting.ask(http.MethodGet, "/api/"+id+"/lock/status", "")
		requireLeft(t, 2*seconds, began, status.me().number("maximum_wait"))
		requireLeft(t, 3*seconds, began, status.number("estimated_wait"))
	}
	l.reads("shop:*: {lease: 20s}\n")
	first := &seller{t: t, http: newHTTP(t), base: l.URL(), id: "s-1",
		session: held["shop:a"].text("session_id")}
	require.Equal(t, held["shop:a"].text("expires_at"), first.joinRoom("shop:a", "").text("expires_at"),
		"the lease that is live stays as it is")
	next := l.joins("shop:new", "s-1", "")
	require.EqualValues(t, 20, next.number("expires_in"))

	l.reads("shop:*: {lease: 20}\n")
	require.EqualValues(t, 20, l.joins("shop:newer", "s-1", "").number("expires_in"),
		"a bad file keeps the old one")
	require.Contains(t, l.log.String(), `rooms.yaml:1: shop:*: lease is \"20\": want a duration from 1s to 10m, such as 90s or 2m`)
}

func TestRoomHasTheRulesOfItsEntryForCodes(t *testing.T) {
	l := startLibrary(t, "shop:a: {sms_quarantine: 0s}\nshop:b: {sms_quarantine: 5m}\nshop:d: {sms_expect: "+
		"required}\n", "--sms-webhook-secret", smsSecret)
	busy := func(id string) reply {
		first := l.joins(id, "s-1", `,"asks":true`)
		a := &seller{t: t, http: newHTTP(t), base: l.URL(), session: first.text("session_id")}
		ask := func(s *seller, fence int64) reply {
			return s.ask(http.MethodPost, "/api/"+id+"/lock/expect", fmt.Sprintf(`{"fence":%d}`, fence),
				"Content-Type", "application/json")
		}
		require.Equal(t, http.StatusOK, ask(a, first.number("fence")).StatusCode)
		require.Equal(t, http.StatusOK, a.ask(http.MethodDelete, "/api/"+id+"/lock", "").StatusCode)
		second := l.joins(id, "s-2", `,"asks":true`)
		return ask(&seller{t: t, http: newHTTP(t), base: l.URL(), session: second.text("session_id")},
			second.number("fence"))
	}
	require.Equal(t, http.StatusOK, busy("shop:a").StatusCode, "no quarantine")
	for id, seconds := range map[string]int64{"integration": 30, "shop:b": 300} {
		began := time.Now()
		got := busy(id)
		require.Equal(t, http.StatusConflict, got.StatusCode, got.body)
		requireLeft(t, seconds, began, int64(testSeconds(t, got.Header.Get("Retry-After"))))
	}

	plain, required := l.joins("shop:c", "s-1", ""), l.joins("shop:d", "s-1", "")
	require.Equal(t, "locked", required.text("status"))
	text := "인증번호는 [482913] 입니다"
	require.JSONEq(t, fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, plain.json["fence"]),
		carrierTo(t, l.URL(), "shop:c", smsSecret, "1588", "m-1", text, time.Now()).body)
	require.JSONEq(t, `{"result":"unmatched","reason":"not_expected"}`,
		carrierTo(t, l.URL(), "shop:d", smsSecret, "1588", "m-1", text, time.Now()).body)
}

func testSeconds(t *testing.T, text string) (n float64) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &n))
	return n
}

func TestRoomWithASecretOfItsOwnTakesNoOther(t *testing.T) {
	l := startLibrary(t, "shop:a: {sms_secret: "+ownSecret+"}\n")
	post := func(id, secret, message string) reply {
		return carrierTo(t, l.URL(), id, secret, "1588", message, "인증번호는 [482913] 입니다", time.Now())
	}
	got := post("integration", smsSecret, "m-1")
	require.Equal(t, http.StatusServiceUnavailable, got.StatusCode, got.body)
	require.Equal(t, "sms_not_configured", got.text("code"), "it has no secret, nor is there one for all rooms")
	fence := l.joins("shop:a", "s-1", "").json["fence"]
	require.Equal(t, "bad_signature", post("shop:a", smsSecret, "m-1").text("code"))
	require.JSONEq(t, fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, fence),
		post("shop:a", ownSecret, "m-1").body)

	l.reads("shop:*: {sms_secret: \"" + smsSecret + "," + ownSecret + "\"}\n")
	require.Equal(t, http.StatusOK, post("shop:a", smsSecret, "m-2").StatusCode)
	require.Equal(t, http.StatusOK, post("shop:b", ownSecret, "m-2").StatusCode, "of its prefix")
	l.reads("shop:*: {sms_secret: not base64}\n")
	require.Equal(t, http.StatusOK, post("shop:a", smsSecret, "m-3").StatusCode)
	require.NotContains(t, l.log.String(), "not base64}")
	l.reads("shop:a: {}\n")
	require.Equal(t, http.StatusServiceUnavailable, post("shop:a", smsSecret, "m-4").StatusCode)
	for _, secret := range []string{smsSecret, ownSecret} {
		require.NotContains(t, l.log.String(), secret[6:20])
	}
}

func TestSecretForAllRoomsCountsWhereARoomHasNoneOfItsOwn(t *testing.T) {
	l := startLibrary(t, "shop:a: {sms_secret: "+ownSecret+"}\n", "--sms-webhook-secret", smsSecret)
	for _, c := range []struct {
		id, secret string
		status     int
	}{{"integration", smsSecret, 200}, {"integration", ownSecret, 401}, {"shop:a", ownSecret, 200},
		{"shop:a", smsSecret, 401}} {
		got := carrierTo(t, l.URL(), c.id, c.secret, "1588", "m-1", "482913", time.Now())
		require.Equal(t, c.status, got.StatusCode, "%s %s", c.id, got.body)
	}
}

// A message that was sealed with a room's old secret is shown after a rotation, by every replica with the
// rooms file.
func TestMessageIsShownAfterItsRoomsSecretWasReplaced(t *testing.T) {
	store := redistest.Lent(t)
	text := "shop:a: {sms_secret: " + ownSecret + "}\n"
	l, other := startLibrary(t, text, "--redis-url", store.URL(), "--sms-completes", "false"),
		startLibrary(t, text, "--redis-url", store.URL())
	session := l.joins("shop:a", "s-1", "").text("session_id")
	got := carrierTo(t, l.URL(), "shop:a", ownSecret, "1588", "m-1", "인증번호는 [482913] 입니다", time.Now())
	require.Equal(t, "matched", got.text("result"), got.body)
	l.reads("shop:a: {sms_secret: " + smsSecret + "}\n")
	for _, base := range []string{l.URL(), other.URL()} {
		holder := &seller{t: t, http: newHTTP(t), base: base, session: session}
		holder.session = ""
		page := holder.ask(http.MethodGet, "/rooms/shop:a", "", "Cookie", "waitroom_session="+session)
		require.Contains(t, page.body, "482913")
	}
}

func TestOnlyListedSendersCount(t *testing.T) {
	l := startLibrary(t, "shop:a: {sms_from: [\"15880000\", +82-2-123-4567]}\n", "--sms-webhook-secret",
		smsSecret, "--sms-completes", "false")
	fence := l.joins("shop:a", "s-1", "").json["fence"]
	matched := fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, fence)
	none := `{"result":"unmatched","reason":"not_expected"}`
	for n, c := range [][2]string{{"1588-0000", matched}, {"02-123-4567", matched}, {"+82 2 123 4567", matched},
		{"1588-0001", none}, {"", none}} {
		got := carrierTo(t, l.URL(), "shop:a", smsSecret, c[0], fmt.Sprintf("m-%d", n),
			fmt.Sprintf("인증번호는 [48291%d] 입니다", n), time.Now())
		require.JSONEq(t, c[1], got.body, c[0])
	}
}

func TestMessageToAnotherNumberThanTheRoomsIsShownToNobody(t *testing.T) {
	l := startLibrary(t, "shop:a: {phone: 010-1234-5678}\n", "--sms-webhook-secret", smsSecret)
	seller := newSeller(t, l.URL(), "s")
	fence := seller.joinRoom("shop:a", "").json["fence"]
	body := func(id, to string) string {
		return `{"message_id":"` + id + `","from":"15880000","text":"인증번호 482913","to":"` + to + `"}`
	}
	require.JSONEq(t, `{"result":"unmatched","reason":"wrong_number"}`,
		carrierSaysTo(t, l.URL(), "shop:a", smsSecret, "m-1", body("m-1", "010-8765-4321")).body)
	require.JSONEq(t, fmt.Sprintf(`{"result":"matched","ticket":1,"fence":%s}`, fence),
		carrierSaysTo(t, l.URL(), "shop:a", smsSecret, "m-2", body("m-2", "+82 10-1234-5678")).body)
}

func TestBadRoomsFileStopsTheStart(t *testing.T) {
	for text, want := range map[string]string{
		"integration:\n  lease: 11m\n":         `rooms.yaml:2: integration: lease is "11m": want a duration from 1s to 10m, such as 90s or 2m`,
		"integration:\n  sms_quarantine: 6m\n": `rooms.yaml:2: integration: sms_quarantine is "6m": want a duration from 0s to 5m, such as 90s or 2m`,
		"integration:\n  nmae: x\n":            `rooms.yaml:2: integration: nmae is no key: do you mean name?`,
	} {
		_, err := New(t.Context(), config(t, "--rooms-file", roomsFile(t, text)), slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "WAITROOM_ROOMS_FILE (--rooms-file): ")
	}
	_, err := New(t.Context(), config(t, "--rooms-file", "/nowhere/rooms.yaml"), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "/nowhere/rooms.yaml: no such file")
}

func TestRoomsFileAddsNoRooms(t *testing.T) {
	l := startLibrary(t, "other: {name: 다른 방}\nshop:a: {name: 가게}\nmall:*: {}\nshop:x:*: {}\n")
	require.Equal(t, http.StatusNotFound, newSeller(t, l.URL(), "s").joinRoom("other", "").StatusCode)
	require.Contains(t, l.log.String(), "rooms.yaml:1: other is not in ROOMS")
	require.Contains(t, l.log.String(), "rooms.yaml:3: mall:* is not in ROOMS")
	require.Equal(t, 2, strings.Count(l.log.String(), "not in ROOMS"))
	report, well := diagnosed(t, config(t, "--rooms-file", l.path))
	require.True(t, well, report)
	require.Contains(t, report, "rooms.yaml:1: other is not in ROOMS")
}

func TestPageHasTheOperatorsTextsOfTheRoom(t *testing.T) {
	l := startLibrary(t, "integration:\n  name: 쿠팡 연동\n  phone: 010-1234-5678\n  marketplace: {name: 윙, "+
		"url: https://wing.example}\n"+
		"  support: {text: 평일 9시, url: https://help.example, tel: 1588-0000}\n  return_url: "+
		"https://portal.example/done\n")
	require.Equal(t, templates.RoomInfo{Name: "쿠팡 연동", Phone: "010-1234-5678",
		Marketplace:  templates.MarketplaceInfo{Name: "윙", URL: "https://wing.example"},
		Marketplaces: []templates.MarketplaceInfo{{Name: "윙", URL: "https://wing.example"}},
		Support:      templates.SupportInfo{Text: "평일 9시", URL: "https://help.example", Tel: "1588-0000"},
		ReturnURL:    "https://portal.example/done"},
		l.roomInfo("integration", "ko"))
	require.Zero(t, l.roomInfo("shop:a", "ko"))
}

// Requests are answered while the file is read again and again.
func TestRoomsFileIsReadAgainWhileItIsAsked(t *testing.T) {
	l := startLibrary(t, "shop:*: {lease: 20s}\n")
	ended, strange := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		defer close(strange)
		for {
			select {
			case <-ended:
				return
			default:
			}
			if lease := l.engine.Terms("shop:a").Lease; lease != 20*time.Second && lease != 30*time.Second {
				strange <- lease
				return
			}
		}
	}()
	for n := range 20 {
		l.reads(fmt.Sprintf("shop:*: {lease: %ds}\n", 20+n%2*10))
	}
	close(ended)
	require.Zero(t, <-strange)
}

package server

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

const linkAPI = lockPath + "/link"

// link makes a link to the seller's place and returns its path.
func (s *seller) link() string {
	s.t.Helper()
	got := s.ask("POST", linkAPI, "")
	require.Equal(s.t, http.StatusOK, got.StatusCode, got.body)
	at, err := url.Parse(got.text("url"))
	require.NoError(s.t, err)
	return at.Path
}

// follow opens a link in a new browser and presses its button.
func follow(t *testing.T, base, link string) *seller {
	t.Helper()
	b := newReader(t, base)
	page := b.submit(link)
	require.Equal(t, http.StatusOK, page.StatusCode, page.body)
	require.Equal(t, roomPage, page.Request.URL.Path)
	return b
}

// stays opens a socket for the browser.
func (s *seller) stays() *websocket.Conn {
	s.t.Helper()
	return open(s.t, s.base, "Cookie", "waitroom_session="+s.cookies(), "Origin", s.base)
}

// answering reads from a socket until it is closed, so that the library answers its pings.
func answering(conn *websocket.Conn) {
	go func() {
		for {
			if _, _, err := conn.Read(context.Background()); err != nil {
				return
			}
		}
	}()
}

// untilNotice reads frames until one is the given notice.
func untilNotice(t *testing.T, conn *websocket.Conn, notice string) {
	t.Helper()
	for next(t, conn)["notice"] != notice {
	}
}

func requireErrorPage(t *testing.T, page reply, status int, words string) {
	t.Helper()
	require.Equal(t, status, page.StatusCode, page.body)
	require.Contains(t, page.Header.Get("Content-Type"), "text/html")
	require.Contains(t, page.body, words)
}

const noLink = "이 링크는 더 쓸 수 없어요"

func TestSecondBrowserContinuesWithThePlaceOnAnotherReplica(t *testing.T) {
	args := []string{"--redis-url", redistest.Lent(t).URL(), "--sms-quarantine", "0s", "--sms-webhook-secret",
		smsSecret}
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	holder := newSeller(t, one.URL(), "holder")
	holder.join()
	first := newReader(t, one.URL())
	requireState(t, first.submit(roomPage+"/join", "seller_id", "s-1"), "waiting")
	waiting := first.status().me()
	here := first.stays()
	require.Equal(t, "waiting", next(t, here)["status"])

	made := first.ask("POST", linkAPI, "")
	require.Equal(t, http.StatusOK, made.StatusCode, made.body)
	require.Len(t, made.json, 2)
	require.Equal(t, "no-store", made.Header.Get("Cache-Control"))
	link, ok := strings.CutPrefix(made.text("url"), one.URL())
	require.True(t, ok, made.text("url"))
	require.WithinDuration(t, time.Now().Add(5*time.Minute), moment(t, made.text("expires_at")), 30*time.Second)

	second := newReader(t, other.URL())
	for range 2 {
		page := second.ask("GET", link, "")
		require.Equal(t, http.StatusOK, page.StatusCode, page.body)
		require.Contains(t, page.body, "s-1")
		require.Contains(t, page.body, "integration")
		require.Equal(t, "no-store", page.Header.Get("Cache-Control"))
		require.Contains(t, page.Header.Get("Referrer-Policy"), "no-referrer")
		require.NotContains(t, page.body, first.cookies())
	}
	require.Nil(t, second.status().json["me"], "to look changes nothing")
	require.Equal(t, waiting.number("version"), first.status().me().number("version"))

	page := second.submit(link, "lang", "en")
	requireState(t, page, "waiting")
	untilNotice(t, here, "joined_device")
	there := second.stays()
	frame := next(t, there)
	require.Equal(t, "waiting", frame["status"])
	require.EqualValues(t, waiting.number("ticket"), frame["ticket"])

	pressed := second.ask("POST", lockPath, `{"seller_id":"somebody-else"}`, asJSON, jsonType)
	require.Equal(t, http.StatusAccepted, pressed.StatusCode, pressed.body)
	require.Equal(t, waiting.number("ticket"), pressed.number("ticket"))
	require.Equal(t, waiting.number("version"), pressed.number("version"), "nothing has changed")
	require.Equal(t, "s-1", pressed.text("seller_id"))
	require.Equal(t, second.cookies(), pressed.text("session_id"), "it gets its own session")
	require.NotEqual(t, first.cookies(), second.cookies())

	holder.leave("?reason=completed")
	turn, same := until(t, here, "locked"), until(t, there, "locked")
	delete(turn, "server_time")
	delete(same, "server_time")
	require.Equal(t, turn, same, "both get the same")
	me := second.status().me()
	fence := strconv.FormatInt(me.number("fence"), 10)
	asked := second.ask("POST", lockPath+"/expect", `{"fence":`+fence+`}`, asJSON, jsonType)
	require.Equal(t, http.StatusOK, asked.StatusCode, asked.body)
	require.Equal(t, second.cookies(), asked.text("session_id"))
	require.EqualValues(t, 1, asked.number("asked"))
	sent := carrier(t, one.URL(), "m-1", "인증번호는 [482913] 입니다", time.Now())
	require.Equal(t, "matched", sent.text("result"), sent.body)
	for _, conn := range []*websocket.Conn{here, there} {
		code, ended := false, false
		for !code || !ended {
			f := next(t, conn)
			code = code || f["code"] == "482913"
			ended = ended || f["outcome"] == "completed"
		}
	}
	require.Contains(t, second.ask("GET", roomPage, "").body, "482913", "also after a reload")
	rejected := second.ask("POST", lockPath+"/reject", `{"fence":`+fence+`,"message_id":"m-1"}`, asJSON,
		jsonType)
	require.Equal(t, "rejected", rejected.text("status"), rejected.body)
	require.NotContains(t, first.ask("GET", roomPage, "").body, "482913")
}

func TestLinkedBrowserIsItsOwnElsewhereAndAfterwards(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store, "--rooms", "integration,stock"))
		first := newReader(t, r.URL())
		requireState(t, first.submit(roomPage+"/join", "seller_id", "s-1"), "locked")
		second := newReader(t, r.URL())
		elsewhere := second.ask("POST", "/api/stock/lock", `{"seller_id":"s-2"}`, asJSON, jsonType)
		require.Equal(t, http.StatusOK, elsewhere.StatusCode, elsewhere.body)
		link := first.link()
		requireState(t, second.submit(link), "locked")
		require.Equal(t, elsewhere.text("session_id"), second.cookies(), "it keeps the session that it had")
		require.Equal(t, "s-2", second.ask("GET", "/api/stock/lock/status", "").me().text("seller_id"))
		require.Equal(t, "s-1", second.status().me().text("seller_id"))

		there := second.stays()
		require.Equal(t, "locked", next(t, there)["status"])
		done := second.leave("?reason=completed")
		require.Equal(t, "completed", done.text("outcome"), done.body)
		require.Equal(t, second.cookies(), done.text("session_id"))
		for _, s := range []*seller{first, second} {
			require.Equal(t, "completed", s.status().me().text("outcome"))
		}
		require.Equal(t, "completed", until(t, there, "ended")["outcome"])
		requireProblem(t, second.leave(""), 404, "no_place")
		requireErrorPage(t, newReader(t, r.URL()).ask("GET", link, ""), 404, noLink)

		again := first.ask("POST", lockPath, `{"seller_id":"s-1"}`, asJSON, jsonType)
		require.Equal(t, "locked", again.text("status"))
		require.EqualValues(t, 4003, closing(t, there), "that place is none of its business")
		require.Nil(t, second.status().json["me"])
		require.Equal(t, "idle", next(t, second.stays())["status"])
		requireProblem(t, second.leave(""), 404, "no_place")
		fence := strconv.FormatInt(again.number("fence"), 10)
		requireProblem(t, second.ask("POST", lockPath+"/expect", `{"fence":`+fence+`}`, asJSON, jsonType), 404,
			"no_place")
		require.Equal(t, "locked", first.status().me().text("status"))

		own := second.ask("POST", lockPath, `{"seller_id":"s-2"}`, asJSON, jsonType)
		require.Equal(t, "waiting", own.text("status"), own.body)
		require.EqualValues(t, 3, own.number("ticket"))
		require.EqualValues(t, 3, second.status().me().number("ticket"))
	})
}

func TestBrowserThatSawItsLinkedPlaceEndIsLetIntoAnother(t *testing.T) {
	r := start(t, config(t))
	first, other := newReader(t, r.URL()), newReader(t, r.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	second := follow(t, r.URL(), first.link())
	first.leave("?reason=completed")
	require.Equal(t, "completed", second.status().me().text("outcome"))
	other.submit(roomPage+"/join", "seller_id", "s-2")
	requireState(t, second.submit(other.link()), "locked")
	require.Equal(t, "s-2", second.status().me().text("seller_id"))
	require.Equal(t, "completed", first.status().me().text("outcome"))
}

func TestLinkedBrowsersSocketComesBackForAPlaceOfItsOwn(t *testing.T) {
	r := start(t, config(t))
	first := newReader(t, r.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	second := follow(t, r.URL(), first.link())
	there := second.stays()
	require.Equal(t, "locked", next(t, there)["status"])
	first.leave("")
	until(t, there, "ended")
	require.Equal(t, "locked", second.ask("POST", lockPath, `{"seller_id":"s-2"}`, asJSON,
		jsonType).text("status"))
	require.EqualValues(t, 4003, closing(t, there))
	require.EqualValues(t, 2, next(t, second.stays())["ticket"])
	require.Equal(t, "cancelled", first.status().me().text("outcome"))
}

// The browser has the room open in one window and confirms a link in another. Both windows have one session.
func TestWindowThatWasOpenBeforeItsBrowserWasLetInShowsThePlace(t *testing.T) {
	store := redistest.Lent(t).URL()
	one, other := start(t, config(t, "--redis-url", store)), start(t, config(t, "--redis-url", store))
	first, second := newReader(t, one.URL()), newReader(t, one.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	here := first.stays()
	require.Equal(t, "locked", next(t, here)["status"])
	second.ask("GET", roomPage, "")
	link := first.link()
	second.ask("GET", link, "")
	elsewhere := newReader(t, other.URL()) // the same browser, by another replica
	elsewhere.http.Jar = second.http.Jar
	windows := []*websocket.Conn{second.stays(), elsewhere.stays()}
	for _, window := range windows {
		require.Equal(t, "idle", next(t, window)["status"])
	}
	requireState(t, second.submit(link), "locked")
	for _, window := range windows {
		require.EqualValues(t, 4003, closing(t, window))
	}
	for _, b := range []*seller{second, elsewhere} {
		require.Equal(t, "locked", next(t, b.stays())["status"])
	}
	untilNotice(t, here, "joined_device")
	first.leave("")
	until(t, here, "ended")
}

func TestPlaceIsKeptByEitherOfItsBrowsers(t *testing.T) {
	store := redistest.Lent(t).URL()
	args := []string{"--redis-url", store, "--away-after", "300ms"}
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	away := func(want int) {
		t.Helper()
		require.Eventually(t, func() bool {
			g, err := one.engine.Glance(t.Context(), "integration")
			return err == nil && g.Away == want
		}, patience, patience/1000)
	}
	newSeller(t, one.URL(), "holder").join()
	first, gone := newReader(t, one.URL()), newReader(t, one.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	gone.submit(roomPage+"/join", "seller_id", "s-2")
	second := follow(t, other.URL(), first.link())
	here, there, control := first.stays(), second.stays(), gone.stays()
	for _, conn := range []*websocket.Conn{here, there, control} {
		next(t, conn)
		answering(conn)
	}
	require.NoError(t, here.CloseNow())
	require.NoError(t, control.CloseNow())
	away(1) // the one that has no other browser
	require.NoError(t, there.CloseNow())
	away(2)
	back := second.stays()
	next(t, back)
	answering(back)
	away(1)
}

func TestOfTwoBrowsersThatPressAtOnceOneIsLetIn(t *testing.T) {
	store := redistest.Lent(t).URL()
	one, other := start(t, config(t, "--redis-url", store)), start(t, config(t, "--redis-url", store))
	first := newReader(t, one.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	link := first.link()
	var done sync.WaitGroup
	var in, out atomic.Int64
	for i := range 8 {
		b := newReader(t, []string{one.URL(), other.URL()}[i%2])
		done.Go(func() {
			switch b.submit(link).StatusCode {
			case http.StatusOK:
				in.Add(1)
			case http.StatusNotFound:
				out.Add(1)
			}
		})
	}
	done.Wait()
	require.EqualValues(t, 1, in.Load())
	require.EqualValues(t, 7, out.Load())
}

func TestPlaceIsContinuedByFormsAlone(t *testing.T) {
	r := start(t, config(t))
	first := newReader(t, r.URL())
	page := first.submit(roomPage+"/join", "seller_id", "s-1")
	require.Contains(t, page.body, `action="/rooms/integration/link"`)
	made := first.submit(roomPage+"/link", "lang", "en")
	require.Equal(t, http.StatusOK, made.StatusCode, made.body)
	require.Equal(t, "en", made.Header.Get("Content-Language"))
	require.Equal(t, "no-store", made.Header.Get("Cache-Control"))
	require.Contains(t, made.body, `<path d="M4 4h7v1h-7z`)
	_, rest, ok := strings.Cut(made.body, `value="`+r.URL())
	require.True(t, ok, made.body)
	link, _, _ := strings.Cut(rest, `"`)
	second := newReader(t, r.URL())
	require.Contains(t, second.ask("GET", link, "").body, `action="`+link+`"`)
	requireState(t, second.submit(link), "locked")
	const joined = "Another device has joined your place."
	seen := first.ask("GET", roomPage+"/link", "")
	requireState(t, seen, "locked")
	require.Contains(t, strings.SplitAfter(seen.body, "page-data")[0], joined, "the first device sees it")
	require.NotContains(t, strings.SplitAfter(second.ask("GET", roomPage+"?lang=en", "").body, "page-data")[0],
		joined)

	requireState(t, second.submit(roomPage+"/leave", "reason", "completed", "fence", fenceField(t, second),
		"confirm", "yes"), "ended")
	refused := first.submit(roomPage+"/link", "lang", "en")
	requireState(t, refused, "ended")
	require.Equal(t, roomPage, refused.Request.URL.Path)
}

// A message of the first browser's earlier place stays hidden from the second.
func TestLinkedBrowserSeesNoMessageOfAnEarlierPlace(t *testing.T) {
	r := start(t, config(t, "--sms-webhook-secret", smsSecret))
	first := newReader(t, r.URL())
	turn := first.ask("POST", lockPath, `{"seller_id":"s-1"}`, asJSON, jsonType)
	first.leave("?reason=completed")
	late := carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", moment(t, turn.text("granted_at")))
	require.Equal(t, "late", late.text("result"), late.body)
	first.submit(roomPage+"/join", "seller_id", "s-1")
	require.Contains(t, first.ask("GET", roomPage, "").body, "482913")
	second := follow(t, r.URL(), first.link())
	require.NotContains(t, second.ask("GET", roomPage, "").body, "482913")
	there := second.stays()
	require.Equal(t, "locked", next(t, there)["status"])
	second.leave("?reason=completed")
	require.Equal(t, "ended", next(t, there)["status"], "no message came before")
}

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestPressingAgainIsTheSamePlaceWhateverTheBodySays(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
		a.join()
		first := b.join()
		b.id = "somebody-else"
		again := b.join()
		require.Equal(t, http.StatusAccepted, again.StatusCode)
		require.Equal(t, first.number("ticket"), again.number("ticket"))
		require.Equal(t, first.number("version"), again.number("version"), "a repeat is no change")
		require.Equal(t, "b", again.text("seller_id"))
		for _, body := range []string{`{}`, `{"seller_id":""}`, `{"seller_id":"two words"}`} {
			for who, place := range map[*seller]string{a: "locked", b: "waiting"} {
				got := who.ask("POST", lockPath, body, asJSON, jsonType)
				require.Equal(t, place, got.text("status"), got.body)
			}
		}
		b.leave("")
		requireProblem(t, b.ask("POST", lockPath, `{}`, asJSON, jsonType), 400, "invalid_seller")
		requireProblem(t, newSeller(t, r.URL(), "c").ask("POST", lockPath, `{}`, asJSON, jsonType), 400,
			"invalid_seller")
		require.EqualValues(t, 0, a.status().number("queue_length"))
	})
}

func TestSellerHasOnePlaceAndItIsNotDisclosed(t *testing.T) {
	r := start(t, config(t))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "a")
	held := a.join()
	got := b.join()
	requireProblem(t, got, http.StatusConflict, "seller_has_place")
	require.NotContains(t, got.body, a.session)
	require.NotContains(t, got.body, held.json["fence"].(json.Number).String())
	require.Empty(t, got.Header.Values("Set-Cookie"))
	require.Equal(t, held.number("version"), a.status().number("version"))
}

func TestSellerIsTheSameInEitherUnicodeForm(t *testing.T) {
	r := start(t, config(t))
	composed, decomposed := newSeller(t, r.URL(), "\uac00"), newSeller(t, r.URL(), "\u1100\u1161")
	require.Equal(t, "\uac00", composed.join().text("seller_id"))
	requireProblem(t, decomposed.join(), http.StatusConflict, "seller_has_place")
}

func TestWaitFalseNeverQueues(t *testing.T) {
	r := start(t, config(t))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	require.Equal(t, http.StatusOK, a.joinRoom("integration", "?wait=false").StatusCode)
	for _, no := range []string{"false", "0", "False"} {
		requireProblem(t, b.joinRoom("integration", "?wait="+no), http.StatusConflict, "lock_held")
	}
	require.Equal(t, "locked", a.joinRoom("integration", "?wait=false").text("status"),
		"who has a place gets that place")
	require.EqualValues(t, 2, b.joinRoom("integration", "?wait=true").number("ticket"),
		"a refused join uses no ticket")
}

func TestPausedRoomQueuesAndPromisesNoTimes(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store))
		_, err := r.engine.Pause(t.Context(), "integration", "", true, room.Action{})
		require.NoError(t, err)
		a := newSeller(t, r.URL(), "a")
		requireProblem(t, a.joinRoom("integration", "?wait=false"), http.StatusConflict, "room_paused")
		got := a.join()
		require.Equal(t, http.StatusAccepted, got.StatusCode)
		for _, field := range []string{"estimated_wait", "maximum_wait", "lease_expires_at"} {
			require.Contains(t, got.json, field)
			require.Nil(t, got.json[field], field)
		}
		status := a.status()
		require.Equal(t, true, status.json["paused"])
		require.Equal(t, "free", status.text("status"))
		require.Nil(t, status.json["estimated_wait"])
		require.Nil(t, status.json["expires_in"])

		_, err = r.engine.Pause(t.Context(), "integration", "", false, room.Action{})
		require.NoError(t, err)
		require.Equal(t, "locked", a.status().me().text("status"))
	})
}

func TestStatusShowsTheRoomToAllAndAPlaceOnlyToItsSession(t *testing.T) {
	r := start(t, config(t))
	spectator := newSeller(t, r.URL(), "")
	spectator.session = ""
	unused := spectator.status()
	require.Equal(t, "free", unused.text("status"))
	require.Zero(t, unused.number("version"))

	a, b := newSeller(t, r.URL(), "secret-a"), newSeller(t, r.URL(), "secret-b")
	began := time.Now()
	held := a.join()
	b.join()
	seen := spectator.status()
	require.Equal(t, "locked", seen.text("status"))
	require.EqualValues(t, 1, seen.number("queue_length"))
	requireLeft(t, 120, began, seen.number("expires_in"))
	requireLeft(t, 240, began, seen.number("estimated_wait")) // a newcomer's wait
	require.Positive(t, seen.number("server_time"))
	require.Contains(t, seen.json, "me")
	require.Nil(t, seen.json["me"])
	require.Len(t, seen.json, 12)
	require.Equal(t, "no-store", seen.Header.Get("Cache-Control"))
	for _, secret := range []string{a.session, b.session, "secret-a", "secret-b"} {
		require.NotContains(t, seen.body, secret)
	}
	mine := b.status()
	require.Equal(t, "waiting", mine.me().text("status"))
	require.Equal(t, b.session, mine.me().text("session_id"))
	require.NotContains(t, mine.body, a.session)
	require.NotContains(t, mine.body, fmt.Sprint(held.number("fence"))+`"`)
	require.NotContains(t, mine.me().json, "fence")
}

func TestWaiterLeavesTheLineAndIsOut(t *testing.T) {
	r := start(t, config(t))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	a.join()
	b.join()
	got := b.leave("?reason=completed")
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	require.Equal(t, "left", got.text("status"))
	require.Equal(t, "cancelled", got.text("outcome"), "a waiter has completed nothing")
	require.NotContains(t, got.json, "fence")
	require.Len(t, got.json, 7)
	version := b.status().number("version")
	requireProblem(t, b.leave(""), http.StatusNotFound, "no_place")
	require.Equal(t, version, b.status().number("version"))
	require.EqualValues(t, 3, b.join().number("ticket"), "a new place, a new ticket")
}

func TestRoomsByPrefixAreRoomsOfTheirOwn(t *testing.T) {
	r := start(t, config(t, "--rooms", "integration,stock:*"))
	a := newSeller(t, r.URL(), "a")
	for _, path := range []string{"integration", "stock:item:4.5-6_7", "stock%3Aitem%3Aescaped"} {
		require.Equal(t, http.StatusOK, a.joinRoom(path, "").StatusCode, path)
	}
	require.Equal(t, "stock:item:escaped", a.joinRoom("stock:item:escaped", "").text("room"))
}

func TestBodyRulesLetThroughWhatIsFine(t *testing.T) {
	r := start(t, config(t))
	for name, body := range map[string]string{
		"unknown fields": `{"seller_id":"a1","more":{"of":[1,2]}}`,
		"spaces around":  " \n{\"seller_id\":\"a2\"}\n ",
		"just 16 KiB":    `{"seller_id":"a3"}` + strings.Repeat(" ", 16<<10-18),
	} {
		s := newSeller(t, r.URL(), "")
		got := s.ask(http.MethodPost, lockPath, body, "Content-Type", "application/json; charset=utf-8")
		require.Less(t, got.StatusCode, 300, "%s: %s", name, got.body)
	}
}

func TestHeadIsGetWithoutTheBody(t *testing.T) {
	r := start(t, config(t))
	got := newSeller(t, r.URL(), "").ask(http.MethodHead, "/healthz", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Empty(t, got.body)
}

func TestJoinsAreLimitedPerClient(t *testing.T) {
	r := start(t, config(t, "--rate-limit", "1/m"))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	began := time.Now()
	require.Equal(t, http.StatusOK, a.join().StatusCode)
	got := b.join()
	requireProblem(t, got, http.StatusTooManyRequests, "too_many_requests")
	requireLeft(t, 60, began, int64(testSeconds(t, got.Header.Get("Retry-After"))))
	require.Zero(t, b.status().number("queue_length"), "asking is not limited")
	require.Equal(t, http.StatusOK, a.leave("").StatusCode, "leaving is not limited")
}

func TestLostReplyOfTheStoreTakesNoSecondTicketAndEndsNoSecondLease(t *testing.T) {
	proxy := redistest.Start(t).Proxy()
	r := start(t, config(t, "--redis-url", proxy.URL()))
	a, b, c := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b"), newSeller(t, r.URL(), "c")
	lose := func(s *seller) <-chan struct{} {
		return proxy.DropNextReply(func(request []byte) bool { return bytes.Contains(request, []byte(s.session)) })
	}
	lost := lose(a)
	require.EqualValues(t, 1, a.join().number("ticket"))
	<-lost
	lost = lose(b)
	require.EqualValues(t, 2, b.join().number("ticket"))
	<-lost
	require.EqualValues(t, 3, c.join().number("ticket"))

	lost = lose(a)
	require.EqualValues(t, 1, a.leave("?reason=completed").number("ticket"))
	<-lost
	require.Equal(t, "locked", b.status().me().text("status"), "one release, one handoff")
	require.Equal(t, "waiting", c.status().me().text("status"))
}

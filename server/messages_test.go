package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

const messagesPath = lockPath + "/messages"

// received returns the codes in an answer.
func (r reply) received() (codes []any) {
	for _, m := range r.list("messages") {
		codes = append(codes, m.(map[string]any)["code"])
	}
	return codes
}

func TestProgramWithoutASocketGetsItsCodeAndIsDoneOnceMore(t *testing.T) {
	base := start(t, config(t, "--redis-url", redistest.Start(t).URL(), "--sms-webhook-secret", smsSecret)).URL()
	a, b := newSeller(t, base, "a"), newSeller(t, base, "b")
	requireProblem(t, a.ask("GET", messagesPath, ""), http.StatusNotFound, "no_place")
	fence := a.join().number("fence")
	b.join()
	done := fmt.Sprintf("?reason=completed&fence=%d", fence)
	none := a.ask("GET", messagesPath, "")
	require.JSONEq(t, fmt.Sprintf(`{"room":"integration","fence":%d,"status":"locked","messages":[]}`, fence),
		none.body)
	require.Equal(t, "no-store", none.Header.Get("Cache-Control"))
	require.JSONEq(t, `{"room":"integration","fence":null,"status":"waiting","messages":[]}`,
		b.ask("GET", messagesPath, "").body)

	waits := make(chan reply)
	go func() { waits <- a.ask("GET", messagesPath+"?wait=30", "") }()
	matched := carrier(t, base, "m-1", "인증번호는 [482913] 입니다", time.Now())
	require.Equal(t, "matched", matched.text("result"), matched.body)
	answer := <-waits
	require.Equal(t, []any{"482913"}, answer.received(), answer.body)
	require.Equal(t, []any{"482913"}, a.ask("GET", messagesPath, "").received(),
		"as soon as its turn is over it is there")
	_, err := time.Parse(time.RFC3339, answer.list("messages")[0].(map[string]any)["received_at"].(string))
	require.NoError(t, err)

	over := a.ask("GET", messagesPath+"?wait=30&after=m-1", "")
	require.Equal(t, "ended", over.text("status"), over.body)
	require.Equal(t, fence, over.number("fence"))
	require.Empty(t, b.ask("GET", messagesPath, "").received(), "nobody else is shown it")

	for range 2 {
		again := a.leave(done)
		require.Equal(t, http.StatusOK, again.StatusCode, again.body)
		require.Equal(t, true, again.json["already"])
		require.Equal(t, "released completed", again.text("status")+" "+again.text("outcome"))
		require.Equal(t, fence, again.number("fence"))
	}
	for _, query := range []string{"", "?reason=completed", fmt.Sprintf("?reason=cancelled&fence=%d", fence),
		fmt.Sprintf("?reason=completed&fence=%d", fence-1)} {
		requireProblem(t, a.leave(query), http.StatusNotFound, "no_place")
	}
	held := b.join().number("fence")
	b.leave("?reason=completed")
	requireProblem(t, b.leave(fmt.Sprintf("?reason=completed&fence=%d", held)), http.StatusNotFound, "no_place")
}

func TestWaitingCallsForMessagesAreBounded(t *testing.T) {
	base := start(t, config(t)).URL()
	a := newSeller(t, base, "a")
	a.join()
	for _, wait := range []string{"x", "-1", ""} {
		requireProblem(t, a.ask("GET", messagesPath+"?wait="+wait, ""), http.StatusBadRequest, "invalid_query")
	}
	ended := make(chan reply)
	for range 2 {
		go func() {
			got := a.ask("GET", messagesPath+"?wait=30", "")
			for got.StatusCode == http.StatusTooManyRequests { // the third call came first
				got = a.ask("GET", messagesPath+"?wait=30", "")
			}
			ended <- got
		}()
	}
	require.Eventually(t, func() bool {
		third := a.ask("GET", messagesPath+"?wait=1", "")
		return third.StatusCode == http.StatusTooManyRequests && third.text("code") == "too_many_requests" &&
			third.Header.Get("Retry-After") != ""
	}, patience, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, a.ask("GET", messagesPath, "").StatusCode, "who does not wait is answered")
	a.leave("")
	for range 2 {
		over := <-ended
		require.Equal(t, "ended", over.text("status"), over.body)
	}
}

// A stranger may name any room of a prefix, as often as it likes.
func TestReadWithoutAPlaceFollowsNoRoom(t *testing.T) {
	store := redistest.Start(t)
	base := start(t, config(t, "--redis-url", store.URL(), "--rooms", "integration,x:*")).URL()
	stranger := newSeller(t, base, "a")
	for i := range 20 {
		path := fmt.Sprintf("/api/x:%d/lock", i)
		for _, query := range []string{"", "?wait=30"} {
			requireProblem(t, stranger.ask("GET", path+"/messages"+query, ""), http.StatusNotFound, "no_place")
		}
		require.Equal(t, http.StatusOK, stranger.ask("GET", path+"/status?here=true", "").StatusCode)
		require.Equal(t, http.StatusOK, stranger.ask("GET", fmt.Sprintf("/rooms/x:%d", i), "").StatusCode)
	}
	followed, err := store.Client().PubSubChannels(t.Context(), "*x:*").Result()
	require.NoError(t, err)
	require.Empty(t, followed)
	require.Empty(t, store.Client().Keys(t.Context(), "*x:*").Val(), "a read leaves nothing in the store")
}

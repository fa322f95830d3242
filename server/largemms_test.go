package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture returns the event of an MMS with a text and a picture of a number of bytes, as the app posts it.
func picture(id, text string, size int) string {
	return fmt.Sprintf(`{"event":"mms:downloaded","id":%q,"payload":{"messageId":"m","sender":"15881234","body":%q,`+
		`"subject":null,"attachments":[{"partId":2,"contentType":"image/jpeg","name":"a.jpg","size":1,"data":%q}],`+
		`"receivedAt":"2026-11-28T12:00:00+09:00"}}`, id, text, strings.Repeat("A", size))
}

func TestMMSIsTakenWithItsPictures(t *testing.T) {
	s := newSeller(t, sourced(t, "embedded").URL(), "phone")
	const to = "/api/src:a/sms/gateway"
	post := func(body string) reply { return gatewayPost(s, to, body) }
	got := post(picture("1", "[마켓] 인증번호 482913", 1_400_000))
	require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	require.JSONEq(t, `{"result":"unmatched","reason":"no_lease"}`, got.body)
	requireProblem(t, post(picture("2", "안내", 2<<20)), http.StatusRequestEntityTooLarge, "body_too_large")
	requireProblem(t, post(picture("3", strings.Repeat("x", 16<<10), 10)), http.StatusBadRequest, "invalid_message")

	unsigned := s.ask(http.MethodPost, to, picture("4", "안내", 20_000), jsonHeader...)
	requireProblem(t, unsigned, http.StatusRequestEntityTooLarge, "body_too_large")
	plain := s.ask(http.MethodPost, "/api/src:a/sms", picture("5", "안내", 20_000), jsonHeader...)
	requireProblem(t, plain, http.StatusRequestEntityTooLarge, "body_too_large")
}

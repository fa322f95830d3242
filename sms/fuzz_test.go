package sms

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// A valid message stays the same when it is encoded and decoded again. It prints nothing of its text, and its
// record has no digits. The error of a refused message is one of this package's own sentences.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{"", "null", "{}",
		`{"message_id":"m-1","from":"1588-1234","text":"인증번호 482913","sent_at":"2026-11-21T09:30:00.250+09:00"}`,
		`{"message_id":17,"from":15881234,"text":"code 4829","sent_at":1795220000,"ref":"r","part":1,"parts":2}`,
		`{"message_id":"m","text":"x","sent_at":1795220000250.7}`,
		`{"message_id":"m","text":"\u0000","room":"integration"}`, `{"message_id":"m","text":"x","room":"other"}`,
		`{"message_id":"m","text":"x","sent_at":"0000-01-01T00:00:00Z"}`,
		`{"message_id":"m","text":"x","sent_at":"2026-12-31T23:59:60Z"}`,
		`{"message_id":"m","text":"x","sent_at":1e400}`, `{"message_id":"m","text":"\ud800"}`,
		`{"message_id":"m","text":"x","ref":"","part":1,"parts":1}`, `{"message_id":"m","text":"a","text":"b"}`,
		"{\"message_id\":\"m\",\"text\":\"\xff\"}", `{} {}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := parse("integration", body)
		if err != nil {
			require.IsType(t, (*Fault)(nil), err)
			return
		}
		text := m.text.Reveal()
		require.NotEmpty(t, strings.TrimSpace(text))
		for _, kept := range []string{text, m.id, m.from, m.part.Ref} {
			require.True(t, utf8.ValidString(kept))
			require.NotContains(t, kept, "\x00", "no database takes it")
		}
		require.True(t, validID(m.id))
		require.True(t, m.sent == window{} || m.sent.to-m.sent.from == 1 || m.sent.to-m.sent.from == 1000, "%+v",
			m.sent)
		require.True(t, m.part == room.Part{} || m.part.Part >= 1 && m.part.Part <= m.part.Parts &&
			m.part.Parts <= maxParts && m.part.Ref != "")
		if len(text) > 3 && !strings.Contains(fmt.Sprintf("%q %q %+v", m.id, m.from, m.part), text) {
			require.NotContains(t, fmt.Sprintf("%v %+v %#v", m, m, m), text)
		}
		require.NotRegexp(t, `\p{N}`, m.note(1).Text)

		fields := map[string]any{"message_id": m.id, "from": m.from, "text": text, "room": "integration"}
		if m.part != (room.Part{}) {
			fields["ref"], fields["part"], fields["parts"] = m.part.Ref, m.part.Part, m.part.Parts
		}
		anew, err := json.Marshal(fields)
		require.NoError(t, err)
		again, err := parse("integration", anew)
		require.NoError(t, err)
		require.Equal(t, []any{m.id, m.from, m.part, text},
			[]any{again.id, again.from, again.part, again.text.Reveal()})
	})
}

// FuzzSignature requires that a request is accepted exactly if one of the keys signed these bytes within five
// minutes.
func FuzzSignature(f *testing.F) {
	const now = 1795220000000
	sign := func(id string, at int64, body []byte) string {
		key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(testSecret, "whsec_"))
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
		return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	body := []byte(`{"message_id":"m-1","text":"code 4829"}`)
	good := sign("msg_1", now/1000, body)
	for _, seed := range [][3]string{{"msg_1", "1795220000", good}, {"msg_1", "+1795220000", good},
		{"msg_1", "1795220301", ""}, {"msg_1", "1795219700", "v2," + good[3:]},
		{"", "1795220000", good}, {"msg_1", "", good}, {"msg_1", "9223372036854775807", "v1,"},
		{"msg_1", "-9223372036854775808", "v1,x " + good}, {"msg_1", "1795220000", good[3:]}} {
		f.Add(seed[0], seed[1], seed[2], body)
	}
	verifier, err := NewVerifier(testSecret + "," + replacedSecret)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		header := func(signature string) http.Header {
			return http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		}
		at, notTime := strconv.ParseInt(timestamp, 10, 64)
		ours := sign(id, at, body)
		timely := notTime == nil && at >= now/1000-300 && at <= now/1000+300
		if verifier.verify(header(signature), body, now) == nil {
			require.True(t, timely)
			require.Contains(t, strings.Fields(signature), ours)
		} else {
			require.ErrorIs(t, verifier.verify(header(signature), body, now), ErrSignature)
		}
		require.Equal(t, timely && id != "", verifier.verify(header(ours), body, now) == nil)
	})
}

// FuzzKeys requires that an accepted list of keys has the given keys, and that an error repeats nothing of a
// secret.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{testSecret, testSecret + ", " + otherSecret, "", ",", "whsec_",
		"whsec_whsec_AAAA", "not base64!", "AAAA\nAAAA", "whsec_AAA"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		keys, err := Keys(secret)
		if err != nil {
			require.Contains(t, []string{"SMS_WEBHOOK_SECRET is empty: give whsec_ and the base64 of 24 to 64 " +
				"random bytes",
				"SMS_WEBHOOK_SECRET is not base64: give whsec_ and the base64 of 24 to 64 random bytes"}, err.Error())
			return
		}
		require.Len(t, keys, strings.Count(secret, ",")+1)
		var anew []string
		for _, key := range keys {
			require.NotEmpty(t, key)
			anew = append(anew, "whsec_"+base64.StdEncoding.EncodeToString(key))
		}
		again, err := Keys(strings.Join(anew, " , "))
		require.NoError(t, err)
		require.Equal(t, keys, again)
		_, err = NewVerifier(secret)
		require.NoError(t, err)
	})
}

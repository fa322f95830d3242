package web

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/problem"
)

// An accepted host is the configured name or, for loopback, one of this machine as a browser reads it.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"", "wait.example", "WAIT.example.:443", "wait.example:443:443",
		"wait.example.evil.example", "[wait.example]", "localhost", "127.0.0.1:80", "[::1]",
		"127.0.0.1.evil.example", "[::ffff:127.0.0.1]:1", "localhost:", "0.0.0.0", ":443", "wait.example:0443",
		"2130706433", "127.0.0.0:A"} {
		f.Add(seed)
	}
	public, err := HostOf("https://wait.example")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, host string) {
		u, err := url.Parse("https://" + host)
		if err != nil || u.Host != host {
			return // no page has it
		}
		if public.has(host) {
			require.Equal(t, "wait.example", strings.TrimSuffix(strings.ToLower(u.Hostname()), "."))
			require.Contains(t, []string{"", "443"}, u.Port())
		}
		if Loopback().has(host) {
			require.True(t, strings.EqualFold(u.Hostname(), "localhost") || loopbackAddress(u.Hostname()))
		}
	})
}

// Accepted rooms survive writing and reading. Every name among them is a room, and support is none.
func FuzzRooms(f *testing.F) {
	for _, seed := range []string{"integration", "a,b:*", "stock:*, a", "", "support", "support:*", "*", ":*",
		"a:*:*", "a,a", strings.Repeat("a", 128) + ":*"} {
		f.Add(seed, "stock:1")
	}
	f.Fuzz(func(t *testing.T, list, asked string) {
		rooms, err := ParseRooms(list)
		if err != nil {
			require.ErrorIs(t, err, room.ErrInvalidRoom)
			return
		}
		again, err := ParseRooms(rooms.String())
		require.NoError(t, err)
		require.Equal(t, rooms, again)
		require.False(t, rooms.Has("support"))
		for _, id := range rooms.Names() {
			_, err := room.ParseID(string(id))
			require.NoError(t, err)
			require.True(t, rooms.Has(id))
		}
		if id, err := room.ParseID(asked); err == nil && rooms.Has(id) {
			domain, _, _ := strings.Cut(asked, ":")
			require.True(t, slices.Contains(rooms.Names(), id) || strings.Contains(list, domain+":"), asked)
		}
	})
}

// sent are bodies that clients may send by mistake.
var sent = []string{"", "{", "null", "[]", "{} {}", `{"seller_id":"s-1","asks":true}`, `{"seller_id":1}`,
	`{"session_id":{}}`, `{"SELLER_ID":"a"}`, `{"fence":7,"from":["15881234"],"contains":"쿠팡"}`,
	`{"fence":1.5}`, `{"fence":-1}`, `{"fence":9223372036854775808}`, `{"fence":7,"from":[""]}`,
	`{"fence":7,"from":"x"}`, `{"fence":7,"message_id":"m-1"}`, `{"fence":null}`,
	`{"reason":"gone","fence":7,"ticket":3,"seconds":60,"position":1,"message_id":"m"}`,
	`{"reason":"\u200b","ticket":9007199254740993}`, `{"reason":" \n ","seconds":1e2}`,
	"{\"reason\":\"\xff\"}", `{"reason":"\ud800"}`, `{"a":` + strings.Repeat("[", 20000) + "}"}

// A body about the lock is one object, or refused by a code of the contract. Other fields never become a
// seller or a session.
func FuzzLockBody(f *testing.F) {
	for _, seed := range sent {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		body, err := parseBody[lockBody](text, nil)
		if err != nil {
			require.Contains(t, []error{problem.Refusal("invalid_json"), problem.Refusal("invalid_seller"),
				problem.Refusal("invalid_session")}, err)
			require.Equal(t, lockBody{}, body)
			return
		}
		require.Equal(t, byte('{'), bytes.TrimLeft(text, " \t\r\n")[0])
		anew, err := json.Marshal(body)
		require.NoError(t, err)
		again, err := parseBody[lockBody](anew, nil)
		require.NoError(t, err)
		require.Equal(t, body, again)
	})
}

// An accepted ask has a fence, few and short senders, a short piece and a short Idempotency-Key. All else is
// refused by its code.
func FuzzExpectBody(f *testing.F) {
	for _, seed := range sent {
		f.Add([]byte(seed), "press-1")
	}
	f.Add([]byte(`{"fence":7}`), strings.Repeat("가", 64))
	f.Add([]byte(`{"fence":7}`), strings.Repeat("\xff", 65))
	f.Fuzz(func(t *testing.T, text []byte, key string) {
		body, err := parseExpect(text)
		if err == nil {
			require.Positive(t, body.Fence)
			err = checkExpect(room.ExpectRequest{Fence: body.Fence, Key: key,
				Filter: room.Filter{From: body.From, Contains: body.Contains}})
		}
		if err != nil {
			require.Contains(t, []error{problem.Refusal("invalid_json"), problem.Refusal("invalid_session"),
				problem.Refusal("invalid_fence"), room.ErrInvalidExpect}, err)
			require.Contains(t, problem.Codes(), problem.CodeOf(err))
			return
		}
		require.LessOrEqual(t, utf8.RuneCountInString(key), 64)
		require.LessOrEqual(t, len(body.From), 10)
		for _, piece := range append([]string{body.Contains}, body.From...) {
			require.LessOrEqual(t, utf8.RuneCountInString(piece), 64)
		}
		require.NotContains(t, body.From, "")
	})
}

func loopbackAddress(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

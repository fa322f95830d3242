package room

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/room/seal"
	"github.com/waitroom/waitroom/room/wire"
)

// An accepted id is valid by the contract, and puts no key of Redis into another room.
func FuzzRoomID(f *testing.F) {
	for _, seed := range []string{"integration", "support", "stock:item:456", "a::b", "a:", "", "A", "a}b",
		"연동", "a\n", strings.Repeat("a", 129)} {
		f.Add(seed)
	}
	contract := regexp.MustCompile(`\A[a-z0-9][a-z0-9_.-]*(:[a-z0-9_.-]+)*\z`)
	f.Fuzz(func(t *testing.T, text string) {
		id, err := ParseID(text)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalidRoom)
			require.False(t, contract.MatchString(text) && len(text) <= 128 && text != "support",
				"it is one of the contract's: %q", text)
			return
		}
		require.Equal(t, text, string(id))
		require.Regexp(t, contract, text)
		require.LessOrEqual(t, len(text), 128)
		require.NotEqual(t, "support", text)
		require.Equal(t, "{"+text+"}:events", Channel(id))
	})
}

// An accepted seller id parses to itself again, and two spellings of one id are equal.
func FuzzSellerID(f *testing.F) {
	for _, seed := range []string{"s-1", "\u1112\u1161\u1105\u1169\u11a8", "a b", "", "\xff", "a\x00", "😀",
		"\u0344", strings.Repeat("가", 65), "=", "-"} {
		f.Add(seed)
	}
	contract := regexp.MustCompile(`\A[\p{L}\p{M}\p{Nd}_.@-]{1,64}\z`)
	f.Fuzz(func(t *testing.T, text string) {
		seller, err := ParseSeller(text)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalidSeller)
			return
		}
		require.Regexp(t, contract, seller)
		require.True(t, norm.NFC.IsNormalString(seller))
		for _, spelling := range []string{seller, norm.NFD.String(seller)} {
			again, err := ParseSeller(spelling)
			require.NoError(t, err)
			require.Equal(t, seller, again)
		}
		quoted, err := json.Marshal(seller)
		require.NoError(t, err)
		require.Equal(t, `"`+seller+`"`, string(quoted), "Lua writes it into JSON as it is")
	})
}

// An accepted session is one UUID in one spelling. An error does not repeat a refused one, since it is a
// credential.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{"6BA7B810-9DAD-41D1-80B4-00C04FD430C8",
		"00000000-0000-0000-0000-000000000000", "{6ba7b810-9dad-41d1-80b4-00c04fd430c8}",
		"urn:uuid:6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b8109dad41d180b400c04fd430c8", "", "secret",
		"\u212aba7b810-9dad-41d1-80b4-00c04fd430c8"} {
		f.Add(seed)
	}
	said := ErrInvalidSession.Error() + ": use the 36-character form"
	f.Fuzz(func(t *testing.T, text string) {
		session, err := ParseSession(text)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalidSession)
			require.EqualError(t, err, said)
			return
		}
		require.Regexp(t, `\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`, session)
		require.True(t, strings.EqualFold(text, session))
		require.NotEqual(t, uuid.Nil.String(), session)
	})
}

// A parsed event stays the same when it is encoded and parsed again. An error does not repeat the payload,
// which has sessions in it.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{"", "null", "[]", "{",
		`{"epoch":1,"version":2,"lineage":"a/1","now":1795220000000,"hold":120000.5,"changed":true}`,
		`{"version":3,"lease":{"ticket":1,"fence":1795220000000000,"granted_at":1,"expires_at":2,` +
			`"session":"6ba7b810-9dad-41d1-80b4-00c04fd430c8","rank":1.5}}`,
		`{"joined":[{"session":"s","ticket":2,"seller":"a","rank":2}],"moved":[{"rank":1,"from":2}],` +
			`"ended":[{"outcome":"completed","rank":null}]}`,
		`{"notes":[{"ticket":1,"away":true,"since":5,"message":"s","support":"moved","desk":true}],` +
			`"reset":true}`,
		`{"epoch":1e30}`, `{"epoch":"1"}`, `{"lease":null} x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, payload string) {
		e, err := ParseEvent(payload)
		if err != nil {
			require.Regexp(t, `\Aread event: \d+ bytes are not an event\z`, err.Error())
			return
		}
		text, err := json.Marshal(e)
		require.NoError(t, err)
		again, err := ParseEvent(string(text))
		require.NoError(t, err)
		require.Equal(t, e, again)
		require.Equal(t, e.Version, viewOf(&e).Version)
	})
}

// A parsed journal entry stays the same when it is encoded and parsed again, with the stream's id. Any other
// entry has an error in Odd.
func FuzzJournalEntry(f *testing.F) {
	for _, seed := range [][3]string{{"1", "2", `[{"type":"joined","at":1,"ticket":1,"seller":"a"}]`},
		{"", "", ""}, {"1", "x", "[]"}, {"1", "2", "{}"},
		{"1", "2", `[{"type":"epoch","kept":[{"ticket":3,"seller":"b"}]}]`},
		{"9223372036854775808", "1", "[]"}, {"1", "2", `[{"fence":1.5}]`}, {"1", "2", "null"},
		{"1", "2", `[{"type":"message","message_id":"m","from":"***1234","text":"**","sent_at":1,` +
			`"code":true,"result":"matched"}]`}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, epoch, version, records string) {
		entry, err := parseEntry(redis.XMessage{ID: "5-1",
			Values: map[string]any{"epoch": epoch, "version": version, "records": records}})
		if err != nil {
			require.ErrorContains(t, err, "journal entry 5-1: ")
			require.Equal(t, Entry{}, entry, "nothing of it is trusted")
			return
		}
		require.Equal(t, "5-1", entry.ID)
		text, err := json.Marshal(entry.Records)
		require.NoError(t, err)
		again, err := parseEntry(redis.XMessage{ID: "5-1",
			Values: map[string]any{"epoch": entry.Epoch, "version": entry.Version, "records": string(text)}})
		require.NoError(t, err)
		require.Equal(t, entry, again)
	})
}

// FuzzReply requires ErrStore for a truncated reply or an unknown code. An error does not repeat the reply,
// which may name a session.
func FuzzReply(f *testing.F) {
	whole := `{"code":"ok","now":1795220000000,"waiting":2,"epoch":1,"version":7,"lineage":"a:1","hold":120,` +
		`"lease":{"ticket":1,"fence":1795220000000000,"granted":1,"expires":2},` +
		`"place":{"status":"waiting","ticket":3,"seller":"s-1","position":2,"rank":3.5}}`
	for _, seed := range []string{"", "ok", whole, whole[:90], strings.Replace(whole, "ok", "no_place", 1),
		strings.Replace(whole, "ok", "eh", 1), `{"code":"register","absence":"1:a"}`,
		strings.Replace(whole, "1795220000000", "9223372036854775808", 1),
		`{"code":"ok","match":{"result":"matched","fence":1}}`} {
		f.Add(seed)
	}
	e := New(nil, Config{})
	f.Fuzz(func(t *testing.T, text string) {
		a, err := e.parseAnswer(text)
		switch {
		case !json.Valid([]byte(text)):
			require.ErrorIs(t, err, ErrStore)
			require.Equal(t, answer{}, a)
		case err == nil:
			require.NotContains(t, refusals, a.Code)
			require.NotEmpty(t, a.Place.Status)
		}
	})
}

// Whatever text is sealed shows support no code.
func FuzzSealedMessage(f *testing.F) {
	keys := seal.NewKeyring([]byte("a secret of the tests"))
	f.Add([]byte(`{"message_id":"m","text":"code 482913"}`), "abc")
	f.Add([]byte("null"), "x|y")
	f.Add([]byte("{}"), "1|2|3|4|5|6|7|8|9|1")
	e := New(nil, Config{Keys: keys})
	f.Fuzz(func(t *testing.T, text []byte, about string) {
		own := keys.Seal(text, aboutMessage("integration", about))
		var seat Seat
		shown := wire.ShownMessage{Kind: "m", Digest: about, Fence: 7, Sealed: own}
		if e.addShown("integration", &seat, &shown) == nil && !seat.Messages[0].Unreadable {
			require.EqualValues(t, 7, seat.Messages[0].Fence)
		}
		l, err := e.recentMessage("integration", &wire.RecentMessage{Digest: about, Sealed: own})
		if err != nil {
			require.ErrorIs(t, err, ErrStore)
			return
		}
		require.NotRegexp(t, `\p{N}`, l.Text)
	})
}

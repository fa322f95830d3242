package sms

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var received = time.Date(2026, 11, 21, 0, 30, 0, 250e6, time.UTC)

func TestBodyThatIsNotOneJSONObjectIsInvalidJSON(t *testing.T) {
	for _, body := range []string{"", " ", "{", "null", "[]", `"x"`, "1", `{} {}`, `{}{"a":1}`, `{"text":"a"} x`,
		`{"text":}`,
		"{\"message_id\":\"m\",\"text\":\"\xff482913\"}"} {
		_, err := parse(integration, []byte(body))
		require.ErrorIs(t, err, ErrInvalidJSON, "%q", body)
	}
}

func TestByteOrderMarkBeforeABodyIsSkipped(t *testing.T) {
	m, err := parse(integration, []byte("\uFEFF"+`{"message_id":"m","text":"code 80264173"}`))
	require.NoError(t, err)
	require.Equal(t, "m", m.id)
	_, err = parse(integration, []byte("\uFEFF\uFEFF{}"))
	require.ErrorIs(t, err, ErrInvalidJSON)
}

func TestMessageThatCanNotBeUsedIsRefusedWithWhatToDo(t *testing.T) {
	tests := []struct {
		name, body string
		want       *Fault
	}{
		{"nothing", `{}`, faultID},
		{"no id", `{"text":"code 80264173"}`, faultID},
		{"null id", `{"message_id":null,"text":"code 80264173"}`, faultID},
		{"empty id", `{"message_id":"","text":"code 80264173"}`, faultID},
		{"blank id", `{"message_id":"  ","text":"code 80264173"}`, faultID},
		{"fraction as id", `{"message_id":80264173.5,"text":"code 80264173"}`, faultID},
		{"id too long", `{"message_id":"` + strings.Repeat("가", 129) + `","text":"code 80264173"}`, faultID},
		{"id with a line break", `{"message_id":"a\nb","text":"code 80264173"}`, faultID},
		{"id with NUL", `{"message_id":"a\u0000b","text":"code 80264173"}`, faultID},
		{"id with half a character", `{"message_id":"a\ud800","text":"code 80264173"}`, faultID},
		{"names are exact", `{"Message_ID":"m","text":"code 80264173"}`, faultID},
		{"sender is a list", `{"message_id":"m","from":["80264173"],"text":"code 80264173"}`, faultFrom},
		{"receiver is a list", `{"message_id":"m","to":["80264173"],"text":"code 80264173"}`, faultTo},
		{"another room", `{"message_id":"m","text":"code 80264173","room":"other"}`, faultRoom},
		{"room is a number", `{"message_id":"m","text":"code 80264173","room":1}`, faultRoom},
		{"part 0", `{"message_id":"m","text":"code 80264173","ref":"r","parts":2,"part":0}`, faultPart},
		{"part past the last", `{"message_id":"m","text":"code 80264173","ref":"r","parts":2,"part":3}`, faultPart},
		{"part as text", `{"message_id":"m","text":"code 80264173","ref":"r","parts":2,"part":"1"}`, faultPart},
		{"too many parts", `{"message_id":"m","text":"code 80264173","ref":"r","parts":256,"part":1}`, faultPart},
		{"reference is a list", `{"message_id":"m","text":"code 80264173","ref":[],"parts":2,"part":1}`, faultPart},
		{"no text", `{"message_id":"m"}`, faultText},
		{"null text", `{"message_id":"m","text":null}`, faultText},
		{"blank text", `{"message_id":"m","text":" \n"}`, faultText},
		{"text is no string", `{"message_id":"m","text":["80264173"]}`, faultText},
		{"time is a list", `{"message_id":"m","text":"80264173","sent_at":[1795221000]}`, faultSentAt},
		{"time before 1970 as a number", `{"message_id":"m","text":"80264173","sent_at":-1}`, faultSentAt},
		{"time past the year 9999", `{"message_id":"m","text":"80264173","sent_at":1e18}`, faultSentAt},
		{"empty time", `{"message_id":"m","text":"80264173","sent_at":""}`, faultSentAt},
		{"time without offset", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T09:30:00"}`,
			faultSentAt},
		{"date only", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21"}`, faultSentAt},
		{"a space for T", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21 09:30:00Z"}`, faultSentAt},
		{"fraction without digits", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T09:30:00.Z"}`,
			faultSentAt},
		{"comma for a point", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T09:30:00,5Z"}`,
			faultSentAt},
		{"one-digit hour", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T9:30:00Z"}`, faultSentAt},
		{"hour 24", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T24:00:00Z"}`, faultSentAt},
		{"30 February", `{"message_id":"m","text":"80264173","sent_at":"2026-02-30T00:00:00Z"}`, faultSentAt},
		{"offset of 24 hours", `{"message_id":"m","text":"80264173","sent_at":"2026-11-21T00:00:00+24:00"}`,
			faultSentAt},
		{"leap second", `{"message_id":"m","text":"80264173","sent_at":"2026-06-30T23:59:60Z"}`, faultLeapSecond},
		{"leap second with a fraction", `{"message_id":"m","text":"80264173","sent_at":"2016-12-31T23:59:60.5Z"}`,
			faultLeapSecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse(integration, []byte(tt.body))
			require.Equal(t, tt.want, err)
			require.ErrorIs(t, err, ErrInvalidMessage)
			fault, ok := errors.AsType[*Fault](err)
			require.True(t, ok)
			for _, said := range []string{err.Error(), fault.Detail("ko"), fault.Detail("en")} {
				require.NotEmpty(t, said)
				require.NotContains(t, said, "80264173")
			}
			require.NotEqual(t, fault.Detail("ko"), fault.Detail("en"))
		})
	}
}

func TestSentAtStandsForItsWholeSecondOrItsMillisecond(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 30, 0, 0, time.UTC).UnixMilli()
	tests := []struct {
		name, value string
		want        window
	}{
		{"absent", ``, window{}},
		{"null", `,"sent_at":null`, window{}},
		{"whole second", `,"sent_at":"2026-11-21T00:30:00Z"`, window{at, at + 1000}},
		{"with an offset", `,"sent_at":"2026-11-21T09:30:00+09:00"`, window{at, at + 1000}},
		{"west of Greenwich", `,"sent_at":"2026-11-20T19:00:00-05:30"`, window{at, at + 1000}},
		{"unknown offset", `,"sent_at":"2026-11-21T00:30:00-00:00"`, window{at, at + 1000}},
		{"small letters", `,"sent_at":"2026-11-21t00:30:00z"`, window{at, at + 1000}},
		{"a fraction of zeros says no more", `,"sent_at":"2026-11-21T00:30:00.000Z"`, window{at, at + 1000}},
		{"unix seconds", fmt.Sprintf(`,"sent_at":%d`, at/1000), window{at, at + 1000}},
		{"unix seconds with a fraction", fmt.Sprintf(`,"sent_at":%d.25`, at/1000), window{at + 250, at + 251}},
		{"unix seconds with a fraction that no float has", fmt.Sprintf(`,"sent_at":%d.001`, at/1000+1),
			window{at + 1001, at + 1002}},
		{"unix seconds with nanoseconds", fmt.Sprintf(`,"sent_at":%d.9999`, at/1000), window{at + 999, at + 1000}},
		{"unix milliseconds", fmt.Sprintf(`,"sent_at":%d`, at+249), window{at + 249, at + 250}},
		{"unix milliseconds of a whole second", fmt.Sprintf(`,"sent_at":%d`, at), window{at, at + 1000}},
		{"milliseconds", `,"sent_at":"2026-11-21T00:30:00.249Z"`, window{at + 249, at + 250}},
		{"tenths", `,"sent_at":"2026-11-21T00:30:00.2Z"`, window{at + 200, at + 201}},
		{"nanoseconds are cut", `,"sent_at":"2026-11-21T00:29:59.999999999Z"`, window{at - 1, at}},
		{"more than nanoseconds", `,"sent_at":"2026-11-21T00:29:59.9999999999999Z"`, window{at - 1, at}},
		{"60 s ahead", `,"sent_at":"2026-11-21T00:31:00.250Z"`, window{at + 60_250, at + 60_251}},
		{"the second 60 s ahead", `,"sent_at":"2026-11-21T00:31:00Z"`, window{at + 60_000, at + 61_000}},
		{"the beginning of unix time", `,"sent_at":"1970-01-01T00:00:00Z"`, window{0, 1000}},
		{"before unix time", `,"sent_at":"1969-12-31T23:59:59.9999Z"`, window{-1, 0}},
		{"long ago", `,"sent_at":"0001-01-01T00:00:00Z"`, window{-62135596800000, -62135596799000}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parse(integration, []byte(`{"message_id":"m","text":"hi"`+tt.value+`}`))
			require.NoError(t, err)
			require.Equal(t, tt.want, m.sent)
		})
	}
}

func TestMessageIsReadWholeAndNotedWithoutItsDigits(t *testing.T) {
	m, err := parse(integration,
		[]byte(`{"message_id":"`+strings.Repeat("가", 128)+`","from":"1588-0000","text":"[쿠팡] 인증번호\u0000 80264173",
		"sent_at":"2026-11-21T00:30:00Z","extra":{"a":[1]},"text2":null}`))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("가", 128), m.id)
	note, shown := m.note(received.UnixMilli()), m.shown()
	require.Equal(t, "****-0000", note.From)
	require.Equal(t, "[쿠팡] 인증번호\uFFFD ********", note.Text, "and nothing that a database does not take")
	require.Equal(t, m.sent.from, note.SentAt)
	require.Equal(t, received.UnixMilli(), note.Received)
	require.Equal(t, "[쿠팡] 인증번호\uFFFD 80264173", shown.Text)
	require.Equal(t, "80264173", *shown.Code)

	m, err = parse(integration, []byte(`{"message_id":"m","from":null,"text":"hello"}`))
	require.NoError(t, err)
	require.Empty(t, m.from)
	require.Nil(t, m.shown().Code, "a message without a code")
}

// This replica, or the one that read the message first, may not have had a reply of Redis yet, and so no
// estimate of its time.
func TestEarlierOfTwoTimesOfWhichOneMayNotBeKnown(t *testing.T) {
	require.Equal(t, int64(3), earlier(3, 5))
	require.Equal(t, int64(3), earlier(5, 3))
	require.Equal(t, int64(5), earlier(0, 5))
	require.Equal(t, int64(5), earlier(5, 0))
}

// The network cuts a long message anywhere, also within a code.
func TestDigitsAtTheInnerEdgeOfAPartAreNoCode(t *testing.T) {
	tests := []struct {
		name, text  string
		part, parts int
		want        string
	}{
		{"the end of the first part", "[하루마켓] 인증번호 4829", 1, 2, ""},
		{"the end of the first part, behind a sign", "[하루마켓] 인증번호 4829-", 1, 2, ""},
		{"the start of the second part", "4829 입니다. 인증번호를 입력해 주세요", 2, 2, ""},
		{"the start of the second part, behind a sign", "-4829 입니다. 인증번호를 입력해 주세요", 2, 2, ""},
		{"both ends of a middle part", "482913", 2, 3, ""},
		{"letters and digits", "인증번호 A7K2", 1, 2, ""},
		{"the end of the message", "인증번호는 482913", 2, 2, "482913"},
		{"the start of the message", "482913 인증번호를 입력해 주세요", 1, 2, "482913"},
		{"a blank ends the number", "인증번호 482913 ", 1, 2, "482913"},
		{"another number at the edge", "인증번호 482913 입니다. 문의 1588", 1, 2, "482913"},
		{"a whole message", "인증번호 4829", 1, 1, "4829"},
	}
	for _, tt := range tests {
		body, err := json.Marshal(map[string]any{"message_id": "m-1", "text": tt.text, "ref": "r",
			"part": tt.part, "parts": tt.parts})
		require.NoError(t, err)
		parsed, err := parse("integration", body)
		require.NoError(t, err, tt.name)
		posted, err := Post{ID: "m-1", Text: NewSecret(tt.text), Ref: "r", Part: strconv.Itoa(tt.part),
			Parts: strconv.Itoa(tt.parts)}.message()
		require.NoError(t, err, tt.name)
		for _, m := range []message{parsed, posted} {
			code := m.shown().Code
			require.Equal(t, tt.want != "", code != nil, tt.name)
			if code != nil {
				require.Equal(t, tt.want, *code, tt.name)
			}
		}
	}
}

func TestUnixTimesOfASourceInEveryUnit(t *testing.T) {
	at := time.Date(2026, 11, 28, 3, 0, 0, 123_000_000, time.UTC)
	for _, given := range []string{"1795834800.123", "1795834800123", "1795834800123456", "1795834800123456789"} {
		m, err := Post{From: "1", Text: NewSecret("x"), SentAt: given}.message()
		require.NoError(t, err, given)
		require.Equal(t, at.UnixMilli(), m.sent.from, given)
	}
}

func TestRecipientThatIsNoNumberIsNone(t *testing.T) {
	for given, want := range map[string]string{"unknown": "", "": "", "null": "", "SIM 2": "SIM 2", "+82": "+82"} {
		m, err := Post{From: "1", Text: NewSecret("x"), To: given}.message()
		require.NoError(t, err)
		require.Equal(t, want, m.to)
	}
}

func TestMessageOfASourceIsBounded(t *testing.T) {
	long := strings.Repeat("x", mostPost)
	for _, p := range []Post{{Text: NewSecret(long), From: "1"}, {Text: NewSecret("x"), To: "1" + long},
		{Text: NewSecret("x"), SIM: long}} {
		_, err := p.message()
		require.ErrorIs(t, err, ErrInvalidMessage)
	}
	_, err := Post{Text: NewSecret(long[1:]), From: "1"}.message()
	require.NoError(t, err)
}

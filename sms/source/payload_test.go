package source

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/korean"

	"github.com/waitroom/waitroom/sms"
)

// stored returns a file of testdata: what a phone or a provider posts, after its documentation.
func stored(name string) string {
	return strings.TrimSuffix(string(must(os.ReadFile(filepath.Join("testdata", name)))), "\n")
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// parsed is a post whose text can be compared.
type parsed struct {
	sms.Post
	Text string
}

func parse(t *testing.T, kind string, template Template, r sms.Request) (posts []parsed, err error) {
	t.Helper()
	made, err := configured(t, kind, template).Parse(r)
	for _, p := range made {
		text := p.Text.Reveal()
		p.Text = sms.Secret{}
		posts = append(posts, parsed{p, text})
	}
	return posts, err
}

func TestLongKoreanTextThatComesAsAnMMSIsRead(t *testing.T) {
	posts, err := parse(t, gatewayKind, Template{}, request(stored("android-lms.json")))
	require.NoError(t, err)
	require.Len(t, posts, 1)
	require.Equal(t, sms.Post{ID: "evt-2", From: "15881234", To: "01012345678", SIM: "1",
		SentAt: "2026-11-28T12:00:00.000+09:00"}, posts[0].Post)
	require.Contains(t, posts[0].Text, "[마켓]\n[Web발신]\n[마켓] 판매자센터", "subject and body")
	code, ok := sms.FindCode(posts[0].Text)
	require.True(t, ok)
	require.Equal(t, "482913", code.Reveal())
}

func TestBatchesOfAPhoneAreAllRead(t *testing.T) {
	for _, event := range []string{smsBatch, mmsBatch} {
		posts, err := parse(t, gatewayKind, Template{}, request(stored("android-"+event[:3]+"-batch.json")))
		require.NoError(t, err)
		require.Len(t, posts, 2, event)
		require.Equal(t, "evt-9.0", posts[0].ID)
		require.Equal(t, "evt-9.1", posts[1].ID, "a repeat of the event has the same ids")
		require.Equal(t, []string{"01012345678", "01087654321"}, []string{posts[0].To, posts[1].To})
		require.Equal(t, "2026-11-28T12:00:01.000+09:00", posts[1].SentAt)
		require.Contains(t, posts[1].Text, "730214")
	}
}

func TestEventsThatAreNoInboundMessageAreNamed(t *testing.T) {
	for _, event := range []string{"sms:sent", "mms:received", "system:ping", "sms:data-received"} {
		_, err := parse(t, gatewayKind, Template{}, request(`{"event":"`+event+`","id":"x","payload":{}}`))
		var ignored *sms.IgnoredEvent
		require.ErrorAs(t, err, &ignored)
		require.Equal(t, event, ignored.Name)
	}
	_, err := parse(t, gatewayKind, Template{}, request(`{"event":"sms:batch:received","payload":{}}`))
	require.ErrorIs(t, err, sms.ErrInvalidMessage)
}

// each reads batch.json, the format of a provider that sends several messages in one call.
var each = Template{Each: "results", ID: "messageId", From: "from", To: "to", Text: "text",
	SentAt: "receivedAt"}

func TestEachMessageOfACallIsRead(t *testing.T) {
	posts, err := parse(t, templateKind, each, request(stored("batch.json")))
	require.NoError(t, err)
	require.Len(t, posts, 2)
	require.Equal(t, sms.Post{ID: "a-2", From: "15881234", To: "821012345678",
		SentAt: "2026-11-28T03:00:01.000Z"}, posts[1].Post)

	_, err = parse(t, templateKind, each, request(`{"results":[],"messageCount":0}`))
	require.ErrorIs(t, err, sms.ErrIgnored, "a call without messages")
	_, err = parse(t, templateKind, each, request(`{"messages":[]}`))
	require.ErrorContains(t, err, "no such field as each")
	posts, err = parse(t, templateKind, each, request(`{"results":[{"messageId":"a","from":"1"},`+
		`{"messageId":"b","from":"1","to":"2","text":"x","receivedAt":"2026-11-28T03:00:01.000Z"}]}`))
	require.ErrorContains(t, err, "no such field as text")
	require.Len(t, posts, 1, "the good one is not lost")
}

func TestSeveralMessagesInACallWithoutEachAreRefused(t *testing.T) {
	first := Template{From: "results.0.from", Text: "results.0.text"}
	_, err := parse(t, templateKind, first, request(stored("batch.json")))
	require.Equal(t, sms.FaultSeveral, err)
	_, err = parse(t, templateKind, Template{From: "0.from", Text: "0.text"},
		request(`[{"from":"1","text":"a"},{"from":"1","text":"b"}]`))
	require.Equal(t, sms.FaultSeveral, err)
	_, err = parse(t, templateKind, Template{From: "from", Text: "text"}, request("from=1&text=a&text=b",
		"Content-Type", asForm))
	require.Equal(t, sms.FaultSeveral, err)
	posts, err := parse(t, templateKind, Template{From: "from", To: "to.0.number", Text: "text"},
		request(`{"from":"1","text":"a","to":[{"number":"2"},{"number":"3"}]}`))
	require.NoError(t, err, "several receivers are no several messages")
	require.Equal(t, "2", posts[0].To)
}

func TestReportOfASentMessageIsNoInboundMessage(t *testing.T) {
	textbee := Template{Only: map[string][]string{"webhookEvent": {"MESSAGE_RECEIVED"}}, ID: "smsId",
		From: "sender", Text: "message", SentAt: "receivedAt"}
	_, err := parse(t, templateKind, textbee, request(stored("sent-report.json")))
	var ignored *sms.IgnoredEvent
	require.ErrorAs(t, err, &ignored)
	require.Equal(t, "MESSAGE_SENT", ignored.Name)
	posts, err := parse(t, templateKind, textbee, request(stored("textbee.json")))
	require.NoError(t, err)
	require.Equal(t, "15881234", posts[0].From)

	textbee.Only = nil
	_, err = parse(t, templateKind, textbee, request(stored("sent-report.json")))
	require.ErrorIs(t, err, sms.ErrInvalidMessage)
	require.ErrorContains(t, err, "no such field as from", "a missing sender does not pass")
}

func TestFieldThatTheSettingsNameIsRequired(t *testing.T) {
	whole := Template{ID: "i", From: "f", To: "o", Text: "t", SentAt: "s", SIM: "c", Ref: "r", Part: "p",
		Parts: "q"}
	good := `{"i":"1","f":"2","o":"3","t":"4","s":"1795838400","c":1}`
	_, err := parse(t, templateKind, whole, request(good))
	require.NoError(t, err, "but those of a piece")
	for key, without := range map[string]string{
		"id": `{"f":"2","o":"3","t":"4","s":"5","c":1}`, "from": `{"i":"1","o":"3","t":"4","s":"5","c":1}`,
		"to": `{"i":"1","f":"2","o":null,"t":"4","s":"5","c":1}`, "text": `{"i":"1","f":"2","o":"3","s":"5","c":1}`,
		"sent_at":   `{"i":"1","f":"2","o":"3","t":"4","s":" ","c":1}`,
		"sim_field": `{"i":"1","f":"2","o":"3","t":"4","s":"5"}`,
	} {
		_, err := parse(t, templateKind, whole, request(without))
		require.ErrorIs(t, err, sms.ErrInvalidMessage, key)
		require.ErrorContains(t, err, "no such field as "+key)
	}
}

func TestLineBreaksAndTabsInsideAStringAreRead(t *testing.T) {
	tasker := Template{From: "from", Text: "text", SentAt: "time", Format: "unix"}
	posts, err := parse(t, templateKind, tasker, request(stored("raw-newline.json")))
	require.NoError(t, err)
	require.Equal(t, "[Web발신]\n[마켓] 인증번호는 \"730214\" 입니다", posts[0].Text)
	posts, err = parse(t, templateKind, tasker,
		request("{\n\t\"from\":\"1\",\r\n\"text\":\"a\tb\r\nc \\\\\",\"time\":\"1\"}"))
	require.NoError(t, err)
	require.Equal(t, "a\tb\r\nc \\", posts[0].Text)
	for _, broken := range []string{"{\"from\":\"1\x01\"}", "{\"from\":\"1\n", "{\"from\"\"\n\"}"} {
		_, err = parse(t, templateKind, tasker, request(broken))
		require.ErrorIs(t, err, sms.FaultBody, "%q", broken)
	}
}

func TestTimesOfATemplate(t *testing.T) {
	for _, tt := range []struct{ format, zone, given, want string }{
		{"unix_us", "", "1795838400123456", "1795838400123456"},
		{"yyyy-MM-dd HH:mm:ss", "Asia/Seoul", "2026-11-28 12:00:00", "2026-11-28T12:00:00+09:00"},
		{"yyyy-MM-dd HH:mm:ss", "Europe/Berlin", "2026-07-01 12:00:00", "2026-07-01T12:00:00+02:00"},
		{"yyyy-MM-dd HH:mm:ss", "Europe/Berlin", "2026-12-01 12:00:00", "2026-12-01T12:00:00+01:00"},
		{"yyyy-MM-dd HH:mm:ss.SSSSSS", "", "2026-11-28 12:00:00.123456", "2026-11-28T12:00:00.123456Z"},
	} {
		posts, err := parse(t, templateKind, Template{From: "f", Text: "t", SentAt: "s", Format: tt.format,
			Zone: tt.zone}, request(`{"f":"1","t":"x","s":"`+tt.given+`"}`))
		require.NoError(t, err)
		require.Equal(t, tt.want, posts[0].SentAt)
	}
}

func TestMultipartFormIsRead(t *testing.T) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range map[string]string{"from": "15881234", "text": text} {
		require.NoError(t, w.WriteField(name, value))
	}
	require.NoError(t, w.Close())
	template := Template{From: "from", Text: "text"}
	kind := w.FormDataContentType()
	posts, err := parse(t, templateKind, template, request(body.String(), "Content-Type", kind))
	require.NoError(t, err)
	require.Equal(t, text, posts[0].Text)
	_, err = parse(t, templateKind, template, request(body.String()[:40], "Content-Type", kind))
	require.ErrorIs(t, err, sms.FaultBody)
	_, err = parse(t, templateKind, template, request(body.String(), "Content-Type", "multipart/form-data"))
	require.ErrorIs(t, err, sms.FaultBody)
}

func TestSourcesWhoseSignatureCoversTheAddress(t *testing.T) {
	for _, tt := range []struct {
		kind       string
		signature  Signature
		yes, maybe bool
	}{
		{"twilio", Signature{}, true, false},
		{"android-sms-gateway", Signature{}, false, false},
		{"httpsms", Signature{}, false, false},
		{"smsforwarder", Signature{}, false, false},
		{templateKind, Signature{}, false, false},
		{templateKind, Signature{Scheme: hmacSHA256}, false, false},
		{templateKind, Signature{Scheme: hmacSHA256, Signed: "{address}{header X-Nonce}"}, true, false},
		{templateKind, Signature{Scheme: hmacSHA1, Signed: "{url}{params}"}, true, false},
		{templateKind, Signature{Scheme: jwtHS256}, false, true},
	} {
		yes, maybe := configured(t, tt.kind, Template{Signature: tt.signature, From: "f", Text: "t"}).Addressed()
		require.Equal(t, []bool{tt.yes, tt.maybe}, []bool{yes, maybe}, "%s %v", tt.kind, tt.signature)
	}
}

func TestJSONIsReadWhateverTypeAProgramGivesIt(t *testing.T) {
	for _, kind := range []string{"", asForm, "text/plain", "text/html; charset=utf-8", "application/octet-stream",
		"application/json; charset"} {
		posts, err := parse(t, templateKind, Template{From: "from", Text: "text"},
			request("\uFEFF {\"from\":15881234,\"text\":\"100% 482913\"}", "Content-Type", kind))
		require.NoError(t, err, kind)
		require.Equal(t, []string{"15881234", "100% 482913"}, []string{posts[0].From, posts[0].Text})
	}
}

// Tasker and MacroDroid paste a text into from=…&text=… as it is.
func TestFormWithWhatIsNoEscapeIsRead(t *testing.T) {
	for given, want := range map[string]string{
		"100% 482913": "100% 482913", "a;b 482913": "a;b 482913", "%": "%", "%4": "%4", "%%34": "%4",
		"%zz+1": "%zz 1", "%EC%9D%B8+%": "인 %", "a%20b=c": "a b=c"} {
		posts, err := parse(t, templateKind, Template{From: "from", Text: "text"},
			request("from=15881234&text="+given+"&&x", "Content-Type", asForm))
		require.NoError(t, err, given)
		require.Equal(t, want, posts[0].Text)
	}
}

func TestBodyThatIsAnArrayIsRead(t *testing.T) {
	list := Template{Each: ".", From: "phone_number", Text: "content", ID: "sequence_id", SentAt: "send_time",
		Format: "yyyy-MM-dd HH:mm:ss", Zone: "Asia/Seoul"}
	posts, err := parse(t, templateKind, list, request(stored("array.json")))
	require.NoError(t, err)
	require.Len(t, posts, 2)
	require.Equal(t, sms.Post{ID: "2", From: "15881234", SentAt: "2026-11-28T12:00:01+09:00"}, posts[1].Post)
	_, err = parse(t, templateKind, list, request("[]"))
	require.ErrorIs(t, err, sms.ErrIgnored)
	_, err = parse(t, templateKind, list, request("{}"))
	require.ErrorIs(t, err, sms.ErrInvalidMessage)
}

// The app would send it again for two days if it were refused.
func TestMMSWithoutATextIsNoMessage(t *testing.T) {
	picture := `{"sender":"15881234","subject":null,"body":null,"receivedAt":"2026-11-28T12:00:00+09:00"}`
	text := `{"sender":"15881234","body":"482913","receivedAt":"2026-11-28T12:00:00+09:00"}`
	for event, payload := range map[string]string{mmsDownloaded: picture, mmsBatch: `{"messages":[` + picture + `]}`} {
		_, err := parse(t, gatewayKind, Template{}, request(`{"event":"`+event+`","id":"e","payload":`+payload+`}`))
		var ignored *sms.IgnoredEvent
		require.ErrorAs(t, err, &ignored)
		require.Equal(t, "mms:without-text", ignored.Name)
	}
	posts, err := parse(t, gatewayKind, Template{},
		request(`{"event":"mms:batch:downloaded","id":"e","payload":{"messages":[`+picture+`,`+text+`,`+picture+`]}}`))
	require.NoError(t, err)
	require.Len(t, posts, 1)
	require.Equal(t, "e.1", posts[0].ID)
}

func TestKoreanCharsetIsReadWhereTheTypeNamesIt(t *testing.T) {
	encoded := must(korean.EUCKR.NewEncoder().String("인증번호 482913 똠"))
	template := Template{From: "from", Text: "text"}
	for kind, body := range map[string]string{
		"application/json; charset=EUC-KR":               `{"from":"15881234","text":"` + encoded + `"}`,
		asForm + "; charset=cp949":                       "from=15881234&text=" + url.QueryEscape(encoded),
		"text/plain; charset=\"ks_c_5601-1987\"":         `{"from":"15881234","text":"` + encoded + `"}`,
		"multipart/form-data; boundary=x; charset=ms949": "--x\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\n1\r\n--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n" + encoded + "\r\n--x--\r\n",
	} {
		posts, err := parse(t, templateKind, template, request(body, "Content-Type", kind))
		require.NoError(t, err, kind)
		require.Equal(t, "인증번호 482913 똠", posts[0].Text, kind)
	}
}

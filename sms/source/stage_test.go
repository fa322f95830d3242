package source

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms"
)

const (
	secret = "K8sk3-signing-key:of,the=source"
	text   = "[쿠팡] 인증번호 482913을 입력해 주세요."
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func configured(t *testing.T, kind string, template Template) Configured {
	t.Helper()
	made, err := New(Settings{Kind: kind, Secrets: []sms.Secret{sms.NewSecret("the next one, not in use yet"),
		sms.NewSecret(secret)}, Template: template})
	require.NoError(t, err)
	return made
}

// request returns a request to /api/integration/sms/phone at noon.
func request(body string, headers ...string) sms.Request {
	r := sms.Request{URL: "https://wait.example/api/integration/sms/phone", Header: http.Header{},
		Body: []byte(body), Now: noon}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

const (
	asForm = "application/x-www-form-urlencoded"
	asJSON = "application/json"
)

// byTwilio returns a request with a form, signed for an address as Twilio does.
func byTwilio(address, key string, form url.Values) sms.Request {
	signed := address
	for _, name := range slices.Sorted(maps.Keys(form)) {
		signed += name + form.Get(name)
	}
	r := request(form.Encode(), "Content-Type", asForm,
		"X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac(sha1.New, []byte(key), signed)))
	return r
}

var twilioForm = url.Values{"ToCountry": {"KR"}, "SmsMessageSid": {"SM5a1c"}, "NumMedia": {"0"},
	"SmsSid": {"SM5a1c"}, "SmsStatus": {"received"},
	"Body": {text}, "To": {"+821012345678"}, "NumSegments": {"1"}, "MessageSid": {"SM5a1c"},
	"AccountSid": {"AC01"}, "From": {"+8215881234"}, "ApiVersion": {"2010-04-01"}}

func byGateway(key, body string, at time.Time) sms.Request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return request(body, "Content-Type", asJSON, "X-Timestamp", stamp, "X-Signature",
		hex.EncodeToString(mac(sha256.New, []byte(key), body+stamp)))
}

const gatewayBody = `{"deviceId":"ffffffffceb0b1db0000018e937c815b","event":"sms:received","id":"Ey6ECgOkVVFjz3CL48B8C","payload":{"messageId":"abc123",` +
	`"message":"` + text +
	`","sender":"15881234","recipient":"+821012345678","simNumber":1,"receivedAt":"2026-11-25T20:59:58.000+09:00"},"webhookId":"LreFUt-Z3sSq0JufY9uWB"}`

func byHTTPSMS(key, body string, method jwt.SigningMethod, issued time.Time) sms.Request {
	var signer any = []byte(key)
	if method == jwt.SigningMethodNone {
		signer = jwt.UnsafeAllowNoneSignatureType
	}
	token, err := jwt.NewWithClaims(method,
		jwt.RegisteredClaims{Audience: []string{"https://wait.example/api/integration/sms/phone"},
			Issuer:   "api.httpsms.com",
			IssuedAt: jwt.NewNumericDate(issued), NotBefore: jwt.NewNumericDate(issued.Add(-10 * time.Minute)),
			ExpiresAt: jwt.NewNumericDate(issued.Add(10 * time.Minute)),
			Subject:   "WB7DRDWrJZRGbYrv2CKGkqbzvqdC"}).SignedString(signer)
	if err != nil {
		panic(err)
	}
	return request(body, "Content-Type", asJSON, "X-Event-Type", "message.phone.received", "Authorization",
		"Bearer "+token)
}

const httpSMSBody = `{"specversion":"1.0","id":"b7b1","source":"/v1/messages/receive","type":"message.phone.received","datacontenttype":"application/json",` +
	`"time":"2026-11-25T11:59:59Z","data":{"message_id":"32343a19-da5e-4b1b-a767-3298a73703cb","user_id":"WB7","owner":"+821012345678","encrypted":false,` +
	`"contact":"15881234","timestamp":"2026-11-25T11:59:58.123Z","content":"` + text +
	`","sim":"SIM1","attachments":null}}`

// byForwarder returns a time and its signature as SmsForwarder makes them, URL-escaped once.
func byForwarder(key string, at time.Time) (stamp, sign string) {
	stamp = strconv.FormatInt(at.UnixMilli(), 10)
	return stamp, url.QueryEscape(base64.StdEncoding.EncodeToString(mac(sha256.New, []byte(key),
		stamp+"\n"+key)))
}

func forwarderJSON(key string, at time.Time) sms.Request {
	stamp, sign := byForwarder(key, at)
	body, err := json.Marshal(map[string]string{"from": "15881234", "org_content": text,
		"receive_time": "2026-11-25T20:59:58.123+09:00", "timestamp": stamp, "sign": sign})
	if err != nil {
		panic(err)
	}
	return request(string(body), "Content-Type", "application/json; charset=utf-8")
}

func forwarderForm(key string, at time.Time) sms.Request {
	stamp, sign := byForwarder(key, at)
	return request(url.Values{"from": {"15881234"}, "content": {text}, "timestamp": {stamp},
		"sign": {sign}}.Encode(), "Content-Type", asForm)
}

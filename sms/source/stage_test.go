package source

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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

var twilioForm = must(url.ParseQuery(stored("twilio.form")))

func byGateway(key, body string, at time.Time) sms.Request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return request(body, "Content-Type", asJSON, "X-Timestamp", stamp, "X-Signature",
		hex.EncodeToString(mac(sha256.New, []byte(key), body+stamp)))
}

var gatewayBody = stored("android-sms.json")

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

var httpSMSBody = stored("httpsms.json")

// byForwarder returns a time and its signature as SmsForwarder makes them, URL-escaped once.
func byForwarder(key string, at time.Time) (stamp, sign string) {
	stamp = strconv.FormatInt(at.UnixMilli(), 10)
	return stamp, url.QueryEscape(base64.StdEncoding.EncodeToString(mac(sha256.New, []byte(key),
		stamp+"\n"+key)))
}

func forwarderJSON(key string, at time.Time) sms.Request {
	stamp, sign := byForwarder(key, at)
	body := strings.NewReplacer("STAMP", stamp, "SIGN", sign).Replace(stored("smsforwarder.json"))
	return request(body, "Content-Type", "application/json; charset=utf-8")
}

func forwarderForm(key string, at time.Time) sms.Request {
	stamp, sign := byForwarder(key, at)
	return request(url.Values{"from": {"15881234"}, "content": {text}, "timestamp": {stamp},
		"sign": {sign}}.Encode(), "Content-Type", asForm)
}

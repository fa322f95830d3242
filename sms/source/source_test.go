package source

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms"
)

const here = "https://wait.example/api/integration/sms/phone"

// vonage and infobip are formats of providers that a template can read.
var (
	vonage = Template{ID: "messageId", From: "msisdn", Text: "text", SentAt: "message-timestamp",
		Format: "yyyy-MM-dd HH:mm:ss", Ref: "concat-ref", Part: "concat-part", Parts: "concat-total"}
	infobip = Template{Signature: Signature{Scheme: "hmac-sha256", Header: "X-Hub-Signature"},
		ID: "results.0.messageId", From: "results.0.from", Text: "results.0.text", SentAt: "results.0.receivedAt",
		Format: "yyyy-MM-dd'T'HH:mm:ss.SSSXX"}
)

const (
	infobipBody = `{"results":[{"messageId":81796,"from":"15881234","text":"` + text +
		`","receivedAt":"2026-11-25T20:59:58.123+0900"}]}`
	asSigned = "sha256="
)

func infobipSigned(key string) sms.Request {
	return request(infobipBody, "X-Hub-Signature",
		asSigned+hex.EncodeToString(mac(sha256.New, []byte(key), infobipBody)))
}

func TestEachKindReadsWhatItsProjectSends(t *testing.T) {
	korean := Template{From: "number", Text: "body.message", SentAt: "at", Format: "yyyy-MM-dd'T'HH:mm:ss",
		Zone: "+09:00", To: "to"}
	stamp := noon.Add(-time.Second)
	for name, tt := range map[string]struct {
		kind     string
		template Template
		request  sms.Request
		want     sms.Post
	}{
		"twilio": {"twilio", Template{}, byTwilio(here, secret, twilioForm),
			sms.Post{ID: "SM5a1c", From: "+8215881234", To: "+821012345678"}},
		"twilio, with the port that it may add": {"twilio", Template{},
			byTwilio("https://wait.example:443/api/integration/sms/phone", secret, twilioForm),
			sms.Post{ID: "SM5a1c", From: "+8215881234", To: "+821012345678"}},
		"android-sms-gateway": {"android-sms-gateway", Template{}, byGateway(secret, gatewayBody, noon),
			sms.Post{ID: "Ey6ECgOkVVFjz3CL48B8C", From: "15881234", To: "+821012345678", SIM: "1",
				SentAt: "2026-11-25T20:59:58.000+09:00"}},
		"android-sms-gateway, an older version": {"android-sms-gateway", Template{},
			byGateway(secret, strings.Replace(gatewayBody, `"sender"`, `"phoneNumber"`, 1), noon.Add(-4*time.Minute)),
			sms.Post{ID: "Ey6ECgOkVVFjz3CL48B8C", From: "15881234", To: "+821012345678", SIM: "1",
				SentAt: "2026-11-25T20:59:58.000+09:00"}},
		"httpsms": {"httpsms", Template{}, byHTTPSMS(secret, httpSMSBody, jwt.SigningMethodHS256, noon),
			sms.Post{ID: "32343a19-da5e-4b1b-a767-3298a73703cb", From: "15881234", To: "+821012345678", SIM: "SIM1",
				SentAt: "2026-11-25T11:59:58.123Z"}},
		"smsforwarder, as the guide sets it up": {"smsforwarder", Template{}, forwarderJSON(secret, stamp),
			sms.Post{From: "15881234", SentAt: "2026-11-25T20:59:58.123+09:00", Stamp: stamp.UnixMilli()}},
		"smsforwarder, as it is": {"smsforwarder", Template{}, forwarderForm(secret, stamp),
			sms.Post{From: "15881234", Stamp: stamp.UnixMilli()}},
		"template, a form": {"template", vonage,
			request(url.Values{"msisdn": {"15881234"}, "text": {text}, "messageId": {"0A"},
				"message-timestamp": {"2026-11-25 11:59:58"}, "concat-ref": {"7"}, "concat-part": {"2"},
				"concat-total": {"3"}}.Encode(), "Content-Type", asForm, "Authorization", "Bearer "+secret),
			sms.Post{ID: "0A", From: "15881234", SentAt: "2026-11-25T11:59:58Z", Ref: "7", Part: "2", Parts: "3"}},
		"template, JSON, signed": {"template", infobip, infobipSigned(secret),
			sms.Post{ID: "81796", From: "15881234", SentAt: "2026-11-25T20:59:58.123+09:00"}},
		"template, a zone": {"template", korean,
			request(`{"number":15881234,"body":{"message":"`+text+`"},"at":"2026-11-25T20:59:58","to":"01012345678"}`,
				"Authorization", secret),
			sms.Post{From: "15881234", To: "01012345678", SentAt: "2026-11-25T20:59:58+09:00"}},
		"template, a header of its own": {"template",
			Template{Signature: Signature{Header: "x-api-key"}, From: "f", Text: "t", SentAt: "s", Format: "unix"},
			request("f=15881234&s=1795262398&t="+url.QueryEscape(text), "X-Api-Key", secret),
			sms.Post{From: "15881234", SentAt: "1795262398"}},
	} {
		t.Run(name, func(t *testing.T) {
			source := configured(t, tt.kind, tt.template)
			require.NoError(t, source.Verify(tt.request))
			posts, err := source.Parse(tt.request)
			require.NoError(t, err)
			require.Len(t, posts, 1)
			got := posts[0]
			require.Equal(t, text, got.Text.Reveal())
			got.Text = sms.Secret{}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestWhatTheSourceDidNotSignIsRefused(t *testing.T) {
	expired := byHTTPSMS(secret, httpSMSBody, jwt.SigningMethodHS256, noon.Add(-16*time.Minute))
	otherWay := request(infobipBody, "X-Hub-Signature",
		hex.EncodeToString(mac(sha256.New, []byte(secret), infobipBody+" ")))
	rewritten := byGateway(secret, gatewayBody, noon)
	rewritten.Body = []byte(strings.Replace(gatewayBody, "482913", "111111", 1))
	added := byTwilio(here, secret, twilioForm)
	added.Body = append(added.Body, "&Body=111111"...)
	for name, tt := range map[string]struct {
		kind     string
		template Template
		request  sms.Request
		says     string
	}{
		"twilio, unsigned":    {"twilio", Template{}, request(twilioForm.Encode()), "X-Twilio-Signature"},
		"twilio, another key": {"twilio", Template{}, byTwilio(here, "x", twilioForm), "auth token"},
		"twilio, another address": {"twilio", Template{},
			byTwilio("http://wait.example/api/integration/sms/phone", secret, twilioForm),
			"WAITROOM_PUBLIC_URL and /api/integration/sms/phone"},
		"twilio, another query": {"twilio", Template{}, byTwilio(here+"?a=1", secret, twilioForm),
			"to the letter"},
		"twilio, something added": {"twilio", Template{}, added, "auth token"},
		"android, unsigned":       {"android-sms-gateway", Template{}, request(gatewayBody), "X-Signature"},
		"android, another key": {"android-sms-gateway", Template{}, byGateway("x", gatewayBody, noon),
			"signing key"},
		"android, rewritten": {"android-sms-gateway", Template{}, rewritten, "signing key"},
		"android, old": {"android-sms-gateway", Template{},
			byGateway(secret, gatewayBody, noon.Add(-301*time.Second)), "clock"},
		"android, ahead": {"android-sms-gateway", Template{},
			byGateway(secret, gatewayBody, noon.Add(301*time.Second)), "clock"},
		"httpsms, unsigned": {"httpsms", Template{}, request(httpSMSBody), "bearer token"},
		"httpsms, another key": {"httpsms", Template{},
			byHTTPSMS("x", httpSMSBody, jwt.SigningMethodHS256, noon), "signing key"},
		"httpsms, no algorithm": {"httpsms", Template{},
			byHTTPSMS(secret, httpSMSBody, jwt.SigningMethodNone, noon), "HS256"},
		"httpsms, another algorithm": {"httpsms", Template{},
			byHTTPSMS(secret, httpSMSBody, jwt.SigningMethodHS512, noon), "HS256"},
		"httpsms, no token": {"httpsms", Template{},
			request(httpSMSBody, "Authorization", "Bearer x.y.z"), "no signed token"},
		"httpsms, old": {"httpsms", Template{},
			byHTTPSMS(secret, httpSMSBody, jwt.SigningMethodHS256, noon.Add(-6*time.Minute)), "clock"},
		"httpsms, expired": {"httpsms", Template{}, expired, "not valid now"},
		"smsforwarder, unsigned": {"smsforwarder", Template{},
			request("from=1&content=hello", "Content-Type", asForm), "sign"},
		"smsforwarder, another key": {"smsforwarder", Template{}, forwarderJSON("x", noon), "secret"},
		"smsforwarder, old": {"smsforwarder", Template{},
			forwarderForm(secret, noon.Add(-301*time.Second)), "clock"},
		"smsforwarder, no body": {"smsforwarder", Template{}, request("  "), "can not be read"},
		"template, no secret":   {"template", vonage, request("text=x"), "Authorization"},
		"template, another secret": {"template", vonage, request("text=x", "Authorization", "Bearer x"),
			"not the secret"},
		"template, the secret, longer": {"template", vonage, request("text=x", "Authorization", secret+"x"),
			"not the secret"},
		"template, another signature": {"template", infobip, otherWay, "HMAC-SHA256"},
		"template, no signature": {"template", infobip, request(infobipBody, "X-Hub-Signature", asSigned),
			"HMAC-SHA256"},
	} {
		t.Run(name, func(t *testing.T) {
			err := configured(t, tt.kind, tt.template).Verify(tt.request)
			require.ErrorIs(t, err, sms.ErrSignature)
			require.ErrorContains(t, err, tt.says)
			require.NotContains(t, err.Error(), secret)
			require.NotContains(t, err.Error(), "482913")
		})
	}
}

// The values are those of the example in Twilio's documentation.
func TestTwilioSignsAsItsDocumentationDoes(t *testing.T) {
	source, err := New(Settings{Kind: "twilio", Secrets: []sms.Secret{sms.NewSecret("12345")}})
	require.NoError(t, err)
	r := request("Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE",
		"X-Twilio-Signature", "RSOYDt4T1cUTdK1PDd93/VVr8B8=")
	r.URL = "https://mycompany.com/myapp.php?foo=1&bar=2"
	require.NoError(t, source.Verify(r))
}

func TestWhatIsNoInboundSMSIsNoFault(t *testing.T) {
	for name, tt := range map[string]struct {
		kind string
		body sms.Request
	}{
		"twilio's report": {"twilio", request("MessageSid=SM1&MessageStatus=delivered&From=1", "Content-Type",
			asForm)},
		"twilio's other": {"twilio", request("MessageSid=SM1&SmsStatus=sent&From=1&Body=x", "Content-Type",
			asForm)},
		"a phone's ping": {"android-sms-gateway",
			request(`{"event":"system:ping","id":"x","payload":{"health":{}}}`)},
		"a sent message": {"android-sms-gateway",
			request(`{"event":"sms:sent","id":"x","payload":{"messageId":"y"}}`)},
		"a missed call":    {"httpsms", request(`{"type":"message.call.missed","data":{"contact":"1"}}`)},
		"a delivery of it": {"httpsms", request(`{"type":"message.phone.delivered","data":{"content":"x"}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := configured(t, tt.kind, Template{}).Parse(tt.body)
			require.ErrorIs(t, err, sms.ErrIgnored)
		})
	}
}

func TestBodyThatCanNotBeReadIsSaidToBe(t *testing.T) {
	for _, kind := range Kinds() {
		for _, body := range []string{"", " ", "\uFEFF", "{", `{"a":1}{}`, `[`, "%"} {
			_, err := configured(t, kind, vonage).Parse(request(body))
			require.ErrorIs(t, err, sms.FaultBody, "%s %q", kind, body)
		}
	}
	_, err := configured(t, "httpsms",
		Template{}).Parse(request(strings.Replace(httpSMSBody, `"encrypted":false`, `"encrypted":true`, 1)))
	require.ErrorIs(t, err, sms.FaultEncrypted)
}

func TestWrongSettingsAreNamedWithoutTheSecret(t *testing.T) {
	good := Template{From: "f", Text: "t"}
	with := func(change func(*Template)) Template {
		changed := good
		change(&changed)
		return changed
	}
	for want, s := range map[string]Settings{
		"kind is none: want one of android-sms-gateway, httpsms, smsforwarder, template, twilio": {Kind: "nexmo",
			Secrets: []sms.Secret{sms.NewSecret(secret)}},
		"secret is missing":         {Kind: "twilio"},
		"secret is empty":           {Kind: "twilio", Secrets: []sms.Secret{sms.NewSecret("")}},
		"from and text are missing": {Kind: "template", Secrets: []sms.Secret{sms.NewSecret(secret)}},
		"scheme is none": {Kind: "template", Secrets: []sms.Secret{sms.NewSecret(secret)},
			Template: with(func(t *Template) { t.Scheme = "basic-sha9" })},
		"format is none": {Kind: "template", Secrets: []sms.Secret{sms.NewSecret(secret)},
			Template: with(func(t *Template) { t.Format = "yyyy-MM-dd" })},
		"zone is none": {Kind: "template", Secrets: []sms.Secret{sms.NewSecret(secret)},
			Template: with(func(t *Template) { t.Zone = "Seoul" })},
	} {
		_, err := New(s)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), secret)
	}
	made := configured(t, "template", good)
	require.NotContains(t, fmt.Sprintf("%+v %#v", made, made), secret)
	require.False(t, made.Short())
}

// A time that is not of the template's format becomes a text that sms refuses as a time.
func TestTimeOfAnotherFormatIsNoTime(t *testing.T) {
	source := configured(t, "template", vonage)
	for _, given := range []string{"2026-11-25T11:59:58Z", "1795262398", "25.11.2026"} {
		got, err := source.Parse(request(url.Values{"message-timestamp": {given}, "text": {"x"}, "msisdn": {"1"},
			"messageId": {"0A"}}.Encode(), "Content-Type", asForm))
		require.NoError(t, err)
		require.Equal(t, "not yyyy-MM-dd HH:mm:ss", got[0].SentAt)
	}
}

func FuzzSources(f *testing.F) {
	f.Add(gatewayBody, asJSON)
	f.Add(httpSMSBody, asJSON)
	f.Add(infobipBody, "")
	f.Add(twilioForm.Encode(), asForm)
	f.Add(base64.StdEncoding.EncodeToString([]byte(text)), "")
	f.Fuzz(func(t *testing.T, body, kind string) {
		for _, k := range Kinds() {
			source := configured(t, k, infobip)
			r := request(body, "Content-Type", kind)
			require.ErrorIs(t, source.Verify(r), sms.ErrSignature)
			_, _ = source.Parse(r)
		}
	})
}

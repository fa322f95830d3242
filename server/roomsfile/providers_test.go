package roomsfile

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms"
	"github.com/waitroom/waitroom/sms/source"
)

const (
	providerSecret = "0123456789abcdef-of-the-provider"
	called         = "https://wait.example/api/a/sms/p"
	asForm         = "application/x-www-form-urlencoded"
	asJSON         = "application/json"
)

var signedNow = time.Date(2026, 11, 28, 3, 0, 5, 0, time.UTC)

// providerRow matches a row of docs/carriers.md: provider, settings, and whether it was tried.
var providerRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `(\\{.*\\})` \\| ([^|]+) \\|$")

// provider reads the settings that docs/carriers.md gives for a provider.
func provider(t *testing.T, name, secret string) source.Configured {
	t.Helper()
	page, err := os.ReadFile("../../docs/carriers.md")
	require.NoError(t, err)
	for _, row := range providerRow.FindAllStringSubmatch(string(page), -1) {
		if !strings.HasPrefix(row[1], name) {
			continue
		}
		settings := strings.ReplaceAll(strings.TrimPrefix(row[2], "{"), `\|`, "|")
		c := write(t, fmt.Sprintf("a: {sms_sources: {p: {kind: template, secret: %q, %s}}\n", secret, settings))
		c.Sealed = true
		f, err := Read(c)
		require.NoError(t, err)
		return f.Of("a").Sources["p"]
	}
	require.Fail(t, "docs/carriers.md has no such provider", name)
	return source.Configured{}
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("../../sms/source/testdata", name))
	require.NoError(t, err)
	return strings.TrimSuffix(string(body), "\n")
}

func sumOf(text string) []byte {
	m := hmac.New(sha256.New, []byte(providerSecret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func tokenOf(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(providerSecret))
	require.NoError(t, err)
	return token
}

func requestOf(body string, headers ...string) sms.Request {
	r := sms.Request{URL: called, Header: http.Header{}, Body: []byte(body), Now: signedNow}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// vonageSigned fills a message of Vonage's SMS API with its time and its signature.
func vonageSigned(t *testing.T, body string) string {
	t.Helper()
	fields := map[string]string{}
	require.NoError(t, json.Unmarshal([]byte(body), &fields))
	fields["timestamp"] = strconv.FormatInt(signedNow.Unix(), 10)
	delete(fields, "sig")
	signed := ""
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		signed += "&" + name + "=" + strings.NewReplacer("&", "_", "=", "_").Replace(fields[name])
	}
	fields["sig"] = strings.ToUpper(hex.EncodeToString(sumOf(signed)))
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(text)
}

// The senders are written after the providers' documentation, the settings are those of docs/carriers.md.
func TestProvidersAsTheirDocumentationSays(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	stamp, nonce := strconv.FormatInt(signedNow.Unix(), 10), "05429567804466091622"
	plivo, bird := testdata(t, "plivo.form"), testdata(t, "messagebird.form")
	messages, telnyx := testdata(t, "vonage-messages.json"), testdata(t, "telnyx.json")
	textbee := testdata(t, "textbee.json")
	for name, tt := range map[string]struct {
		secret  string
		request sms.Request
		want    sms.Post
		changed string // part of the body whose change is seen; "" = the signature does not cover it
	}{
		"Infobip": {"user:" + providerSecret, requestOf(testdata(t, "infobip.json"), "Content-Type", asJSON,
			"Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("user:"+providerSecret))),
			sms.Post{ID: "817790313235066447", From: "15881234", To: "821012345678",
				SentAt: "2026-11-28T12:00:00.123+09:00"}, ""},
		"Plivo": {providerSecret, requestOf(plivo, "Content-Type", asForm, "X-Plivo-Signature-V2",
			base64.StdEncoding.EncodeToString(sumOf(called+nonce)), "X-Plivo-Signature-V2-Nonce", nonce),
			sms.Post{ID: "7b6e1f0c-9d4b-11f0-8c1d-0242ac110004", From: "15881234", To: "821012345678"}, ""},
		"Vonage, SMS API": {providerSecret,
			requestOf(vonageSigned(t, testdata(t, "vonage.json")), "Content-Type", asJSON),
			sms.Post{ID: "0A0000000123ABCD1", From: "15881234", To: "821012345678", SentAt: "2026-11-28T03:00:00Z"},
			"730214"},
		"Vonage, Messages API": {providerSecret, requestOf(messages, "Content-Type", asJSON, "Authorization",
			"Bearer "+tokenOf(t, jwt.MapClaims{"iat": signedNow.Unix(), "jti": "5b2e", "iss": "Vonage",
				"payload_hash": hashOf(messages), "api_key": "abcd1234", "application_id": "aaaa"})),
			sms.Post{ID: "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab", From: "15881234", To: "821012345678",
				SentAt: "2026-11-28T03:00:00Z"}, "730214"},
		"MessageBird": {providerSecret, requestOf(bird, "Content-Type", asForm, "MessageBird-Signature-JWT",
			tokenOf(t, jwt.MapClaims{"iss": "MessageBird", "nbf": signedNow.Unix(), "exp": signedNow.Unix() + 60,
				"jti": "8b0a", "url_hash": hashOf(called), "payload_hash": hashOf(bird)})),
			sms.Post{ID: "e8077d803532c0b5937c639b60216938", From: "15881234", To: "821012345678",
				SentAt: "2026-11-28T03:00:00+00:00"}, "730214"},
		"Telnyx": {base64.StdEncoding.EncodeToString(public), requestOf(telnyx, "Content-Type", asJSON,
			"telnyx-timestamp", stamp, "telnyx-signature-ed25519",
			base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(stamp+"|"+telnyx)))),
			sms.Post{ID: "84cca175-9755-4859-b67f-4730d7f58aa3", From: "+8215881234", To: "+821012345678",
				SentAt: "2026-11-28T03:00:00.574+00:00"}, "730214"},
		"textbee": {providerSecret, requestOf(textbee, "Content-Type", asJSON, "X-Signature",
			hex.EncodeToString(sumOf(textbee))),
			sms.Post{ID: "6741a0c2f1e4b7d0a9c3e5f8", From: "15881234", SentAt: "2026-11-28T03:00:00.000Z"}, "730214"},
	} {
		t.Run(name, func(t *testing.T) {
			made := provider(t, name, tt.secret)
			require.NoError(t, made.Verify(tt.request))
			posts, err := made.Parse(tt.request)
			require.NoError(t, err)
			require.Len(t, posts, 1)
			code, ok := sms.FindCode(posts[0].Text.Reveal())
			require.True(t, ok)
			require.Equal(t, "730214", code.Reveal())
			posts[0].Text = sms.Secret{}
			require.Equal(t, tt.want, posts[0])
			requireRefused(t, made, tt.request, tt.changed)
		})
	}
}

// requireRefused requires that nothing else passes: no header, another address where it counts, an old
// request where it is dated, and another text where the signature covers the body.
func requireRefused(t *testing.T, made source.Configured, good sms.Request, changed string) {
	t.Helper()
	bare := good
	bare.Header = http.Header{"Content-Type": good.Header["Content-Type"]}
	if made.Template.Field == "" {
		require.ErrorIs(t, made.Verify(bare), sms.ErrSignature, "without its header")
	}
	other := good
	other.URL = "https://evil.example/api/a/sms/p"
	if addressed := strings.Contains(made.Template.Signed, "{address}") ||
		strings.HasPrefix(made.Template.Header, "MessageBird"); addressed {
		require.ErrorIs(t, made.Verify(other), sms.ErrSignature, "of another address")
	}
	old := good
	old.Now = good.Now.Add(20 * time.Minute)
	if made.Template.SignedAt != "" || made.Template.Scheme == "jwt" {
		require.ErrorIs(t, made.Verify(old), sms.ErrSignature, "twenty minutes later")
	}
	if changed != "" {
		rewritten := good
		rewritten.Body = []byte(strings.Replace(string(good.Body), changed, "111111", 1))
		require.NotEqual(t, string(good.Body), string(rewritten.Body))
		require.ErrorIs(t, made.Verify(rewritten), sms.ErrSignature, "with another text")
	}
}

// Each row is read as a rooms file would be.
func TestEveryProviderOfThePageCanBeSetUp(t *testing.T) {
	page, err := os.ReadFile("../../docs/carriers.md")
	require.NoError(t, err)
	rows := providerRow.FindAllStringSubmatch(string(page), -1)
	require.Len(t, rows, 9)
	for _, row := range rows {
		secret := providerSecret
		switch {
		case strings.Contains(row[2], "scheme: ed25519"):
			secret = base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize))
		case strings.Contains(row[2], "scheme: sns"):
			secret = "arn:aws:sns:ap-northeast-2:123456789012:inbound"
		}
		require.Equal(t, "template", provider(t, row[1], secret).Kind)
	}
}

package push

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pushtest"
)

func TestSubscriptionIsRefusedWhereNoPushServiceCanBe(t *testing.T) {
	p := &Pushes{}
	b := pushtest.NewBrowser(t, "")
	_, err := p.Parse("https://push.example/send/1?a=b", b.P256dh(), b.Auth())
	require.NoError(t, err)
	_, err = p.Parse("https://push.example:443/1", b.P256dh()+"=", b.Auth()+"==")
	require.NoError(t, err, "with the signs at the end of base64")

	for _, endpoint := range []string{"", "push.example/1", "http://push.example/1", "https://",
		"ftp://push.example/1", "https:push.example", "https://push.example:8443/1",
		"https://me:pw@push.example/1", "https://push.example/1#x", "https://localhost/1", "https://LOCALHOST./1",
		"https://a.localhost/1", "https://127.0.0.1/1", "https://10.1.2.3/1",
		"https://172.16.0.1/1", "https://192.168.0.1/1", "https://169.254.169.254/1", "https://100.64.0.1/1",
		"https://0.0.0.0/1", "https://224.0.0.1/1", "https://[::1]/1", "https://[::]/1",
		"https://[fe80::1]/1", "https://[fd00::1]/1", "https://[::ffff:10.0.0.1]/1", "https://[64:ff9b::a00:1]/1",
		"https://[2002:a00:1::]/1", "https://\x7f/1",
		"https://push.example/" + strings.Repeat("x", maxEndpoint)} {
		_, err := p.Parse(endpoint, b.P256dh(), b.Auth())
		require.ErrorIs(t, err, ErrInvalid, endpoint)
		require.True(t, endpoint == "" || !strings.Contains(err.Error(), endpoint), "%s says %s", err, endpoint)
	}

	point, auth := bytesOf(t, b.P256dh()), bytesOf(t, b.Auth())
	offCurve := append([]byte(nil), point...)
	offCurve[64] ^= 1
	encode := base64.RawURLEncoding.EncodeToString
	for _, key := range []string{"", "!", encode(point[:64]), encode(append(point, 0)), encode(offCurve),
		encode(make([]byte, 65)), strings.Repeat("A", 4000)} {
		_, err := p.Parse("https://push.example/1", key, b.Auth())
		require.ErrorIs(t, err, errPoint, key)
	}
	for _, secret := range []string{"", "!", encode(auth[:15]), encode(append(auth, 0))} {
		_, err := p.Parse("https://push.example/1", b.P256dh(), secret)
		require.ErrorIs(t, err, errAuth, secret)
	}
}

// The address at the time of the dial counts. A host name may resolve to a public address when it is checked,
// and to an internal one when it is dialed.
func TestNameThatLeadsInsideIsNotDialed(t *testing.T) {
	client := newClients(false, nil).direct
	for _, inside := range []string{"https://localhost/1", "https://127.0.0.1/1", "https://[::1]/1",
		"https://10.0.0.1/1", "https://169.254.169.254/1", "http://localhost:6379/1"} {
		_, err := client.Post(inside, "text/plain", http.NoBody) //nolint:bodyclose // there is none
		require.Error(t, err, inside)
		require.ErrorIs(t, unsent(err), ErrRefused, inside)
		require.NotContains(t, unsent(err).Error(), "localhost")
	}
	//nolint:bodyclose // there is none
	_, err := newClients(true, nil).direct.Post("https://192.0.2.1/1", "text/plain", http.NoBody)
	require.ErrorIs(t, unsent(err), ErrRefused, "and in tests nothing else is")
}

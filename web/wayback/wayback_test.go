package wayback_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/web/wayback"
)

var secret = []byte(strings.Repeat("k", 32))

// parse verifies a token with another library than the signer's.
func parse(t *testing.T, address string, key []byte, options ...jwt.ParserOption) (jwt.MapClaims, error) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	c := jwt.MapClaims{}
	token, err := jwt.ParseWithClaims(u.Query().Get(wayback.Param), c,
		func(*jwt.Token) (any, error) { return key, nil },
		append(options, jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired())...)
	require.Equal(t, "waitroom-return+jwt", token.Header["typ"])
	return c, err
}

func TestPortalVerifiesHowThePlaceEnded(t *testing.T) {
	s, err := wayback.New(secret)
	require.NoError(t, err)
	end := wayback.End{Room: "shop:1", Seller: "가게-1", Ticket: 7, Fence: 1795230054435803, Outcome: "completed",
		Issuer: "https://wait.example"}
	address, err := s.Address("https://portal.example:8443/done?a=1&b=%20x#part", end, time.Now())
	require.NoError(t, err)
	require.Regexp(t, `^https://portal\.example:8443/done\?a=1&b=%20x&waitroom=[\w.-]+#part$`, address)
	c, err := parse(t, address, secret, jwt.WithAudience("https://portal.example:8443"),
		jwt.WithIssuer("https://wait.example"))
	require.NoError(t, err)
	require.Equal(t, "가게-1", c["sub"])
	require.Equal(t, "completed", c["outcome"])
	require.EqualValues(t, 7, c["ticket"])
	require.EqualValues(t, 1795230054435803, c["fence"])
	require.NotEmpty(t, c["jti"])

	_, err = parse(t, address, []byte(strings.Repeat("x", 32)))
	require.ErrorIs(t, err, jwt.ErrTokenSignatureInvalid)
	_, err = parse(t, address, secret, jwt.WithAudience("https://other.example"))
	require.ErrorIs(t, err, jwt.ErrTokenInvalidAudience)
	old, err := s.Address("https://portal.example/", end, time.Now().Add(-61*time.Second))
	require.NoError(t, err)
	_, err = parse(t, old, secret)
	require.ErrorIs(t, err, jwt.ErrTokenExpired)
}

func TestPlaceWithoutALeaseHasNoFence(t *testing.T) {
	s, err := wayback.New(secret)
	require.NoError(t, err)
	address, err := s.Address("http://127.0.0.1:9000", wayback.End{Outcome: "removed"}, time.Now())
	require.NoError(t, err)
	c, err := parse(t, address, secret)
	require.NoError(t, err)
	require.NotContains(t, c, "fence")
	_, err = s.Address("http://[::1", wayback.End{}, time.Now())
	require.Error(t, err)
}

func TestAudienceIsThePortalsOriginAsBrowsersWriteIt(t *testing.T) {
	s, err := wayback.New(secret)
	require.NoError(t, err)
	for address, origin := range map[string]string{
		"https://Portal.Example:443/done": "https://portal.example",
		"http://portal.example:80":        "http://portal.example",
		"http://portal.example:443/":      "http://portal.example:443",
		"https://[2001:DB8::443]/":        "https://[2001:db8::443]",
		"https://u:p@portal.example/":     "https://portal.example",
	} {
		signed, err := s.Address(address, wayback.End{}, time.Now())
		require.NoError(t, err)
		_, err = parse(t, signed, secret, jwt.WithAudience(origin))
		require.NoError(t, err, address)
	}
}

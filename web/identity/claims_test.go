package identity

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/web/wayback"
)

func ago(d time.Duration) int64 { return time.Now().Add(-d).Unix() }

func TestTokenCountsOnlyAsItWasAgreed(t *testing.T) {
	_, s, _ := shared(t)
	good := portaltest.For("s-1")
	for name, c := range map[string]struct {
		claims       portaltest.Claims
		link, bearer error
	}{
		"as agreed":                    {good, nil, nil},
		"without sub":                  {good.With("sub", nil), ErrToken, ErrToken},
		"sub is empty":                 {good.With("sub", ""), ErrToken, ErrToken},
		"reach is too long":            {good.With("reach", strings.Repeat("가", 61)), ErrToken, ErrToken},
		"reach is of two lines":        {good.With("reach", "a\nb"), ErrToken, ErrToken},
		"reach is no text":             {good.With("reach", 1), ErrToken, ErrToken},
		"sub is no seller id":          {good.With("sub", "a b"), ErrToken, ErrToken},
		"sub is a number":              {good.With("sub", 7), ErrToken, ErrToken},
		"sub only in other letters":    {good.With("sub", nil).With("SUB", "s-1"), ErrToken, ErrToken},
		"expired":                      {good.With("exp", ago(1*time.Second)), ErrExpired, ErrExpired},
		"without exp":                  {good.With("exp", nil), nil, ErrToken},
		"exp is a text":                {good.With("exp", "tomorrow"), ErrToken, ErrToken},
		"exp after the end of time":    {good.With("exp", 1e300), ErrToken, ErrToken},
		"without iat":                  {good.With("iat", nil), ErrToken, nil},
		"a minute old":                 {good.With("iat", ago(62*time.Second)), ErrExpired, nil},
		"not quite a minute old":       {good.With("iat", ago(50*time.Second)), nil, nil},
		"the portal's clock is ahead":  {good.With("iat", ago(-8*time.Second)), nil, nil},
		"made in the future":           {good.With("iat", ago(-20*time.Second)), ErrEarly, ErrEarly},
		"not good yet":                 {good.With("nbf", ago(-20*time.Second)), ErrEarly, ErrEarly},
		"with a fraction":              {good.With("iat", float64(time.Now().UnixMilli())/1000), nil, nil},
		"for another service":          {good.With("aud", "billing"), ErrAudience, ErrAudience},
		"for several, us too":          {good.With("aud", []string{"billing", "waitroom"}), nil, nil},
		"for nobody":                   {good.With("aud", []string{}), ErrAudience, ErrAudience},
		"for the server by its URL":    {good.With("aud", "https://wait.example/"), nil, nil},
		"for this room":                {good.With("aud", "integration"), nil, nil},
		"for another room":             {good.With("aud", "stock"), ErrAudience, ErrAudience},
		"says another room":            {good.With("room", "stock"), ErrAudience, ErrAudience},
		"says this room":               {good.With("room", "integration"), nil, nil},
		"the shared secret says it":    {good.With("aud", nil), nil, nil},
		"aud is a number":              {good.With("aud", 7), ErrToken, ErrToken},
		"without jti":                  {good.With("jti", nil), nil, nil},
		"with an issuer and more":      {good.With("iss", "portal").With("email", "a@b.example"), nil, nil},
		"Korean, in another NF than C": {good.With("sub", "\u1100\u1161\u1100\u1166"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Bearer(t.Context(), here, signed(t, c.claims.With("jti", "b "+name)), "")
			require.ErrorIs(t, err, c.bearer)
			_, err = s.Link(t.Context(), here, signed(t, c.claims.With("jti", nil).With("x", name)), "")
			require.ErrorIs(t, err, c.link)
		})
	}
}

func TestTokenThatIsSignedInAnotherWayIsRefused(t *testing.T) {
	_, s, _ := shared(t)
	good := portaltest.For("s-1")
	right := signed(t, good)
	rsa := portaltest.NewKey(t, "", jwt.SigningMethodRS256)
	head := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	parts := strings.Split(right, ".")
	for name, token := range map[string]string{
		"nothing":  "",
		"no token": "nonsense",
		"not signed": portaltest.Sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "",
			good),
		"none in capitals":     head(`{"alg":"NONE"}`) + "." + parts[1] + ".",
		"signature is cut off": parts[0] + "." + parts[1] + ".",
		"no algorithm":         head(`{}`) + "." + parts[1] + "." + parts[2],
		"another secret": portaltest.Sign(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), "",
			good),
		"another hash": portaltest.Sign(t, jwt.SigningMethodHS512, []byte(strings.Repeat("hush", 16)),
			"", good),
		"another kind of key":   rsa.Token(t, good),
		"other claims":          parts[0] + "." + head(`{"sub":"s-2"}`) + "." + parts[2],
		"a header it must heed": withHeader(t, good, "crit", []string{"x"}, "x", 1),
		"its key comes with it": withHeader(t, good, "jwk", map[string]string{"kty": "oct", "k": "aHVzaA"}),
		"two in one":            right + "." + right,
		"spaces around":         " " + right,
		"written as JSON": `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` +
			parts[2] + `"}`,
		"longer than any token is": right + strings.Repeat("A", maxToken),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Bearer(t.Context(), here, token, "")
			require.ErrorIs(t, err, ErrToken)
			_, err = s.Link(t.Context(), here, token, "")
			require.ErrorIs(t, err, ErrToken)
			if len(token) > 10 {
				require.NotContains(t, err.Error(), token[:10], "an error says nothing of what it was brought")
			}
		})
	}
	_, err := s.Bearer(t.Context(), here, right, "")
	require.NoError(t, err)
}

// While the portal replaces its secret, tokens by either one count, and no other.
func TestTokenByEachOfTheSharedSecretsCounts(t *testing.T) {
	server, _, _ := shared(t)
	next := []byte(strings.Repeat("next", 8))
	s := New(Config{Redis: server.Client(), Secrets: [][]byte{secret, next}, Audiences: []string{"waitroom"}})
	by := func(secret []byte) error {
		token := portaltest.Sign(t, jwt.SigningMethodHS256, secret, "", portaltest.For("s-1").With("aud", nil))
		_, err := s.Bearer(t.Context(), here, token, "")
		return err
	}
	require.NoError(t, by(secret))
	require.NoError(t, by(next))
	require.ErrorIs(t, by([]byte(strings.Repeat("x", 32))), ErrToken)
	require.ErrorIs(t, by(bytes.Join([][]byte{secret, next}, []byte(","))), ErrToken)
}

// withHeader signs like the portal, with more fields in the token's header: name, value, name, value …
func withHeader(t *testing.T, claims portaltest.Claims, more ...any) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(claims))
	for i := 0; i < len(more); i += 2 {
		token.Header[more[i].(string)] = more[i+1]
	}
	text, err := token.SignedString(secret)
	require.NoError(t, err)
	return text
}

// The portal's secret may sign in both directions. A token of the way back has the portal's origin as its
// audience, which may be the server's own.
func TestTokenOfTheWayBackIsRefusedAtTheEntry(t *testing.T) {
	server, _, _ := shared(t)
	s := New(Config{Redis: server.Client(), Secrets: [][]byte{secret}, Audiences: []string{"https://portal.example"}})
	back, err := wayback.New(secret)
	require.NoError(t, err)
	address, err := back.Address("https://portal.example/done", wayback.End{Room: string(here), Seller: "s-1"},
		time.Now())
	require.NoError(t, err)
	_, token, _ := strings.Cut(address, wayback.Param+"=")
	_, err = s.Link(t.Context(), here, token, "")
	require.ErrorIs(t, err, ErrToken)
	_, err = s.Bearer(t.Context(), here, token, "")
	require.ErrorIs(t, err, ErrToken)
}

package identity

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
)

// The mistakes of portals. Each has a reason of its own, which quotes nothing of the token.
func TestRefusedTokenSaysWhatToChange(t *testing.T) {
	_, s, _ := shared(t)
	good := portaltest.For("s-1")
	decoded, err := base64.StdEncoding.DecodeString(string(secret))
	require.NoError(t, err)
	by := func(method jwt.SigningMethod, key []byte) string {
		return portaltest.Sign(t, method, key, "", good.With("jti", nil))
	}
	reasons := make(map[string]string)
	for name, c := range map[string]struct{ token, reason string }{
		"no JWT":                 {"hush", "it is no JWT: want header.payload.signature"},
		"cut off":                {signed(t, good)[:40], "it is no JWT"},
		"a signature cut off":    {strings.TrimRight(signed(t, good), "AQgw") + "!", "signature cannot be read"},
		"the secret decoded":     {by(jwt.SigningMethodHS256, decoded), "the secret decoded from base64"},
		"another secret":         {by(jwt.SigningMethodHS256, bytes.Repeat([]byte("x"), 32)), "another secret"},
		"HS512":                  {by(jwt.SigningMethodHS512, secret), "its alg is HS512: want HS256"},
		"sub is a number":        {signed(t, good.With("sub", 7)), "sub is a number: want a text"},
		"no sub":                 {signed(t, good.With("sub", nil)), "sub is missing"},
		"a space in sub":         {signed(t, good.With("sub", "kim s-1")), "sub has a space"},
		"a long sub":             {signed(t, good.With("sub", strings.Repeat("s", 200))), "sub is too long"},
		"a slash in sub":         {signed(t, good.With("sub", "kim/s-1")), "sub is no seller id"},
		"iat in milliseconds":    {signed(t, good.With("iat", time.Now().UnixMilli())), "iat is in milliseconds"},
		"exp in milliseconds":    {signed(t, good.With("exp", time.Now().UnixMilli())), "exp is in milliseconds"},
		"iat is a text":          {signed(t, good.With("iat", "2026-11-28")), "iat is no time"},
		"no iat":                 {signed(t, good.With("iat", nil)), "no iat"},
		"no exp":                 {signed(t, good.With("exp", nil)), "no exp"},
		"a long reach":           {signed(t, good.With("reach", strings.Repeat("가", 61))), "longer than 60 characters"},
		"a reach of two lines":   {signed(t, good.With("reach", "a\nb")), "more than one line"},
		"another audience":       {signed(t, good.With("aud", "billing")), "want waitroom, https://wait.example or"},
		"aud is a number":        {signed(t, good.With("aud", 7)), "aud is a number: want a text or a list"},
		"another room":           {signed(t, good.With("room", "stock")), "its room is another"},
		"over":                   {signed(t, good.With("exp", ago(90*time.Second))), "its exp was 1m3"},
		"made in the future":     {signed(t, good.With("iat", ago(-5*time.Minute))), "ahead of waitroom's clock"},
		"an hour old in a link":  {signed(t, good.With("iat", ago(time.Hour))), "its iat is 1h0m"},
		"a claim that is broken": {signed(t, good.With("jti", []string{"hush"})), "jti is a list: want a text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, link := s.Check(t.Context(), here, c.token, time.Now())
			_, bearer, _ := s.Check(t.Context(), here, c.token, time.Now())
			reason := Reason(link) + Reason(bearer)
			require.Contains(t, reason, c.reason)
			require.NotContains(t, reason, "hush")
			require.NotContains(t, reason, "kim")
			reasons[Reason(link)+Reason(bearer)] = name
		})
	}
	require.Greater(t, len(reasons), 22, "each mistake has a reason of its own")
	seller, bearer, link := s.Check(t.Context(), here, signed(t, good), time.Now())
	require.Equal(t, "s-1", seller)
	require.NoError(t, bearer)
	require.NoError(t, link)

	hexed := New(Config{Secrets: [][]byte{secret[:1], []byte(hex.EncodeToString(secret))}})
	_, err = hexed.verify(t.Context(), here, by(jwt.SigningMethodHS256, secret))
	require.ErrorContains(t, err, "the secret decoded from hex")
}

// A portal in a loop, or a stranger, fills no log.
func TestRefusedTokensAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := New(Config{Secrets: [][]byte{secret}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		token := signed(t, portaltest.For("s-1").With("sub", 7))
		for range 3 {
			_, err := s.Bearer(t.Context(), here, token, "")
			require.ErrorIs(t, err, ErrToken)
		}
		require.Equal(t, 1, strings.Count(log.String(), "a seller's token was refused"), log.String())
		require.Contains(t, log.String(), `way=bearer reason="sub is a number: want a text" count=1`)
		_, err := s.Bearer(t.Context(), "stock", signed(t, portaltest.For("s-1").With("room", "integration")), "")
		require.ErrorIs(t, err, ErrAudience)
		require.Contains(t, log.String(), "its room is another", "of another kind")
		for _, other := range []string{"iss", "jti"} {
			_, err = s.Bearer(t.Context(), here, signed(t, portaltest.For("s-1").With(other, 7)), "")
			require.ErrorIs(t, err, ErrToken)
		}
		time.Sleep(noteEvery)
		_, err = s.Link(t.Context(), here, token, "")
		require.ErrorIs(t, err, ErrToken)
		require.Contains(t, log.String(), `way=link reason="sub is a number: want a text; iss is a number: `+
			`want a text; jti is a number: want a text" count=5`)
		require.NotContains(t, log.String(), token[:20])
	})
}

package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/room"
)

// FuzzToken requires that an accepted token was signed with the secret, byte for byte.
func FuzzToken(f *testing.F) {
	good := portaltest.Claims{"sub": "s-1", "aud": "waitroom", "iat": 1795220000, "exp": 1795220060, "jti": "1"}
	for _, token := range []string{"", "..", "a.b.c", signed(f, good), signed(f, good.With("sub", nil)),
		signed(f, good) + "=",
		portaltest.Sign(f, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", good),
		portaltest.Sign(f, jwt.SigningMethodHS384, secret, "../x", good),
		base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","b64":false,"crit":["b64"]}`)) + ".{}.AAAA"} {
		f.Add(token)
	}
	s := New(Config{Secrets: [][]byte{secret}, Audiences: []string{"waitroom"}})
	f.Fuzz(func(t *testing.T, token string) {
		c, err := s.verify(t.Context(), here, token)
		if err != nil {
			return
		}
		parts := strings.Split(token, ".")
		require.Len(t, parts, 3)
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(parts[0] + "." + parts[1]))
		sum, err := base64.RawURLEncoding.DecodeString(parts[2])
		require.NoError(t, err)
		require.Equal(t, mac.Sum(nil), sum)
		require.NotEmpty(t, c.seller)
	})
}

// FuzzClaims requires that accepted claims have a valid seller and times within range.
func FuzzClaims(f *testing.F) {
	for _, payload := range []string{`{}`, `null`, `[]`,
		`{"sub":"s-1","aud":"waitroom","iat":1795220000,"exp":1795220060.5,"jti":"1"}`,
		`{"sub":"s-1","aud":["a",7]}`, `{"sub":"s-1","exp":1e400}`, `{"sub":"s-1","exp":-1}`,
		`{"sub":"s-1","exp":null}`, `{"sub":"s-1","aud":null}`,
		`{"sub":"s-1","sub":"s-2"}`, `{"SUB":"s-1"}`, `{"sub":"\ud800"}`, "{\"sub\":\"\xff\"}", `{"sub":{"a":1}}`,
		`{"sub":"s-1","room":"integration"} x`} {
		f.Add([]byte(payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		c, err := read(payload)
		if err != nil {
			require.ErrorIs(t, err, ErrToken)
			return
		}
		again, err := room.ParseSeller(c.seller)
		require.NoError(t, err)
		require.Equal(t, c.seller, again)
		for _, at := range []int64{c.issued, c.begins, c.expire} {
			require.True(t, at >= 0 && at <= (lastSecond+1)*1000, at)
		}
		require.NotEmpty(t, c.mark())
		_ = c.checkAudience(here, []string{"waitroom"}, true)
		_, _ = c.checkLink(1795220000000), c.checkBearer(1795220000000)
	})
}

// FuzzKeys requires that an accepted key can only verify signatures.
func FuzzKeys(f *testing.F) {
	for _, text := range []string{`{}`, `{"keys":[]}`, `{"keys":[{"kty":"oct","k":"aHVzaA"}]}`,
		`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
		`{"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"a","use":"sig"}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		keys, err := readKeys(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, keys)
		for _, k := range keys {
			require.Contains(t, (&keySet{}).algorithms(), k.algorithm)
		}
	})
}

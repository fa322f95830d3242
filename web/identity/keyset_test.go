package identity

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
)

// portal starts a portal that serves one key of each kind.
func portal(t *testing.T) (p *portaltest.Portal, keys *keySet, rs, es, ed portaltest.Key) {
	t.Helper()
	rs, es = portaltest.NewKey(t, "rs", jwt.SigningMethodRS256),
		portaltest.NewKey(t, "es", jwt.SigningMethodES256)
	ed = portaltest.NewKey(t, "ed", jwt.SigningMethodEdDSA)
	p = portaltest.Start(t, rs, es, ed)
	return p, newKeySet(p.URL, slog.New(slog.DiscardHandler), nil), rs, es, ed
}

// check returns the key set's result for a token.
func (k *keySet) check(ctx context.Context, token string) error {
	signed, err := parse(token, k.algorithms())
	if err == nil {
		_, err = k.verify(ctx, signed)
	}
	return err
}

func TestTokensOfThePortalsKeysAreTaken(t *testing.T) {
	p, keys, rs, es, ed := portal(t)
	for _, k := range []portaltest.Key{rs, es, ed} {
		require.NoError(t, keys.check(t.Context(), k.Token(t, portaltest.For("s-1"))), k.ID)
		k.ID = ""
		require.NoError(t, keys.check(t.Context(), k.Token(t, portaltest.For("s-1"))),
			"one that names no key may be any of its kind's")
	}
	require.EqualValues(t, 1, p.Fetches.Load(), "keys are kept")
}

func TestAlgorithmIsTheKeysOwn(t *testing.T) {
	_, keys, rs, es, _ := portal(t)
	good := portaltest.For("s-1")
	der, err := x509.MarshalPKIXPublicKey(rs.Signer.Public())
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	public := rs.Signer.Public().(*rsa.PublicKey)
	for name, token := range map[string]string{
		"HS256 with the public key as its secret": portaltest.Sign(t, jwt.SigningMethodHS256, text, "rs", good),
		"HS256 with the key's DER":                portaltest.Sign(t, jwt.SigningMethodHS256, der, "rs", good),
		"HS256 with its modulus": portaltest.Sign(t, jwt.SigningMethodHS256, public.N.Bytes(),
			"rs", good),
		"HS256 with the name of a key": portaltest.Sign(t, jwt.SigningMethodHS256, []byte("rs"), "rs",
			good),
		"none": portaltest.Sign(t, jwt.SigningMethodNone,
			jwt.UnsafeAllowNoneSignatureType, "rs", good),
		"RS512, which was not agreed": portaltest.Sign(t, jwt.SigningMethodRS512, rs.Signer, "rs", good),
		"PS256, which was not agreed": portaltest.Sign(t, jwt.SigningMethodPS256, rs.Signer, "rs", good),
		"another portal's key":        portaltest.NewKey(t, "rs", jwt.SigningMethodRS256).Token(t, good),
		"another key's name":          portaltest.Sign(t, jwt.SigningMethodRS256, rs.Signer, "es", good),
		"a name that leads to a file": portaltest.Sign(t, jwt.SigningMethodRS256, rs.Signer,
			"../../dev/null", good),
		"a name that nobody has": portaltest.Sign(t, jwt.SigningMethodES256, es.Signer,
			"es' OR '1'='1", good),
		"an EC key of the token's own beside it": selfMade(t, good),
	} {
		require.ErrorIs(t, keys.check(t.Context(), token), ErrToken, name)
	}
}

// selfMade returns a token whose header contains the key that it is signed with.
func selfMade(t *testing.T, claims portaltest.Claims) string {
	t.Helper()
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims(claims))
	token.Header["kid"] = "es"
	token.Header["jwk"] = jose.JSONWebKey{Key: mine.Public(), KeyID: "es"}
	token.Header["jku"] = "https://evil.example/keys"
	text, err := token.SignedString(mine)
	require.NoError(t, err)
	return text
}

func TestNewKeyIsFetchedWhenATokenNeedsIt(t *testing.T) {
	p, keys, rs, _, _ := portal(t)
	require.NoError(t, keys.check(t.Context(), rs.Token(t, portaltest.For("s-1"))))
	// a new key with a new id, and one with the id of the previous key
	for _, id := range []string{"next", "rs"} {
		next := portaltest.NewKey(t, id, jwt.SigningMethodES256)
		p.Serve(next)
		require.NoError(t, keys.check(t.Context(), next.Token(t, portaltest.For("s-1"))), id)
		require.ErrorIs(t, keys.check(t.Context(), rs.Token(t, portaltest.For("s-1"))), ErrToken,
			"the old one is withdrawn")
	}
}

// Some editors begin a file with a byte order mark.
func TestKeysBehindAByteOrderMarkAreRead(t *testing.T) {
	p, _, rs, _, _ := portal(t)
	marked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("\uFEFF"))
		p.ServeHTTP(w, r)
	}))
	t.Cleanup(marked.Close)
	keys := newKeySet(marked.URL, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, keys.check(t.Context(), rs.Token(t, portaltest.For("s-1"))))
}

func TestStrangersTokensDoNotFloodThePortal(t *testing.T) {
	p, keys, rs, _, _ := portal(t)
	start := time.Now()
	at := start
	keys.now = func() time.Time { return at }
	stranger := portaltest.NewKey(t, "x", jwt.SigningMethodEdDSA).Token(t, portaltest.For("s-1"))
	for range 30 {
		require.ErrorIs(t, keys.check(t.Context(), stranger), ErrToken)
	}
	require.EqualValues(t, keysBurst, p.Fetches.Load())
	require.NoError(t, keys.check(t.Context(), rs.Token(t, portaltest.For("s-1"))),
		"a known key waits for no fetch")
	at = start.Add(keysEvery)
	next := portaltest.NewKey(t, "next", jwt.SigningMethodEdDSA)
	p.Serve(next)
	require.NoError(t, keys.check(t.Context(), next.Token(t, portaltest.For("s-1"))))
}

func TestKeysStayWhileThePortalIsAway(t *testing.T) {
	p, keys, rs, es, _ := portal(t)
	rsToken := rs.Token(t, portaltest.For("s-1"))
	p.Fail(http.StatusInternalServerError)
	require.ErrorIs(t, keys.check(t.Context(), rsToken), ErrKeys, "nothing can be said yet")
	p.Serve(rs)
	require.NoError(t, keys.check(t.Context(), rsToken))
	for name, fail := range map[string]func(){
		"an error":       func() { p.Fail(http.StatusBadGateway) },
		"no usable keys": func() { p.Serve() },
	} {
		fail()
		require.ErrorIs(t, keys.check(t.Context(), es.Token(t, portaltest.For("s-1"))), ErrKeys, name)
		require.NoError(t, keys.check(t.Context(), rsToken), name)
	}
}

func TestWithdrawnKeyIsForgottenInTime(t *testing.T) {
	p, keys, rs, es, _ := portal(t)
	token := rs.Token(t, portaltest.For("s-1"))
	require.NoError(t, keys.check(t.Context(), token))
	p.Serve(es)
	require.NoError(t, keys.check(t.Context(), token))
	keys.now = func() time.Time { return time.Now().Add(keysFresh + time.Second) }
	require.NoError(t, keys.check(t.Context(), token), "nobody waits for the portal")
	require.Eventually(t, func() bool { return errors.Is(keys.check(t.Context(), token), ErrToken) },
		10*time.Second, time.Millisecond)
}

func TestKeysAreFetchedOnceForAllWaitingCalls(t *testing.T) {
	p, keys, rs, _, _ := portal(t)
	var done sync.WaitGroup
	for range 20 {
		token := rs.Token(t, portaltest.For("s-1"))
		done.Go(func() { _ = keys.check(context.Background(), token) })
	}
	done.Wait()
	require.LessOrEqual(t, p.Fetches.Load(), int64(keysBurst))
	require.NoError(t, keys.check(t.Context(), rs.Token(t, portaltest.For("s-1"))))
}

func TestOnlyFitKeysOfASetAreTaken(t *testing.T) {
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	for name, k := range map[string]jose.JSONWebKey{
		"a secret": {Key: []byte("0123456789abcdef0123456789abcdef")}, "a small one": {Key: small.Public()},
		"another curve": {Key: p384.Public()},
		"a private one": {Key: p256}, "one to encrypt with": {Key: p256.Public(), Use: "enc"},
		"another algorithm's": {Key: p256.Public(), Algorithm: "RS256"},
	} {
		text, err := k.MarshalJSON()
		require.NoError(t, err)
		_, err = readKeys([]byte(`{"keys":[` + string(text) + `]}`))
		require.Error(t, err, name)
	}
	text, err := (&jose.JSONWebKey{Key: p256.Public()}).MarshalJSON()
	require.NoError(t, err)
	keys, err := readKeys([]byte(`{"keys":[{"kty":"new"},{"kty":"RSA"},7,` + string(text) + `]}`))
	require.NoError(t, err, "what one does not know is left out")
	require.Len(t, keys, 1)
	for _, bad := range []string{"", "[]", `{"keys":7}`, `{}`, `<html>`} {
		_, err := readKeys([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestKeysAddressIsInNoLogWithItsQuery(t *testing.T) {
	var log bytes.Buffer
	for _, address := range []string{"http://127.0.0.1:1/keys?token=canary",
		"http://127.0.0.1:x/keys?token=canary"} {
		keys := newKeySet(address, slog.New(slog.NewTextHandler(&log, nil)), nil)
		es := portaltest.NewKey(t, "es", jwt.SigningMethodES256)
		err := keys.check(t.Context(), es.Token(t, portaltest.For("s-1")))
		require.ErrorIs(t, err, ErrKeys)
		require.NotContains(t, err.Error(), "canary")
	}
	require.Contains(t, log.String(), "http://127.0.0.1:1/keys")
	require.NotContains(t, log.String(), "canary")
}

func TestKeysAreNotFetchedByARedirectToHTTP(t *testing.T) {
	p, _, _, es, _ := portal(t)
	secure := httptest.NewTLSServer(http.RedirectHandler(p.URL, http.StatusFound))
	t.Cleanup(secure.Close)
	keys := newKeySet(secure.URL, slog.New(slog.DiscardHandler), nil)
	follows := keys.client.CheckRedirect
	keys.client = secure.Client()
	keys.client.CheckRedirect = follows
	require.ErrorIs(t, keys.check(t.Context(), es.Token(t, portaltest.For("s-1"))), ErrKeys)
	require.Zero(t, p.Fetches.Load())
}

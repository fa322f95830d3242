package signin

import (
	"errors"
	"maps"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestSignInEndsAfterHalfAnHourWithoutUseAndAfterEightHoursInAnyCase(t *testing.T) {
	rdb := redistest.Start(t).Client()
	d, _ := newDesk(kimsConfig(t, rdb))
	token, kim, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	left := func() time.Duration { return rdb.PTTL(t.Context(), d.sessionKey(kim.Key)).Val() }
	unused := func(minutes time.Duration) {
		require.NoError(t, rdb.PExpire(t.Context(), d.sessionKey(kim.Key), idle-minutes*time.Minute).Err())
	}
	require.LessOrEqual(t, left(), idle)
	unused(20)
	_, err = d.Agent(t.Context(), token)
	require.NoError(t, err)
	_, err = d.Signed(t.Context(), kim.Key)
	require.NoError(t, err)
	require.LessOrEqual(t, left(), 10*time.Minute, "an open socket is no use")
	_, err = d.Use(t.Context(), token)
	require.NoError(t, err)
	require.Greater(t, left(), idle-time.Minute)
	require.LessOrEqual(t, left(), idle)

	d.cfg.Kept = 10 * time.Minute
	token, kim, err = d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	unused(25)
	_, err = d.Use(t.Context(), token)
	require.NoError(t, err)
	require.LessOrEqual(t, left(), 10*time.Minute)
	require.Greater(t, left(), 9*time.Minute)
}

func TestAdministratorSeesAndEndsSignInsOnEveryReplica(t *testing.T) {
	cfg := kimsConfig(t, redistest.Start(t).Client())
	cfg.Users["lee"] = cfg.Users["kim"]
	a, _ := newDesk(cfg)
	b, written := newDesk(cfg)
	token, kim, err := a.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	_, lee, err := a.SignIn(t.Context(), "lee", "open sesame", here)
	require.NoError(t, err)
	list, err := b.SignedIn(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{kim.Key, lee.Key}, []string{list[0].Key, list[1].Key})
	require.Equal(t, Act, list[0].Role)
	require.Equal(t, kim.Until.UnixMilli(), list[0].Until+list[1].Until-lee.Until.UnixMilli())

	require.NoError(t, b.End(t.Context(), kim.Key, "lee", here, "the laptop was stolen"))
	require.Equal(t, []string{"lee sign_in_ended: of kim: the laptop was stolen, from 192.0.2.1"},
		written.take())
	_, err = a.Agent(t.Context(), token)
	require.ErrorIs(t, err, ErrNotSignedIn)
	for _, key := range []string{kim.Key, "", newToken()} {
		require.ErrorIs(t, b.End(t.Context(), key, "lee", here, "x"), ErrNotSignedIn)
	}
	require.Empty(t, written.take())
	list, err = a.SignedIn(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, cfg.Redis.Del(t.Context(), a.sessionKey(lee.Key)).Err())
	list, err = a.SignedIn(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	require.Zero(t, cfg.Redis.ZCard(t.Context(), a.sessionsKey()).Val(),
		"a sign-in that is over leaves the index")
}

func TestOneTimeSignInIsInTheList(t *testing.T) {
	d, _ := newDesk(Config{Redis: redistest.Start(t).Client()})
	password, err := d.OneTime(t.Context())
	require.NoError(t, err)
	_, agent, err := d.SignIn(t.Context(), oneTimeName, password, here)
	require.NoError(t, err)
	require.LessOrEqual(t, d.cfg.Redis.PTTL(t.Context(), d.sessionKey(agent.Key)).Val(), idle)
	list, err := d.SignedIn(t.Context())
	require.NoError(t, err)
	require.Equal(t, agent.Key, list[0].Key)
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// logoutToken returns a logout token of the provider, with claims changed; nil removes one.
func (c *counter) logoutToken(change map[string]any) string {
	c.t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": c.at.Issuer(), "aud": clientID, "iat": now.Unix(), "jti": "1",
		"exp": now.Add(2 * time.Minute).Unix(), "sub": "subject-1",
		"events": map[string]any{logoutEvent: map[string]any{}}}
	for name, value := range change {
		claims[name] = value
	}
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	token, err := c.at.Keypair.SignJWT(claims)
	require.NoError(c.t, err)
	return token
}

// signedIn signs a user in, and returns the token of the session and its agent.
func (c *counter) signedIn(as user) (string, Agent) {
	c.t.Helper()
	as["groups"] = []string{"actors"}
	cookie, state, code := c.begin(as)
	token, who, _, err := c.Finish(c.t.Context(), Back{Cookie: cookie, State: state, Code: code}, here)
	require.NoError(c.t, err)
	return token, who
}

func TestProvidersLogoutTokenEndsItsSignIns(t *testing.T) {
	c := openCounter(t)
	one, kim := c.signedIn(user{"preferred_username": "kim", "sid": "s1"})
	other, again := c.signedIn(user{"preferred_username": "kim", "sid": "s2"})
	stranger, _ := c.signedIn(user{"preferred_username": "lee", "sub": "subject-2", "sid": "s3"})
	c.written.take()
	alive := func(token string) bool {
		_, err := c.Agent(t.Context(), token)
		if err != nil {
			require.ErrorIs(t, err, ErrNotSignedIn)
		}
		return err == nil
	}
	out := func(change map[string]any) []string {
		keys, err := c.ProviderSignOut(t.Context(), c.logoutToken(change), here)
		require.NoError(t, err)
		return keys
	}
	require.Equal(t, []string{kim.Key}, out(map[string]any{"sub": nil, "sid": "s1"}))
	require.False(t, alive(one))
	require.Equal(t, []string{"kim signed_out: by the provider, from 192.0.2.1"}, c.written.take())
	require.True(t, alive(other))
	require.Empty(t, out(map[string]any{"iat": time.Now().Add(-time.Minute).Unix()}),
		"a token that is sent again ends no later sign-in")
	require.True(t, alive(other))
	require.Equal(t, []string{again.Key}, out(nil))
	require.False(t, alive(other))
	require.True(t, alive(stranger))
}

func TestWhatIsNoLogoutTokenEndsNoSignIn(t *testing.T) {
	c := openCounter(t)
	token, _ := c.signedIn(user{"preferred_username": "kim", "sid": "s1"})
	idToken := c.at.tokens[0]
	stranger := startIssuer(t, "127.0.0.1:0")
	keys, err := mockoidc.RandomKeypair(2048)
	require.NoError(t, err)
	stranger.Keypair = keys
	other := &counter{c.Desk, t, stranger, c.rdb, c.written}
	forgedBy := other.logoutToken(map[string]any{"iss": c.at.Issuer()})
	for name, raw := range map[string]string{
		"nothing":        "",
		"an id token":    idToken,
		"another key":    forgedBy,
		"no signature":   forged(c.logoutToken(nil), "sub", "subject-2"),
		"another client": c.logoutToken(map[string]any{"aud": "another"}),
		"another issuer": c.logoutToken(map[string]any{"iss": stranger.Issuer()}),
		"expired":        c.logoutToken(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}),
		"of the future":  c.logoutToken(map[string]any{"iat": time.Now().Add(time.Hour).Unix()}),
		"no time":        c.logoutToken(map[string]any{"iat": nil}),
		"no event":       c.logoutToken(map[string]any{"events": map[string]any{}}),
		"a nonce":        c.logoutToken(map[string]any{"nonce": "n"}),
		"nobody":         c.logoutToken(map[string]any{"sub": nil}),
	} {
		_, err := c.ProviderSignOut(t.Context(), raw, here)
		require.ErrorIs(t, err, ErrExpired, name)
	}
	_, err = c.Agent(t.Context(), token)
	require.NoError(t, err)

	for range triesFromAnIP {
		_, err = c.ProviderSignOut(t.Context(), "", here)
	}
	require.True(t, errors.As(err, new(Limited)), "%v", err)
	logged := c.written.log.Len()
	_, err = c.ProviderSignOut(t.Context(), "", here)
	require.Error(t, err)
	require.Equal(t, logged, c.written.log.Len(), "beyond the limit nothing is logged")
	_, err = c.ProviderSignOut(t.Context(), "", "192.0.2.2")
	require.ErrorIs(t, err, ErrExpired)
	byPassword, _ := newDesk(kimsConfig(t, c.rdb))
	_, err = byPassword.ProviderSignOut(t.Context(), c.logoutToken(nil), here)
	require.ErrorIs(t, err, ErrExpired)
}

// Junk comes by the provider's own address, such as that of a shared proxy. Some names keys that make the desk
// ask for the provider's; the right token is signed by a key that the desk does not know yet.
func TestRightLogoutTokenCountsWhateverElseItsAddressSends(t *testing.T) {
	c := openCounter(t)
	_, kim := c.signedIn(user{"preferred_username": "kim", "sid": "s1"})
	_, lee := c.signedIn(user{"preferred_username": "lee", "sub": "subject-2", "sid": "s2"})
	for range triesFromAnIP + 1 {
		_, _ = c.ProviderSignOut(t.Context(), "junk", here)
	}
	_, err := c.ProviderSignOut(t.Context(), "junk", here)
	require.True(t, errors.As(err, new(Limited)), "%v", err)
	keys, err := c.ProviderSignOut(t.Context(), c.logoutToken(nil), here)
	require.NoError(t, err)
	require.Equal(t, []string{kim.Key}, keys)

	unknown := forged(c.logoutToken(nil), "sub", "subject-2")
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { _, _ = c.ProviderSignOut(t.Context(), unknown, here) })
	}
	all.Wait()
	c.at.Keypair, err = mockoidc.RandomKeypair(2048)
	require.NoError(t, err)
	keys, err = c.ProviderSignOut(t.Context(), c.logoutToken(map[string]any{"sub": "subject-2"}), here)
	require.NoError(t, err)
	require.Equal(t, []string{lee.Key}, keys)
}

// fetched counts the requests of a transport.
type fetched int

func (f *fetched) RoundTrip(*http.Request) (*http.Response, error) {
	*f++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestUnknownKeysOfLogoutTokensMakeTheDeskAskTheProviderOnlyOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked fetched
		c := http.Client{Transport: unknownKeys(&asked)}
		begun := time.Now()
		for range 25 {
			answer, err := c.Get("https://provider.example/keys")
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
		}
		require.EqualValues(t, 25, asked)
		require.Equal(t, (25-keysBurst)*keysEvery, time.Since(begun))
	})
}

// A provider may name a session in its logout token alone.
func TestProvidersSignOutIsOfASessionOrOfASubject(t *testing.T) {
	s := session{How: byOIDC, Issued: 5}
	s.Subject, s.SID = "kim", "s-1"
	nameless := s
	nameless.SID = ""
	for name, c := range map[string]struct {
		out  providerLogout
		of   session
		ends bool
	}{
		"its session":                  {providerLogout{"", "s-1", 5}, s, true},
		"another session":              {providerLogout{"kim", "s-2", 5}, s, false},
		"its subject":                  {providerLogout{"kim", "", 5}, s, true},
		"another subject":              {providerLogout{"lee", "", 5}, s, false},
		"no session in the ID token":   {providerLogout{"kim", "s-1", 5}, nameless, true},
		"the same, by no subject":      {providerLogout{"", "s-1", 5}, nameless, false},
		"it signed in after the token": {providerLogout{"kim", "", 4}, s, false},
	} {
		require.Equal(t, c.ends, c.out.ends(c.of), name)
	}
}

package signin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// counter is a desk with sign-in by a provider.
type counter struct {
	*Desk
	t       *testing.T
	at      *issuerAt
	rdb     *redis.Client
	written *diary
}

func openCounter(t *testing.T) *counter {
	at, rdb := startIssuer(t, "127.0.0.1:0"), redistest.Start(t).Client()
	d, written := newDesk(Config{Redis: rdb, OIDC: at.oidc()})
	require.False(t, d.ByPassword())
	return &counter{d, t, at, rdb, written}
}

// begin sends the user to the provider and back.
func (c *counter) begin(as user) (cookie, state, code string) {
	there, err := c.Begin(c.t.Context(), "/support/integration", here)
	require.NoError(c.t, err)
	state, code = c.at.visit(there.URL, as)
	require.Equal(c.t, there.State, state)
	return there.Cookie, state, code
}

func (c *counter) enter(as user) (Agent, error) {
	cookie, state, code := c.begin(as)
	_, who, _, err := c.Finish(c.t.Context(), Back{Cookie: cookie, State: state, Code: code}, here)
	return who, err
}

func TestProviderSignsInOnEveryReplica(t *testing.T) {
	c := openCounter(t)
	there, err := c.Begin(t.Context(), "/support/integration", here)
	require.NoError(t, err)
	state, code := c.at.visit(there.URL, user{"preferred_username": "kim", "groups": []string{"staff", "actors"}})
	asked := c.at.asked[0]
	require.ElementsMatch(t, []string{"openid", "profile", "email", "groups"},
		strings.Fields(asked.Get("scope")))
	require.Equal(t, "S256", asked.Get("code_challenge_method"))
	for _, secret := range []string{"state", "nonce", "code_challenge"} {
		require.GreaterOrEqual(t, len(asked.Get(secret)), 26)
	}
	require.NotContains(t, everything(t, c.rdb), there.Cookie)

	other, _ := newDesk(Config{Redis: c.rdb, OIDC: c.at.oidc()})
	token, kim, next, err := other.Finish(t.Context(), Back{Cookie: there.Cookie, State: state, Code: code},
		here)
	require.NoError(t, err)
	require.Equal(t, "/support/integration", next)
	require.Equal(t, "kim", kim.Name)
	require.Equal(t, Act, kim.Role)
	same, err := c.Agent(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, kim.Key, same.Key)
	require.Equal(t, Act, same.Role)
	_, err = c.SignOut(t.Context(), token, "")
	require.NoError(t, err)
	require.Equal(t, []string{"kim signed_out: was signed in by OpenID Connect"}, c.written.take())
}

func TestGroupsGiveTheRole(t *testing.T) {
	c := openCounter(t)
	for _, row := range []struct {
		groups any
		role   Role
	}{
		{[]string{"actors"}, Act},
		{[]string{"watchers"}, Watch},
		{[]string{"watchers", "actors"}, Act},
		{"actors", Act},
		{"watchers", Watch},
		{[]any{7, nil, "watchers"}, Watch},
		{[]string{"staff"}, ""},
		{[]string{}, ""},
		{[]string{"", "Actors", "actors ", "watchers,actors"}, ""},
		{"", ""},
		{map[string]any{"actors": true}, ""},
	} {
		who, err := c.enter(user{"preferred_username": "kim", "groups": row.groups})
		if row.role == "" {
			require.ErrorIs(t, err, ErrNotAdmitted, row.groups)
			require.Empty(t, who)
			require.Equal(t, []string{"kim sign_in_refused: subject subject-1 is in no group that may watch, from " +
				"192.0.2.1"}, c.written.take())
			continue
		}
		require.NoError(t, err, row.groups)
		require.Equal(t, row.role, who.Role, row.groups)
		require.Equal(t, []string{"kim signed_in: by OpenID Connect as subject subject-1, from 192.0.2.1"},
			c.written.take())
	}
	require.Equal(t, 6, strings.Count(everything(t, c.rdb), "session:"), "only who is admitted has one")
}

func TestUnsetGroupAdmitsNoAgent(t *testing.T) {
	c := openCounter(t)
	c.cfg.OIDC.ActGroup, c.cfg.OIDC.WatchGroup = "", ""
	for _, groups := range []any{"", []string{""}, []string{"actors"}, nil} {
		_, err := c.enter(user{"groups": groups})
		require.ErrorIs(t, err, ErrNotAdmitted)
	}
}

func TestNameIsWhatCanBeSeenOfTheBestThatTheProviderHas(t *testing.T) {
	c := openCounter(t)
	for _, row := range []struct {
		claims user
		name   string
	}{
		{user{"preferred_username": "kim", "email": "kim@shop.example"}, "kim"},
		{user{"email": "kim@shop.example"}, "kim@shop.example"},
		{user{}, "subject-1"},
		{user{"preferred_username": "\u202e\x00\n ", "email": "김@shop.example"}, "김@shop.example"},
		{user{"preferred_username": "k\r\nim\u200b\u202e\x1b[31m"}, "kim[31m"},
		{user{"preferred_username": " " + strings.Repeat("김", 70)}, strings.Repeat("김", 63)},
		{user{"preferred_username": "Token:zendesk", "email": "kim@shop.example"}, "kim@shop.example"},
		{user{"preferred_username": "token:zendesk"}, "subject-1"},
	} {
		row.claims["groups"] = "actors"
		who, err := c.enter(row.claims)
		require.NoError(t, err)
		require.Equal(t, row.name, who.Name)
	}
}

func TestCallbackThatIsNotTheBrowsersOwnIsRefused(t *testing.T) {
	c := openCounter(t)
	kim := user{"groups": "actors"}
	for name, finish := range map[string]func(cookie, state, code string) error{
		"wrong state":    func(cookie, _, code string) error { return c.finish(cookie, "x", code) },
		"no state":       func(cookie, _, code string) error { return c.finish(cookie, "", code) },
		"no code":        func(cookie, state, _ string) error { return c.finish(cookie, state, "") },
		"another code":   func(cookie, state, _ string) error { return c.finish(cookie, state, "x") },
		"no cookie":      func(_, state, code string) error { return c.finish("", state, code) },
		"made-up cookie": func(_, state, code string) error { return c.finish(newToken(), state, code) },
		"another browser's cookie": func(_, state, code string) error {
			theirs, _, _ := c.begin(kim)
			return c.finish(theirs, state, code)
		},
		"another browser's code": func(cookie, state, _ string) error {
			_, _, theirs := c.begin(kim)
			return c.finish(cookie, state, theirs) // PKCE: the verifier is not theirs
		},
		"a replay": func(cookie, state, code string) error {
			require.NoError(t, c.finish(cookie, state, code))
			return c.finish(cookie, state, code)
		},
		"a second try after a wrong state": func(cookie, state, code string) error {
			require.ErrorIs(t, c.finish(cookie, "x", code), ErrExpired)
			return c.finish(cookie, state, code)
		},
		"ten minutes": func(cookie, state, code string) error {
			left, err := c.rdb.PTTL(t.Context(), c.begunKey(cookie)).Result()
			require.NoError(t, err)
			require.InDelta(t, begunKept.Seconds(), left.Seconds(), 30)
			require.NoError(t, c.rdb.PExpireAt(t.Context(), c.begunKey(cookie), time.Now().Add(-time.Second)).Err())
			return c.finish(cookie, state, code)
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := strings.Count(everything(t, c.rdb), "session:")
			if name == "a replay" {
				before++
			}
			c.written.take()
			require.ErrorIs(t, finish(c.begin(kim)), ErrExpired)
			for _, line := range c.written.take() { // it is refused before the provider gives a token
				require.Contains(t, line, " signed_in: ")
			}
			require.Equal(t, before, strings.Count(everything(t, c.rdb), "session:"))
		})
	}
}

func (c *counter) finish(cookie, state, code string) error {
	token, _, next, err := c.Finish(c.t.Context(), Back{Cookie: cookie, State: state, Code: code}, here)
	if err != nil {
		require.Empty(c.t, token+next)
	}
	return err
}

// Redis keeps each unfinished sign-in for a while, so an address without a limit could fill it.
func TestFiftyFirstSignInBegunFromAnAddressAndNotEndedIsLimited(t *testing.T) {
	c := openCounter(t)
	for range triesFromAnIP + 1 {
		_, err := c.enter(user{"groups": "actors"})
		require.NoError(t, err, "who ends a sign-in has begun none")
	}
	require.NotContains(t, everything(t, c.rdb), "begun:")
	c.written.take()
	other, _ := newDesk(Config{Redis: c.rdb, OIDC: c.at.oidc()})
	for i := range triesFromAnIP {
		_, err := []*Desk{c.Desk, other}[i%2].Begin(t.Context(), "", here)
		require.NoError(t, err)
	}
	before := everything(t, c.rdb)
	for range 2 {
		_, err := c.Begin(t.Context(), "", here)
		limited, ok := errors.AsType[Limited](err)
		require.True(t, ok, "%v", err)
		require.LessOrEqual(t, limited.After, begunKept)
		require.Positive(t, limited.After)
	}
	require.Equal(t, strings.Count(before, "\n")+1, strings.Count(everything(t, c.rdb), "\n"),
		"only the report is kept")
	require.Equal(t, []string{"? sign_in_limited: too many sign-ins begun and not ended, from 192.0.2.1"},
		c.written.take())
	_, err := c.Begin(t.Context(), "", "192.0.2.2")
	require.NoError(t, err, "others are not concerned")
	require.NotContains(t, everything(t, c.rdb), here, "nor readable")
}

func TestPasswordsDeskHasNoProvider(t *testing.T) {
	d, _ := newDesk(kimsConfig(t, redistest.Start(t).Client()))
	_, err := d.Begin(t.Context(), "", here)
	require.ErrorIs(t, err, ErrAway)
	_, _, _, err = d.Finish(t.Context(), Back{Cookie: newToken(), State: "x", Code: "x"}, here)
	require.ErrorIs(t, err, ErrExpired)
}

package signin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestOneTimePasswordWorksOnceOnAnyReplica(t *testing.T) {
	rdb := redistest.Start(t).Client()
	a, _ := newDesk(Config{Redis: rdb})
	b, written := newDesk(Config{Redis: rdb})
	password, err := a.OneTime(t.Context())
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}-[0-9a-hjkmnp-tv-z]{4}$`, password)
	second, err := b.OneTime(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, password, second)

	require.ErrorIs(t, enter(b, "kim", password, here), ErrWrong)
	require.ErrorIs(t, enter(b, "support", "", here), ErrWrong)
	require.Equal(t, []string{"? sign_in_failed: wrong name or password, from 192.0.2.1",
		"support sign_in_failed: wrong name or password, from 192.0.2.1"}, written.take())
	token, who, err := b.SignIn(t.Context(), "support",
		" "+strings.ToUpper(strings.ReplaceAll(password, "-", "")), here)
	require.NoError(t, err)
	require.Equal(t, []string{"support signed_in: by one-time password, from 192.0.2.1"}, written.take())
	require.Equal(t, Act, who.Role)
	same, err := a.Agent(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, who.Key, same.Key)
	for _, d := range []*Desk{a, b} {
		require.ErrorIs(t, enter(d, "support", password, here), ErrWrong)
	}
	require.NoError(t, enter(a, "support", second, here))
}

func TestOfTwentySignInsWithTheOneTimePasswordOneIsLetIn(t *testing.T) {
	rdb := redistest.Start(t).Client()
	a, _ := newDesk(Config{Redis: rdb})
	b, _ := newDesk(Config{Redis: rdb})
	password, err := a.OneTime(t.Context())
	require.NoError(t, err)
	var tries []func() error
	for i := range 20 {
		tries = append(tries, func() error { return enter([]*Desk{a, b}[i%2], "support", password, here) })
	}
	right, wrong, limited := results(tries)
	require.Equal(t, 1, right)
	require.Equal(t, 19, wrong+limited)
}

func TestOneTimePasswordIsNoneWhereThereAreUsersOrAProvider(t *testing.T) {
	rdb := redistest.Start(t).Client()
	password, err := New(Config{Redis: rdb}).OneTime(t.Context())
	require.NoError(t, err)
	users := kimsConfig(t, rdb)
	users.Users["support"] = hashed(t, "x", bcrypt.MinCost)
	for _, cfg := range []Config{users, kimsConfig(t, rdb), {Redis: rdb, OIDC: &OIDC{}},
		{Redis: rdb, OIDC: &OIDC{}, Users: users.Users}} {
		require.ErrorIs(t, enter(New(cfg), "support", password, here), ErrWrong)
		if cfg.OIDC != nil {
			require.ErrorIs(t, enter(New(cfg), "kim", "open sesame", here), ErrWrong)
		}
	}
}

func TestOneTimePasswordIsLimitedAsOthersAre(t *testing.T) {
	d, _ := newDesk(Config{Redis: redistest.Start(t).Client()})
	password, err := d.OneTime(t.Context())
	require.NoError(t, err)
	for range 10 {
		require.ErrorIs(t, enter(d, "support", "wrong", here), ErrWrong)
	}
	require.ErrorAs(t, enter(d, "support", password, here), &Limited{})
}

func TestLostReplyDoesNotWasteTheOneTimePassword(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	d, _ := newDesk(Config{Redis: proxy.Client()})
	for range 2 { // the second time Redis has the script
		password, err := d.OneTime(t.Context())
		require.NoError(t, err)
		lost := proxy.DropNextReply(func(request []byte) bool {
			return strings.Contains(string(request),
				"onetime:")
		})
		token, _, err := d.SignIn(t.Context(), "support", password, here)
		require.NoError(t, err)
		<-lost
		_, err = d.Agent(t.Context(), token)
		require.NoError(t, err)
		require.ErrorIs(t, enter(d, "support", password, here), ErrWrong)
	}
}

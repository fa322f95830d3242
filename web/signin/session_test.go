package signin

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestSignInCountsOnEveryReplicaUntilSignOut(t *testing.T) {
	server := redistest.Start(t)
	cfg := kimsConfig(t, server.Client())
	a, written := newDesk(cfg)
	b, writtenB := newDesk(cfg)
	require.True(t, a.ByPassword())
	token, kim, err := a.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	require.Equal(t, "kim", kim.Name)
	require.Equal(t, Act, kim.Role)
	require.WithinDuration(t, time.Now().Add(8*time.Hour), kim.Until, time.Minute)
	require.Equal(t, []string{"kim signed_in: by password, from 192.0.2.1"}, written.take())

	same, err := b.Agent(t.Context(), token)
	require.NoError(t, err)
	require.WithinDuration(t, kim.Until, same.Until, time.Second)
	same.Until = kim.Until
	require.Equal(t, kim, same)
	signed, err := b.Signed(t.Context(), kim.Key)
	require.NoError(t, err)
	require.True(t, signed)

	out, err := b.SignOut(t.Context(), token, "")
	require.NoError(t, err)
	require.Equal(t, kim.Key, out.Key)
	require.Equal(t, []string{"kim signed_out: was signed in by password"}, writtenB.take())
	_, err = a.Agent(t.Context(), token)
	require.ErrorIs(t, err, ErrNotSignedIn)
	signed, err = a.Signed(t.Context(), kim.Key)
	require.NoError(t, err)
	require.False(t, signed)
	_, err = a.SignOut(t.Context(), token, "")
	require.ErrorIs(t, err, ErrNotSignedIn)
	require.Empty(t, written.take())
}

func TestSignInEndsByRedissClock(t *testing.T) {
	cfg := kimsConfig(t, redistest.Start(t).Client())
	cfg.Kept = 5 * time.Millisecond
	d, _ := newDesk(cfg)
	token, who, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	testproc.Until(t, 5*time.Second, func() error {
		if _, err := d.Agent(t.Context(), token); !errors.Is(err, ErrNotSignedIn) {
			return fmt.Errorf("signed in still: %w", err)
		}
		return nil
	})
	signed, err := d.Signed(t.Context(), who.Key)
	require.NoError(t, err)
	require.False(t, signed)
}

func TestSessionWithoutAnEndIsNone(t *testing.T) {
	server := redistest.Start(t)
	d, _ := newDesk(kimsConfig(t, server.Client()))
	token, who, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	require.NoError(t, server.Client().Persist(t.Context(), d.sessionKey(who.Key)).Err())
	_, err = d.Agent(t.Context(), token)
	require.ErrorIs(t, err, ErrNotSignedIn)
}

func TestWhatIsNoTokenOpensNothing(t *testing.T) {
	d, _ := newDesk(kimsConfig(t, redistest.Start(t).Client()))
	token, who, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	for _, bad := range []string{"", "x", who.Key, token + "A", token[1:], token[:42] + "~", newToken()} {
		_, err := d.Agent(t.Context(), bad)
		require.ErrorIs(t, err, ErrNotSignedIn, bad)
		_, err = d.SignOut(t.Context(), bad, "")
		require.ErrorIs(t, err, ErrNotSignedIn, bad)
	}
}

func TestAnotherPasswordEndsTheSignInsOfTheOneBefore(t *testing.T) {
	cfg := kimsConfig(t, redistest.Start(t).Client())
	d, _ := newDesk(cfg)
	token, _, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	restarted, _ := newDesk(cfg)
	_, err = restarted.Agent(t.Context(), token)
	require.NoError(t, err)
	cfg.Users = map[string]string{"kim": hashed(t, "another", bcrypt.MinCost)}
	anew, _ := newDesk(cfg)
	_, err = anew.Agent(t.Context(), token)
	require.ErrorIs(t, err, ErrNotSignedIn)
}

func TestSignInEndsWhereTheSettingsAdmitItNoMore(t *testing.T) {
	rdb := redistest.Start(t).Client()
	kim, oidc := kimsConfig(t, rdb), Config{Redis: rdb, OIDC: &OIDC{}}
	nobody, lee := Config{Redis: rdb}, Config{Redis: rdb, Users: map[string]string{"lee": kim.Users["kim"]}}
	support := Config{Redis: rdb, Users: map[string]string{"support": kim.Users["kim"]}}
	kimAnew := Config{Redis: rdb, Users: map[string]string{"kim": hashed(t, "open sesame", bcrypt.MinCost)}}
	both := Config{Redis: rdb, Users: map[string]string{"lee": "x", "kim": kim.Users["kim"]}}
	regrouped := Config{Redis: rdb, OIDC: &OIDC{WatchGroup: "watchers"}}
	for _, c := range []struct {
		s       session
		admits  []Config
		refuses []Config
	}{
		{session{Name: "kim", Role: Act, How: byPassword, By: New(kim).by("kim", byPassword)}, []Config{kim, both},
			[]Config{kimAnew, lee, oidc, nobody}},
		// a session that an older program wrote
		{session{Name: "kim", Role: Act, How: byPassword}, []Config{kim, kimAnew}, []Config{lee, oidc, nobody}},
		{session{Name: "support", Role: Act, How: byOneTime}, []Config{nobody}, []Config{kim, support, oidc}},
		{session{Name: "kim", Role: Watch, How: byOIDC, By: New(oidc).by("kim", byOIDC)}, []Config{oidc},
			[]Config{regrouped, kim, nobody}},
		{session{Name: "kim", Role: Watch, How: byOIDC}, []Config{oidc, regrouped}, []Config{kim, nobody}},
		{session{Name: "kim", Role: Act}, nil, []Config{kim, oidc, nobody}},
	} {
		token, _, err := New(kim).begin(t.Context(), c.s)
		require.NoError(t, err)
		for _, cfg := range c.admits {
			who, err := New(cfg).Agent(t.Context(), token)
			require.NoError(t, err, c.s)
			require.Equal(t, c.s.Role, who.Role)
		}
		for _, cfg := range c.refuses {
			_, err := New(cfg).Agent(t.Context(), token)
			require.ErrorIs(t, err, ErrNotSignedIn, "%v %v", c.s, cfg)
		}
	}
}

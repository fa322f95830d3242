package signin

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

// zendesks returns a desk whose integration has two tokens, one of which replaces the other.
func zendesks(t *testing.T, rdb redis.UniversalClient) (cfg Config, old, next string) {
	t.Helper()
	cfg = kimsConfig(t, rdb)
	old, oldHash := NewToken()
	next, nextHash := NewToken()
	board := Token{"board", Watch, digest("board's own")}
	cfg.Tokens = []Token{{"zendesk", Act, oldHash}, board, {"zendesk", Act, nextHash}}
	return cfg, old, next
}

func TestTokenLetsItsIntegrationInUntilItIsRemoved(t *testing.T) {
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = gone.Close() })
	cfg, old, next := zendesks(t, gone)
	d, written := newDesk(cfg)
	require.True(t, d.TakesTokens())
	for token, want := range map[string]Agent{
		old:           {Name: "token:zendesk", Role: Act, Key: "token:zendesk", Program: true},
		next:          {Name: "token:zendesk", Role: Act, Key: "token:zendesk", Program: true},
		"board's own": {Name: "token:board", Role: Watch, Key: "token:board", Program: true},
	} {
		who, err := d.Token(t.Context(), token, here)
		require.NoError(t, err, "Redis is not asked")
		require.Equal(t, want, who)
		signed, err := d.Signed(t.Context(), who.Key)
		require.NoError(t, err)
		require.True(t, signed)
	}
	require.Empty(t, written.take(), "a call is no sign-in")

	cfg.Tokens = cfg.Tokens[1:]
	d, _ = newDesk(cfg)
	_, err := d.Token(t.Context(), old, here)
	require.ErrorIs(t, err, room.ErrStore, "what is unknown is counted")
	cfg.Tokens = nil
	d, _ = newDesk(cfg)
	require.False(t, d.TakesTokens())
	signed, err := d.Signed(t.Context(), "token:zendesk")
	require.NoError(t, err)
	require.False(t, signed, "its sockets are closed")
}

func TestUnknownTokensOfAnAddressAreLimitedOnEveryReplicaAndKnownOnesAreNot(t *testing.T) {
	server := redistest.Start(t)
	cfg, old, _ := zendesks(t, server.Client())
	a, writtenA := newDesk(cfg)
	b, writtenB := newDesk(cfg)
	for i := range 50 {
		_, err := []*Desk{a, b}[i%2].Token(t.Context(), fmt.Sprint("guess ", i), here)
		require.ErrorIs(t, err, ErrNotSignedIn)
	}
	require.Equal(t, "? sign_in_failed: unknown token, from 192.0.2.1", writtenA.take()[24])
	writtenB.take()
	for _, d := range []*Desk{a, b, a} {
		_, err := d.Token(t.Context(), "another guess", here)
		limited, ok := errors.AsType[Limited](err)
		require.True(t, ok, err)
		require.Greater(t, limited.After, triesWindow-time.Minute)
		_, err = d.Token(t.Context(), old, here)
		require.NoError(t, err, "an integration with a wrong token locks out no other at its address")
	}
	require.Equal(t, []string{"? sign_in_limited: too many unknown tokens, from 192.0.2.1"},
		append(writtenA.take(), writtenB.take()...))
	require.NoError(t, enter(a, "kim", "open sesame", here), "people at that address sign in")
	_, err := a.Token(t.Context(), "guess", "192.0.2.2")
	require.ErrorIs(t, err, ErrNotSignedIn, "others are not concerned")
	require.NotContains(t, everything(t, server.Client()), "guess")
	require.NotContains(t, writtenA.log.String()+writtenB.log.String(), "guess")
}

func TestTokensAreOfOneLengthAndNoTwoAreAlike(t *testing.T) {
	one, hash := NewToken()
	other, _ := NewToken()
	require.Regexp(t, `^waitroom_[A-Za-z0-9_-]{43}$`, one)
	require.NotEqual(t, one, other)
	require.Equal(t, digest(one), hash)
}

func TestNoPersonHasTheNameOfAnIntegration(t *testing.T) {
	for _, name := range []string{"token:zendesk", "Token:zendesk", " token:zendesk"} {
		require.True(t, passesForToken(clean(name)))
	}
	require.False(t, passesForToken("tokenkim"))
	d, _ := newDesk(Config{Redis: redistest.Start(t).Client(), Tokens: []Token{{"zendesk", Act, digest("x")}}})
	_, err := d.Agent(context.Background(), "x")
	require.ErrorIs(t, err, ErrNotSignedIn, "a token is no cookie")
}

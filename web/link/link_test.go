package link

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const here = room.ID("integration")

func newPlace() Place { return Place{Session: room.NewSession(), Ticket: 7, Seller: "s-1"} }

// onEveryStore runs a test on the embedded store and on a real redis-server.
func onEveryStore(t *testing.T, test func(t *testing.T, rdb redis.UniversalClient)) {
	t.Run("embedded", func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
		t.Cleanup(func() { require.NoError(t, rdb.Close()) })
		test(t, rdb)
	})
	t.Run("redis", func(t *testing.T) { test(t, redistest.Start(t).Client()) })
}

// made makes a link, which has to succeed.
func made(t *testing.T, l *Links, p Place) string {
	t.Helper()
	token, _, err := l.Make(t.Context(), here, p)
	require.NoError(t, err)
	return token
}

func TestLinkLeadsToItsPlaceOnceWithinFiveMinutes(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		one, other, p := New(rdb, room.Names{}), New(rdb, room.Names{}), newPlace()
		before := rdb.Time(t.Context()).Val()
		token, until, err := one.Make(t.Context(), here, p)
		require.NoError(t, err)
		require.InDelta(t, before.Add(Lasts).UnixMilli(), until, 10_000)
		require.LessOrEqual(t, rdb.PTTL(t.Context(), one.tokenKey(here, token)).Val(), Lasts)
		require.GreaterOrEqual(t, len(token), 26, "128 bits in base 32")

		mine, stranger := room.NewSession(), room.NewSession()
		for range 2 {
			found, used, err := other.Open(t.Context(), here, token, mine)
			require.NoError(t, err, "to look uses nothing up")
			require.Equal(t, p, found)
			require.False(t, used)
		}
		_, ok, err := other.Standing(t.Context(), here, mine)
		require.NoError(t, err)
		require.False(t, ok)
		joinedOther, err := one.Joined(t.Context(), here, p.Session, p.Ticket)
		require.NoError(t, err)
		require.False(t, joinedOther)

		require.NoError(t, other.Use(t.Context(), here, token, mine, p))
		require.NoError(t, one.Use(t.Context(), here, token, mine, p), "a repeat is the same use")
		require.ErrorIs(t, one.Use(t.Context(), here, token, stranger, p), ErrUsed)
		_, used, err := one.Open(t.Context(), here, token, mine)
		require.NoError(t, err)
		require.True(t, used)
		for _, session := range []string{stranger, ""} {
			_, _, err = one.Open(t.Context(), here, token, session)
			require.ErrorIs(t, err, ErrUsed)
		}
		for ticket, joined := range map[int64]bool{p.Ticket: true, p.Ticket + 1: false} {
			joinedOther, err := one.Joined(t.Context(), here, p.Session, ticket)
			require.NoError(t, err)
			require.Equal(t, joined, joinedOther)
		}
		found, ok, err := one.Standing(t.Context(), here, mine)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, p, found)
		_, ok, err = one.Standing(t.Context(), "stock", mine)
		require.NoError(t, err)
		require.False(t, ok, "in this room alone")
		require.NoError(t, one.End(t.Context(), here, mine))
		_, ok, err = other.Standing(t.Context(), here, mine)
		require.NoError(t, err)
		require.False(t, ok)
	})
}

func TestLinkThatIsOverOrReplacedLeadsNowhere(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		l, p := New(rdb, room.Names{}), newPlace()
		first := made(t, l, p)
		second := made(t, l, p)
		gone := func(id room.ID, token string) {
			t.Helper()
			_, _, err := l.Open(t.Context(), id, token, "")
			require.ErrorIs(t, err, ErrNone)
			require.ErrorIs(t, l.Use(t.Context(), id, token, room.NewSession(), p), ErrNone)
		}
		gone(here, first)
		gone("stock", second)
		gone(here, "")
		require.NoError(t, rdb.PExpire(t.Context(), l.tokenKey(here, second), -1).Err())
		gone(here, second)

		used, mine := made(t, l, p), room.NewSession()
		require.NoError(t, l.Use(t.Context(), here, used, mine, p))
		made(t, l, p)
		_, again, err := l.Open(t.Context(), here, used, mine)
		require.NoError(t, err, "who lost the answer may come again")
		require.True(t, again)
	})
}

func TestOfManyBrowsersAtOnceOneIsLetIn(t *testing.T) {
	server := redistest.Start(t)
	one, other, p := New(server.Client(), room.Names{}), New(server.Client(), room.Names{}), newPlace()
	token := made(t, one, p)
	var done sync.WaitGroup
	var in, out atomic.Int64
	for i := range 32 {
		done.Go(func() {
			err := []*Links{one, other}[i%2].Use(t.Context(), here, token, room.NewSession(), p)
			switch {
			case err == nil:
				in.Add(1)
			case errors.Is(err, ErrUsed):
				out.Add(1)
			}
		})
	}
	done.Wait()
	require.EqualValues(t, 1, in.Load())
	require.EqualValues(t, 31, out.Load())
	require.Len(t, server.Client().Keys(t.Context(), prefix+"stands:*").Val(), 1)
}

func TestLinkIsUsedOnceThoughTheStoresReplyWasLost(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	l, p, mine := New(proxy.Client(), room.Names{}), newPlace(), room.NewSession()
	// this call loads the script
	require.NoError(t, l.Use(t.Context(), here, made(t, l, newPlace()), room.NewSession(), p))
	token := made(t, l, p)
	lost := proxy.DropNextReply(func(
		request []byte) bool {
		return strings.Contains(strings.ToLower(string(request)), "evalsha")
	})
	require.NoError(t, l.Use(t.Context(), here, token, mine, p))
	<-lost
	_, ok, err := l.Standing(t.Context(), here, mine)
	require.NoError(t, err)
	require.True(t, ok)
}

func TestStoreHoldsNothingThatOpensALink(t *testing.T) {
	server := redistest.Start(t)
	l, p, mine := New(server.Client(), room.Names{}), newPlace(), room.NewSession()
	token := made(t, l, p)
	require.NoError(t, l.Use(t.Context(), here, token, mine, p))
	keys := server.Client().Keys(t.Context(), "*").Val()
	require.NotEmpty(t, keys)
	for _, key := range keys {
		require.True(t, strings.HasPrefix(key, prefix), key)
		require.Positive(t, server.Client().PTTL(t.Context(), key).Val(), "%s is there for ever", key)
		held := key + server.Client().Dump(t.Context(), key).Val()
		for _, hidden := range []string{token, mine, p.Session, p.Seller} {
			require.NotContains(t, held, hidden)
		}
	}
}

func TestStoreThatIsAwayIsNoRefusal(t *testing.T) {
	server := redistest.Start(t)
	l, p := New(server.Client(), room.Names{}), newPlace()
	token := made(t, l, p)
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // the client tries for seconds
	defer cancel()
	_, _, err := l.Open(ctx, here, token, "")
	require.ErrorIs(t, err, room.ErrStore)
	require.ErrorIs(t, l.Use(ctx, here, token, room.NewSession(), p), room.ErrStore)
	_, _, err = l.Standing(ctx, here, room.NewSession())
	require.ErrorIs(t, err, room.ErrStore)
}

// Without a limit, a seller with a place could fill Redis with linked browsers.
func TestSoManyBrowsersAreLetIntoAPlaceAndNoMore(t *testing.T) {
	onEveryStore(t, func(t *testing.T, rdb redis.UniversalClient) {
		l, p := New(rdb, room.Names{}), newPlace()
		var first string
		for i := range most {
			token, session := made(t, l, p), room.NewSession()
			require.NoError(t, l.Use(t.Context(), here, token, session, p), i)
			require.NoError(t, l.Use(t.Context(), here, token, session, p), "it may come again")
			if i == 0 {
				first = session
			}
		}
		token, session := made(t, l, p), room.NewSession()
		require.ErrorIs(t, l.Use(t.Context(), here, token, session, p), ErrUsed)
		_, ok, err := l.Standing(t.Context(), here, session)
		require.NoError(t, err)
		require.False(t, ok)
		_, ok, err = l.Standing(t.Context(), here, first)
		require.NoError(t, err)
		require.True(t, ok)
		p.Ticket++
		require.NoError(t, l.Use(t.Context(), here, made(t, l, p), session, p), "of another place")
	})
}

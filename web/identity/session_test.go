package identity

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestSessionsOfOneSellerActAsOne(t *testing.T) {
	_, one, other := shared(t)
	first, second := link(t, one, portaltest.For("\u1100\u1161"), ""),
		link(t, other, portaltest.For("\uac00"), "")
	require.NotEqual(t, first, second)
	a, b := proof(t, other, first), proof(t, one, second)
	require.Equal(t, "\uac00", a.Seller, "in NFC")
	require.Equal(t, a.Seller, b.Seller)
	require.Equal(t, a.Session, b.Session, "on every replica")
	require.Equal(t, first, a.Known)
	_, err := room.ParseSession(a.Session)
	require.NoError(t, err)
	require.NotEqual(t, a.Session, proof(t, one, link(t, one, portaltest.For("s-2"), "")).Session)

	_, err = one.Session(t.Context(), here, a.Session)
	require.ErrorIs(t, err, ErrNotIdentified, "what acts for the seller is no credential")
	_, err = one.Session(t.Context(), here, room.NewSession())
	require.ErrorIs(t, err, ErrNotIdentified)
}

// The session has the way to reach its seller for as long as the seller's latest token has one.
func TestProofHasTheWayToReachTheSellerThatTheTokenGave(t *testing.T) {
	_, one, other := shared(t)
	claims := portaltest.For("s-1").With("reach", "카카오톡 010-****-5678")
	session := link(t, one, claims, "")
	require.Equal(t, "카카오톡 010-****-5678", proof(t, other, session).Reach)

	token := signed(t, portaltest.For("s-1").With("reach", "KakaoTalk"))
	p, err := one.Bearer(t.Context(), here, token, room.NewSession())
	require.NoError(t, err)
	require.Equal(t, "KakaoTalk", p.Reach)
	require.NoError(t, one.Keep(t.Context(), p))
	require.Equal(t, "KakaoTalk", proof(t, other, p.Known).Reach, "a browser that joined by a token")

	require.Empty(t, proof(t, one, link(t, one, portaltest.For("s-1"), session)).Reach)
}

func TestTokenInAnAddressWorksOnceOverAllReplicas(t *testing.T) {
	_, one, other := shared(t)
	for name, claims := range map[string]portaltest.Claims{"with jti": portaltest.For("s-1"),
		"without": portaltest.For("s-1").With("jti", nil)} {
		token := signed(t, claims)
		var done sync.WaitGroup
		var in, used atomic.Int64
		for i := range 16 {
			done.Go(func() {
				_, err := []*Sellers{one, other}[i%2].Link(t.Context(), here, token, "")
				switch {
				case err == nil:
					in.Add(1)
				case errors.Is(err, ErrUsed):
					used.Add(1)
				}
			})
		}
		done.Wait()
		require.EqualValues(t, 1, in.Load(), name)
		require.EqualValues(t, 15, used.Load(), name)
		_, err := other.Bearer(t.Context(), here, token, "")
		require.ErrorIs(t, err, ErrUsed, "who finds it in a log can not use it in another way")
	}
	again := portaltest.For("s-1")
	link(t, one, again, "")
	_, err := one.Link(t.Context(), here, signed(t, again.With("x", "y")), "")
	require.ErrorIs(t, err, ErrUsed, "it is the jti that is used")
	_, err = one.Link(t.Context(), here, signed(t, again.With("iss", "another portal")), "")
	require.NoError(t, err, "which is its issuer's own")
}

func TestTokenIsSpentOnceThoughTheStoresReplyWasLost(t *testing.T) {
	server := redistest.Start(t)
	proxy := server.Proxy()
	s := New(Config{Redis: proxy.Client(), Secrets: [][]byte{secret}, Audiences: []string{"waitroom"}})
	link(t, s, portaltest.For("s-0"), "") // the scripts are known from here on
	claims := portaltest.For("s-1")
	found, err := s.find(t.Context(), "", "")
	require.NoError(t, err)
	c, err := s.verify(t.Context(), here, signed(t, claims))
	require.NoError(t, err)
	lost := proxy.DropNextReply(func(
		request []byte) bool {
		return strings.Contains(strings.ToLower(string(request)), "evalsha")
	})
	session := room.NewSession()
	require.NoError(t, s.spend(t.Context(), c, found.now, session,
		record{Seller: "s-1", Until: found.now + 60_000}))
	<-lost
	require.Equal(t, "s-1", proof(t, s, session).Seller)
}

func TestBearerComesAgainUntilItExpires(t *testing.T) {
	_, one, other := shared(t)
	token := signed(t, portaltest.For("s-1").With("iat", ago(time.Hour)))
	a, err := one.Bearer(t.Context(), here, token, "")
	require.NoError(t, err)
	b, err := other.Bearer(t.Context(), here, token, "")
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, "s-1", a.Seller)
	require.Equal(t, a.Session, a.Known, "a caller without a session gets one that stays the same")
	require.Equal(t, a.Session, proof(t, one, link(t, one, portaltest.For("s-1"), "")).Session,
		"a browser of the same seller acts as the same")
}

func TestNamedSessionStandsForTheSellerOnceItIsKept(t *testing.T) {
	_, one, other := shared(t)
	mine := room.NewSession()
	p, err := one.Bearer(t.Context(), here, signed(t, portaltest.For("s-1")), mine)
	require.NoError(t, err)
	require.Equal(t, mine, p.Known)
	_, err = other.Session(t.Context(), here, mine)
	require.ErrorIs(t, err, ErrNotIdentified)
	require.NoError(t, one.Keep(t.Context(), p))
	require.Equal(t, p.Session, proof(t, other, mine).Session)

	_, err = other.Bearer(t.Context(), here, signed(t, portaltest.For("s-2")), mine)
	require.ErrorIs(t, err, room.ErrInvalidSession, "nobody takes over another seller's")
}

// A program may keep one session for all its turns. Without this, one of them would lose its proof in line.
func TestJoinByATokenBeginsTheSessionsHalfDayAnew(t *testing.T) {
	server, s, _ := shared(t)
	mine := room.NewSession()
	joins := func() {
		p, err := s.Bearer(t.Context(), here, signed(t, portaltest.For("s-1")), mine)
		require.NoError(t, err)
		require.NoError(t, s.Keep(t.Context(), p))
	}
	joins()
	key := s.sessionKey(mine)
	require.NoError(t, s.keep(t.Context(), mine, record{Seller: "s-1",
		Until: time.Now().Add(time.Minute).UnixMilli()}))
	require.NoError(t, s.Keep(t.Context(), proof(t, s, mine)))
	require.Less(t, server.Client().PTTL(t.Context(), key).Val(), 2*time.Minute, "a session proves nothing anew")
	joins()
	require.InDelta(t, Kept.Seconds(), server.Client().PTTL(t.Context(), key).Val().Seconds(), 60)
}

func TestProofForOneRoomCountsThereAlone(t *testing.T) {
	_, s, _ := shared(t)
	only := portaltest.For("s-1").With("aud", "integration")
	session := link(t, s, only, "")
	proof(t, s, session)
	_, err := s.Session(t.Context(), "stock", session)
	require.ErrorIs(t, err, ErrNotIdentified)

	there := signed(t, portaltest.For("s-1").With("room", "stock"))
	both, err := s.Link(t.Context(), "stock", there, session)
	require.NoError(t, err)
	proof(t, s, both)
	_, err = s.Session(t.Context(), "stock", both)
	require.NoError(t, err, "the same seller keeps what its browser could do before")

	others, err := s.Link(t.Context(), "stock", signed(t, portaltest.For("s-2").With("room", "stock")), both)
	require.NoError(t, err)
	_, err = s.Session(t.Context(), here, others)
	require.ErrorIs(t, err, ErrNotIdentified, "another seller does not")
	everywhere := link(t, s, portaltest.For("s-1"), "")
	_, err = s.Session(t.Context(), "any", everywhere)
	require.NoError(t, err)
}

func TestSessionStandsForTheSellerHalfADay(t *testing.T) {
	server, s, _ := shared(t)
	session := link(t, s, portaltest.For("s-1"), "")
	left := server.Client().PTTL(t.Context(), s.sessionKey(session)).Val()
	require.InDelta(t, Kept.Seconds(), left.Seconds(), 60)
	require.NoError(t, server.Client().PExpire(t.Context(), s.sessionKey(session), -1).Err())
	r, _ := s.known.Get(s.sessionKey(session))
	r.Until = time.Now().UnixMilli()
	s.known.Add(s.sessionKey(session), r)
	_, err := s.Session(t.Context(), here, session)
	require.ErrorIs(t, err, ErrNotIdentified, "what is over by Redis's clock is not put back")
}

func TestLivingReplicaPutsBackWhatTheStoreLost(t *testing.T) {
	server, one, other := shared(t)
	session := link(t, one, portaltest.For("s-1"), "")
	before := proof(t, one, session)
	require.NoError(t, server.Client().FlushAll(t.Context()).Err())
	require.Equal(t, before, proof(t, one, session))
	require.Equal(t, before, proof(t, other, session), "and so every replica has it")

	require.NoError(t, server.Client().FlushAll(t.Context()).Err())
	fresh := New(Config{Redis: server.Client(), Secrets: [][]byte{secret}, Audiences: []string{"waitroom"}})
	elsewhere := proof(t, fresh, link(t, fresh, portaltest.For("s-1"), ""))
	require.Equal(t, elsewhere.Session, proof(t, one, session).Session,
		"where another one came first, all go by what Redis has")
}

func TestStoreHoldsNoCredential(t *testing.T) {
	server, s, _ := shared(t)
	claims := portaltest.For("s-1")
	session := link(t, s, claims, "")
	keys := server.Client().Keys(t.Context(), "*").Val()
	require.NotEmpty(t, keys)
	for _, key := range keys {
		require.True(t, strings.HasPrefix(key, "{waitroom-seller}:"), key)
		for _, hidden := range []string{session, claims["jti"].(string)} {
			require.NotContains(t, key+server.Client().Get(t.Context(), key).Val(), hidden)
		}
		if key != s.rootName() {
			require.Positive(t, server.Client().PTTL(t.Context(), key).Val(), "%s is there for ever", key)
		}
	}
}

func TestStoreThatIsAwayIsNoRefusal(t *testing.T) {
	server, s, _ := shared(t)
	session := link(t, s, portaltest.For("s-1"), "")
	claims := portaltest.For("s-1")
	server.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // the client tries for seconds
	defer cancel()
	_, err := s.Session(ctx, here, session)
	require.ErrorIs(t, err, room.ErrStore)
	_, err = s.Link(ctx, here, signed(t, claims), "")
	require.ErrorIs(t, err, room.ErrStore)
}

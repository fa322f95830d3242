package server

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestProvenSellersLinkIsForTheSameSellerAlone(t *testing.T) {
	args := proving("--redis-url", redistest.Lent(t).URL())
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	first := comesFromThePortal(t, one.URL(), "s-1")
	requireProblem(t, newSeller(t, one.URL(), "").ask("POST", linkAPI, ""), 401, "not_identified")
	waiting := first.press()
	link := first.link()

	stranger, unknown := comesFromThePortal(t, other.URL(), "s-2"), newReader(t, other.URL())
	const another, nobody = "다른 판매자의 링크예요", "누구인지 확인되지 않았어요"
	requireErrorPage(t, stranger.ask("GET", link, ""), 200, another)
	requireErrorPage(t, stranger.submit(link), 403, another)
	requireErrorPage(t, unknown.ask("GET", link, ""), 200, nobody)
	requireErrorPage(t, unknown.submit(link), 401, nobody)
	require.Nil(t, stranger.status().json["me"])

	here := first.stays()
	next(t, here)
	second := newReader(t, other.URL())
	requireState(t, second.ask("GET", roomPage+"?token="+token(t, portaltest.For("s-1")), ""), "locked")
	requireState(t, second.submit(link), "locked")
	untilNotice(t, here, "joined_device")
	requireState(t, second.submit(link), "locked")
	require.Equal(t, waiting.number("ticket"), second.status().me().number("ticket"))
	third := newReader(t, one.URL())
	requireState(t, third.ask("GET", roomPage+"?token="+token(t, portaltest.For("s-1")), ""), "locked")
	requireErrorPage(t, third.submit(link), 404, noLink)
}

func TestNothingShowsASessionOrATokenOfALink(t *testing.T) {
	var log testproc.Log
	server := redistest.Start(t)
	made, err := New(t.Context(), config(t, "--redis-url", server.URL()),
		slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.NoError(t, err)
	r := run(t, made)
	first := newReader(t, r.URL())
	first.submit(roomPage+"/join", "seller_id", "s-1")
	answer := first.ask("POST", linkAPI+"?qr=true", "")
	at, err := url.Parse(answer.text("url"))
	require.NoError(t, err)
	link, owner := at.Path, first.cookies()
	secret := link[strings.LastIndex(link, "/")+1:]

	second := newReader(t, r.URL())
	shown := answer.body + second.ask("GET", link, "").body + second.submit(link).body + second.ask("GET",
		link+"/x", "").body
	there := second.stays()
	for _, method := range []string{"POST", "DELETE"} {
		shown += second.ask(method, lockPath, `{"seller_id":"s-1"}`, asJSON, jsonType).body
	}
	shown += second.status().body + second.ask("GET", roomPage, "").body
	for frame := map[string]any{}; frame["status"] != "ended"; {
		frame = next(t, there)
		for _, value := range frame {
			require.NotEqual(t, owner, value)
		}
	}
	require.NotContains(t, shown, owner)
	metrics := second.ask("GET", "/metrics", "").body
	require.Contains(t, metrics, `route="/rooms/:room/link/:token"`)
	require.Contains(t, log.String(), roomPage+"/link/***")
	for _, hidden := range []string{secret, owner, second.cookies()} {
		require.NotContains(t, log.String(), hidden)
		require.NotContains(t, metrics, hidden)
	}
	keys := server.Client().Keys(t.Context(), "{waitroom-link}*").Val()
	require.NotEmpty(t, keys)
	for _, key := range keys {
		held := key + server.Client().Dump(t.Context(), key).Val()
		for _, hidden := range []string{secret, owner, second.cookies()} {
			require.NotContains(t, held, hidden)
		}
	}
}

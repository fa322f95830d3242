package server

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// Two sellers use two windows of one browser. They share its cookie, which has the session of the later one.
func TestPageOfOneSellerDoesNothingForAnother(t *testing.T) {
	r := start(t, config(t, proving("--redis-url", redistest.Lent(t).URL())...))
	holder := comesFromThePortal(t, r.URL(), "holder")
	holder.press()
	browser := comesFromThePortal(t, r.URL(), "s-1")
	browser.press()
	browser.submit(roomPage+"/arrive", "token", token(t, portaltest.For("s-2")))
	browser.press()

	first, second := hex.EncodeToString([]byte("s-1")), hex.EncodeToString([]byte("s-2"))
	for _, call := range [][2]string{{"POST", lockPath}, {"DELETE", lockPath}, {"POST", lockPath + "/expect"},
		{"POST", lockPath + "/claim"}, {"POST", lockPath + "/reject"}, {"POST", lockPath + "/push"},
		{"POST", linkAPI}, {"GET", lockPath + "/status"}, {"GET", messagesPath}} {
		requireProblem(t, browser.ask(call[0], call[1],
			`{"seller_id":"s-1","fence":1,"message_id":"m","endpoint":"https://push.example/x","keys":{"p256dh":"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM","auth":"tBHItJI5svbpez7KI4CCXg"}}`, asJSON, jsonType, "X-Page-Seller", first), 403, "seller_changed")
	}
	for _, form := range []string{"/leave", "/join", "/expect"} {
		shown := browser.submit(roomPage+form, "confirm", "yes", "page_seller", "s-1", "seller_id", "s-1", "fence",
			"1")
		requireState(t, shown, "waiting")
		require.Contains(t, shown.body, "다른 판매자로 들어왔어요")
	}
	forbidden := open(t, r.URL(), "Cookie", "waitroom_session="+browser.cookies(), "Origin", r.URL(),
		"Sec-WebSocket-Protocol", "waitroom.seller."+first)
	require.EqualValues(t, 4502, closing(t, forbidden))
	for _, seller := range []string{"s-1", "s-2"} {
		require.Equal(t, "waiting", comesBack(t, r.URL(), seller).status().me().text("status"))
	}

	own := open(t, r.URL(), "Cookie", "waitroom_session="+browser.cookies(), "Origin", r.URL(),
		"Sec-WebSocket-Protocol", "waitroom.seller."+second)
	require.EqualValues(t, 3, next(t, own)["ticket"])
	require.Equal(t, "left", browser.ask("DELETE", lockPath, "", "X-Page-Seller", second).text("status"))
}

// comesBack returns another browser of a seller, who may have a place.
func comesBack(t *testing.T, base, id string) *seller {
	t.Helper()
	s := newReader(t, base)
	require.Equal(t, 200, s.ask("GET", roomPage+"?token="+token(t, portaltest.For(id)), "").StatusCode)
	return s
}

package support_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/support"
)

func (f *fakeDesk) find(t *testing.T, h http.Handler, text string) (status int, location, page string) {
	t.Helper()
	w := f.call(t, h, "park", "GET", "/support/-/find?lang=en&q="+url.QueryEscape(text), "")
	return w.Code, w.Header().Get("Location"), w.Body.String()
}

func TestSearchOpensTheTimelineOfTheSellerThatAloneIsMeant(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	one := templates.FoundSeller{Seller: "가게/1", Room: "integration", At: 1000}
	for name, c := range map[string]struct {
		sellers support.FoundSellers
		opens   bool
	}{
		"the id itself, and others that begin so": {support.FoundSellers{List: []templates.FoundSeller{one,
			{Seller: "other"}}, Exact: true}, true},
		"the only one": {support.FoundSellers{List: []templates.FoundSeller{one}},
			true},
		"one that is only similar": {support.FoundSellers{List: []templates.FoundSeller{one},
			Near: true}, false},
		"the only one while the ledger is away": {support.FoundSellers{List: []templates.FoundSeller{one},
			Partial: true}, false},
		"two": {support.FoundSellers{List: []templates.FoundSeller{one,
			{Seller: "other"}}}, false},
	} {
		f.sellers = c.sellers
		status, location, page := f.find(t, h, " 가게 ")
		require.Equal(t, "가게", f.sought, name)
		if c.opens {
			require.Equal(t, http.StatusSeeOther, status, name)
			require.Equal(t, "/support/-/sellers/"+url.PathEscape(one.Seller), location, name)
			continue
		}
		require.Equal(t, http.StatusOK, status, name)
		require.Contains(t, page, `href="/support/-/sellers/`+url.PathEscape(one.Seller)+`" autofocus`, name)
		require.Equal(t, c.sellers.Near, strings.Contains(page, "These are similar"), name)
		require.Equal(t, c.sellers.Partial, strings.Contains(page, `id="partial"`), name)
	}
}

func TestSearchFindsRoomsByWhatTheyAreCalled(t *testing.T) {
	f := newFakeDesk()
	f.active = []room.ID{"stock:1", "stock:2", "integration"}
	h := deskHandlerWith(t, f, func(c *web.Config) {
		c.Info = func(id room.ID, _ string) templates.RoomInfo {
			if id == "stock:1" {
				return templates.RoomInfo{Name: "Coupang", Phone: "010-1234-5678",
					Marketplace: templates.MarketplaceInfo{Name: "Wing"}}
			}
			return templates.RoomInfo{}
		}
	})
	for _, text := range []string{"coupang", "0101234", "wing", "STOCK:1"} {
		status, location, _ := f.find(t, h, text)
		require.Equal(t, http.StatusSeeOther, status, text)
		require.Equal(t, "/support/stock:1", location, text)
	}
	status, _, page := f.find(t, h, "stock")
	require.Equal(t, http.StatusOK, status)
	for _, part := range []string{`href="/support/stock:1" autofocus translate="no">Coupang`,
		"stock:1 · 010-1234-5678 · Wing", `href="/support/stock:2"`} {
		require.Contains(t, page, part)
	}
	f.sellers = support.FoundSellers{List: []templates.FoundSeller{{Seller: "stock-keeper"}}, Exact: true}
	status, _, page = f.find(t, h, "stock:1")
	require.Equal(t, http.StatusOK, status, "a seller and a room: a person has to choose")
	require.Contains(t, page, "stock-keeper")
}

func TestSearchSaysWhereNothingIsFoundAndWhereItCanNotLook(t *testing.T) {
	f := newFakeDesk()
	h := deskHandler(t, f)
	status, _, page := f.find(t, h, "<b>")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, `No seller or room matches “<bdi translate="no">&lt;b&gt;</bdi>”`)
	require.Contains(t, page, `value="&lt;b&gt;"`, "it can be corrected")
	f.sought = ""
	status, _, page = f.find(t, h, "  ")
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, f.sought)
	require.NotContains(t, page, `id="empty"`)
	_, _, _ = f.find(t, h, strings.Repeat("가", 1000))
	require.Equal(t, strings.Repeat("가", 128), f.sought)
	f.lost = problem.Refusal("ledger_unavailable")
	status, _, page = f.find(t, h, "a")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, `id="page-error"`)
	f.lost, f.away = nil, room.ErrStore
	status, _, page = f.find(t, h, "a")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, page, `id="page-error"`)
	w := f.call(t, h, "", "GET", "/support/-/find?q=a", "")
	require.Equal(t, http.StatusSeeOther, w.Code, "nobody is signed in")
	require.Contains(t, w.Header().Get("Location"), "sign-in")
}

//go:build long

package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// portalSite is a portal on a site of its own. Its page ?seller=…&to=… redirects to the room with a fresh
// token for that seller.
func portalSite(t *testing.T) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claims := portaltest.For(r.URL.Query().Get("seller"))
		http.Redirect(w, r, r.URL.Query().Get("to")+roomPage+"?token="+token(t, claims), http.StatusFound)
	}))
	t.Cleanup(site.Close)
	return "http://localhost:" + site.URL[len("http://127.0.0.1:"):]
}

// arrive opens the room through the portal.
func arrive(t *testing.T, ctx context.Context, portal, base, seller string) page {
	t.Helper()
	p := openPage(t, ctx, portal+"/?seller="+seller+"&to="+base)
	p.is(`location.href === "` + base + roomPage + `"`)
	return p
}

func TestSellerComesFromThePortalInTwoBrowsers(t *testing.T) {
	args := proving("--redis-url", redistest.Lent(t).URL(), "--sms-quarantine", "0s")
	one, other := start(t, config(t, args...)), start(t, config(t, args...))
	portal := portalSite(t)
	holder := comesFromThePortal(t, one.URL(), "s-1")
	holder.press()

	browser := browsertest.New(t)
	browsertest.AllowErrors(browser, "401")
	first := arrive(t, browser, portal, one.URL(), "s-2")
	first.state("idle")
	first.is(`document.body.innerText.includes("s-2 판매자로") && document.querySelector("#seller-id").type === "hidden"`)
	first.is(`!document.referrer.includes("token") && !performance.getEntries().some((e) => e.name.includes("token="))`)
	first.picture("proven", false)
	first.press("#join")
	first.state("waiting")
	mine := `document.body.dataset.state === "waiting" && document.body.innerText.includes("대기 번호 2") && document.body.innerText.includes("s-2 판매자로")`
	first.is(mine)
	require.NoError(t, chromedp.Do(browser, chromedp.Reload()))
	first.is(mine)

	second := arrive(t, browsertest.Isolated(t, browser), portal, other.URL(), "s-2")
	second.is(mine)
	holder.leave("?reason=completed")
	first.state("locked")
	second.state("locked")
	second.press("#cancel")
	second.press("#leave-confirm")
	first.state("ended")
	second.state("ended")

	stranger := browsertest.Isolated(t, browser)
	lost := openPage(t, stranger, one.URL()+roomPage)
	lost.is(`document.body.innerText.includes("판매자 포털에서 다시 들어와 주세요") && !document.querySelector("#join")`)
	lost.picture("unproven", true)
	used := token(t, portaltest.For("s-3").With("jti", "once"))
	require.Equal(t, http.StatusOK, newReader(t, one.URL()).ask("GET", roomPage+"?token="+used, "").StatusCode)
	require.NoError(t, chromedp.Do(stranger, chromedp.Navigate(one.URL()+roomPage+"?token="+used)))
	lost.is(`document.body.innerText.includes("이미 쓴 링크예요")`)
	lost.is(`performance.getEntriesByType("resource").every((e) => !e.name.includes("token"))`)
	lost.picture("used", false)
}

//go:build long

package server

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

// slash presses the key until the cursor is in the search field, since the page's script may load a little
// later.
const slash = `document.activeElement.id === "find" || (document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true })), false)`

// Support finds a seller among 400,000 places in 5,000 rooms by five keys and Enter, from any page.
func TestAgentFindsACallerInTheLedgerOfAYear(t *testing.T) {
	cfg := config(t, append(supportArgs(t), "--redis-url", redistest.Lent(t).URL())...)
	db, err := sql.Open("sqlite", strings.TrimPrefix(string(cfg.DatabaseURL), "sqlite:"))
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO timeline (room, epoch, entry, n, at, kind, ticket, seller)
		WITH RECURSIVE lines (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM lines WHERE i < 399999)
		SELECT 'room:' || (i % 5000), 1, 'e-' || i, 0, $1 + i * 60000, 'joined', i, 'Seller-' || (i % 40000) FROM lines`,
		time.Now().Add(-300*24*time.Hour).UnixMilli()) // the retention takes none of it
	require.NoError(t, err)
	require.NoError(t, db.Close())
	r := start(t, cfg)
	agent := agentPage(t, page{t, browsertest.Page(t)}, r.URL())
	newSeller(t, r.URL(), "seller-waits").join()
	for _, call := range []struct{ from, text, leads string }{
		{"/support", "seller31234", "/support/-/sellers/Seller-31234"},
		{"/support/integration", "SELLER-WAITS", "/support/-/sellers/seller-waits"},
		{"/support/-/audit", "9999", "/support/-/find"},
		{"/support/-/sellers/Seller-7", "Seller-39999", "/support/-/sellers/Seller-39999"},
	} {
		require.NoError(t, chromedp.Do(agent.ctx, chromedp.Navigate(r.URL()+call.from)))
		began := time.Now()
		agent.is(slash)
		require.NoError(t, chromedp.Do(agent.ctx, chromedp.KeyEvent(call.text), chromedp.KeyEvent(kb.Enter)))
		agent.leads(call.leads)
		agent.is(`document.querySelector("#answer, #sellers")`)
		t.Logf("from %s to %s: %s", call.from, call.leads, time.Since(began))
	}
	agent.is(slash)
	require.NoError(t, chromedp.Do(agent.ctx, chromedp.KeyEvent("selelr-31234"), chromedp.KeyEvent(kb.Enter)))
	agent.leads("/support/-/find")
	agent.is(`document.activeElement.textContent === "Seller-31234"`)
	require.NoError(t, chromedp.Do(agent.ctx, chromedp.KeyEvent(kb.Enter)))
	agent.leads("/support/-/sellers/Seller-31234")
}

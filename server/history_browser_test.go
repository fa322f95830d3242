package server

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
)

// remember writes ten leases of each of the last days about this hour, held for 30 s and 60 s.
func (r *replica) remember(t *testing.T, days int) {
	t.Helper()
	for day := 1; day <= days; day++ {
		for i := range int64(10) {
			at := time.Now().Add(-time.Duration(day)*24*time.Hour).UnixMilli() + i*60_000
			_, err := r.db.SQL().ExecContext(t.Context(), `INSERT INTO leases (room, fence, epoch, ticket, seller,
				granted_at, expires_at, ended_at, outcome) VALUES ('integration', ?, 1, ?, 's', ?, ?, ?, 'completed')`,
				int64(day)*100+i, int64(day)*100+i, at, at+120_000, at+30_000+i%2*30_000)
			require.NoError(t, err)
		}
	}
}

// fill fills a room: one seller holds the lock, n wait.
func fill(t *testing.T, r *replica, n int) (holder *seller) {
	t.Helper()
	holder = newSeller(t, r.URL(), "holder")
	holder.join()
	for i := range n {
		newSeller(t, r.URL(), fmt.Sprint("waiter-", i)).join()
	}
	return holder
}

// A room without leases of its own, such as after a start with the embedded Redis, has those of its ledger.
func TestANewcomersFirstEstimateComesFromTheRoomsHistory(t *testing.T) {
	r := start(t, config(t, "--places-per-ip", "0"))
	r.remember(t, 2)
	holder := fill(t, r, 7)
	p := openPage(t, browsertest.New(t), r.URL())
	p.is(`document.querySelector("#newcomer-estimate").textContent.match(/^지금 줄 서면 약 [56]분 뒤 차례예요$/)`)
	p.join("newcomer")
	p.state("waiting")
	estimate := func() (text string) {
		t.Helper()
		text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](
			`document.querySelector("#estimate").textContent + " / " + document.querySelector("#latest").textContent`))
		require.NoError(t, err)
		return text
	}
	first := regexp.MustCompile("^보통 3–\u2060[89]분 뒤 차례예요 / 늦어도 1[56]분$") // by how old the lease is
	require.Regexp(t, first, estimate())
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Reload()))
	p.is(`document.body.dataset.connection === "open"`)
	require.Regexp(t, first, estimate())

	holder.leave("") // at once: a lease of nearly nothing
	p.is(`document.querySelector("#position").textContent.trim() === "7"`)
	require.Regexp(t, "^보통 2–\u20606분 뒤 차례예요 / 늦어도 1[34]분$", estimate(), "the room has learned a little")
}

func TestAPageOfARoomWhoseLedgerIsAwayHasTheCeiling(t *testing.T) {
	r := start(t, config(t, "--places-per-ip", "0"))
	r.remember(t, 2)
	fill(t, r, 7)
	require.NoError(t, r.db.Close())
	b := newReader(t, r.URL())
	b.ask("GET", "/", "")
	page := b.submit("/rooms/integration/join", "seller_id", "newcomer")
	requireState(t, page, "waiting")
	require.Contains(t, page.body, "길어도 16분, 보통 더 빨라요")
}

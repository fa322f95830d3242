//go:build long

package server

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func (p page) lifecycle(state cdppage.SetWebLifecycleStateState) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.SetWebLifecycleState, cdppage.SetWebLifecycleStateParams{State: state})
		return err
	})))
}

func TestPageThatSleepsThroughItsTurnCostsTheNextOneTheTimeToClaim(t *testing.T) {
	r := start(t, config(t, append(supportArgs(t), "--redis-url", redistest.Lent(t).URL(), "--claim-within",
		"2s")...))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	a.join()
	asleep := openPage(t, browsertest.Isolated(t, browsertest.New(t)), r.URL())
	asleep.join("s-1")
	asleep.state("waiting")
	require.Equal(t, http.StatusAccepted, b.join().StatusCode)
	asleep.lifecycle(cdppage.SetWebLifecycleStateStateFrozen)
	turn := open(t, r.URL(), "X-Session-ID", b.session)
	a.leave("?reason=completed")
	until(t, turn, "locked")

	kim := newAgent(t, r.URL(), "kim")
	missed := func(r reply) map[string]any {
		leases := r.list("leases")
		if len(leases) < 3 {
			return nil
		}
		return leases[1].(map[string]any)
	}
	lease := missed(kim.history("", func(r reply) bool { return missed(r)["outcome"] != nil }))
	require.Equal(t, "unclaimed", lease["outcome"])
	require.Equal(t, 2*time.Second, moment(t,
		lease["ended_at"].(string)).Sub(moment(t, lease["granted_at"].(string))), "by Redis's clock")
}

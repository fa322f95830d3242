package server

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// portal receives webhooks; it refuses those about one ticket.
type portal struct {
	mu       sync.Mutex
	near     []string // sellers with their positions, in order
	granted  []string
	refuses  int64
	refusals int
}

func (p *portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = described.Webhook(r.Header, body)
	}
	var e struct {
		Type string
		Data struct {
			Ticket   int64
			Seller   string `json:"seller_id"`
			Position int    `json:"queue_position"`
		}
	}
	_ = json.Unmarshal(body, &e)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case e.Type == "place.near" && e.Data.Ticket == p.refuses:
		p.refusals++
		w.WriteHeader(http.StatusInternalServerError)
	case e.Type == "place.near":
		p.near = append(p.near, fmt.Sprint(e.Data.Seller, " ", e.Data.Position))
	case e.Type == "lock.granted":
		p.granted = append(p.granted, e.Data.Seller)
	}
}

// until waits until the portal fulfils a condition.
func (p *portal) until(t *testing.T, is func() bool) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !is() {
			return fmt.Errorf("near %v, granted %v, %d refusals", p.near, p.granted, p.refusals)
		}
		return nil
	})
}

// The tokens of the sellers say how the portal can reach them.
func TestSellerChoosesWhetherThePortalSendsAMessage(t *testing.T) {
	p := &portal{}
	hooks := httptest.NewServer(p)
	t.Cleanup(hooks.Close)
	store := redistest.Start(t)
	r := start(t, config(t, proving("--redis-url", store.URL(), "--webhook-url", hooks.URL, "--webhook-secret", smsSecret, "--webhook-near",
		"9")...))
	comes := func(id string, way any) *seller {
		s := newReader(t, r.URL())
		page := s.ask("GET", roomPage+"?token="+token(t, portaltest.For(id).With("reach", way)), "")
		requireState(t, page, "idle")
		require.Equal(t, way != nil, strings.Contains(page.body, "reach-form"))
		require.Less(t, s.press().StatusCode, 300)
		return s
	}
	comes("s-1", nil)
	comes("s-2", "카카오톡")
	third := comes("s-3", "카카오톡 010-****-5678")
	comes("s-4", nil)
	p.until(t, func() bool { return slices.Contains(p.near, "s-4 3") })
	require.Equal(t, []string{"s-4 3"}, p.near, "it never had the choice; the others have not chosen")

	choose := func(body string) reply {
		return third.ask(http.MethodPost, lockPath+"/reach", body, append([]string{"X-Page-Seller",
			hex.EncodeToString([]byte("s-3"))}, jsonHeader...)...)
	}
	require.Equal(t, `{"status":"chosen","wants":true}`, strings.TrimSpace(choose(`{"wants":true}`).body))
	p.until(t, func() bool { return slices.Contains(p.near, "s-3 2") })
	require.Contains(t, third.ask("GET", roomPage, "").body, "카카오톡 010-****-5678")
	requireProblem(t, choose(`{"wants":1}`), http.StatusBadRequest, "invalid_json")
	requireProblem(t, choose(`{}`), http.StatusBadRequest, "invalid_json")
	requireProblem(t, third.ask(http.MethodPost, lockPath+"/reach", `wants=true`), http.StatusUnsupportedMediaType,
		"unsupported_media_type")
	requireProblem(t, newSeller(t, r.URL(), "x").ask(http.MethodPost, lockPath+"/reach", `{"wants":true}`,
		jsonHeader...), http.StatusUnauthorized, "not_identified")

	// the form of a browser without JavaScript
	form := third.ask(http.MethodPost, roomPage+"/reach", "wants=false&page_seller=s-3", "Content-Type",
		"application/x-www-form-urlencoded", "Origin", r.URL())
	require.Less(t, form.StatusCode, 400, form.body)
	page := third.ask("GET", roomPage, "").body
	require.Contains(t, page, `name="wants" value="true"`, "it may be turned on again")
	require.Equal(t, []string{"s-4 3", "s-3 2"}, p.near)

	store.Kill()
	requireProblem(t, choose(`{"wants":true}`), http.StatusServiceUnavailable, "store_unavailable")
}

// Two replicas share the rooms and the ledger.
func TestPortalReceivesOnceThatATurnIsNear(t *testing.T) {
	p := &portal{refuses: 5}
	hooks := httptest.NewServer(p)
	t.Cleanup(hooks.Close)
	store := redistest.Lent(t).URL()
	args := []string{"--redis-url", store, "--webhook-url", hooks.URL, "--webhook-secret", smsSecret,
		"--webhook-near", "1"}
	cfg := config(t, args...)
	one, other := start(t, cfg), start(t, cfg)
	var sellers []*seller
	for i, base := range []string{one.URL(), other.URL(), one.URL(), other.URL(), one.URL(), other.URL()} {
		s := newSeller(t, base, fmt.Sprint("s-", i+1))
		s.join()
		sellers = append(sellers, s)
	}
	done := func(i int) {
		t.Helper()
		got := sellers[i].ask(http.MethodDelete, lockPath+"?reason=completed", "")
		require.Equal(t, http.StatusOK, got.StatusCode, got.body)
	}
	sorted := func(want ...string) func() bool {
		return func() bool {
			slices.Sort(p.near)
			return slices.Equal(p.near, want)
		}
	}
	p.until(t, sorted("s-2 1", "s-3 2"))
	done(0)
	p.until(t, sorted("s-2 1", "s-3 2", "s-4 2"))
	done(1)
	p.until(t, func() bool { return p.refusals > 0 }) // the fifth seller's event
	done(2)
	p.until(t, sorted("s-2 1", "s-3 2", "s-4 2", "s-6 2"))
	done(3)
	p.until(t, func() bool { return slices.Contains(p.granted, "s-5") })
	p.mu.Lock()
	p.refuses = 0
	p.mu.Unlock()
	done(4)
	p.until(t, func() bool { return slices.Contains(p.granted, "s-6") })
	testproc.Until(t, patience, func() error { // the event is dropped, as its place waits no more
		counts, err := one.tasks.Count(t.Context(), "webhook")
		if err == nil && counts.Pending > 0 {
			err = fmt.Errorf("%d events are not delivered", counts.Pending)
		}
		return err
	})
	require.Equal(t, []string{"s-2 1", "s-3 2", "s-4 2", "s-6 2"}, p.near)
}

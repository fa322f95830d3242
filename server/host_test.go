package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestAnotherSitesNameLeadsToNothing(t *testing.T) {
	embedded := start(t, config(t))
	public := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--public-url", "https://wait.example"))
	private := start(t, config(t, "--redis-url", redistest.Lent(t).URL()))
	for _, one := range []struct {
		name    string
		r       *replica
		host    string
		refused bool
	}{
		{"embedded, as it is called", embedded, "", false},
		{"embedded, localhost", embedded, "localhost:8080", false},
		{"embedded, another site", embedded, "evil.example:8080", true},
		{"public, as it is called", public, "wait.example", false},
		{"public, by address", public, "", true},
		{"public, another site", public, "evil.example", true},
		{"with nothing set", private, "evil.example", false},
	} {
		s := newSeller(t, one.r.URL(), "a")
		s.host = one.host
		for _, got := range []reply{s.join(), s.ask(http.MethodGet, lockPath+"/status", ""),
			s.ask(http.MethodGet, "/api/integration/ws", ""),
			s.ask(http.MethodGet, "/support/sign-in", "", "Accept", "application/json")} {
			if one.refused {
				requireProblem(t, got, http.StatusMisdirectedRequest, "wrong_host")
			} else {
				require.NotEqual(t, http.StatusMisdirectedRequest, got.StatusCode, one.name)
			}
		}
		if one.refused {
			page := s.ask(http.MethodGet, "/", "", "Accept", "text/html")
			require.Equal(t, http.StatusMisdirectedRequest, page.StatusCode, one.name)
			require.Contains(t, page.body, "이 주소로는 대기실을 열\u00a0수 없어요")
		}
		readiness(t, s, http.StatusOK) // as soon as it has begun to hear of the rooms
		for _, probed := range []string{"/healthz", "/metrics"} {
			require.Equal(t, http.StatusOK, s.ask(http.MethodGet, probed, "").StatusCode, "%s: %s", one.name, probed)
		}
	}
}

func TestBrowserThatCameByHTTPSComesByNothingElse(t *testing.T) {
	const header = "Strict-Transport-Security"
	store := redistest.Lent(t)
	trusting := newSeller(t, start(t, config(t, "--redis-url", store.URL(), "--trusted-proxies",
		"127.0.0.1")).URL(), "a")
	require.Equal(t, "max-age=31536000", trusting.ask(http.MethodGet, "/", "", "X-Forwarded-Proto",
		"https").Header.Get(header))
	require.Empty(t, trusting.ask(http.MethodGet, "/", "").Header.Get(header))
	plain := newSeller(t, start(t, config(t, "--redis-url", store.URL())).URL(), "a")
	require.Empty(t, plain.ask(http.MethodGet, "/", "", "X-Forwarded-Proto", "https").Header.Get(header),
		"anybody can say that")
	public := newSeller(t, start(t, config(t, "--redis-url", store.URL(), "--public-url",
		"https://wait.example")).URL(), "a")
	public.host = "wait.example"
	require.Equal(t, "max-age=31536000; includeSubDomains",
		public.ask(http.MethodGet, "/", "").Header.Get(header))
}

func TestMetricsAreWhereTheyAreSetToBeAndNowhereElse(t *testing.T) {
	r := start(t, config(t, "--metrics-addr", "127.0.0.1:0"))
	s := newSeller(t, r.URL(), "a")
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/metrics", "").StatusCode)
	apart := newSeller(t, "http://"+r.Server.metrics.listener.Addr().String(), "a")
	got := apart.ask(http.MethodGet, "/metrics", "")
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Contains(t, got.body, "waitroom_http_requests_total")
	require.Equal(t, http.StatusNotFound, apart.ask(http.MethodGet, "/", "").StatusCode)
	_, err := New(t.Context(), config(t, "--metrics-addr", r.Addr()), r.log)
	require.ErrorContains(t, err, "WAITROOM_METRICS_ADDR (--metrics-addr)")
	require.NoError(t, r.stop(t))
	_, err = apart.http.Get(apart.base + "/metrics")
	require.Error(t, err)
}

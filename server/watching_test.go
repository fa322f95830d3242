package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

const deployed = "../deploy/"

// scrape is the content of /metrics: the values of each metric, by its labels.
type scrape map[string]map[string][]string

var (
	scrapeLine  = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	scrapeLabel = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
)

func (m scrape) add(exposition string) {
	for _, line := range scrapeLine.FindAllStringSubmatch(exposition, -1) {
		if m[line[1]] == nil {
			m[line[1]] = map[string][]string{}
		}
		for _, l := range scrapeLabel.FindAllStringSubmatch(line[2], -1) {
			m[line[1]][l[1]] = append(m[line[1]][l[1]], l[2])
		}
	}
}

// query is a PromQL expression of a dashboard or an alert, with the legend of its series.
type query struct{ of, expr, legend string }

type rule struct {
	Alert, Expr string
	Labels      map[string]string
	Annotations map[string]string
}

func alertRules(t *testing.T) (all []rule) {
	t.Helper()
	text, err := os.ReadFile(deployed + "prometheus/alerts.yaml")
	require.NoError(t, err)
	var file struct {
		Groups []struct{ Rules []rule }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

func dashboardQueries(t *testing.T) (all []query) {
	t.Helper()
	text, err := os.ReadFile(deployed + "grafana/waitroom.json")
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	require.NoError(t, json.Unmarshal(text, &board))
	seen := map[int]bool{}
	for _, p := range board.Panels {
		require.False(t, seen[p.ID], "two panels have the id %d", p.ID)
		seen[p.ID] = true
		for _, target := range p.Targets {
			all = append(all, query{"panel " + p.Title, target.Expr, target.LegendFormat})
		}
	}
	for _, v := range board.Templating.List {
		all = append(all, query{of: "variable", expr: v.Definition})
	}
	require.NotEmpty(t, all)
	return all
}

var (
	selector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)\s*(=~|!=|!~|=)\s*"([^"]*)"`)
	grouping = regexp.MustCompile(`(?:by|on|without)\s*\(([^)]*)\)`)
	spanned  = regexp.MustCompile(`\[[^\]]*\]|offset \w+`)
	legended = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
)

// language has the words of PromQL and Grafana; every other word in a query is a metric's name.
var language = strings.Fields(`sum min max count rate increase changes histogram_quantile vector label_values and or unless by on time`)

// scraped has the labels that Prometheus adds to every series, and those of histogram buckets.
var scraped = []string{"job", "instance", "le"}

// blackbox begins the metrics of Prometheus's blackbox exporter.
const blackbox = "probe_"

// check compares one query with the scrape.
func (m scrape) check(t *testing.T, q query) {
	t.Helper()
	expr := grouping.ReplaceAllString(spanned.ReplaceAllString(q.expr, ""), "")
	expr = strings.TrimSuffix(expr, ", rooms)") // of label_values
	labels := slices.Clone(scraped)
	for _, s := range selector.FindAllStringSubmatch(expr, -1) {
		name := s[1]
		if slices.Contains(language, name) || name == "up" || strings.HasPrefix(name, blackbox) {
			continue
		}
		require.Contains(t, m, name, "%s asks for a metric that the server does not export: %s", q.of, q.expr)
		for label := range m[name] {
			labels = append(labels, label)
		}
		for _, by := range matcher.FindAllStringSubmatch(s[2], -1) {
			if slices.Contains(scraped, by[1]) {
				continue
			}
			values := m[name][by[1]]
			require.NotEmpty(t, values, "%s: %s has no label %s", q.of, name, by[1])
			if by[2] == "=" {
				require.Contains(t, values, by[3], "%s: %s never has %s=%q", q.of, name, by[1], by[3])
			}
		}
	}
	for _, by := range grouping.FindAllStringSubmatch(q.expr, -1) {
		for label := range strings.SplitSeq(by[1], ",") {
			if label = strings.TrimSpace(label); label != "" {
				require.Contains(t, labels, label, "%s: %s", q.of, q.expr)
			}
		}
	}
	for _, l := range legended.FindAllStringSubmatch(q.legend, -1) {
		require.Contains(t, labels, l[1], "%s: %s", q.of, q.legend)
	}
}

// has reports whether one of a metric's labels has a value.
func (m scrape) has(metric, value string) bool {
	for _, values := range m[metric] {
		if slices.Contains(values, value) {
			return true
		}
	}
	return false
}

// exercised returns the metrics of real servers on which every series has been made.
func exercised(t *testing.T) scrape {
	t.Helper()
	refuses := atomic.Bool{}
	refuses.Store(true)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuses.Swap(false) {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(hook.Close)
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--rooms", "integration,stock:*",
		"--rooms-file", roomsFile(t, "{}"), "--places-per-ip", "3",
		"--sms-webhook-secret", smsSecret, "--webhook-url", hook.URL, "--webhook-secret", smsSecret))
	a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
	granted := moment(t, a.join().text("granted_at"))
	next(t, open(t, r.URL(), "X-Session-ID", a.session))
	b.join()
	newSeller(t, r.URL(), "c").joinRoom("stock:1", "")
	require.Equal(t, http.StatusTooManyRequests, newSeller(t, r.URL(), "d").join().StatusCode)
	require.Equal(t, http.StatusOK, carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", granted).StatusCode)
	require.Equal(t, http.StatusOK, carrier(t, r.URL(), "m-1", "인증번호는 [111111] 입니다", granted).StatusCode,
		"an incident")
	require.Equal(t, http.StatusUnauthorized,
		newSeller(t, r.URL(), "").ask(http.MethodPost, "/api/integration/sms", `{}`).StatusCode)

	portal := portaltest.Start(t)
	portal.Fail(http.StatusInternalServerError)
	jwks := start(t, config(t, "--seller-auth", "jwt", "--seller-jwks-url", portal.URL))
	key := portaltest.NewKey(t, "k-1", jwt.SigningMethodES256)
	bearer := func() int {
		return newSeller(t, jwks.URL(), "").ask(http.MethodPost, lockPath, `{}`, "Content-Type", "application/json",
			"Authorization", "Bearer "+key.Token(t, portaltest.For("s-1"))).StatusCode
	}
	require.NotEqual(t, http.StatusOK, bearer())
	portal.Serve(key)
	require.Less(t, bearer(), http.StatusInternalServerError)

	m := scrape{}
	testproc.Until(t, patience, func() error {
		for _, base := range []string{r.URL(), jwks.URL()} {
			m.add(newSeller(t, base, "").ask(http.MethodGet, "/metrics", "").body)
		}
		for metric, values := range map[string][]string{"waitroom_outbox_attempts_total": {"failed", "ok"},
			"waitroom_ledger_incidents_total": {"message_id_reused"}, "waitroom_ledger_judged_total": {"agreed"}} {
			for _, value := range values {
				if !m.has(metric, value) {
					return fmt.Errorf("%s has %v", metric, m[metric])
				}
			}
		}
		if len(m["waitroom_outbox_tasks"]) == 0 {
			return fmt.Errorf("outbox: %v", m["waitroom_outbox_tasks"])
		}
		return nil
	})
	return m
}

func TestEveryMetricOfTheDashboardAndTheAlertsIsExported(t *testing.T) {
	m := exercised(t)
	require.Equal(t, []string{"integration", "stock:*"},
		slices.Compact(slices.Sorted(slices.Values(m["waitroom_line_waiting"]["rooms"]))))
	for _, q := range dashboardQueries(t) {
		m.check(t, q)
	}
	for _, r := range alertRules(t) {
		m.check(t, query{of: r.Alert, expr: r.Expr})
	}
}

// series returns the names of the metrics in a query.
func (q query) series() (names []string) {
	for _, s := range selector.FindAllStringSubmatch(grouping.ReplaceAllString(spanned.ReplaceAllString(q.expr,
		""), ""), -1) {
		if !slices.Contains(language, s[1]) && strings.Contains(s[1], "_") {
			names = append(names, s[1])
		}
	}
	return names
}

// An empty panel looks broken, and hides the first event, since a rate needs two samples.
func TestNoPanelOfTheDashboardIsEmptyWhileAllIsWell(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	r := start(t, config(t, "--redis-url", redistest.Lent(t).URL(), "--sms-webhook-secret", smsSecret,
		"--webhook-url", hook.URL, "--webhook-secret", smsSecret))
	a := newSeller(t, r.URL(), "a")
	granted := moment(t, a.join().text("granted_at"))
	next(t, open(t, r.URL(), "X-Session-ID", a.session))
	require.Equal(t, http.StatusOK, carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다", granted).StatusCode)
	testproc.Until(t, patience, func() error {
		m := scrape{}
		m.add(newSeller(t, r.URL(), "").ask(http.MethodGet, "/metrics", "").body)
		shown := map[string]bool{}
		for _, q := range dashboardQueries(t) {
			shown[q.of] = shown[q.of] || slices.ContainsFunc(q.series(),
				func(name string) bool { return m[name] != nil })
		}
		for panel, some := range shown {
			if !some {
				return fmt.Errorf("%s is empty", panel)
			}
		}
		return nil
	})
}

// Every alert links to its entry in the runbook and has fired in a test. A page at night without instructions
// does not help, and a rule without a test may never fire.
func TestEveryAlertHasACaseAndAnEntryInTheRunbook(t *testing.T) {
	cases, err := os.ReadFile(deployed + "prometheus/alerts_test.yaml")
	require.NoError(t, err)
	runbook, err := os.ReadFile("../docs/runbook.md")
	require.NoError(t, err)
	var alerts []string
	for _, r := range alertRules(t) {
		alerts = append(alerts, r.Alert)
		require.Contains(t, string(cases), `alertname="`+r.Alert+`"`)
		require.Equal(t, "https://github.com/waitroom/waitroom/blob/main/docs/runbook.md#"+strings.ToLower(r.Alert),
			r.Annotations["runbook_url"], r.Alert)
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
	}
	for _, entry := range regexp.MustCompile(
		`(?m)^### (Waitroom\w+)\n(?s:(.*?))(?:\n##|\z)`).FindAllStringSubmatch(string(runbook)+"\n##", -1) {
		require.Contains(t, alerts, entry[1], "the runbook has an entry for an alert that there is not")
	}
	for _, alert := range alerts {
		_, entry, found := strings.Cut(string(runbook), "\n### "+alert+"\n")
		require.True(t, found, "the runbook has no entry for %s", alert)
		entry, _, _ = strings.Cut(entry, "\n##")
		for _, part := range []string{"**Means.**", "**Sellers.**", "**Do.**"} {
			require.Contains(t, entry, part, alert)
		}
	}
}

func TestLinesAreReportedByEntryOfRoomsAndCountedByOutcome(t *testing.T) {
	onBothStores(t, func(t *testing.T, store string) {
		r := start(t, config(t, "--redis-url", store, "--rooms", "integration,stock:*"))
		for _, name := range []string{"stock:1", "stock:2"} {
			newSeller(t, r.URL(), "a").joinRoom(name, "")
		}
		newSeller(t, r.URL(), "b").joinRoom("stock:2", "")
		reports := func(lines ...string) {
			t.Helper()
			testproc.Until(t, patience, func() error {
				body := newSeller(t, r.URL(), "").ask(http.MethodGet, "/metrics", "").body
				for _, line := range lines {
					if !strings.Contains(body, line+"\n") {
						return fmt.Errorf("no %s in %s", line, body)
					}
				}
				return nil
			})
		}
		reports(`waitroom_line_waiting{rooms="stock:*"} 1`, `waitroom_line_held{rooms="stock:*"} 2`,
			`waitroom_line_rooms{rooms="stock:*"} 2`,
			`waitroom_line_waiting{rooms="integration"} 0`, `waitroom_check_ok{check="redis"} 1`,
			`waitroom_check_ok{check="server"} 1`)
		a := newSeller(t, r.URL(), "c")
		a.join()
		require.Equal(t, http.StatusOK, a.leave("?reason=completed").StatusCode)
		reports(`waitroom_places_ended_total{outcome="completed"} 1`, `waitroom_places_ended_total{outcome="lost"} 0`,
			`waitroom_leases_granted_total 3`, `waitroom_places_joined_total 4`)
	})
}

func TestLinesAreNotReportedWhileTheStoreIsAway(t *testing.T) {
	store := redistest.Start(t)
	r := start(t, config(t, "--redis-url", store.URL()))
	store.Stop()
	body := newSeller(t, r.URL(), "").ask(http.MethodGet, "/metrics", "").body
	require.Contains(t, body, `waitroom_check_ok{check="redis"} 0`+"\n")
	require.NotContains(t, body, "waitroom_line_waiting{")
	require.Contains(t, body, "waitroom_hub_sockets 0\n")
}

// Redis answers for one room with an error. The metrics of all others stay, and the room is counted.
func TestRoomThatCannotBeReadIsMissingAloneInTheMetrics(t *testing.T) {
	store := redistest.Start(t)
	r, log := logged(t, "--redis-url", store.URL(), "--rooms", "integration,stock:*")
	for _, name := range []string{"stock:1", "stock:2"} {
		newSeller(t, r.URL(), "a").joinRoom(name, "")
	}
	require.NoError(t, store.Client().Set(t.Context(), "{stock:1}:state", "broken", 0).Err())
	body := newSeller(t, r.URL(), "").ask(http.MethodGet, "/metrics", "").body
	for _, line := range []string{`waitroom_line_unread{rooms="stock:*"} 1`, `waitroom_line_rooms{rooms="stock:*"} 2`,
		`waitroom_line_held{rooms="stock:*"} 1`, `waitroom_line_unread{rooms="integration"} 0`} {
		require.True(t, strings.Contains(body, line+"\n"), line)
	}
	require.Contains(t, log.String(), "rooms are missing in the metrics of lines")
}

// slowRooms are rooms that take a while to be read.
type slowRooms struct {
	*room.Engine
	rooms []room.ID
	takes time.Duration
}

func (s slowRooms) Active(context.Context) ([]room.ID, error) { return s.rooms, nil }

func (s slowRooms) Glance(context.Context, room.ID) (room.Glance, error) {
	time.Sleep(s.takes)
	return room.Glance{}, nil
}

func TestManyRoomsOfASlowStoreAreReadWithinOneScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rdb := redis.NewClient(&redis.Options{})
		defer func() { require.NoError(t, rdb.Close()) }()
		slow := slowRooms{Engine: room.New(rdb, room.Config{}), takes: 20 * time.Millisecond}
		for i := range mostLines {
			slow.rooms = append(slow.rooms, room.ID(fmt.Sprint("r", i)))
		}
		m := newLineMetrics(slow, "r*", func(err error) { require.NoError(t, err) })
		began := time.Now()
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(m)
		found, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, found, 8)
		require.EqualValues(t, mostLines, m.sums()["r*"].used)
		require.Less(t, time.Since(began), linesWithin)
	})
}

func TestRoomsThatWereLookedAtLongestAgoComeFirst(t *testing.T) {
	now := time.Now()
	looked := map[room.ID]time.Time{"a": now, "b": now.Add(-time.Hour), "c": now.Add(-time.Minute)}
	require.Equal(t, []room.ID{"new", "b"}, longestAgo([]room.ID{"a", "b", "c", "new"}, looked, 2))
}

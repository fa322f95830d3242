package web

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
)

const requestHeader = "X-Request-ID"

var requestPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// metrics counts requests by route, never by path: a room in the path must not create a series.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_http_requests_total",
			Help: "HTTP requests by route, method and status."}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "waitroom_http_request_seconds",
			Help:    "How long HTTP requests took, by route and method.",
			Buckets: prometheus.ExponentialBuckets(0.00025, 2, 15)},
			[]string{"route", "method"}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.seconds)
	}
	return m
}

// observe names, times, counts and logs every request. Queries, headers and link tokens are not logged: they
// may hold credentials.
func (m *middleware) observe(c *gin.Context) {
	begun := time.Now()
	id := c.GetHeader(requestHeader)
	if !requestPattern.MatchString(id) {
		id = newRequestID()
	}
	c.Header(requestHeader, id)
	m.noticeProxy(c)
	end := m.span(c)
	c.Next()
	end()

	took, status, route := time.Since(begun), c.Writer.Status(), c.FullPath()
	if route == "" {
		route = "none"
	}
	method := methodLabel(c.Request.Method)
	m.metrics.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.metrics.seconds.WithLabelValues(route, method).Observe(took.Seconds())
	level := slog.LevelDebug
	// 503 is logged once for many
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		level = slog.LevelInfo
	}
	if !m.Log.Enabled(c.Request.Context(), level) {
		return
	}
	m.Log.Log(c.Request.Context(), level, "request", "request", id, "method", c.Request.Method,
		"path", loggedPath(c.Request.URL.Path), "status", status, "took", took, "client",
		m.proxies.Client(c).String())
}

// newRequestID returns the request's name in logs and answers. It proves nothing, so it may be guessable.
func newRequestID() string {
	return strconv.FormatUint(rand.Uint64(), 36) + "-" + strconv.FormatUint(rand.Uint64(), 36)
}

// methodLabel keeps methods invented by clients out of the series.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodDelete:
		return method
	}
	return "other"
}

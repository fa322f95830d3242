package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// answers is a collector that gives these answers in turn; 0 = no connection.
type answers struct {
	statuses []int
	asked    []*http.Request
	bodies   [][]byte
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	a.asked, a.bodies = append(a.asked, r), append(a.bodies, body)
	status := a.statuses[0]
	if len(a.statuses) > 1 {
		a.statuses = a.statuses[1:]
	}
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("canary"))}, nil
}

func clientOf(c Config, statuses ...int) (*client, *answers) {
	c.Endpoint = &url.URL{Scheme: "http", Host: "collector:4318", Path: "/canary/v1/traces"}
	a := &answers{statuses: statuses}
	made := newClient(c)
	made.http.Transport = a
	return made, a
}

var batch = []*tracepb.ResourceSpans{{SchemaUrl: "test"}}

func TestABatchIsPostedWithItsHeadersAndPackedWhereThatIsAskedFor(t *testing.T) {
	c, a := clientOf(Config{Headers: Headers{"Authorization": {"Bearer x"}}, Gzip: true}, 200)
	require.NoError(t, c.UploadTraces(t.Context(), batch))
	require.Equal(t, "Bearer x", a.asked[0].Header.Get("Authorization"))
	require.Equal(t, "application/x-protobuf", a.asked[0].Header.Get("Content-Type"))
	require.Equal(t, "gzip", a.asked[0].Header.Get("Content-Encoding"))
	r, err := gzip.NewReader(bytes.NewReader(a.bodies[0]))
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	var got tracepb.TracesData
	require.NoError(t, proto.Unmarshal(body, &got))
	require.Equal(t, "test", got.ResourceSpans[0].SchemaUrl)
}

func TestABusyCollectorIsAskedAgainWithTheSameBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, a := clientOf(Config{}, 503, 429, 200)
		require.NoError(t, c.UploadTraces(t.Context(), batch))
		require.Len(t, a.bodies, 3)
		require.Equal(t, a.bodies[0], a.bodies[2])
		require.NotEmpty(t, a.bodies[2])
	})
}

func TestACollectorThatRefusesIsNotAskedAgainAndNotQuoted(t *testing.T) {
	for _, status := range []int{0, 400, 401, 404, 500} {
		c, a := clientOf(Config{}, status)
		err := c.UploadTraces(t.Context(), batch)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "canary", "neither the path nor the answer")
		require.Len(t, a.asked, 1)
	}
}

func TestACollectorThatStaysBusyIsLoggedAsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := clientOf(Config{}, 503)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.ErrorIs(t, c.UploadTraces(ctx, batch), errBusy)
	})
}

func TestFailuresAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newReporter(failing{}, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		for range 3 {
			require.NoError(t, r.ExportSpans(t.Context(), make([]sdk.ReadOnlySpan, 2)))
		}
		require.Equal(t, 1, strings.Count(log.String(), "\n"))
		time.Sleep(reportEvery)
		require.NoError(t, r.ExportSpans(t.Context(), nil))
		require.Equal(t, 2, strings.Count(log.String(), "\n"))
	})
}

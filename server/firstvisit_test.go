package server

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/templates"
)

// The maximum cost of a first visit.
const (
	mostRequests = 8
	mostBytes    = 40 << 10
)

// traffic is what a browser requests and receives, as its developer tools report it.
type traffic struct {
	mu       sync.Mutex
	requests map[string]string // id → URL
	bytes    int64             // headers and bodies as sent, and the socket's frames
}

func (tr *traffic) record(event any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") {
			tr.requests[string(e.RequestID)] = e.Request.URL
		}
	case *network.EventWebSocketCreated:
		tr.requests[string(e.RequestID)] = e.URL
	case *network.EventLoadingFinished:
		tr.bytes += int64(e.EncodedDataLength)
	case *network.EventWebSocketHandshakeResponseReceived:
		tr.bytes += int64(len(e.Response.HeadersText))
	case *network.EventWebSocketFrameReceived:
		tr.bytes += int64(len(e.Response.PayloadData))
	}
}

// addIcon adds the request for the icon, which only a browser with a window makes.
func (tr *traffic) addIcon(t *testing.T, url string) {
	t.Helper()
	if !slices.Contains(slices.Collect(maps.Values(tr.requests)), url) {
		tr.requests["icon"] = url
		tr.bytes += sent(t, url)
	}
}

// sent returns a body's size in bytes with gzip, the only compression that browsers accept without https.
func sent(t *testing.T, url string) int64 {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode, url)
	size, err := io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	return size
}

func TestAFirstVisitIsSmallAndTakesFewRequests(t *testing.T) {
	url := start(t, config(t)).URL()
	tab := browsertest.New(t)
	seen := &traffic{requests: map[string]string{}}
	require.NoError(t, chromedp.Listen(tab, seen.record))
	require.NoError(t, chromedp.Do(tab, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		return err
	})))
	openPage(t, tab, url)
	icon, err := chromedp.Run(tab, chromedp.Evaluate[string](`document.querySelector("link[rel=icon]").href`))
	require.NoError(t, err)

	seen.mu.Lock()
	defer seen.mu.Unlock()
	seen.addIcon(t, icon)
	require.LessOrEqual(t, len(seen.requests), mostRequests, seen.requests)
	require.Greater(t, seen.bytes, int64(mostBytes/4), "so little is not the whole page")
	require.LessOrEqual(t, seen.bytes, int64(mostBytes), seen.requests)
	var zipped int64
	for _, asked := range seen.requests {
		if strings.HasPrefix(asked, "http") {
			zipped += sent(t, asked)
		}
	}
	t.Logf("%d requests, %d bytes; %d with gzip, without headers", len(seen.requests), seen.bytes, zipped)
	for _, lang := range templates.Languages() {
		in := zipped - sent(t, url+"/") + sent(t, url+"/?lang="+lang)
		require.LessOrEqual(t, in, int64(mostBytes), lang)
	}
}

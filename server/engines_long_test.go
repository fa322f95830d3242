//go:build long

package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/internal/testkit/webdriver"
)

// engines are the browsers of other makers that a seller may come with; Chromium is in the tests that always run.
var engines = map[string]func(testing.TB) *webdriver.Browser{"webkit": webdriver.WebKit, "firefox": webdriver.Firefox}

// WebKit opens no tab once anything was waited for, and the ask is waited for.
func TestEveryEngineOpensTheMarketplaceByThePressThatAsks(t *testing.T) {
	market := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>market</title>"))
	}))
	t.Cleanup(market.Close)
	address := strings.Replace(market.URL, "127.0.0.1", "localhost", 1) + "/wing" // another site
	for name, open := range engines {
		t.Run(name, func(t *testing.T) {
			rooms := roomsFile(t, fmt.Sprintf("integration: {name: 마켓, marketplace: {name: 마켓, url: %q}}", address))
			url := start(t, config(t, "--rooms-file", rooms)).URL()
			b := open(t)
			b.Resize(360, 740)
			b.Open(url + "/rooms/integration")
			b.Until(`document.body.dataset.connection === "open"`)
			b.Type("#seller-id", "seller-a")
			b.Click("#join")
			b.Until(`document.body.dataset.step === "ask"`)
			b.Picture("ask-360")
			b.Click("#ask")
			b.Until(`document.body.dataset.step === "asked"`)
			testproc.Until(t, time.Minute, func() error {
				if tabs := b.Tabs(); !slices.Contains(tabs, address) {
					return fmt.Errorf("no tab is at %s: %q", address, tabs)
				}
				return nil
			})
			require.Empty(t, webdriver.Eval[string](b, `document.getElementById("market-note").textContent`))
			b.Picture("asked-360")
		})
	}
}

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/chrometest"
	"github.com/waitroom/waitroom/internal/pushtest"
	"github.com/waitroom/waitroom/internal/redistest"
)

// allow lets pages of an origin show notifications, as a seller who says yes.
func allow(t *testing.T, ctx context.Context, origin string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, browser.SetPermission, browser.SetPermissionParams{Origin: origin, Setting: browser.PermissionSettingGranted,
			Permission: &browser.PermissionDescriptor{Name: "notifications"}})
		return err
	})))
}

// deliver hands a message to the service worker, as the browser does when its push service has one.
func deliver(t *testing.T, ctx context.Context, origin, text string) {
	t.Helper()
	found := make(chan serviceworker.RegistrationID, 16)
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			for _, r := range e.Registrations {
				if r.ScopeURL == origin+"/rooms/" {
					found <- r.RegistrationID
				}
			}
		}
	}))
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, serviceworker.Enable, cdp.Empty{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: <-found, Data: text})
		return err
	})))
}

// The browser's own push service is not to be reached here: what it would give the page is given by the test, and what it would hand the worker too.
const givesSubscription = `PushManager.prototype.getSubscription = async () => null;
	PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
		if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("a browser refuses that");
		return { toJSON: () => (%s) };
	}; true`

func TestClosedTabShowsItsTurn(t *testing.T) {
	service := pushtest.NewService(t)
	r := start(t, pushConfig(t, "--redis-url", redistest.Start(t).URL()))
	a := newSeller(t, r.URL(), "s-a")
	a.join()
	ctx := chrometest.New(t)
	p := openPage(t, ctx, r.URL()+"/rooms/integration")
	p.is(`navigator.serviceWorker.getRegistrations().then((all) => all.length === 0)`)
	p.join("s-b")
	p.state("waiting")
	p.is(`document.querySelector("#notify-note").textContent === "꺼짐"`)

	subscriber := pushtest.NewBrowser(t, service.URL+"/b")
	p.is(fmt.Sprintf(givesSubscription, subscriber.JSON(t)))
	allow(t, ctx, r.URL())
	p.press("#notify")
	p.is(`document.querySelector("#notify-note").textContent === "켜짐, 화면을 닫아도 와요"`)
	p.is(`document.querySelector("#notify").hidden`)
	p.picture("alerts", false)

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(r.URL()+"/healthz")))
	a.leave("?reason=completed")
	text, err := subscriber.Open(service.Next(patience).Body)
	require.NoError(t, err)
	var m pushed
	require.NoError(t, json.Unmarshal(text, &m))
	require.Equal(t, http.StatusOK, a.ask(http.MethodGet, "/worker.js", "").StatusCode)
	deliver(t, ctx, r.URL(), string(text))
	shown := `navigator.serviceWorker.getRegistration("/rooms/").then((r) => r.getNotifications()).then((all) => all.length === 1 && all[0].title === "지금 차례예요" &&
		/^integration: 오[전후] \d+:\d\d:\d\d까지 인증해 주세요\. 누르면 열려요\.$/.test(all[0].body) && all[0].tag === "waitroom:integration")`
	p.is(shown)
}

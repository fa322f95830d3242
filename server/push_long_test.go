//go:build long

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/browsertest"
	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// allow permits notifications for an origin's pages, as a seller does in the browser's prompt.
func allow(t *testing.T, ctx context.Context, origin string) {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, browser.SetPermission,
			browser.SetPermissionParams{Origin: origin, Setting: browser.PermissionSettingGranted,
				Permission: &browser.PermissionDescriptor{Name: "notifications"}})
		return err
	})))
}

// deliverer returns a function that hands a message to the service worker, as the browser does when its push
// service sends one.
func deliverer(t *testing.T, ctx context.Context, origin string) (deliver func(text string) error) {
	t.Helper()
	found := make(chan serviceworker.RegistrationID, 16)
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		if e, ok := event.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			for _, r := range e.Registrations {
				if r.ScopeURL == origin+"/rooms/" {
					select {
					case found <- r.RegistrationID:
					default: // it is known
					}
				}
			}
		}
	}))
	require.NoError(t, chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, serviceworker.Enable, cdp.Empty{})
		return err
	})))
	id := <-found
	return func(text string) error {
		return chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, serviceworker.DeliverPushMessage,
				serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: id, Data: text})
			return err
		}))
	}
}

// givesSubscription replaces the browser's push service, which tests cannot reach.
const givesSubscription = `PushManager.prototype.getSubscription = async () => null;
	PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
		if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("a browser refuses that");
		return { toJSON: () => (%s) };
	}; true`

// result returns the value of an expression, or of its promise.
func result[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(t, err, expression)
	return value
}

const (
	workers = `navigator.serviceWorker.getRegistrations().then((all) => all.length)`
	shown   = `navigator.serviceWorker.getRegistration("/rooms/").then((r) => r.getNotifications()).then((all) => all.map((n) => n.title + "|" + n.body + "|" + n.tag).join("\n"))`
)

func TestClosedTabShowsItsTurnAndLeadsBackToTheRoom(t *testing.T) {
	service := pushtest.NewService(t)
	r := start(t, pushConfig(t, "--redis-url", redistest.Lent(t).URL()))
	a := newSeller(t, r.URL(), "s-a")
	a.join()
	ctx := browsertest.Whole(t)
	p := openPage(t, ctx, r.URL()+"/rooms/integration")
	p.join("s-b")
	p.state("waiting")
	p.is(`document.querySelector("#notify-note").textContent === "꺼짐"`)
	require.Zero(t, result[int](t, ctx, workers), "nobody asked for it yet")

	subscriber := pushtest.NewBrowser(t, service.URL+"/b")
	result[bool](t, ctx, fmt.Sprintf(givesSubscription, subscriber.JSON(t)))
	allow(t, ctx, r.URL())
	p.press("#notify")
	p.is(`document.querySelector("#notify-note").textContent === "켜짐, 화면을 닫아도 와요"`)
	p.is(`document.querySelector("#notify").hidden`)
	p.picture("alerts", false)

	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(r.URL()+"/healthz")))
	a.leave("?reason=completed")
	text, err := subscriber.Open(service.Next(patience).Body)
	require.NoError(t, err)
	deliver := deliverer(t, ctx, r.URL())
	testproc.Until(t, patience, func() error {
		// try again, since the browser may count the left page as visible for a moment
		if err := deliver(string(text)); err != nil {
			return err
		}
		visible := result[string](t, ctx, shown)
		if !regexp.MustCompile(`^지금 차례예요\|integration: 오[전후] \d+:\d\d:\d\d까지 인증해 주세요\. 누르면 열려요\.\|waitroom:integration$`).MatchString(visible) {
			return fmt.Errorf("notifications on show: %q", visible)
		}
		return nil
	})
	worker := newSeller(t, r.URL(), "s-a").ask(http.MethodGet, "/worker.js", "")
	require.Equal(t, "no-cache", worker.Header.Get("Cache-Control"))
	require.Equal(t, "show t, close, open /rooms/integration, show t, close, focus /",
		result[string](t, ctx, fmt.Sprintf(asWorker, worker.body, "Chrome/143.0.0.0 AppleWebKit/537.36")))
	require.Equal(t, "show t, close, open /rooms/integration, show t, close, focus /, show t",
		result[string](t, ctx, fmt.Sprintf(asWorker, worker.body, "AppleWebKit/605.1.15 Version/18.3 Safari")),
		"WebKit ends a subscription whose push shows nothing")
}

func TestPageSaysWhatBecomesOfNotifications(t *testing.T) {
	r := start(t, pushConfig(t))
	newSeller(t, r.URL(), "s-a").join()
	ctx := browsertest.Whole(t)
	allow(t, ctx, r.URL())
	p := openPage(t, ctx, r.URL())
	p.join("s-b")
	// the browser cannot reach a push service
	p.is(`document.querySelector("#notify-note").textContent === "켜짐, 이 화면이 열려 있을 때만 와요"`)
	testproc.Until(t, patience, func() error {
		if result[int](t, ctx, workers) != 1 {
			return errors.New("there is no worker")
		}
		return nil
	})

	bare := browsertest.Isolated(t, ctx)
	require.NoError(t, chromedp.Do(bare, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument,
			cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: `delete window.Notification`})
		return err
	})))
	p = openPage(t, bare, r.URL())
	p.join("s-c")
	p.is(`document.querySelector("#notify-note").textContent === "이 브라우저에는 알림을 보낼 수 없어요" && document.querySelector("#notify").hidden`)
}

// asWorker runs the service worker's script with a list of open pages that the test sets. A headless browser
// can neither press a notification nor raise a window.
const asWorker = `((source, userAgent) => {
	const does = {}, done = [];
	const page = (path, visibilityState) => ({ url: origin + path, visibilityState, focus: async () => done.push("focus " + path) });
	const registration = { getNotifications: async () => [], showNotification: async (title) => done.push("show " + title) };
	const clients = { pages: [], matchAll: async () => clients.pages, openWindow: async (path) => done.push("open " + path) };
	new Function("self", source)({ addEventListener: (name, f) => { does[name] = f; }, location, registration, clients, navigator: { userAgent } });
	const happens = (name, event) => new Promise((resolve) => does[name]({ ...event, waitUntil: (work) => resolve(work) }));
	const message = { title: "t", body: "{time}", until: 0, lang: "ko", tag: "x", room: "integration", server_time: 0, paths: ["/rooms/integration", "/"] };
	const press = () => happens("notificationclick", { notification: { data: message, close: () => done.push("close") } });
	const push = () => happens("push", { data: { json: () => message } });
	return (async () => {
		await push(); await press();
		clients.pages = [page("/docs", "visible"), page("/", "hidden")];
		await push(); await press();
		clients.pages = [page("/rooms/integration", "visible")];
		await push();
		return done.join(", ");
	})();
})(%q, %q)`

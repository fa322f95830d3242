package webhook_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/waitroom/waitroom/outbox"
	"github.com/waitroom/waitroom/outbox/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// receiver is the program that receives webhooks. It checks their signatures and records those it accepts.
type receiver struct {
	url    string
	mu     sync.Mutex
	answer func(*http.Request) int // nil = 200
	ids    []string
	bodies []string
	forged int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	status := http.StatusOK
	if r.answer != nil {
		status = r.answer(q)
	}
	if verifier, err := webhooks.NewWebhook(secret); err != nil || verifier.Verify(body, q.Header) != nil {
		r.forged++
		status = http.StatusUnauthorized
	}
	if status == http.StatusOK {
		r.ids, r.bodies = append(r.ids, q.Header.Get("webhook-id")), append(r.bodies, string(body))
	}
	w.WriteHeader(status)
}

// office is a database with webhooks to send. The test sets its clock.
type office struct {
	db    *sql.DB
	store *outbox.Store
	now   time.Time
}

func newOffice(t *testing.T) *office {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(),
		"outbox.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(outbox.Schema(outbox.SQLite))
	require.NoError(t, err)
	o := &office{db: db, now: time.Now()}
	o.store = outbox.NewStore(db, outbox.SQLite, outbox.StoreConfig{Now: func() time.Time { return o.now }})
	return o
}

func (o *office) put(t *testing.T, uid, key, body string) {
	require.NoError(t, outbox.Enqueue(t.Context(), o.db, outbox.SQLite,
		outbox.Task{UID: uid, Kind: webhook.Kind, Key: key, Phase: webhook.Deliver, Payload: body}))
}

func (o *office) tick(t *testing.T, c webhook.Config) {
	t.Helper()
	hook, err := webhook.New(c)
	require.NoError(t, err)
	t.Cleanup(hook.Close)
	w, err := outbox.NewWorker(outbox.Config{Store: o.store, Kinds: map[string]outbox.Kind{webhook.Kind: hook}})
	require.NoError(t, err)
	require.NoError(t, w.Tick(t.Context()))
	o.now = o.now.Add(time.Second)
}

func TestADeliveryIsSignedAndItsIDStaysTheSame(t *testing.T) {
	o, r := newOffice(t), newReceiver(t)
	o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
	var asked []string
	r.answer = func(q *http.Request) int {
		asked = append(asked, q.Header.Get("webhook-id"))
		if len(asked) == 1 {
			return http.StatusBadGateway
		}
		return http.StatusOK
	}
	for range 4 {
		o.tick(t, webhook.Config{URL: r.url, Secret: secret})
	}
	require.Equal(t, []string{"evt_1", "evt_1"}, asked,
		"once a tick, and what is delivered is not delivered again")
	require.Equal(t, []string{`{"type":"lock.granted"}`}, r.bodies)
	require.Zero(t, r.forged)
}

// The pause is for all events, in this process and after it has ended. A date in the past asks for none.
func TestReceiverThatAsksForAPauseGetsOne(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		began := time.Now().Truncate(time.Second)
		for value, seconds := range map[string]int{"7": 7, "": 1, "soon": 1, "-3": 1, "999999999": 3600,
			began.Add(5 * time.Second).UTC().Format(http.TimeFormat): 5,
			began.Add(-time.Minute).UTC().Format(http.TimeFormat):    1} {
			o, asked := newOffice(t), 0
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Retry-After", value)
				w.WriteHeader(status)
			}))
			t.Cleanup(receiver.Close)
			o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
			o.now = began
			c := webhook.Config{URL: receiver.URL, Secret: secret, Now: func() time.Time { return o.now }}
			o.tick(t, c) // moves the clock by a second
			require.Equal(t, 1, asked)
			if seconds > 2 {
				o.now = began.Add(time.Duration(seconds)*time.Second - 1100*time.Millisecond)
				o.tick(t, c)
				require.Equal(t, 1, asked, value)
			}
			o.now = began.Add(time.Duration(seconds)*time.Second + time.Millisecond)
			o.tick(t, c)
			require.Equal(t, 2, asked, value)
		}
	}
}

func TestReceiverThatAsksForAPauseGetsNoOtherEventMeanwhile(t *testing.T) {
	o, asked := newOffice(t), 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(receiver.Close)
	hook, err := webhook.New(webhook.Config{URL: receiver.URL, Secret: secret,
		Now: func() time.Time { return o.now }})
	require.NoError(t, err)
	t.Cleanup(hook.Close)
	w, err := outbox.NewWorker(outbox.Config{Store: o.store, Kinds: map[string]outbox.Kind{webhook.Kind: hook}})
	require.NoError(t, err)
	o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
	require.NoError(t, w.Tick(t.Context()))
	o.now = o.now.Add(time.Second)
	o.put(t, "evt_2", "lease/2", `{"type":"lock.granted"}`)
	require.NoError(t, w.Tick(t.Context()))
	require.Equal(t, 1, asked)
	o.now = o.now.Add(6*time.Second + time.Millisecond)
	require.NoError(t, w.Tick(t.Context()))
	require.Greater(t, asked, 1)
}

func TestDeliveryToAReceiverThatIsGoneIsDeadAtOnce(t *testing.T) {
	o, r := newOffice(t), newReceiver(t)
	r.answer = func(*http.Request) int { return http.StatusGone }
	o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
	o.tick(t, webhook.Config{URL: r.url, Secret: secret})
	dead, err := o.store.Dead(t.Context(), webhook.Kind)
	require.NoError(t, err)
	require.Len(t, dead, 1)
	require.Contains(t, dead[0].LastError, "receiver answered 410")
}

// A client would follow a 301 by a GET without the body, so the event would be lost.
func TestReceiverThatHasMovedGotNothing(t *testing.T) {
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusPermanentRedirect} {
		o, moved := newOffice(t), newReceiver(t)
		old := httptest.NewServer(http.RedirectHandler(moved.url, status))
		t.Cleanup(old.Close)
		o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
		o.tick(t, webhook.Config{URL: old.URL, Secret: secret})
		require.Empty(t, moved.ids, status)
		require.Zero(t, moved.forged, status)
		o.tick(t, webhook.Config{URL: moved.url, Secret: secret})
		require.Equal(t, []string{"evt_1"}, moved.ids, status)
	}
}

func TestADeliveredTaskIsNotPostedAgainWhenRecordingItFails(t *testing.T) {
	o, r := newOffice(t), newReceiver(t)
	o.put(t, "evt_1", "lease/1", `{"type":"lock.granted"}`)
	var recorded []string
	broken := errors.New("books are closed")
	c := webhook.Config{URL: r.url, Secret: secret, Recorded: func(_ context.Context, task outbox.Task) error {
		recorded = append(recorded, webhook.TypeOf(task))
		return broken
	}}
	o.tick(t, c)
	broken = nil
	o.tick(t, c)
	require.Len(t, r.ids, 1)
	require.Equal(t, []string{"lock.granted", "lock.granted"}, recorded)
	counts, err := o.store.Count(t.Context())
	require.NoError(t, err)
	require.Zero(t, counts.Pending)
}

func TestWebhooksOfOneLeaseAreInOrderAndHoldUpNoOther(t *testing.T) {
	o, r := newOffice(t), newReceiver(t)
	o.put(t, "evt_1", "lease/1", "1")
	o.put(t, "evt_2", "lease/1", "2")
	o.put(t, "evt_3", "lease/2", "3")
	r.answer = func(q *http.Request) int {
		if q.Header.Get("webhook-id") == "evt_1" {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	}
	c := webhook.Config{URL: r.url, Secret: secret}
	o.tick(t, c)
	require.Equal(t, []string{"evt_3"}, r.ids)
	r.answer = nil
	o.tick(t, c)
	require.Equal(t, []string{"evt_3", "evt_1", "evt_2"}, r.ids)
}

func TestWhatIsKeptOfAFailureDoesNotNameTheAddress(t *testing.T) {
	o := newOffice(t)
	o.put(t, "evt_1", "lease/1", "1")
	o.tick(t, webhook.Config{URL: "http://user:canary@127.0.0.1:1/canary", Secret: secret})
	task, ok, err := o.store.Claim(t.Context(), webhook.Kind, o.now.UnixMilli())
	require.NoError(t, err)
	require.True(t, ok)
	require.NotEmpty(t, task.LastError)
	require.NotContains(t, task.LastError, "canary")
}

func TestAWrongSettingIsNamedButNotShown(t *testing.T) {
	for _, c := range []struct{ url, secret, want string }{
		{"ftp://canary", secret, "WEBHOOK_URL"},
		{"://canary", secret, "WEBHOOK_URL"},
		{"https://example.com", "canary!", "WEBHOOK_SECRET"},
		{"https://example.com", "", "WEBHOOK_SECRET"},
		{"https://example.com", "whsec_", "WEBHOOK_SECRET"},
	} {
		_, err := webhook.New(webhook.Config{URL: c.url, Secret: c.secret})
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "canary")
	}
}

func TestATypeIsReadFromThePayload(t *testing.T) {
	require.Equal(t, "lock.ended", webhook.TypeOf(outbox.Task{Payload: `{"type":"lock.ended"}`}))
	require.Empty(t, webhook.TypeOf(outbox.Task{Payload: `no JSON`}))
}

// When a delivery is late, its event may not be true any more.
func TestAnEventThatIsNoLongerTrueIsNotSent(t *testing.T) {
	o, r := newOffice(t), newReceiver(t)
	o.put(t, "evt_1", "place/1", `{"type":"place.near"}`)
	o.put(t, "evt_2", "place/2", `{"type":"place.near"}`)
	var sent, asked []string
	r.answer = func(q *http.Request) int {
		sent = append(sent, q.Header.Get("webhook-id"))
		return http.StatusOK
	}
	c := webhook.Config{URL: r.url, Secret: secret, Holds: func(_ context.Context, task outbox.Task) (bool, error) {
		if asked = append(asked, task.UID); len(asked) == 1 {
			return false, outbox.ErrNotReady
		}
		return task.UID == "evt_2", nil
	}}
	for range 4 {
		o.tick(t, c)
	}
	require.Equal(t, []string{"evt_2"}, sent)
	require.ElementsMatch(t, []string{"evt_1", "evt_1", "evt_2"}, asked, "an error is no answer")
}

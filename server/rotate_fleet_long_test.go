//go:build long

package server

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/web/wayback"
)

// partner is who shares a secret with waitroom. It signs with its first secret, and takes all.
type partner struct {
	mu      sync.Mutex
	secrets []string
}

func (p *partner) uses(secrets ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = secrets
}

func (p *partner) takes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.secrets
}

// berth has one replica after another. Each request to it holds the lock for reading.
type berth struct {
	sync.RWMutex
	*replica
	reread chan os.Signal
}

// fleet is two replicas behind a balancer, with all who use them.
type fleet struct {
	t        *testing.T
	args     map[string]string // settings of the next start, by their flags
	rooms    string            // path of the rooms file
	replicas [2]*berth
	turn     atomic.Uint32
	to       *http.Transport

	carrier, own, phone, hook, hookUser, portal, back, program partner

	stop   context.CancelFunc
	done   sync.WaitGroup
	rounds []*atomic.Int64 // of each user
	failed chan error
	turns  atomic.Int64 // completed, with their code
	hooks  atomic.Int64 // webhooks that were signed as expected
}

// RoundTrip sends a request to a replica that is not being restarted.
func (f *fleet) RoundTrip(q *http.Request) (*http.Response, error) {
	for {
		one := f.replicas[f.turn.Add(1)%2]
		if !one.TryRLock() {
			continue
		}
		defer one.RUnlock()
		sent := q.Clone(q.Context())
		sent.Host, sent.URL.Host = q.URL.Host, one.Addr()
		answer, err := f.to.RoundTrip(sent)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		answer.Body = io.NopCloser(bytes.NewReader(body))
		return answer, err
	}
}

// restsFor is between two questions of a user, who is not to take the machine from the replicas.
const restsFor = 50 * time.Millisecond

// visitor returns a browser in front of the balancer.
func (f *fleet) visitor(id string) *seller {
	return &seller{t: f.t, base: "http://wait.example", id: id,
		http: &http.Client{Transport: f, Jar: must(cookiejar.New(nil)), Timeout: patience}}
}

// serve starts a replica with the settings as they are now.
func (f *fleet) serve(b *berth) {
	f.t.Helper()
	var args []string
	for _, name := range slices.Sorted(maps.Keys(f.args)) {
		args = append(args, "--"+name, f.args[name])
	}
	cfg, err := ParseConfig(args)
	require.NoError(f.t, err)
	cfg.Reload = b.reread
	s, err := New(f.t.Context(), cfg, slog.New(slog.DiscardHandler))
	require.NoError(f.t, err)
	b.replica = run(f.t, s)
}

// roll changes settings, given as name, value, name, value …, and restarts one replica after the other.
func (f *fleet) roll(settings ...string) {
	f.t.Helper()
	for i := 0; i < len(settings); i += 2 {
		f.args[settings[i]] = settings[i+1]
	}
	for _, b := range f.replicas {
		require.Contains(f.t, newSeller(f.t, b.URL(), "").ask("GET", "/metrics", "").body,
			"\nwaitroom_unreadable_total 0\n")
		b.Lock()
		f.to.CloseIdleConnections() // one that has sent nothing would hold up the stop for five seconds
		require.NoError(f.t, b.stop(f.t))
		f.serve(b)
		b.Unlock()
	}
}

// reads changes the rooms file, and has one replica after the other read it again.
func (f *fleet) reads(text string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(f.rooms, []byte(text), 0o600))
	for _, b := range f.replicas {
		b.reread <- syscall.SIGHUP
		b.reread <- syscall.SIGHUP // taken when the first is done
	}
}

// use repeats what a user does until the fleet's end or the first error.
func (f *fleet) use(ctx context.Context, one func() error) {
	rounds := new(atomic.Int64)
	f.rounds = append(f.rounds, rounds)
	f.done.Go(func() {
		for ctx.Err() == nil {
			if err := one(); err != nil {
				select {
				case f.failed <- err:
				default:
				}
				return
			}
			rounds.Add(1)
			time.Sleep(restsFor)
		}
	})
}

// everybody returns once each user has begun and ended something since.
func (f *fleet) everybody() {
	f.t.Helper()
	var want []int64
	for _, rounds := range f.rounds {
		want = append(want, rounds.Load()+2)
	}
	testproc.Until(f.t, patience, func() error {
		select {
		case err := <-f.failed:
			require.NoError(f.t, err)
		default:
		}
		for i, rounds := range f.rounds {
			if rounds.Load() < want[i] {
				return fmt.Errorf("user %d is at %d of %d", i, rounds.Load(), want[i])
			}
		}
		return nil
	})
}

// sender sends a code to a room.
type sender func(room, id, text string) reply

// takesTurns is a seller who comes from the portal, takes a turn, gets the code and goes back to the portal.
func (f *fleet) takesTurns(room string, number int, send sender) func() error {
	s := f.visitor(fmt.Sprintf("s-%d", number))
	lock := "/api/" + room + "/lock"
	turns := 0
	ask := func(method, path, body string) (reply, error) {
		got := s.ask(method, path, body, asJSON, jsonType)
		if got.StatusCode >= 300 {
			return got, fmt.Errorf("%s: %s %s: %d %s", s.id, method, path, got.StatusCode, got.body)
		}
		return got, nil
	}
	return func() error {
		turns++
		code, message := fmt.Sprintf("%d%05d", number, turns), fmt.Sprintf("m-%d-%d", number, turns)
		token := portaltest.Sign(f.t, jwt.SigningMethodHS256, []byte(f.portal.takes()[0]), "", portaltest.For(s.id))
		if _, err := ask("GET", "/rooms/"+room+"?token="+token, ""); err != nil {
			return err
		}
		place, err := ask("POST", lock, `{"asks":true}`)
		for err == nil && place.text("status") == "waiting" {
			ticket := place.number("ticket")
			time.Sleep(restsFor)
			if place, err = ask("GET", lock+"/status", ""); err == nil {
				if place = place.me(); place.number("ticket") != ticket {
					return fmt.Errorf("%s lost its place: %v", s.id, place.json)
				}
			}
		}
		if err == nil {
			_, err = ask("POST", lock+"/expect", fmt.Sprintf(`{"fence":%d,"contains":"쿠팡"}`, place.number("fence")))
		}
		if err != nil {
			return err
		}
		sent := send(room, message, "[쿠팡] 인증번호는 ["+code+"] 입니다")
		if sent.StatusCode >= 300 || !strings.Contains(sent.body, "matched") {
			return fmt.Errorf("the code of %s is not taken: %d %s", s.id, sent.StatusCode, sent.body)
		}
		shown, err := ask("GET", lock+"/messages?wait=30", "")
		if err == nil && !slices.Equal(shown.received(), []any{code}) {
			err = fmt.Errorf("%s is not shown %s: %s", s.id, code, shown.body)
		}
		if err == nil {
			err = f.goesBack(s, room)
		}
		if err == nil {
			f.turns.Add(1)
		}
		return err
	}
}

// goesBack checks the outcome that the portal receives.
func (f *fleet) goesBack(s *seller, room string) error {
	once := *s.http
	once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	there := *s
	there.http = &once
	got := there.ask("GET", "/rooms/"+room+"/return", "")
	address, err := url.Parse(got.Header.Get("Location"))
	if err != nil {
		return err
	}
	for _, secret := range f.back.takes() {
		claims := jwt.MapClaims{}
		_, err := jwt.ParseWithClaims(address.Query().Get(wayback.Param), claims,
			func(*jwt.Token) (any, error) { return []byte(secret), nil }, jwt.WithValidMethods([]string{"HS256"}))
		if err == nil && claims["outcome"] == "completed" {
			return nil
		}
	}
	return fmt.Errorf("the portal does not learn how the turn of %s ended: %d %s", s.id, got.StatusCode, address)
}

// signed sends a code as a carrier does.
func (f *fleet) signed(by *partner) sender {
	s := f.visitor("carrier")
	return func(room, id, text string) reply {
		now, body := time.Now(), messageBody(f.t, "1588-0000", id, text, time.Now())
		signature := must(must(webhooks.NewWebhook(by.takes()[0])).Sign(id, now, []byte(body)))
		return s.ask("POST", "/api/"+room+"/sms", body, "Webhook-Id", id, "Webhook-Timestamp",
			strconv.FormatInt(now.Unix(), 10), "Webhook-Signature", signature)
	}
}

// forwarded sends a code as a phone with SmsForwarder does.
func (f *fleet) forwarded(room, _, text string) reply {
	secret, stamp := f.phone.takes()[0], strconv.FormatInt(time.Now().UnixMilli(), 10)
	m := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(m, "%s\n%s", stamp, secret)
	body := encoded(map[string]any{"from": "15880000", "org_content": text, "timestamp": stamp,
		"receive_time": time.Now().Format("2006-01-02T15:04:05.000Z07:00"),
		"sign":         url.QueryEscape(base64.StdEncoding.EncodeToString(m.Sum(nil)))})
	return f.visitor("phone").ask("POST", "/api/"+room+"/sms/phone?timeStamp="+stamp, body, asJSON, jsonType)
}

// watches is a user of the desk who asks for what happened.
func (f *fleet) watches(s *seller, token func() string) func() error {
	return func() error {
		mine := *s
		mine.token = token()
		got := mine.ask("GET", "/api/support/integration/history?limit=1", "")
		if got.StatusCode != http.StatusOK {
			return fmt.Errorf("%s may not see the history: %d %s", s.id, got.StatusCode, got.body)
		}
		return nil
	}
}

// receives is the integration, which refuses a webhook that is not signed as agreed.
func (f *fleet) receives() *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		_, password, _ := q.BasicAuth()
		if !slices.Contains(f.hookUser.takes(), password) {
			err = errors.Join(err, errors.New("a webhook with another password"))
		}
		signer, failed := webhooks.NewWebhook(f.hook.takes()[0])
		if err = errors.Join(err, failed); err == nil {
			err = signer.Verify(body, q.Header)
		}
		if err != nil {
			select {
			case f.failed <- err:
			default:
			}
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		f.hooks.Add(1)
	}))
	f.t.Cleanup(server.Close)
	return server
}

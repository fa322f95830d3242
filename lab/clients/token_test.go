package clients

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/waitroom/waitroom/client"
)

const portalSecret = "a secret that the portal and the server share"

// portalToken returns a token of a seller that is over after a life.
func portalToken(seller string, life time.Duration) string {
	encode := base64.RawURLEncoding.EncodeToString
	now, over := time.Now(), time.Now().Add(life)
	claims := fmt.Appendf(nil, `{"sub":%q,"iat":%d,"exp":%d.%03d}`, seller, now.Unix(), over.Unix(),
		over.UnixMilli()%1000)
	signed := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(claims)
	mac := hmac.New(sha256.New, []byte(portalSecret))
	_, _ = mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// A thirtieth of the times of tokens of a minute in a line of half an hour. Each robot waits for the turns
// before it, uses its own turn until its token is over, asks for a code and ends its place; the last of each
// language leaves the line.
func TestRobotsWhoseTokensExpireWhileTheyWaitTakeTheirTurns(t *testing.T) {
	const life, hold, each = 2 * time.Second, 3 * time.Second, 5
	s := newSite(t, 1, "WAITROOM_SELLER_AUTH=jwt", "WAITROOM_SELLER_JWT_SECRET="+portalSecret,
		"WAITROOM_SMS_QUARANTINE=1s", "WAITROOM_LEASE=1m")
	portal := fake(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(portalToken(r.URL.Query().Get("sub"), life)))
	})
	room, ctx := s.room(), within(t, 5*time.Minute)
	var waiting errgroup.Group
	var turns atomic.Int64
	var sessions []string
	for n := range each * len(languages) {
		l := languages[n%len(languages)]
		r := joinsInTime(ctx, t, l, s.proxy.URL, room, fmt.Sprintf("%s?sub=s-%d", portal, n))
		sessions = append(sessions, r.session())
		over := time.Now().Add(life)
		waiting.Go(func() error {
			if n >= (each-1)*len(languages) {
				time.Sleep(time.Until(over))
				return r.leave(ctx)
			}
			if err := r.wait(ctx); err != nil {
				return fmt.Errorf("%s: wait: %w", l.name, err)
			}
			time.Sleep(max(hold, time.Until(over)))
			turns.Add(1)
			own := fmt.Sprint(100_000 + n)
			code, _, err := r.code(ctx, from, 0, func() { s.send(room, from, "인증번호 "+own) })
			if err != nil || code != own {
				return fmt.Errorf("%s: code %s, its own is %s: %w", l.name, code, own, err)
			}
			return r.done(ctx)
		})
	}
	require.NoError(t, waiting.Wait())
	require.EqualValues(t, (each-1)*len(languages), turns.Load())
	for _, session := range sessions {
		require.Equal(t, "ended", s.status(room, session).Me.Status, "no place is left behind")
	}
}

// joinsInTime joins. On a machine where a token has expired before its join arrives, it joins again.
func joinsInTime(ctx context.Context, t *testing.T, l language, url, room, portal string) robot {
	for {
		r, err := l.proven(ctx, t, url, room, portal)
		if err == nil {
			return r
		}
		require.EqualError(t, err, "token_expired", l.name)
	}
}

// The function is called for each try of the join. No other call sends a token.
func TestATokenGoesWithTheJoinAlone(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		var given, joins atomic.Int64
		var others sync.Map
		portal := fake(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, "token-%d\n", given.Add(1))
		})
		url := fake(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/lock") {
				if n := joins.Add(1); r.Header.Get("Authorization") != fmt.Sprint("Bearer token-", n) {
					w.WriteHeader(http.StatusUnauthorized)
					return
				} else if n == 1 {
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
			} else if proof := r.Header.Get("Authorization"); proof != "" {
				others.Store(r.URL.Path, proof)
			}
			rightly(w, r)
		})
		ctx := within(t, 30*time.Second)
		r, err := l.proven(ctx, t, url, "room:1", portal)
		require.NoError(t, err)
		require.NoError(t, r.wait(ctx))
		_, _, err = r.code(ctx, from, 0, func() {})
		require.NoError(t, err)
		require.NoError(t, r.done(ctx))
		require.EqualValues(t, 2, joins.Load())
		others.Range(func(path, proof any) bool { require.Fail(t, "a token", "%s %s", path, proof); return true })
	})
}

// A portal that gives no token is its caller's to repair: the join ends, and asks the server for nothing.
func TestAJoinEndsWithTheErrorOfItsTokensFunction(t *testing.T) {
	eachLanguage(t, func(t *testing.T, l language) {
		portal := fake(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
		var asked atomic.Int64
		url := fake(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); rightly(w, r) })
		_, err := l.proven(within(t, 30*time.Second), t, url, "room:1", portal)
		require.ErrorContains(t, err, "the portal is closed")
		require.Zero(t, asked.Load())
	})
}

// A refusal's text has the server's reason, which is what a program logs.
func TestARefusedTokensReasonIsInTheError(t *testing.T) {
	url := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":"invalid_token","detail":"","reason":"sub is a number"}`))
	})
	const want = "waitroom answered 401 invalid_token: sub is a number"
	c, err := client.New(url, client.Config{})
	require.NoError(t, err)
	_, err = c.Join(t.Context(), "room:1", "a")
	require.EqualError(t, err, want)
	require.Equal(t, want, runScript(t, url, `
await join(url, "room:1", "a").catch((error) => console.log(error.message));`))
	text, err := exec.CommandContext(t.Context(), "python3", "-c", `
import sys
sys.path.insert(0, "../../clients/python")
import waitroom
try:
    waitroom.join("`+url+`", "room:1", "a")
except waitroom.Refused as refused:
    print(refused)`).CombinedOutput()
	require.NoError(t, err, string(text))
	require.Equal(t, want, strings.TrimSpace(string(text)))
}

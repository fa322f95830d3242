package main

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waitroom/waitroom/room"
)

// attack is one kind: what one request of it does, and how many a second begin.
type attack struct {
	name   string
	rate   float64
	atOnce int // requests at the same time, at most
	do     func(ctx context.Context, a *attacker) (status int)
}

// attacker is one address of loopback that the server does not trust as a proxy.
type attacker struct {
	*site
	client  *http.Client
	address string
	n       atomic.Int64 // requests so far
	asset   string       // path of a script
}

// attacks has every kind; slowloris is apart.
var attacks = []attack{
	{"range of 30 KB", 25, 8, ranges},
	{"read of an unused room", 100, 16, unusedRoom},
	{"join and leave in new rooms", 100, 16, newRoom},
	{"places of one room", 10, 8, places},
	{"push that is never answered", 5, 8, silentPush},
	{"password of an agent", 10, 8, password},
	{"sign-in begun at the provider", 20, 8, beginSignIn},
	{"logout token", 50, 16, logoutToken},
	{"press of another site", 20, 8, otherSite},
	{"portal's link by an image", 20, 8, linkByImage},
	{"export by an image", 20, 8, exportByImage},
	{"id that cannot be seen", 20, 8, invisible},
}

// attack makes all attacks at once until ctx ends, each from an address of its own.
func (s *site) attack(ctx context.Context, found *result) {
	var all sync.WaitGroup
	all.Go(func() { s.slowloris(ctx, found) })
	for i, kind := range attacks {
		address := fmt.Sprint("127.0.0.", 10+i)
		a := &attacker{site: s, client: from(address), address: address}
		a.asset = a.script(ctx)
		all.Go(func() {
			defer a.client.CloseIdleConnections()
			a.repeat(ctx, kind, found)
		})
	}
	all.Wait()
}

// repeat begins requests at the attack's rate. One that finds all workers busy is left out. Attackers do not
// know each other, so their requests are not at the same moments.
func (a *attacker) repeat(ctx context.Context, kind attack, found *result) {
	busy := make(chan struct{}, kind.atOnce)
	every := time.Duration(float64(time.Second) / kind.rate)
	wait(ctx, mathrand.N(every))
	tick := time.NewTicker(every)
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		select {
		case busy <- struct{}{}:
		default:
			continue
		}
		all.Go(func() {
			defer func() { <-busy }()
			if status := kind.do(ctx, a); ctx.Err() == nil {
				found.answered(kind.name, status)
			}
		})
	}
}

// send makes a request and reads its answer away; headers are name, value, name, value …
func (a *attacker) send(ctx context.Context, method, target, body string, headers ...string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return 0, ""
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if strings.HasPrefix(target, a.providersURL) {
		req.Host = providersHost
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text)
}

var scriptPath = regexp.MustCompile(`/static/[^"']+\.js`)

func (a *attacker) script(ctx context.Context) string {
	_, page := a.send(ctx, "GET", a.sellersURL+"/rooms/integration", "")
	return scriptPath.FindString(page)
}

var manyRanges = "bytes=0-0" + strings.Repeat(",1-1,3-3", 3700)

func ranges(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "GET", a.sellersURL+a.asset, "", "Range", manyRanges)
	return status
}

// newID returns a room that was never used.
func newID() string { return "x:" + strings.ToLower(rand.Text()) }

func unusedRoom(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "GET", a.sellersURL+"/api/"+newID()+"/lock/messages", "",
		"X-Session-ID", room.NewSession())
	return status
}

const asJSON = "application/json"

func (a *attacker) join(ctx context.Context, id, session string) int {
	body := fmt.Sprintf(`{"seller_id":%q}`, rand.Text())
	status, _ := a.send(ctx, "POST", a.sellersURL+"/api/"+id+"/lock", body,
		"Content-Type", asJSON, "X-Session-ID", session)
	return status
}

func (a *attacker) leave(ctx context.Context, id, session string) {
	a.send(ctx, "DELETE", a.sellersURL+"/api/"+id+"/lock", "", "X-Session-ID", session)
}

func newRoom(ctx context.Context, a *attacker) int {
	id, session := newID(), room.NewSession()
	status := a.join(ctx, id, session)
	a.leave(ctx, id, session)
	return status
}

// places takes places in a room of its own and keeps them. In the sellers' rooms each would be a turn.
func places(ctx context.Context, a *attacker) int { return a.join(ctx, "x:full", room.NewSession()) }

// silentPush has a turn of its own pushed to a browser's maker, behind the proxy that never answers.
func silentPush(ctx context.Context, a *attacker) int {
	id, holder, waiter := fmt.Sprint("x:push-", a.n.Add(1)%8), room.NewSession(), room.NewSession()
	a.join(ctx, id, holder)
	a.join(ctx, id, waiter)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return 0
	}
	encode := base64.RawURLEncoding.EncodeToString
	status, _ := a.send(ctx, "POST", a.sellersURL+"/api/"+id+"/lock/push", fmt.Sprintf(
		`{"endpoint":"https://fcm.googleapis.com/fcm/send/%s","keys":{"p256dh":%q,"auth":%q}}`, rand.Text(),
		encode(key.PublicKey().Bytes()), encode([]byte(rand.Text()[:16]))), "Content-Type", asJSON,
		"X-Session-ID", waiter)
	a.leave(ctx, id, holder)
	a.leave(ctx, id, waiter)
	return status
}

const asForm = "application/x-www-form-urlencoded"

func password(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "POST", a.sellersURL+"/support/sign-in",
		url.Values{"username": {"kim"}, "password": {rand.Text()}}.Encode(), "Content-Type", asForm,
		"Origin", a.sellersURL)
	return status
}

func beginSignIn(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "GET", a.providersURL+"/support/oidc/start", "")
	return status
}

// logoutToken has a key that the provider does not have, and a signature of nothing.
func logoutToken(ctx context.Context, a *attacker) int {
	encode := base64.RawURLEncoding.EncodeToString
	token := encode(fmt.Appendf(nil, `{"alg":"RS256","kid":%q}`, rand.Text())) + "." +
		encode([]byte(`{"sub":"kim"}`)) + "." + encode([]byte(strings.Repeat("x", 256)))
	status, _ := a.send(ctx, "POST", a.providersURL+"/support/oidc/back-channel",
		url.Values{"logout_token": {token}}.Encode(), "Content-Type", asForm)
	return status
}

func otherSite(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "POST", a.sellersURL+"/api/integration/lock", `{"seller_id":"s-1"}`,
		"Content-Type", asJSON, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site")
	return status
}

func linkByImage(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "GET", a.sellersURL+"/rooms/integration?token="+rand.Text(), "",
		"Sec-Fetch-Site", "same-site", "Sec-Fetch-Dest", "image", "Sec-Fetch-Mode", "no-cors")
	return status
}

func exportByImage(ctx context.Context, a *attacker) int {
	status, _ := a.send(ctx, "GET", a.sellersURL+"/api/support/integration/history?format=csv&note=sold", "",
		"Sec-Fetch-Site", "same-site", "Sec-Fetch-Dest", "image", "Sec-Fetch-Mode", "no-cors")
	return status
}

func invisible(ctx context.Context, a *attacker) int {
	id := []string{"\u3164", "\u0301", "s-1\ufe0f", "s-1\u034f"}[a.n.Add(1)%4]
	status, _ := a.send(ctx, "POST", a.sellersURL+"/api/integration/lock", `{"seller_id":"`+id+`"}`,
		"Content-Type", asJSON, "X-Session-ID", room.NewSession())
	return status
}

const (
	slow      = 300 // connections
	slowEvery = 2 * time.Second
)

// slowloris holds connections open that send a byte of their headers now and then, and opens each again.
func (s *site) slowloris(ctx context.Context, found *result) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, Timeout: 5 * time.Second}
	var all sync.WaitGroup
	for range slow {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(s.sellersURL, "http://"))
				if err != nil {
					wait(ctx, time.Second)
					continue
				}
				_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "))
				for err == nil && ctx.Err() == nil {
					wait(ctx, slowEvery)
					_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
					if _, end := conn.Read(make([]byte, 512)); end == io.EOF {
						break // the server has had enough
					}
					_, err = conn.Write([]byte("a"))
				}
				_ = conn.Close()
				if ctx.Err() == nil {
					found.answered("headers that never end", 0)
				}
			}
		})
	}
	all.Wait()
}

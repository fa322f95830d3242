// Package push notifies a seller's browser of its turn without an open page. It uses Web Push (RFC 8030),
// encrypted for that browser (RFC 8291) and signed by this deployment (RFC 8292).
//
// A subscription belongs to a place and is kept in Redis until the place ends. It is a secret: it is in no
// log, no metric and no error.
package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// Config configures Pushes. Redis is required.
type Config struct {
	Redis      redis.UniversalClient
	Names      room.Names            // the names of its keys in Redis
	Registerer prometheus.Registerer // nil: no metrics
	Loopback   bool                  // for tests: endpoints are on this machine only, also without TLS
	Now        func() time.Time      // for tests: the signing time; default time.Now
	// the proxy of a request; default http.ProxyFromEnvironment
	Proxy func(*http.Request) (*url.URL, error)
}

// Pushes sends one deployment's notifications, from one of its replicas. It is safe for concurrent use.
type Pushes struct {
	cfg    Config
	client *clients
	pauses pauses
	hosts  hosts
	counts *prometheus.CounterVec

	mu  sync.Mutex
	key *key // as last read from Redis; nil: never read
}

// New returns a Pushes without calling Redis.
func New(cfg Config) *Pushes {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Proxy == nil {
		cfg.Proxy = http.ProxyFromEnvironment
	}
	return &Pushes{cfg: cfg, client: newClients(cfg.Loopback, cfg.Proxy), pauses: pauses{now: cfg.Now},
		hosts: hosts{now: cfg.Now}, counts: newCounts(cfg.Registerer)}
}

// Close closes idle connections.
func (p *Pushes) Close() { p.client.CloseIdleConnections() }

// PublicKey returns the key that browsers subscribe with, in base64url. All replicas use one key: the first
// caller makes it. The error is the store's, while this process knows no key.
func (p *Pushes) PublicKey(ctx context.Context) (string, error) {
	if k := p.known(); k != nil {
		return k.public, nil
	}
	k, err := p.agree(ctx)
	if err != nil {
		return "", err
	}
	return k.public, nil
}

func (p *Pushes) known() *key {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key
}

// agree returns Redis's key. If Redis has none, it stores this process's key, so that existing subscriptions
// survive an emptied store.
func (p *Pushes) agree(ctx context.Context) (*key, error) {
	text, err := p.cfg.Redis.Get(ctx, p.keyName()).Result()
	if errors.Is(err, redis.Nil) {
		text, err = p.propose(ctx)
	}
	if err != nil {
		return nil, stored(err)
	}
	k, err := parseKey(text)
	if err != nil {
		return nil, stored(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = k
	return k, nil
}

// propose stores a key in Redis unless one exists, and returns the stored one.
func (p *Pushes) propose(ctx context.Context) (string, error) {
	mine := p.known()
	if mine == nil {
		var err error
		if mine, err = newKey(); err != nil {
			return "", err
		}
	}
	if err := p.cfg.Redis.SetNX(ctx, p.keyName(), mine.text, 0).Err(); err != nil {
		return "", err
	}
	return p.cfg.Redis.Get(ctx, p.keyName()).Result()
}

func newCounts(r prometheus.Registerer) *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_push_total",
		Help: "Messages to sellers' browsers, by what became of them: sent, later (to be tried again), gone " +
			"(the browser subscribes no more), refused, late (the turn was over)."},
		[]string{"result"})
	for _, result := range []string{"sent", "later", "gone", "refused", "late"} {
		counts.WithLabelValues(result)
	}
	if r != nil {
		r.MustRegister(counts)
	}
	return counts
}

// The refusals, and the outcomes of a message.
var (
	ErrInvalid = errors.New("subscription is not valid")
	ErrGone    = errors.New("there is no such subscription any more")
	ErrRefused = errors.New("push service refuses the message")
	ErrLater   = errors.New("push service takes nothing now")
)

// The reasons why a subscription is invalid. None repeats it.
var (
	errEndpoint       = errors.New("endpoint is no https address on port 443")
	errEndpointLength = fmt.Errorf("endpoint is longer than %d bytes", maxEndpoint)
	errInternal       = errors.New("endpoint is of no public network")
	errPoint          = errors.New("p256dh is no point of P-256, uncompressed and in base64url")
	errAuth           = fmt.Errorf("auth is not %d bytes in base64url", authBytes)
	errKey            = errors.New("key in the store is none")
	errKept           = errors.New("what is kept can not be read")
)

// stored marks an error of the store.
func stored(err error) error { return fmt.Errorf("%w: push: %w", room.ErrStore, err) }

// Package push tells a seller's browser that its turn has come, though no page of ours is open there: Web Push (RFC 8030), sealed for that browser alone
// (RFC 8291), and signed as this deployment's (RFC 8292).
//
// A subscription belongs to a place and is kept in Redis until that is over. It is a secret: it is in no log, no metric and no error.
package push

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Config says what pushes work with. Redis is required.
type Config struct {
	Redis      redis.UniversalClient
	Registerer prometheus.Registerer // nil: nothing is counted
	Loopback   bool                  // for tests: endpoints are on this machine and nowhere else, also without TLS
	Now        func() time.Time      // for tests: the time that is signed; default time.Now
}

// Pushes are those of one deployment, by one of its replicas. They may be used by many goroutines.
type Pushes struct {
	cfg    Config
	client *http.Client
	rests  rests
	counts *prometheus.CounterVec

	mu      sync.Mutex
	keyText string // as in Redis
	key     *key
}

// New has a key that all replicas agree on: the first that comes makes it. The error is the store's.
func New(ctx context.Context, cfg Config) (*Pushes, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p := &Pushes{cfg: cfg, client: newClient(cfg.Loopback), rests: rests{now: cfg.Now}, counts: newCounts(cfg.Registerer)}
	fresh, err := newKey()
	if err != nil {
		return nil, err
	}
	p.keyText = fresh
	return p, p.agree(ctx)
}

// Close lets go of connections.
func (p *Pushes) Close() { p.client.CloseIdleConnections() }

// PublicKey is what browsers subscribe for, in base64url.
func (p *Pushes) PublicKey() string { return p.known().public }

func (p *Pushes) known() *key {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key
}

// agree learns the key that Redis has. Where it has none, the one that this process knows is put there, so that browsers that
// subscribed for it are told also after the store was emptied.
func (p *Pushes) agree(ctx context.Context) error {
	p.mu.Lock()
	mine := p.keyText
	p.mu.Unlock()
	if err := p.cfg.Redis.SetNX(ctx, keyName, mine, 0).Err(); err != nil {
		return stored(err)
	}
	text, err := p.cfg.Redis.Get(ctx, keyName).Result()
	if err != nil {
		return stored(err)
	}
	k, err := parseKey(text)
	if err != nil {
		return stored(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keyText, p.key = text, k
	return nil
}

func newCounts(r prometheus.Registerer) *prometheus.CounterVec {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_push_total",
		Help: "Messages to sellers' browsers, by what became of them: sent, later (to be tried again), gone (the browser subscribes no more), refused, late (the turn was over)."},
		[]string{"result"})
	for _, result := range []string{"sent", "later", "gone", "refused", "late"} {
		counts.WithLabelValues(result)
	}
	if r != nil {
		r.MustRegister(counts)
	}
	return counts
}

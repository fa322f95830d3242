// Package push tells a seller's browser that its turn has come, though no page of ours is open there: Web Push (RFC 8030), sealed for that browser alone
// (RFC 8291), and signed as this deployment's (RFC 8292).
//
// A subscription belongs to a place and is kept in Redis until that is over. It is a secret: it is in no log, no metric and no error.
package push

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

// Config says what pushes work with. Redis is required.
type Config struct {
	Redis      redis.UniversalClient
	Names      room.Names            // what its keys are called
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

	mu  sync.Mutex
	key *key // as in Redis when it was last asked; nil: it never answered
}

// New asks for nothing yet.
func New(cfg Config) *Pushes {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Pushes{cfg: cfg, client: newClient(cfg.Loopback), rests: rests{now: cfg.Now}, counts: newCounts(cfg.Registerer)}
}

// Close lets go of connections.
func (p *Pushes) Close() { p.client.CloseIdleConnections() }

// PublicKey is what browsers subscribe for, in base64url. All replicas agree on one key: the first that comes makes it. The error is the store's, while
// this process knows none.
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

// agree learns the key that Redis has. Where it has none, the one that this process knows is put there, so that browsers that
// subscribed for it are told also after the store was emptied.
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

// propose puts a key into Redis, and returns the one that is there then.
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

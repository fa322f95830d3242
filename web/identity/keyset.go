package identity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"

	"github.com/waitroom/waitroom/internal/origin"
)

const (
	keysFresh   = 10 * time.Minute // then refetched: a key may have been withdrawn
	keysEvery   = 10 * time.Second // between fetches, once keysBurst of them came in a row
	keysBurst   = 5
	maxKeys     = 1 << 20 // bytes of a JWKS
	keysTimeout = 5 * time.Second
)

// keySet holds the portal's keys. It fetches them on first use and again for a token that matches none. A
// failed fetch keeps the previous keys.
type keySet struct {
	url     string
	log     *slog.Logger
	client  *http.Client
	now     func() time.Time
	asking  singleflight.Group
	fetches *prometheus.CounterVec

	mu      sync.Mutex
	keys    []key
	fetched time.Time
	limit   *rate.Limiter
	failed  error // the last fetch's error
}

func newKeySet(address string, log *slog.Logger, r prometheus.Registerer) *keySet {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: keysTimeout,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10} // seldom used
	k := &keySet{url: address, log: log, client: &http.Client{Transport: transport, Timeout: keysTimeout,
		CheckRedirect: origin.KeepHTTPS},
		now:   time.Now,
		limit: rate.NewLimiter(rate.Every(keysEvery), keysBurst),
		fetches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waitroom_seller_keys_fetches_total",
			Help: "How often the portal's keys were fetched, by how it ended (ok, failed)."}, []string{"result"})}
	if r != nil {
		r.MustRegister(k.fetches)
	}
	return k
}

func (*keySet) algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA}
}

// verify tries the known keys and, if none matches, the portal's current ones.
func (k *keySet) verify(ctx context.Context, signed *jose.JSONWebSignature) ([]byte, error) {
	keys, old := k.held()
	if payload, ok := tryKeys(keys, signed); ok {
		if old {
			k.refresh() // in the background
		}
		return payload, nil
	}
	select {
	case <-k.refresh():
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrKeys, ctx.Err())
	}
	keys, _ = k.held()
	if payload, ok := tryKeys(keys, signed); ok {
		return payload, nil
	}
	if err := k.failure(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return nil, errSignature
}

func (k *keySet) held() (keys []key, old bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys, k.now().Sub(k.fetched) > keysFresh
}

func (k *keySet) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

// refresh fetches the keys, once for concurrent callers and rate limited. The channel signals its end.
func (k *keySet) refresh() <-chan singleflight.Result {
	return k.asking.DoChan("", func() (any, error) {
		if k.limit.AllowN(k.now(), 1) {
			k.take(k.fetch())
		}
		return nil, nil
	})
}

func (k *keySet) take(keys []key, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed = err
	if err != nil {
		k.fetches.WithLabelValues("failed").Inc()
		k.log.Warn("the portal's keys can not be fetched; those known stay", "url", shown(k.url), "known",
			len(k.keys), "error", err)
		return
	}
	k.fetches.WithLabelValues("ok").Inc()
	k.keys, k.fetched = keys, k.now()
}

func (k *keySet) fetch() ([]key, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keysTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeys))
	if err != nil {
		return nil, err
	}
	return readKeys(text)
}

// shown returns an address without its query, which may hold a secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// withoutURL returns a request's error without its URL.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

package pushtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Push is one push to an endpoint.
type Push struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Service is a push service.
type Service struct {
	URL string

	tb     testing.TB
	pushes chan Push
	mu     sync.Mutex
	answer http.HandlerFunc // nil: it takes everything
	asked  int
}

// NewService starts a push service on this machine, without TLS.
func NewService(tb testing.TB) *Service {
	s := &Service{tb: tb, pushes: make(chan Push, 64)}
	server := httptest.NewServer(s)
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Answers sets the service's answer to every push from now on, which it then does not keep. With nil it keeps
// pushes again.
func (s *Service) Answers(how http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = how
}

// Asked returns the number of pushes that were sent to the service.
func (s *Service) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked++
	answer := s.answer
	s.mu.Unlock()
	switch {
	case err != nil || r.Method != http.MethodPost:
		w.WriteHeader(http.StatusBadRequest)
	case answer != nil:
		answer(w, r)
	default:
		s.pushes <- Push{r.URL.Path, r.Header.Clone(), body}
		w.WriteHeader(http.StatusCreated)
	}
}

// Next waits for a push.
func (s *Service) Next(within time.Duration) Push {
	s.tb.Helper()
	select {
	case p := <-s.pushes:
		return p
	case <-time.After(within):
		s.tb.Fatal("no push came")
		return Push{}
	}
}

// Empty requires that no more pushes came.
func (s *Service) Empty() {
	s.tb.Helper()
	require.Empty(s.tb, s.pushes)
}

var vapid = regexp.MustCompile(`^vapid t=([\w-]+\.[\w-]+\.[\w-]+), k=([\w-]+)$`)

// Sender checks a push's sender by RFC 8292, and returns the public key and the claims.
func (p Push) Sender(tb testing.TB) (key string, claims jwt.MapClaims) {
	tb.Helper()
	parts := vapid.FindStringSubmatch(p.Header.Get("Authorization"))
	require.NotNil(tb, parts)
	point, err := base64.RawURLEncoding.DecodeString(parts[2])
	require.NoError(tb, err)
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	require.NoError(tb, err)
	claims = jwt.MapClaims{}
	token, err := jwt.ParseWithClaims(parts[1], claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithExpirationRequired())
	require.NoError(tb, err)
	require.Equal(tb, "JWT", token.Header["typ"])
	return parts[2], claims
}

package identity

import (
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const here = room.ID("integration")

var secret = []byte(strings.Repeat("hush", 8))

// shared returns a Redis and two replicas that use the portal's secret.
func shared(t *testing.T) (server *redistest.Server, one, other *Sellers) {
	t.Helper()
	server = redistest.Start(t)
	replica := func() *Sellers {
		return New(Config{Redis: server.Client(), Secrets: [][]byte{secret},
			Audiences: []string{"waitroom", "https://wait.example"}})
	}
	return server, replica(), replica()
}

func signed(t testing.TB, claims portaltest.Claims) string {
	t.Helper()
	return portaltest.Sign(t, jwt.SigningMethodHS256, secret, "", claims)
}

// link exchanges a token for a session, which has to succeed.
func link(t *testing.T, s *Sellers, claims portaltest.Claims, before string) string {
	t.Helper()
	session, err := s.Link(t.Context(), here, signed(t, claims), before)
	require.NoError(t, err)
	return session
}

// proof returns the proof of a session, which has to succeed.
func proof(t *testing.T, s *Sellers, session string) Proof {
	t.Helper()
	p, err := s.Session(t.Context(), here, session)
	require.NoError(t, err)
	return p
}

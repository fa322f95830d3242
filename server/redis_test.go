package server

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestServesOnEveryKindOfStore(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	servesOn(t, map[string]func(*testing.T) string{
		"embedded": func(*testing.T) string { return "embedded" },
		"redis":    func(t *testing.T) string { return redistest.Lent(t).URL() + "/3" },
		"unix": func(t *testing.T) string {
			redistest.StartWith(t, redistest.Config{Args: []string{"--unixsocket", socket}})
			return "unix://" + socket
		},
	})
}

// servesOn lets sellers take turns on the stores at some addresses.
func servesOn(t *testing.T, stores map[string]func(*testing.T) string) {
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			r := start(t, config(t, "--redis-url", url(t)))
			a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
			require.Equal(t, http.StatusOK, a.join().StatusCode)
			require.Equal(t, http.StatusAccepted, b.join().StatusCode)
			conn := open(t, r.URL(), "X-Session-ID", b.session)
			require.Equal(t, "waiting", next(t, conn)["status"])
			require.Equal(t, http.StatusOK, a.leave("").StatusCode)
			until(t, conn, "locked")
			readiness(t, a, http.StatusOK)
		})
	}
}

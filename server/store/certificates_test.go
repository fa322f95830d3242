package store_test

import (
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server/store"
)

// patience is how long a test waits for an event.
const patience = time.Minute

func sealed(t *testing.T, more ...string) (s *redistest.Server, port int, files string) {
	t.Helper()
	r := redistest.StartSealed(t, more...)
	return r.Server, r.Port, r.Files
}

func answersAt(t *testing.T, address string) error {
	t.Helper()
	u, err := store.Parse(address)
	require.NoError(t, err)
	s, err := u.Open(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.Close()
	return s.Client.Set(t.Context(), "k", "1", time.Minute).Err()
}

func TestRedisIsShownTheCertificateThatItsAddressNames(t *testing.T) {
	s, port, files := sealed(t)
	require.NoError(t, answersAt(t, fmt.Sprintf("rediss://127.0.0.1:%d/2?%s", port, files)))
	require.Contains(t, s.Client().Info(t.Context(), "keyspace").Val(), "db2:keys=1",
		"all else in the address counts, too")
}

func TestNodesOfAClusterAreShownTheCertificateThatItsAddressNames(t *testing.T) {
	// the default port, 10,000 above the server's, may be in use
	bus := fmt.Sprint(testproc.FreePort(t))
	s, port, files := sealed(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--tls-cluster", "yes",
		"--cluster-announce-ip", "127.0.0.1")
	require.NoError(t, s.Client().Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	testproc.Until(t, patience, func() error {
		return answersAt(t,
			fmt.Sprintf("rediss+cluster://127.0.0.1:%d?%s", port, files))
	})
}

func TestSentinelsAndTheirMasterAreShownTheCertificateThatTheirAddressNames(t *testing.T) {
	address := redistest.StartSealed(t).Sentinel(t)
	testproc.Until(t, patience, func() error { return answersAt(t, address) })
}

func TestCertificateIsReadAnewForEachConnection(t *testing.T) {
	_, port, files := sealed(t)
	q, err := url.ParseQuery(files)
	require.NoError(t, err)
	other, otherKey := redistest.Certificate(t)
	u, err := store.Parse(fmt.Sprintf("rediss://127.0.0.1:%d?%s", port,
		url.Values{"cert": {other}, "key": {otherKey}, "ca": q["ca"]}.Encode()))
	require.NoError(t, err)
	ping := func() error {
		s, err := u.Open(slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		defer s.Close()
		return s.Client.Ping(t.Context()).Err()
	}
	require.Error(t, ping(), "it does not believe that one")
	for from, to := range map[string]string{q.Get("cert"): other, q.Get("key"): otherKey} {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
	require.NoError(t, ping())
}

func TestCertificatesThatCanNotBeUsedStopTheStartByTheirReason(t *testing.T) {
	cert, key := redistest.Certificate(t)
	for query, want := range map[string]string{
		"cert=" + cert:                        "name both or neither",
		"key=" + key:                          "name both or neither",
		"cert=" + cert + "&cert=x&key=" + key: "each once",
		"ca=":                                 "each once",
		"cert=/nowhere/hush&key=" + key:       "cert and key can not be used: no such file",
		"cert=" + key + "&key=" + key: "cert and key can not be used: tls: failed to find " +
			"certificate PEM data",
		"ca=/nowhere/hush": "ca can not be used: no such file",
		"ca=" + key:        "ca can not be used: it has no certificate in PEM",
		"cert=" + cert + "&key=" + key + "&hush=": "want ",
	} {
		for _, host := range []string{"rediss://h:1?", "rediss+sentinel://h:1/main?",
			"rediss+cluster://h:1?"} {
			_, err := store.Parse(host + query)
			if strings.HasPrefix(want, "want ") {
				require.Error(t, err)
			} else {
				require.ErrorContains(t, err, want, host+query)
			}
			require.NotContains(t, err.Error(), "hush")
		}
	}
	for _, host := range []string{"redis://h:1?", "redis+sentinel://h:1/main?", "redis+cluster://h:1?"} {
		_, err := store.Parse(host + "ca=" + cert)
		require.ErrorContains(t, err, "cert, key and ca need TLS", host)
	}
}

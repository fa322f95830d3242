package sentinel_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/server/sentinel"
)

// observer runs a sentinel of a master that accepts only TLS. Clients reach the sentinel over TLS at addr;
// control is the test's connection.
func observer(t *testing.T, master int, sealed []string) (addr string, control *redis.SentinelClient) {
	t.Helper()
	dir, plain, port := t.TempDir(), testproc.FreePort(t), testproc.FreePort(t)
	conf := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port %d\ntls-port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %d "+
		"1\nuser watcher on >hush allchannels -@all +subscribe "+
		"+sentinel|get-master-addr-by-name\n%s\n", plain, port, dir, redistest.MasterName, master,
		strings.Join(sealed, "\n"))
	require.NoError(t, os.WriteFile(conf, []byte(text), 0o600))
	cmd := exec.Command(testproc.Find(t, "redis-sentinel"), conf)
	process, err := testproc.Start(cmd, syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	control = redis.NewSentinelClient(&redis.Options{Addr: fmt.Sprintf("127.0.0.1:%d", plain)})
	t.Cleanup(func() { _ = control.Close() })
	return fmt.Sprintf("127.0.0.1:%d", port), control
}

// Sentinels and servers accept TLS only, and the users of both have no more rights than needed.
func TestMasterIsFollowedOverTLSByUsersWithFewRights(t *testing.T) {
	cert, key := redistest.Certificate(t)
	text, err := os.ReadFile(cert)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(text))
	sealed := []string{"tls-replication yes", "tls-cert-file " + cert, "tls-key-file " + key,
		"tls-ca-cert-file " + cert, "tls-auth-clients no"}
	ports := [2]int{testproc.FreePort(t), testproc.FreePort(t)}
	args := []string{"--user", "shop", "on", ">pw", "~*", "&*", "+@all", "-role", "-info"}
	for _, line := range sealed {
		args = append(args, strings.Fields("--"+line)...)
	}
	old := redistest.StartWith(t, redistest.Config{Args: append(slices.Clip(args), "--tls-port",
		fmt.Sprint(ports[0]))})
	next := redistest.StartWith(t, redistest.Config{Args: append(slices.Clip(args), "--tls-port",
		fmt.Sprint(ports[1]), "--replicaof", fmt.Sprint("127.0.0.1 ", ports[0]),
		"--repl-diskless-sync-delay", "0")})
	addr, control := observer(t, ports[0], sealed)
	client, stop := sentinel.NewClient(sentinel.Config{Master: redistest.MasterName, Addrs: []string{addr},
		Username: "watcher", Password: "hush",
		Options: redis.Options{Username: "shop", Password: "pw", MaxRetries: -1, DialerRetries: 1,
			TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}})
	t.Cleanup(stop)
	testproc.Until(t, time.Minute, func() error { return client.Set(t.Context(), "k", "1", 0).Err() })
	require.Equal(t, "1", old.Client().Get(t.Context(), "k").Val())
	testproc.Until(t, time.Minute, func() error {
		return control.Failover(t.Context(),
			redistest.MasterName).Err()
	})
	testproc.Until(t, time.Minute, func() error {
		if err := client.Set(t.Context(), "k", "2", 0).Err(); err != nil {
			return err
		}
		if next.Client().Get(t.Context(), "k").Val() != "2" {
			return errors.New("the old master took it")
		}
		return nil
	})
}

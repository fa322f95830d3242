package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// sealedRedis is a Redis that talks only to clients that show its own certificate, and what names the files in an address.
func sealedRedis(t *testing.T, more ...string) (s *redistest.Server, port int, settings []string, files string) {
	t.Helper()
	cert, key := redistest.Certificate(t)
	port = testproc.FreePort(t)
	settings = []string{"tls-replication yes", "tls-cert-file " + cert, "tls-key-file " + key, "tls-ca-cert-file " + cert, "tls-auth-clients yes"}
	args := append(slices.Clone(more), "--tls-port", fmt.Sprint(port))
	for _, line := range settings {
		args = append(args, strings.Fields("--"+line)...)
	}
	return keptRedis(t, args...), port, settings, url.Values{"cert": {cert}, "key": {key}, "ca": {cert}}.Encode()
}

func answersAt(t *testing.T, address string) error {
	t.Helper()
	u, err := ParseRedis(address)
	require.NoError(t, err)
	s, err := u.open(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer s.close()
	return s.client.Set(t.Context(), "k", "1", time.Minute).Err()
}

func TestRedisIsShownTheCertificateThatItsAddressNames(t *testing.T) {
	s, port, _, files := sealedRedis(t)
	require.NoError(t, answersAt(t, fmt.Sprintf("rediss://127.0.0.1:%d/2?%s", port, files)))
	require.Contains(t, s.Client().Info(t.Context(), "keyspace").Val(), "db2:keys=1", "all else in the address counts, too")
}

func TestNodesOfAClusterAreShownTheCertificateThatItsAddressNames(t *testing.T) {
	bus := fmt.Sprint(testproc.FreePort(t)) // the default, 10,000 above its port, may be the port of somebody's connection
	s, port, _, files := sealedRedis(t, "--cluster-enabled", "yes", "--cluster-port", bus, "--tls-cluster", "yes", "--cluster-announce-ip", "127.0.0.1")
	require.NoError(t, s.Client().Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err())
	testproc.Until(t, patience, func() error { return answersAt(t, fmt.Sprintf("rediss+cluster://127.0.0.1:%d?%s", port, files)) })
}

func TestSentinelsAndTheirMasterAreShownTheCertificateThatTheirAddressNames(t *testing.T) {
	_, master, settings, files := sealedRedis(t)
	dir, port := t.TempDir(), testproc.FreePort(t)
	conf := filepath.Join(dir, "sentinel.conf")
	text := fmt.Sprintf("port 0\ntls-port %d\nbind 127.0.0.1\ndir %s\nsentinel monitor main 127.0.0.1 %d 1\n%s\n", port, dir, master, strings.Join(settings, "\n"))
	require.NoError(t, os.WriteFile(conf, []byte(text), 0o600))
	process, err := testproc.Start(exec.Command(testproc.Find(t, "redis-sentinel"), conf), syscall.SIGKILL)
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	address := fmt.Sprintf("rediss+sentinel://127.0.0.1:%d/main?%s", port, files)
	testproc.Until(t, patience, func() error { return answersAt(t, address) })
	said, _ := diagnosed(t, sound(t, "--redis-url", address))
	require.NotContains(t, said, "does not answer")
	said, _ = diagnosed(t, sound(t, "--redis-url", address[:strings.Index(address, "?")]))
	require.Regexp(t, `WRONG +sentinel .* does not answer.*\n.*→.*ca=FILE`, said)
}

func TestCertificateIsReadAnewForEachConnection(t *testing.T) {
	_, port, _, files := sealedRedis(t)
	q, err := url.ParseQuery(files)
	require.NoError(t, err)
	other, otherKey := redistest.Certificate(t)
	u, err := ParseRedis(fmt.Sprintf("rediss://127.0.0.1:%d?%s", port, url.Values{"cert": {other}, "key": {otherKey}, "ca": q["ca"]}.Encode()))
	require.NoError(t, err)
	ping := func() error {
		s, err := u.open(slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		defer s.close()
		return s.client.Ping(t.Context()).Err()
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
		"cert=" + cert:                            "name both or neither",
		"key=" + key:                              "name both or neither",
		"cert=" + cert + "&cert=x&key=" + key:     "each once",
		"ca=":                                     "each once",
		"cert=/nowhere/hush&key=" + key:           "cert and key can not be used: no such file",
		"cert=" + key + "&key=" + key:             "cert and key can not be used: tls: failed to find certificate PEM data",
		"ca=/nowhere/hush":                        "ca can not be used: no such file",
		"ca=" + key:                               "ca can not be used: it has no certificate in PEM",
		"cert=" + cert + "&key=" + key + "&hush=": "want ",
	} {
		for _, host := range []string{"rediss://h:1?", "rediss+sentinel://h:1/main?", "rediss+cluster://h:1?"} {
			_, err := ParseRedis(host + query)
			if strings.HasPrefix(want, "want ") {
				require.Error(t, err)
			} else {
				require.ErrorContains(t, err, want, host+query)
			}
			require.NotContains(t, err.Error(), "hush")
		}
	}
	for _, host := range []string{"redis://h:1?", "redis+sentinel://h:1/main?", "redis+cluster://h:1?"} {
		_, err := ParseRedis(host + "ca=" + cert)
		require.ErrorIs(t, err, errPlain, host)
	}
}

func TestDoctorSaysThatRedisWantsACertificateAndWhomToBelieve(t *testing.T) {
	_, port, _, files := sealedRedis(t)
	q, err := url.ParseQuery(files)
	require.NoError(t, err)
	for query, want := range map[string]string{"?ca=" + q.Get("ca"): `wants? a certificate of its clients.*cert=FILE&key=FILE`, "": `ca=FILE`} {
		said, well := diagnosed(t, sound(t, "--redis-url", fmt.Sprintf("rediss://127.0.0.1:%d%s", port, query)))
		require.False(t, well)
		require.Regexp(t, `WRONG +redis +Redis at .* does not answer.*\n.*→.*`+want, said)
	}
	said, well := diagnosed(t, sound(t, "--redis-url", fmt.Sprintf("rediss://127.0.0.1:%d?%s", port, files)))
	require.True(t, well, said)
}

// A server's refusal of the certificate is lost where the client writes to a connection that is closed already.
func TestDoctorNamesTheCertificateWhereRedisOnlyBreaksTheConnectionOff(t *testing.T) {
	cert, key := redistest.Certificate(t)
	own, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ln.Close()) })
	go breaksOff(ln)
	files := url.Values{"ca": {cert}}
	said, well := diagnosed(t, sound(t, "--redis-url", fmt.Sprintf("rediss://%s?%s", ln.Addr(), files.Encode())))
	require.False(t, well)
	require.Regexp(t, `WRONG +redis .* does not answer.*\n.*→ It may want a certificate of its clients.*cert=FILE&key=FILE`, said)
	files["cert"], files["key"] = []string{cert}, []string{key}
	said, well = diagnosed(t, sound(t, "--redis-url", fmt.Sprintf("rediss://%s?%s", ln.Addr(), files.Encode())))
	require.False(t, well)
	require.NotContains(t, said, "want a certificate", "it was shown one")
}

// breaksOff resets each connection after its TLS handshake, until the listener is closed.
func breaksOff(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		secured := c.(*tls.Conn)
		_ = secured.Handshake()
		_ = secured.NetConn().(*net.TCPConn).SetLinger(0)
		_ = secured.NetConn().Close()
	}
}

package doctor_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestDoctorAsksSentinelsWithTheCertificateThatTheirAddressNames(t *testing.T) {
	address := redistest.StartSealed(t).Sentinel(t)
	said, _ := diagnosed(t, sound(t, "--redis-url", address))
	require.NotContains(t, said, "does not answer")
	said, _ = diagnosed(t, sound(t, "--redis-url", address[:strings.Index(address, "?")]))
	require.Regexp(t, `WRONG +sentinel .* does not answer.*\n.*→.*ca=FILE`, said)
}

func TestDoctorSaysThatRedisWantsACertificateAndWhomToBelieve(t *testing.T) {
	sealed := redistest.StartSealed(t)
	port, files := sealed.Port, sealed.Files
	q, err := url.ParseQuery(files)
	require.NoError(t, err)
	for query, want := range map[string]string{"?ca=" +
		q.Get("ca"): `wants? a certificate of its clients.*cert=FILE&key=FILE`, "": `ca=FILE`} {
		said, well := diagnosed(t, sound(t, "--redis-url",
			fmt.Sprintf("rediss://127.0.0.1:%d%s", port, query)))
		require.False(t, well)
		require.Regexp(t, `WRONG +redis +Redis at .* does not answer.*\n.*→.*`+want, said)
	}
	said, well := diagnosed(t, sound(t, "--redis-url", fmt.Sprintf("rediss://127.0.0.1:%d?%s", port, files)))
	require.True(t, well, said)
}

// If the client writes to a connection that the server has closed, it does not read why the server refused
// the certificate.
func TestDoctorNamesTheCertificateWhereRedisOnlyBreaksTheConnectionOff(t *testing.T) {
	cert, key := redistest.Certificate(t)
	own, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ln.Close()) })
	go breaksOff(ln)
	files := url.Values{"ca": {cert}}
	said, well := diagnosed(t, sound(t, "--redis-url",
		fmt.Sprintf("rediss://%s?%s", ln.Addr(), files.Encode())))
	require.False(t, well)
	require.Regexp(t, `WRONG +redis .* does not answer.*\n.*→ It may want a certificate of its clients.*cert=FILE&key=FILE`, said)
	files["cert"], files["key"] = []string{cert}, []string{key}
	said, well = diagnosed(t, sound(t, "--redis-url",
		fmt.Sprintf("rediss://%s?%s", ln.Addr(), files.Encode())))
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

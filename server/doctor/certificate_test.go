package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// balancer serves with a certificate for localhost of so many days, and returns its address and who signed it.
func balancer(t *testing.T, days int) (url string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	end := time.Now().Add(time.Duration(days)*24*time.Hour + time.Hour)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: end,
		NotBefore: end.Add(-90 * 24 * time.Hour), IsCA: true, BasicConstraintsValid: true}
	text, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	roots = x509.NewCertPool()
	own, err := x509.ParseCertificate(text)
	require.NoError(t, err)
	roots.AddCert(own)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{text}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1), roots
}

func TestDoctorSaysHowLongTheCertificateIsValid(t *testing.T) {
	for days, want := range map[int]Level{80: Fine, 22: Fine, 20: Doubtful, 4: Doubtful, 2: Wrong, -2: Wrong} {
		url, roots := balancer(t, days)
		d := &doctor{Config: Config{PublicURL: url, Roots: roots}}
		d.certificate(t.Context())
		require.Len(t, d.findings, 1)
		require.Equal(t, want, d.findings[0].Level, "%d days: %s", days, d.findings[0].Text)
		if days < 21 {
			require.Contains(t, d.findings[0].Do, "Renew it")
		}
	}
}

func TestDoctorSaysWhyBrowsersRefuseTheCertificate(t *testing.T) {
	url, roots := balancer(t, 80)
	for reason, cfg := range map[string]Config{
		"unknown authority": {PublicURL: url, Roots: x509.NewCertPool()},
		"127.0.0.1":         {PublicURL: strings.Replace(url, "localhost", "127.0.0.1", 1), Roots: roots},
	} {
		d := &doctor{Config: cfg}
		d.certificate(t.Context())
		require.Len(t, d.findings, 1)
		require.Equal(t, Wrong, d.findings[0].Level)
		require.Contains(t, d.findings[0].Text, reason)
	}
}

// The doctor runs before the balancer is installed, and on hosts from which it cannot be reached.
func TestDoctorFindsNoFaultWithABalancerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	for address, want := range map[string]int{"https://" + address: 1, "http://" + address: 0, "": 0} {
		d := &doctor{Config: Config{PublicURL: address}}
		d.certificate(t.Context())
		require.Len(t, d.findings, want)
		require.False(t, d.any("balancer"))
	}
}

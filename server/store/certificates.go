package store

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// certificates are the PEM files for TLS that a REDIS_URL names in its parameters cert, key and ca.
type certificates struct {
	cert, key string // of the client; "" = none
	ca        string // the authorities that servers are verified by; "" = the system's
}

var certificateNames = []string{"cert", "key", "ca"}

var (
	errPlain   = errors.New("cert, key and ca need TLS: rediss://, rediss+sentinel:// or rediss+cluster://")
	errHalf    = errors.New("cert and key: name both or neither, and each once")
	errNotRead = errors.New("can not be used")
)

// takeCertificates removes cert, key and ca from an address's parameters, and returns them.
func takeCertificates(q url.Values) (certificates, error) {
	var c certificates
	for i, field := range []*string{&c.cert, &c.key, &c.ca} {
		name := certificateNames[i]
		if len(q[name]) > 1 || q.Has(name) && q.Get(name) == "" {
			return c, errHalf
		}
		*field = q.Get(name)
		q.Del(name)
	}
	if (c.cert == "") != (c.key == "") {
		return c, errHalf
	}
	return c, nil
}

// into sets the files in a TLS configuration. The client's certificate is read again for each connection, so
// that it can be replaced; ca is read once. An error does not name a file, since its name is part of the
// address.
func (c certificates) into(config *tls.Config) error {
	if c == (certificates{}) {
		return nil
	}
	if config == nil {
		return errPlain
	}
	if c.cert != "" {
		if _, err := tls.LoadX509KeyPair(c.cert, c.key); err != nil {
			return fmt.Errorf("cert and key %w: %w", errNotRead, withoutPath(err))
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.cert, c.key)
			return &pair, err
		}
	}
	if c.ca == "" {
		return nil
	}
	text, err := os.ReadFile(c.ca)
	if err != nil {
		return fmt.Errorf("ca %w: %w", errNotRead, withoutPath(err))
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("ca %w: it has no certificate in PEM", errNotRead)
	}
	return nil
}

func withoutPath(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// cutCertificates removes them from an address with one host; an address without them stays unchanged.
func cutCertificates(text string) (rest string, c certificates, err error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", c, errRedis
	}
	q := u.Query()
	given := len(q)
	if c, err = takeCertificates(q); err != nil || len(q) == given {
		return text, c, err
	}
	u.RawQuery = q.Encode()
	return u.String(), c, nil
}

// CertificateAdvice returns what to do if one side refuses the other's certificate; "" for any other error.
func (u URL) CertificateAdvice(err error) string {
	const show = ": name the files in WAITROOM_REDIS_URL, rediss://…?cert=FILE&key=FILE (in PEM)."
	switch text := err.Error(); {
	case strings.Contains(text, "certificate required"):
		return "It wants a certificate of its clients" + show
	case strings.Contains(text, "remote error: tls:"):
		return "Name in WAITROOM_REDIS_URL a certificate that it believes: rediss://…?cert=FILE&key=FILE " +
			"(in PEM)."
	case strings.Contains(text, "x509:"):
		return "Name in WAITROOM_REDIS_URL who signed its certificate: rediss://…?ca=FILE (in PEM). Is " +
			"the address one that the certificate is for?"
	case u.showsNoCertificate() && brokenOff(err):
		return "It may want a certificate of its clients" + show
	}
	return ""
}

// showsNoCertificate reports whether connections are TLS without a certificate of the client.
func (u URL) showsNoCertificate() bool { return u.usesTLS() && u.tls().GetClientCertificate == nil }

func (u URL) usesTLS() bool { return u.tls() != nil }

func (u URL) tls() *tls.Config {
	switch {
	case u.single != nil:
		return u.single.TLSConfig
	case u.many != nil:
		return u.many.TLSConfig
	}
	return nil
}

// brokenOff reports whether the other side closed the connection. From TLS 1.3 on a server refuses a
// certificate only after the handshake, and a client that writes at that moment finds the connection closed
// before it can read the reason.
func brokenOff(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

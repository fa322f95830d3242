package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
)

// certificates are the files, in PEM, that a REDIS_URL names for TLS by its parameters cert, key and ca.
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

// takeCertificates takes them out of an address's parameters.
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

// into makes connections use the files. An error does not name a file, since its name is a part of the address. The client's certificate is read anew for each
// connection, so that it can be replaced; ca is read once.
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

// cutCertificates takes them out of an address with one host; the rest is as it was where there are none.
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

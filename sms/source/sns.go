package source

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // SignatureVersion 1 of SNS; SNS offers no other by default
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/waitroom/waitroom/sms"
)

// topic is the scheme of Amazon SNS: an RSA signature under a certificate that an address of SNS has. The
// secret is the ARN of the topic, since every customer of AWS gets such signatures.
// https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
type topic struct {
	keys  keys
	fetch fetch

	mu    sync.Mutex
	certs map[string]*x509.Certificate // by their addresses
}

// fetch gets a document of SNS.
type fetch func(ctx context.Context, address string) ([]byte, error)

const (
	snsWithin  = 5 * time.Second
	snsMost    = 64 << 10 // bytes of a document
	snsCerts   = 16       // kept
	snsConfirm = "SubscriptionConfirmation"
)

// snsHost matches the only hosts that certificates and confirmations are fetched from.
var snsHost = regexp.MustCompile(`^sns\.[a-z0-9-]+\.amazonaws\.com(?:\.cn)?$`)

func newSNS(k keys, _ Signature) (verifier, error) {
	for _, one := range k {
		if !strings.HasPrefix(one.Reveal(), "arn:aws") {
			return nil, errors.New("secret is no ARN: want the topic's, such as arn:aws:sns:…")
		}
	}
	return &topic{keys: k, fetch: get, certs: make(map[string]*x509.Certificate)}, nil
}

func get(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, snsWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	// another host must not be reached by a redirect
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answer is %d", answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, snsMost))
}

// ofSNS reports whether an address is one of SNS.
func ofSNS(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && snsHost.MatchString(u.Host)
}

func (s *topic) Verify(r sms.Request) error {
	f, err := readFields(r)
	if err != nil {
		return refused("the body can not be read, and the signature is in it")
	}
	if !s.keys.match([]byte(f.text("TopicArn")), func(key []byte) []byte { return key }) {
		return refused("the secret has to be the ARN of the topic")
	}
	given, err := base64.StdEncoding.DecodeString(f.text("Signature"))
	if err != nil || len(given) == 0 {
		return refused("there is no Signature")
	}
	address := f.text("SigningCertURL")
	if !ofSNS(address) || !strings.HasSuffix(address, ".pem") {
		return refused("SigningCertURL is no address of SNS")
	}
	key, err := s.key(address, r.Now)
	if err != nil {
		return err
	}
	text := []byte(canonical(f))
	if f.text("SignatureVersion") == "2" {
		sum := sha256.Sum256(text)
		err = rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], given)
	} else {
		sum := sha1.Sum(text) //nolint:gosec // see the import
		err = rsa.VerifyPKCS1v15(key, crypto.SHA1, sum[:], given)
	}
	if err != nil {
		return refused("Signature is not of the certificate that SigningCertURL has")
	}
	return nil
}

// key returns the public key of a certificate. Certificates are kept, since one signs for a year.
func (s *topic) key(address string, now time.Time) (*rsa.PublicKey, error) {
	s.mu.Lock()
	cert := s.certs[address]
	s.mu.Unlock()
	if cert == nil {
		text, err := s.fetch(context.Background(), address)
		if err != nil {
			return nil, refused("the certificate at SigningCertURL could not be read")
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, refused("there is no certificate at SigningCertURL")
		}
		if cert, err = x509.ParseCertificate(block.Bytes); err != nil {
			return nil, refused("there is no certificate at SigningCertURL")
		}
		s.mu.Lock()
		if len(s.certs) >= snsCerts {
			clear(s.certs)
		}
		s.certs[address] = cert
		s.mu.Unlock()
	}
	if now.Before(cert.NotBefore) || now.After(cert.NotAfter) {
		return nil, refused("the certificate at SigningCertURL is not valid now")
	}
	key, ok := cert.PublicKey.(*rsa.PublicKey)
	if !ok {
		return nil, refused("the certificate at SigningCertURL has no RSA key")
	}
	return key, nil
}

// canonical returns what SNS signs.
func canonical(f fields) string {
	names := []string{"Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"}
	if kind := f.text("Type"); kind == snsConfirm || kind == "UnsubscribeConfirmation" {
		names = []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	}
	var b strings.Builder
	for _, name := range names {
		if value := f.text(name); value != "" || name != "Subject" {
			b.WriteString(name + "\n" + value + "\n")
		}
	}
	return b.String()
}

// topicReader reads the notifications of a topic, and confirms its subscription.
type topicReader struct {
	*topic
	*reader
}

// Verify is the topic's.
func (s topicReader) Verify(r sms.Request) error { return s.topic.Verify(r) }

// Parse returns the messages of a notification.
func (s topicReader) Parse(r sms.Request) ([]sms.Post, error) {
	f, err := readFields(r)
	if err != nil {
		return nil, err
	}
	kind := f.text("Type")
	if kind == "Notification" {
		return s.reader.Parse(r)
	}
	if kind == snsConfirm {
		if address := f.text("SubscribeURL"); !ofSNS(address) || s.confirm(address) != nil {
			return nil, sms.FaultUnconfirmed
		}
	}
	return nil, sms.Ignored(kind)
}

func (s topicReader) confirm(address string) error {
	_, err := s.fetch(context.Background(), address)
	return err
}

package source

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/sms"
)

const topicARN = "arn:aws:sns:ap-northeast-2:123456789012:inbound"

// fakeSNS is Amazon SNS: its key, and the documents that its host gives.
type fakeSNS struct {
	t       *testing.T
	key     *rsa.PrivateKey
	cert    []byte
	fetched []string
}

func newFakeSNS(t *testing.T) *fakeSNS {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	like := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: noon.Add(-time.Hour),
		NotAfter: noon.Add(365 * 24 * time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	require.NoError(t, err)
	return &fakeSNS{t: t, key: key, cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})}
}

// source returns a source whose requests of SNS's documents the fake answers.
func (f *fakeSNS) source(arn string) Configured {
	made, err := New(Settings{Kind: templateKind, Secrets: []sms.Secret{sms.NewSecret(arn)},
		Template: Template{Signature: Signature{Scheme: sns}, ID: "Message.inboundMessageId",
			From: "Message.originationNumber", To: "Message.destinationNumber", Text: "Message.messageBody",
			SentAt: "Timestamp"}})
	require.NoError(f.t, err)
	made.Source.(*parts).verifier.(*topic).fetch = func(_ context.Context, address string) ([]byte, error) {
		f.fetched = append(f.fetched, address)
		if strings.HasSuffix(address, ".pem") {
			return f.cert, nil
		}
		if strings.Contains(address, "Action=ConfirmSubscription") {
			return []byte("<ConfirmSubscriptionResponse/>"), nil
		}
		return nil, errors.New("answer is 404")
	}
	return made
}

// signed returns a request with a payload that SNS has signed, as its documentation says.
func (f *fakeSNS) signed(body string, names ...string) sms.Request {
	r := request(body, "Content-Type", "text/plain; charset=UTF-8", "x-amz-sns-topic-arn", topicARN)
	read, err := readFields(r)
	require.NoError(f.t, err)
	text := ""
	for _, name := range names {
		text += name + "\n" + read.text(name) + "\n"
	}
	var signature []byte
	if read.text("SignatureVersion") == "1" {
		sum := sha1.Sum([]byte(text))
		signature, err = rsa.SignPKCS1v15(nil, f.key, crypto.SHA1, sum[:])
	} else {
		sum := sha256.Sum256([]byte(text))
		signature, err = rsa.SignPKCS1v15(nil, f.key, crypto.SHA256, sum[:])
	}
	require.NoError(f.t, err)
	r.Body = []byte(strings.Replace(body, `"SIG"`, `"`+base64.StdEncoding.EncodeToString(signature)+`"`, 1))
	return r
}

var notified = []string{"Message", "MessageId", "Timestamp", "TopicArn", "Type"}

func TestSNSBringsMessagesThatItsCertificateSigned(t *testing.T) {
	f := newFakeSNS(t)
	s := f.source(topicARN)
	for _, version := range []string{"1", "2"} {
		r := f.signed(strings.Replace(stored("sns.json"), `"SignatureVersion": "1"`,
			`"SignatureVersion": "`+version+`"`, 1), notified...)
		require.NoError(t, s.Verify(r))
		posts, err := s.Parse(r)
		require.NoError(t, err)
		require.Equal(t, "[마켓] 인증번호 [730214]", posts[0].Text.Reveal())
		posts[0].Text = sms.Secret{}
		require.Equal(t, sms.Post{ID: "cae173d2-66b9-564c-8309-21f858e9fb84", From: "+8215881234",
			To: "+821012345678", SentAt: "2026-11-28T03:00:00.123Z"}, posts[0])
	}
	require.Len(t, f.fetched, 1, "the certificate is kept")
}

func TestSNSOfAnotherTopicHostOrKeyIsRefused(t *testing.T) {
	f := newFakeSNS(t)
	good := f.signed(stored("sns.json"), notified...)
	const host = "sns.ap-northeast-2.amazonaws.com"
	with := func(old, new string) sms.Request {
		r := good
		r.Body = []byte(strings.Replace(string(good.Body), old, new, 1))
		require.NotEqual(t, string(good.Body), string(r.Body))
		return r
	}
	expired := good
	expired.Now = noon.Add(366 * 24 * time.Hour)
	for name, tt := range map[string]struct {
		arn     string
		request sms.Request
		says    string
	}{
		"another topic":    {topicARN + "2", good, "the ARN of the topic"},
		"another text":     {topicARN, with("730214", "111111"), "is not of the certificate"},
		"another host":     {topicARN, with(host, "sns.evil.example"), "no address of SNS"},
		"a host that ends": {topicARN, with(host, "sns.x.amazonaws.com.evil.example"), "no address of SNS"},
		"a bucket of AWS":  {topicARN, with(host, "bucket.s3.amazonaws.com"), "no address of SNS"},
		"plain http":       {topicARN, with("https://sns", "http://sns"), "no address of SNS"},
		"no certificate":   {topicARN, with("6de52f.pem", "6de52f.txt"), "no address of SNS"},
		"an old one":       {topicARN, expired, "not valid now"},
	} {
		t.Run(name, func(t *testing.T) {
			err := f.source(tt.arn).Verify(tt.request)
			require.ErrorIs(t, err, sms.ErrSignature)
			require.ErrorContains(t, err, tt.says)
		})
	}
	require.ErrorIs(t, f.source(topicARN).Verify(newFakeSNS(t).signed(stored("sns.json"), notified...)),
		sms.ErrSignature, "another customer's key")
}

func TestSubscriptionOfATopicIsConfirmed(t *testing.T) {
	f := newFakeSNS(t)
	s := f.source(topicARN)
	names := []string{"Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"}
	r := f.signed(stored("sns-confirmation.json"), names...)
	require.NoError(t, s.Verify(r))
	_, err := s.Parse(r)
	var ignored *sms.IgnoredEvent
	require.ErrorAs(t, err, &ignored)
	require.Equal(t, "SubscriptionConfirmation", ignored.Name)
	require.Contains(t, f.fetched[len(f.fetched)-1], "Action=ConfirmSubscription&TopicArn="+topicARN)

	elsewhere := f.signed(strings.Replace(stored("sns-confirmation.json"),
		"https://sns.ap-northeast-2.amazonaws.com/?Action", "https://evil.example/?Action", 1), names...)
	require.NoError(t, s.Verify(elsewhere))
	_, err = s.Parse(elsewhere)
	require.Equal(t, sms.FaultUnconfirmed, err)
	require.NotContains(t, f.fetched[len(f.fetched)-1], "evil.example")
}

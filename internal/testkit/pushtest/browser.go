// Package pushtest is the other end of Web Push, written from the standards alone. It has browsers that can
// open pushes sealed for them, and a push service that keeps them.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Browser is a browser that can subscribe to notifications.
type Browser struct {
	Endpoint string
	private  *ecdh.PrivateKey
	auth     []byte
}

// NewBrowser subscribes at an endpoint.
func NewBrowser(tb testing.TB, endpoint string) *Browser {
	tb.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	require.NoError(tb, err)
	b := &Browser{Endpoint: endpoint, private: private, auth: make([]byte, 16)}
	_, err = rand.Read(b.auth)
	require.NoError(tb, err)
	return b
}

// P256dh returns the public key as a browser writes it.
func (b *Browser) P256dh() string {
	return base64.RawURLEncoding.EncodeToString(b.private.PublicKey().Bytes())
}

// Auth returns the secret as a browser writes it.
func (b *Browser) Auth() string { return base64.RawURLEncoding.EncodeToString(b.auth) }

// JSON returns the result of PushSubscription.toJSON.
func (b *Browser) JSON(tb testing.TB) string {
	tb.Helper()
	text, err := json.Marshal(map[string]any{"endpoint": b.Endpoint, "expirationTime": nil,
		"keys": map[string]string{"p256dh": b.P256dh(), "auth": b.Auth()}})
	require.NoError(tb, err)
	return string(text)
}

// Open reads the body of a push: RFC 8188 with the keys of RFC 8291.
func (b *Browser) Open(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("no header")
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:21+int(body[20])],
		body[21+int(body[20]):]
	if len(record) > int(size) {
		return nil, errors.New("more than one record")
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	text, err := b.unseal(shared, salt, sender, record)
	if err != nil {
		return nil, err
	}
	end := len(text) - 1
	for end >= 0 && text[end] == 0 {
		end--
	}
	if end < 0 || text[end] != 2 {
		return nil, errors.New("record is not the last")
	}
	return text[:end], nil
}

func (b *Browser) unseal(shared, salt, sender, record []byte) ([]byte, error) {
	extract := func(secret, salt []byte, info string, length int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, length)
		if err != nil {
			panic(err)
		}
		return key
	}
	secret := extract(shared, b.auth, "WebPush: info\x00"+string(b.private.PublicKey().Bytes())+string(sender),
		32)
	block, err := aes.NewCipher(extract(secret, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	opener, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return opener.Open(nil, extract(secret, salt, "Content-Encoding: nonce\x00", 12), record, nil)
}

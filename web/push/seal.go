package push

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	saltBytes  = 16
	recordSize = 4096 // RFC 8291, 4: the size that every push service must accept
	endOfLast  = 2    // RFC 8188, 2: the delimiter after the text of the last record

	// paddedTo is the padded length of each text, so that its length reveals nothing.
	paddedTo = 2048
)

var errTooLong = errors.New("message is too long")

// seal encrypts a text for one browser, as one record of RFC 8291.
func seal(text []byte, to *Subscription) ([]byte, error) {
	if len(text) > paddedTo {
		return nil, errTooLong
	}
	sender, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	salt := make([]byte, saltBytes)
	if _, err := rand.Read(salt); err != nil {
		return nil, fmt.Errorf("make salt: %w", err)
	}
	return sealWith(text, to, sender, salt, paddedTo-len(text))
}

func sealWith(text []byte, to *Subscription, sender *ecdh.PrivateKey, salt []byte, padding int) ([]byte,
	error) {
	receiver, err := ecdh.P256().NewPublicKey(to.P256dh)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	shared, err := sender.ECDH(receiver)
	if err != nil {
		return nil, fmt.Errorf("agree on key: %w", err)
	}
	key, nonce, err := derive(shared, to.Auth, salt, receiver.Bytes(), sender.PublicKey().Bytes())
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	record := append(append(bytes.Clone(text), endOfLast), make([]byte, padding)...)
	return sealer.Seal(header(salt, sender.PublicKey().Bytes()), nonce, record, nil), nil
}

// header returns the body's header: RFC 8188, 2.1.
func header(salt, sender []byte) []byte {
	b := binary.BigEndian.AppendUint32(bytes.Clone(salt), recordSize)
	return append(append(b, byte(len(sender))), sender...)
}

// derive is RFC 8291, 3.3 and 3.4.
func derive(shared, auth, salt, receiver, sender []byte) (key, nonce []byte, err error) {
	secret, err := hkdf.Key(sha256.New, shared, auth, "WebPush: info\x00"+string(receiver)+string(sender),
		sha256.Size)
	if err != nil {
		return nil, nil, err
	}
	if key, err = hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16); err != nil {
		return nil, nil, err
	}
	nonce, err = hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	return key, nonce, err
}

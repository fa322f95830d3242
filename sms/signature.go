package sms

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Keys returns the keys in SMS_WEBHOOK_SECRET: base64, with or without "whsec_", separated by commas. The
// first is the current one; the others are being replaced. The error repeats no key.
func Keys(secret string) (keys [][]byte, err error) {
	for one := range strings.SplitSeq(secret, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "whsec_")
		if one == "" {
			return nil, errors.New("SMS_WEBHOOK_SECRET is empty: give whsec_ and the base64 of 24 to 64 random bytes")
		}
		key, err := base64.StdEncoding.DecodeString(one)
		if err != nil { // base64's error has the position, which does not belong in a log
			return nil, errors.New("SMS_WEBHOOK_SECRET is not base64: give whsec_ and the base64 of 24 to 64 " +
				"random bytes")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Verifier checks signatures by any key of a secret.
type Verifier struct {
	keys  [][]byte
	hooks []*webhooks.Webhook
}

// NewVerifier returns a verifier for a value of SMS_WEBHOOK_SECRET. The error does not repeat it.
func NewVerifier(secret string) (*Verifier, error) {
	keys, err := Keys(secret)
	if err != nil {
		return nil, err
	}
	v := &Verifier{keys: keys}
	for _, key := range keys {
		hook, err := webhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, errors.New("SMS_WEBHOOK_SECRET has a key that can not be used")
		}
		v.hooks = append(v.hooks, hook)
	}
	return v, nil
}

// Keys returns the keys of the secret, the current one first.
func (v *Verifier) Keys() [][]byte { return v.keys }

// Tolerance is how far a signature's timestamp may be off.
const Tolerance = 5 * time.Minute

// verify checks the signature, and its timestamp against now (unix ms). The error wraps ErrSignature.
func (v *Verifier) verify(header http.Header, body []byte, now int64) (err error) {
	for _, hook := range v.hooks {
		if err = hook.VerifyIgnoringTimestamp(body, header); err == nil {
			return timely(header.Get(webhooks.HeaderWebhookTimestamp), now)
		}
	}
	return fmt.Errorf("%w: %w", ErrSignature, err)
}

func timely(text string, now int64) error {
	signed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: the timestamp is no number of seconds", ErrSignature)
	}
	if off := time.UnixMilli(now).Sub(time.Unix(signed, 0)); off.Abs() > Tolerance {
		return fmt.Errorf("%w: the timestamp is over %s off", ErrSignature, Tolerance)
	}
	return nil
}

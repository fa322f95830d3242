package sms

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// newVerifier takes SMS_WEBHOOK_SECRET: base64, with or without "whsec_" in front. The error does not repeat it.
func newVerifier(secret string) (*webhooks.Webhook, error) {
	if strings.TrimPrefix(secret, "whsec_") == "" {
		return nil, errors.New("SMS_WEBHOOK_SECRET is empty: give whsec_ and the base64 of 24 to 64 random bytes")
	}
	v, err := webhooks.NewWebhook(secret)
	if err != nil { // the library's error says where the base64 broke off, which is more than a log should have
		return nil, errors.New("SMS_WEBHOOK_SECRET is not base64: give whsec_ and the base64 of 24 to 64 random bytes")
	}
	return v, nil
}

// verify checks signature and timestamp, which may be 5 minutes off. The error wraps ErrSignature.
func verify(v *webhooks.Webhook, header http.Header, body []byte) error {
	if err := v.Verify(body, header); err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return nil
}

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

// Keys are the keys in SMS_WEBHOOK_SECRET: one in base64, with or without "whsec_" in front, or several with commas between. The
// first is the current one; those behind it are on their way out. The error does not repeat any.
func Keys(secret string) (keys [][]byte, err error) {
	for one := range strings.SplitSeq(secret, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "whsec_")
		if one == "" {
			return nil, errors.New("SMS_WEBHOOK_SECRET is empty: give whsec_ and the base64 of 24 to 64 random bytes")
		}
		key, err := base64.StdEncoding.DecodeString(one)
		if err != nil { // the error says where the base64 broke off, which is more than a log should have
			return nil, errors.New("SMS_WEBHOOK_SECRET is not base64: give whsec_ and the base64 of 24 to 64 random bytes")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func newVerifiers(secret string) (list []*webhooks.Webhook, err error) {
	keys, err := Keys(secret)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		v, err := webhooks.NewWebhookRaw(key)
		if err != nil {
			return nil, errors.New("SMS_WEBHOOK_SECRET has a key that can not be used")
		}
		list = append(list, v)
	}
	return list, nil
}

// tolerance is how far a signature's timestamp may be off.
const tolerance = 5 * time.Minute

// verify checks the signature, and its timestamp by what the time is now (unix ms). The error wraps ErrSignature.
func verify(list []*webhooks.Webhook, header http.Header, body []byte, now int64) (err error) {
	for _, v := range list {
		if err = v.VerifyIgnoringTimestamp(body, header); err == nil {
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
	if off := time.UnixMilli(now).Sub(time.Unix(signed, 0)); off.Abs() > tolerance {
		return fmt.Errorf("%w: the timestamp is over %s off", ErrSignature, tolerance)
	}
	return nil
}

package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/waitroom/waitroom/outbox"
)

// sendTimeout bounds the receiver's answer. It is well below a lock's time-out, so that two workers never
// call a slow receiver at once.
const sendTimeout = 10 * time.Second

// mostPause is the longest pause that a receiver may ask for.
const mostPause = time.Hour

// bodyBytes bounds how much of an answer is read, so that the connection can be reused.
const bodyBytes = 64 << 10

// sender posts signed webhooks to one address.
type sender struct {
	url     string
	signers []*webhooks.Webhook
	client  *http.Client
	until   atomic.Int64 // the receiver asked for no request before this time, unix ns
}

func newSender(address, secret string) (*sender, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("WEBHOOK_URL: not an http or https address")
	}
	var signers []*webhooks.Webhook
	for one := range strings.SplitSeq(secret, ",") {
		one = strings.TrimSpace(one)
		signer, err := webhooks.NewWebhook(one)
		if err != nil || strings.TrimPrefix(one, "whsec_") == "" {
			return nil, errors.New("WEBHOOK_SECRET: use base64, as in whsec_…; NEW,OLD while it is replaced")
		}
		signers = append(signers, signer)
	}
	client := &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &sender{url: address, signers: signers, client: client}, nil
}

// send posts a task; any 2xx means that the receiver has it. Errors do not name the address, which may
// contain a token.
func (s *sender) send(ctx context.Context, t outbox.Task, at time.Time) error {
	if rest := time.Duration(s.until.Load() - at.UnixNano()); rest > 0 {
		return outbox.After(rest, fmt.Errorf("%w: receiver asked for a pause", outbox.ErrNotReady))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(t.Payload))
	if err != nil {
		return errors.New("the address is not usable")
	}
	signature, err := s.sign(t, at)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "waitroom")
	req.Header.Set(webhooks.HeaderWebhookID, t.UID)
	req.Header.Set(webhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	req.Header.Set(webhooks.HeaderWebhookSignature, signature)
	req, end := traced(req)
	res, err := s.client.Do(req)
	if err != nil {
		err = withoutAddress(err)
		end(0, err)
		return err
	}
	end(res.StatusCode, nil)
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, bodyBytes))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return s.refused(res, at)
	}
	return nil
}

// refused returns the error of an answer that is no success. A receiver that is gone for ever gets no retry,
// and one that names a time gets no request of this process before it, at most for an hour.
func (s *sender) refused(res *http.Response, at time.Time) error {
	err := fmt.Errorf("receiver answered %d", res.StatusCode)
	switch res.StatusCode {
	case http.StatusGone:
		return fmt.Errorf("%w: %w", outbox.ErrGiveUp, err)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if rest := min(retryAfter(res.Header.Get("Retry-After"), at), mostPause); rest > 0 {
			if until := at.Add(rest).UnixNano(); until > s.until.Load() {
				s.until.Store(until)
			}
			return outbox.After(rest, err)
		}
	}
	return err
}

// retryAfter returns the time that a Retry-After header asks for, in seconds or as a date; 0 = none.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return at.Sub(now)
	}
	return 0
}

func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// sign signs with each secret; a receiver checks the signature of the secret that it knows.
func (s *sender) sign(t outbox.Task, at time.Time) (string, error) {
	signatures := make([]string, len(s.signers))
	for i, signer := range s.signers {
		var err error
		if signatures[i], err = signer.Sign(t.UID, at, []byte(t.Payload)); err != nil {
			return "", fmt.Errorf("sign: %w", err)
		}
	}
	return strings.Join(signatures, " "), nil
}

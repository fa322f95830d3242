package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sethvargo/go-retry"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A busy collector is retried until the batch's time (OTEL_BSP_EXPORT_TIMEOUT) is over.
const (
	againAfter = time.Second
	againMost  = 5 * time.Second
)

// answerMost is the part of an answer that is read, so that the connection can be reused.
const answerMost = 64 << 10

// client posts spans as OTLP over HTTP, in protobuf. It is an otlptrace.Client; docs/decisions/0019-traces.md
// explains why OpenTelemetry's own is not used.
type client struct {
	cfg  Config
	http *http.Client
}

func newClient(c Config) *client {
	transport, _ := http.DefaultTransport.(*http.Transport)
	transport = transport.Clone()
	transport.TLSClientConfig = c.TLS
	return &client{cfg: c, http: &http.Client{Transport: transport, Timeout: c.Timeout}}
}

func (c *client) Start(context.Context) error { return nil }

func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces posts a batch. On the wire, the request for an export and a file of traces are the same.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := c.encode(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	again := retry.WithCappedDuration(againMost, retry.NewExponential(againAfter))
	var last error
	if err := retry.Do(ctx, again, func(ctx context.Context) error {
		if last = c.post(ctx, body); errors.Is(last, errBusy) {
			return retry.RetryableError(last)
		}
		return last
	}); err == nil {
		return nil
	}
	return last
}

func (c *client) encode(spans *tracepb.TracesData) ([]byte, error) {
	body, err := proto.Marshal(spans)
	if err != nil || !c.cfg.Gzip {
		return body, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err = w.Write(body); err == nil {
		err = w.Close() // before its output is read
	}
	return packed.Bytes(), err
}

// post sends a body once. It returns errBusy only if the collector may accept a retry. The error names no
// address: its path may hold a key.
func (c *client) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.Endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the collector's address is not usable")
	}
	for name, values := range c.cfg.Headers {
		req.Header[name] = values
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", Service)
	if c.cfg.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	res, err := c.http.Do(req)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, answerMost))
	return refusal(res.StatusCode)
}

// errBusy is returned by a collector that may accept a retry.
var errBusy = errors.New("the collector is busy")

// refusal returns the error of a status; the collector's text is not logged.
func refusal(status int) error {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return fmt.Errorf("%w: it answered %d", errBusy, status)
	}
	if status < 200 || status > 299 {
		return fmt.Errorf("the collector answered %d %s", status, http.StatusText(status))
	}
	return nil
}

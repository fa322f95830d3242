package socket

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The refusals of Check.
var (
	ErrOrigin     = errors.New("origin is not allowed")
	ErrNotUpgrade = errors.New("request is no WebSocket upgrade")
)

// Check returns ErrOrigin or ErrNotUpgrade if a request may not become a socket, before anything is written
// to the response. allowed decides about requests with an Origin; nil allows every request.
func Check(w http.ResponseWriter, r *http.Request, allowed func(*http.Request) bool) error {
	if err := checkOrigin(r, allowed); err != nil {
		return err
	}
	return checkUpgrade(w, r)
}

// checkOrigin allows pages of allowed origins, and programs that send neither an Origin nor a cookie. A
// cookie without an Origin could come from another site's page.
func checkOrigin(r *http.Request, allowed func(*http.Request) bool) error {
	if allowed == nil {
		return nil
	}
	if len(r.Header.Values("Origin")) == 0 {
		if len(r.Header.Values("Cookie")) > 0 {
			return fmt.Errorf("%w: a cookie without an Origin", ErrOrigin)
		}
		return nil
	}
	if !allowed(r) {
		return ErrOrigin
	}
	return nil
}

// checkUpgrade refuses what the WebSocket library would refuse, before anything is written.
func checkUpgrade(w http.ResponseWriter, r *http.Request) error {
	switch {
	case r.Method != http.MethodGet:
		return fmt.Errorf("%w: use GET", ErrNotUpgrade)
	case !r.ProtoAtLeast(1, 1) || r.ProtoMajor > 1:
		return fmt.Errorf("%w: use HTTP/1.1", ErrNotUpgrade)
	case !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return fmt.Errorf("%w: send Connection: Upgrade and Upgrade: websocket", ErrNotUpgrade)
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		return fmt.Errorf("%w: send Sec-WebSocket-Version: 13", ErrNotUpgrade)
	case !canHijack(w):
		return fmt.Errorf("%w: the connection can not be taken over", ErrNotUpgrade)
	}
	keys := r.Header.Values("Sec-WebSocket-Key")
	if len(keys) != 1 {
		return fmt.Errorf("%w: send one Sec-WebSocket-Key", ErrNotUpgrade)
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return fmt.Errorf("%w: Sec-WebSocket-Key is not 16 bytes in base64", ErrNotUpgrade)
	}
	return nil
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for part := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

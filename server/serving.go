package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// serves reports whether a waitroom answers at url.
func serves(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Status string }
	return json.NewDecoder(resp.Body).Decode(&answer) == nil && answer.Status == "ok"
}

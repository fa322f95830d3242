package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/waitroom/waitroom/server/doctor"
)

// Diagnose runs the doctor on everything that a replica with this configuration depends on, or on one thing
// only.
func Diagnose(ctx context.Context, c Config, only doctor.Only) []doctor.Finding {
	return doctor.Diagnose(ctx, doctor.Config{
		Unknown: c.Unknown, Addr: c.Addr, MetricsAddr: c.MetricsAddr, LocalURL: c.LocalURL(),
		PublicURL:      c.PublicURL,
		TrustedProxies: c.TrustedProxies, FrameAncestors: c.FrameAncestors, Serves: serves,
		Redis: c.Redis, RedisPrefix: c.RedisPrefix, DatabaseURL: string(c.DatabaseURL),
		Retention: c.Retention, RetentionText: short(c.Retention),
		Shared: c.sharedOnDisk,
		Rooms:  c.Rooms, RoomsFile: c.roomChecks(), SMSSources: c.SMSSources, Only: only,
		SMSWebhookSecret: string(c.SMSWebhookSecret), WebhookSecret: string(c.WebhookSecret),
		SellersProven:  c.SellerAuth == byToken,
		SupportSignsIn: len(c.SupportUsers) > 0 || c.SupportOIDC.Issuer != "", Tracing: c.Tracing})
}

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

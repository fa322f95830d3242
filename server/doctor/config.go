package doctor

import (
	"context"
	"crypto/x509"
	"net/netip"
	"time"

	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/roomsfile"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/server/tracing"
	"github.com/waitroom/waitroom/sms/source"
	"github.com/waitroom/waitroom/web"
)

// Config is the part of a replica's settings that the doctor checks.
type Config struct {
	Unknown map[string]string // environment variables that look like settings and are none: what to do

	Addr, MetricsAddr string // host:port; MetricsAddr may be ""
	LocalURL          string // how this machine reaches Addr
	PublicURL         string
	Roots             *x509.CertPool // who may sign its certificate; nil = those whom this host trusts
	TrustedProxies    []netip.Prefix
	FrameAncestors    []string
	Serves            func(ctx context.Context, url string) bool // whether a waitroom answers there

	Redis       store.URL
	RedisPrefix string
	DatabaseURL string

	Retention     time.Duration
	RetentionText string // Retention for a person

	Rooms     web.Rooms
	RoomsFile roomsfile.Checks // without a path there is no file
	// what all replicas must share
	Shared     func(context.Context) agree.Settings
	SMSSources map[string]source.Configured
	Only       Only

	SMSWebhookSecret, WebhookSecret string // each may be a list with commas

	SellersProven  bool // sellers come with the portal's tokens
	SupportSignsIn bool // by users or by a provider, rather than by a password of each start

	Tracing tracing.Config
}

// Only names the one thing that is to be reported; the zero value is a check of everything.
type Only struct {
	Source string // what came last from the sources of this name
	Room   string // what Redis has of this room
}

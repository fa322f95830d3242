package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/waitroom/waitroom/server/agree"
	"github.com/waitroom/waitroom/server/near"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/server/tracing"
	"github.com/waitroom/waitroom/sms/source"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/quota"
)

// Config holds all settings. ParseConfig makes one.
type Config struct {
	Addr  string // the address to listen on
	Redis store.URL

	RedisPrefix string // prefix of every key and channel; "" = none

	Rooms web.Rooms

	Lease     time.Duration
	AwayAfter time.Duration
	DropAfter time.Duration

	ClaimWithin time.Duration // 0 = leases need no claim

	AllowedOrigins []string
	FrameAncestors []string // origins that may frame a seller's page
	TrustedProxies []netip.Prefix
	RateLimit      quota.Rate // zero = no limit
	PlacesPerIP    int        // 0 = no limit
	SocketsPerIP   int        // 0 = no limit
	RoomLimit      int        // waiters of one room; 0 = no limit
	MetricsAddr    string     // "" = on the main address

	// REDIS_URL and DATABASE_URL as their files have them now; nil = they are in no file.
	redisNow, databaseNow func() (string, error)

	LogFormat    string // text or json
	LogLevel     slog.Level
	DrainTimeout time.Duration
	MinDrain     time.Duration

	DatabaseURL      Secret
	Retention        time.Duration // how long the ledger keeps history
	SMSWebhookSecret Secret
	SMSSources       map[string]source.Configured // by name, of all rooms
	SMSGuard         time.Duration
	SMSCompletes     bool
	SMSExpect        string // auto or required
	SMSQuarantine    time.Duration
	RoomsFile        string // "" = none
	WebhookURL       Secret // may hold credentials
	WebhookSecret    Secret
	WebhookNear      near.Threshold    // when place.near is sent; zero = never
	WebPush          bool              // notify sellers' browsers without an open page
	PushLoopback     bool              // for tests: push services are on this machine; no setting sets it
	SupportUsers     map[string]Secret // name → bcrypt hash
	SupportOIDC      SupportOIDC
	SupportTokens    []SupportToken // of integrations
	PublicURL        string         // the server's outside URL, without a trailing slash

	SellerAuth      string // open or jwt
	SellerJWTSecret Secret
	SellerJWKSURL   string
	ReturnSecret    Secret // signs the way back to the portal

	Tracing tracing.Config // from the variables of OpenTelemetry

	digests agree.Settings // of the secrets that all replicas must share

	Reload <-chan os.Signal // each signal rereads RoomsFile; nil: never reread

	Unknown map[string]string // environment variables that look like settings and are none: what to do
}

// SupportOIDC is the OpenID Connect provider for support's sign-in; without an issuer there is none.
type SupportOIDC struct {
	Issuer, ClientID     string
	ClientSecret         Secret
	WatchGroup, ActGroup string // "" admits no member
}

// Secret is a text that does not print.
type Secret string

func (Secret) String() string { return "***" }

// GoString hides the secret from %#v too.
func (Secret) GoString() string { return "***" }

// LogValue hides the secret from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue("***") }

const (
	everywhere = ":8080"
	loopback   = "127.0.0.1:8080"
)

// finish completes and checks settings that depend on each other.
func (c *Config) finish() []error {
	if c.Addr == "" {
		c.Addr = everywhere
		if c.Redis.Embedded() {
			c.Addr = loopback
		}
	}
	var wrong []error
	if samePort(c.Addr, c.MetricsAddr) {
		wrong = append(wrong, fmt.Errorf("%s is %q and %s is %q: want another port for the metrics, such as :9090",
			called("addr"), c.Addr, called("metrics-addr"), c.MetricsAddr))
	}
	if (c.WebhookURL == "") != (c.WebhookSecret == "") {
		wrong = append(wrong, errors.New("WAITROOM_WEBHOOK_URL (--webhook-url) and WAITROOM_WEBHOOK_SECRET "+
			"(--webhook-secret): set both or neither"))
	}
	if c.WebhookURL == "" && !c.WebhookNear.Off() {
		wrong = append(wrong, fmt.Errorf("%s needs %s, where its event is sent", called("webhook-near"),
			called("webhook-url")))
	}
	if c.Lease > 0 && c.ClaimWithin >= c.Lease {
		wrong = append(wrong, fmt.Errorf("%s is %s: want less than %s, which is %s", called("claim-within"),
			short(c.ClaimWithin), called("lease"), short(c.Lease)))
	}
	if c.MinDrain > c.DrainTimeout {
		wrong = append(wrong, fmt.Errorf("%s is %s: want at most %s, which is %s", called("min-drain"),
			short(c.MinDrain), called("drain-timeout"), short(c.DrainTimeout)))
	}
	return append(append(wrong, c.finishOIDC()...), c.finishSellers()...)
}

// finishOIDC refuses an incomplete provider, and a provider beside passwords.
func (c *Config) finishOIDC() (wrong []error) {
	o := c.SupportOIDC
	if o.Issuer == "" {
		if o != (SupportOIDC{}) {
			wrong = append(wrong, fmt.Errorf("%s: the other settings of OpenID Connect need it",
				called("support-oidc-issuer")))
		}
		return wrong
	}
	for _, need := range []struct{ name, value string }{
		{"support-oidc-client-id", o.ClientID}, {"support-oidc-client-secret", string(o.ClientSecret)},
		{"public-url", c.PublicURL},
	} {
		if need.value == "" {
			wrong = append(wrong, fmt.Errorf("%s: %s needs it", called(need.name), called("support-oidc-issuer")))
		}
	}
	if len(c.SupportUsers) > 0 {
		wrong = append(wrong, fmt.Errorf("%s and %s: choose one, support signs in by passwords or by the provider",
			called("support-oidc-issuer"), called("support-users")))
	}
	return wrong
}

// called returns a setting's names for an error message.
func called(name string) string { return setting{name: name}.env() + " (--" + name + ")" }

// settings returns the whole configuration, in the order of the help text.
func settings() []setting {
	return []setting{
		{"addr", "", "host:port to listen on (default :8080; embedded: 127.0.0.1:8080)", false, readAddr},
		{"redis-url", "embedded", "embedded, redis://, rediss://, unix://, " +
			"redis+sentinel://h1:p,h2:p/master?db=0 or redis+cluster://h1:p,h2:p; rediss…?cert=FILE&key=FILE&ca=FILE",
			true, readRedis},
		{"redis-prefix", "", "what every key and channel in Redis begins with, such as staging: where " +
			"deployments share a database", false, readRedisPrefix},
		{"rooms", "integration", "comma-separated room ids; prefix:* allows all that begin with prefix:", false,
			readRooms},
		{"lease", "2m", "how long the lock is held at the most, 1s to 10m", false,
			duration(func(c *Config) *time.Duration { return &c.Lease }, leaseLeast, leaseMost)},
		{"away-after", "15s", "a waiter whose connection is gone for longer is passed over", false,
			duration(func(c *Config) *time.Duration { return &c.AwayAfter }, 100*time.Millisecond, time.Hour)},
		{"drop-after", "5m", "a waiter that is away for longer loses its place", false,
			duration(func(c *Config) *time.Duration { return &c.DropAfter }, 100*time.Millisecond, 24*time.Hour)},
		{"claim-within", "0s", "how soon a seller with a browser has to confirm its presence when its turn " +
			"comes, less than lease; 0 = no confirmation", false,
			duration(func(c *Config) *time.Duration { return &c.ClaimWithin }, 0, 10*time.Minute)},
		{"allowed-origins", "", "comma-separated origins of other sites that may act here, such as " +
			"https://portal.example", false,
			origins(func(c *Config) *[]string { return &c.AllowedOrigins })},
		{"frame-ancestors", "", "comma-separated origins of other sites whose pages may have a seller's page " +
			"in a frame, such as https://portal.example", false,
			origins(func(c *Config) *[]string { return &c.FrameAncestors })},
		{"trusted-proxies", "", "comma-separated addresses or networks of proxies whose X-Forwarded-* headers " +
			"are believed", false, readProxies},
		{"rate-limit", "100/s", "joins per client address over all replicas, with ten seconds' worth at once; " +
			"0 = off", false, readRate},
		{"places-per-ip", "200", "live places of one client address over all rooms, at most 20 of them in one " +
			"room; 0 = off", false,
			count(func(c *Config) *int { return &c.PlacesPerIP })},
		{"sockets-per-ip", "1000", "open sockets of one client address on this replica; 0 = off", false,
			count(func(c *Config) *int { return &c.SocketsPerIP })},
		{"room-limit", "10000", "waiters of one room; 0 = off", false,
			count(func(c *Config) *int { return &c.RoomLimit })},
		{"metrics-addr", "", "host:port of its own for /metrics (default: where everything else is)", false,
			readMetricsAddr},
		{"log-format", "text", "text or json", false,
			oneOf(func(c *Config) *string { return &c.LogFormat }, "text", "json")},
		{"log-level", "info", "debug, info, warn or error", false, readLevel},
		{"drain-timeout", "20s", "how long a shutdown may take", false,
			duration(func(c *Config) *time.Duration { return &c.DrainTimeout }, 100*time.Millisecond, 10*time.Minute)},
		{"min-drain", "0s", "how long a stopping server serves at least, at most drain-timeout", false,
			duration(func(c *Config) *time.Duration { return &c.MinDrain }, 0, 10*time.Minute)},
		{"database-url", "sqlite:data/waitroom.db", "the ledger: sqlite:PATH or postgres://…", true, readDatabase},
		{"retention", "400d", "how long the ledger keeps what happened, such as 400d, at least 2d", false,
			readRetention},
		{"sms-webhook-secret", "", "signs inbound SMS; none = inbound SMS is refused; NEW,OLD while it is replaced",
			true, secret(func(c *Config) *Secret { return &c.SMSWebhookSecret })},
		{"sms-sources", "", "phones and providers that post SMS in their own format to /api/{room}/sms/{name}: " +
			"comma-separated name=kind:secret, or kind:secret; " +
			"the same name again with another secret while it is replaced", true, readSources},
		{"sms-guard", "0s", "clock difference between carrier and Redis to reckon with", false,
			duration(func(c *Config) *time.Duration { return &c.SMSGuard }, 0, time.Minute)},
		{"sms-completes", "true", "a matched SMS ends the lease: true or false", false,
			truth(func(c *Config) *bool { return &c.SMSCompletes })},
		{"sms-expect", "auto", "auto: a seller that announces asks gets only their codes; required: every seller " +
			"has to announce them", false,
			oneOf(func(c *Config) *string { return &c.SMSExpect }, "auto", "required")},
		{"sms-quarantine", "30s", "how long a code that was asked for and did not come keeps the next one from " +
			"asking, 0s to 5m", false,
			duration(func(c *Config) *time.Duration { return &c.SMSQuarantine }, 0, quarantineMost)},
		{"rooms-file", "", "YAML file with what rooms are called, whom to ask there, and what they have of " +
			"their own; read again on SIGHUP", false, readRoomsFile},
		{"webhook-url", "", "where webhooks of what happened are sent", true, readWebhook},
		{"webhook-secret", "", "signs webhooks; NEW,OLD while it is replaced", true,
			secret(func(c *Config) *Secret { return &c.WebhookSecret })},
		{"webhook-near", "", "send place.near when so few are ahead of a place, such as 3, or its estimated wait " +
			"is so short, such as 2m; empty = never", false, readNear},
		{"web-push", "true", "notify sellers who turned notifications on also when no page is open, through " +
			"their browsers' makers: true or false", false, truth(func(c *Config) *bool { return &c.WebPush })},
		{"support-users", "", "comma-separated name:bcrypt-hash; waitroom hash-password makes one", true,
			readUsers},
		{"support-tokens", "", "comma-separated name:role:sha256 of integrations that may use support's API, " +
			"role watch or act; " +
			"waitroom support token makes one; the same name twice while its token is replaced", true, readTokens},
		{"support-oidc-issuer", "", "OpenID Connect provider by which support signs in, instead of " +
			"support-users, such as https://login.example", false, readIssuer},
		{"support-oidc-client-id", "", "what the provider calls us", false,
			oneLine(func(c *Config) *string { return &c.SupportOIDC.ClientID })},
		{"support-oidc-client-secret", "", "the secret that the provider gave us", true,
			secret(func(c *Config) *Secret { return &c.SupportOIDC.ClientSecret })},
		{"support-oidc-watch-group", "", "group of the provider's whose members may watch; none = no one", false,
			oneLine(func(c *Config) *string { return &c.SupportOIDC.WatchGroup })},
		{"support-oidc-act-group", "", "group of the provider's whose members may watch and act; none = no one",
			false,
			oneLine(func(c *Config) *string { return &c.SupportOIDC.ActGroup })},
		{"public-url", "", "what the server is called from outside, such as https://wait.example", false,
			readPublicURL},
		{"seller-auth", "open", "open: sellers say who they are; jwt: the portal's tokens do", false,
			oneOf(func(c *Config) *string { return &c.SellerAuth }, "open", "jwt")},
		{"seller-jwt-secret", "", "secret of at least 32 bytes that the portal signs sellers' tokens with, by " +
			"HS256; OLD,NEW while it is replaced", true,
			secret(func(c *Config) *Secret { return &c.SellerJWTSecret })},
		{"return-secret", "", "secret of at least 32 bytes that signs how a place ended, for the portal that a " +
			"seller returns to; none = seller-jwt-secret, if that is set", true,
			secret(func(c *Config) *Secret { return &c.ReturnSecret })},
		{"seller-jwks-url", "", "instead of seller-jwt-secret: where the portal's public keys are, for tokens " +
			"by RS256, ES256 or EdDSA", false, readJWKS},
	}
}

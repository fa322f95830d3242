package doctor

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/server/admission"
	"github.com/waitroom/waitroom/server/roomsfile"
)

// shortRetention is a retention so short that support may be asked about something already deleted.
const shortRetention = 30 * 24 * time.Hour

// settings checks settings that are valid by themselves against each other.
func (d *doctor) settings() {
	const about = "settings"
	for _, name := range slices.Sorted(maps.Keys(d.Unknown)) {
		d.wrong(about, sentence(d.Unknown[name]), "%s is no setting: it counts for nothing.", name)
	}
	secrets := map[string]string{"WAITROOM_SMS_WEBHOOK_SECRET": d.SMSWebhookSecret,
		"WAITROOM_WEBHOOK_SECRET": d.WebhookSecret}
	for name, value := range secrets {
		for one := range strings.SplitSeq(value, ",") {
			d.secret(about, name, strings.TrimSpace(one))
		}
	}
	if d.Redis.Embedded() {
		d.warn(about, "For more than looking at it, set WAITROOM_REDIS_URL.",
			"The store is embedded: one replica, and all places are lost when it ends.")
		return
	}
	if d.SMSWebhookSecret == "" && d.RoomsFile.Path == "" {
		d.warn(about, "Set WAITROOM_SMS_WEBHOOK_SECRET to what the carrier signs with.",
			"Inbound SMS are refused (503): there is no secret for them.")
	}
	if d.PublicURL == "" {
		d.warn(about, "Set WAITROOM_PUBLIC_URL to what browsers call the server.",
			"The server answers to any name.")
	}
	if len(d.TrustedProxies) == 0 {
		d.warn(about, "Behind a balancer set WAITROOM_TRUSTED_PROXIES to its addresses.",
			"No proxy is trusted: behind one, all sellers would share its address and its limits.")
	}
	if slices.ContainsFunc(d.TrustedProxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		d.warn(about, "Set WAITROOM_TRUSTED_PROXIES to the balancers' own addresses.",
			"Every address is a trusted proxy: anybody may name an address of their choice, and the "+
				"limits by address stop no one.")
	}
	if !d.SupportSignsIn {
		d.warn(about, "Set WAITROOM_SUPPORT_USERS or WAITROOM_SUPPORT_OIDC_ISSUER.",
			"Support signs in by a password that is in the log of each start and works once.")
	}
	if strings.HasPrefix(d.DatabaseURL, "sqlite:") {
		d.warn(about, "For replicas on several machines set WAITROOM_DATABASE_URL to a PostgreSQL.",
			"The ledger is SQLite: it serves replicas of one machine.")
	}
	if d.Retention < shortRetention {
		d.warn(about, "Set WAITROOM_RETENTION to how far back support and audits have to see; the "+
			"default is 400d.",
			"The ledger forgets after %s: no question about an earlier turn can be answered, and no "+
				"backup older than that may be restored.", d.RetentionText)
	}
	d.frames(about)
	d.files(admission.FileLimit())
	if !d.any(about) {
		d.fine(about, "All settings are right.")
	}
}

// secret checks a secret of a setting: base64 of at least 24 bytes, after an optional whsec_. An empty one is
// no fault here.
func (d *doctor) secret(about, setting, value string) {
	const fewest = 24 // bytes
	switch raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(value, "whsec_")); {
	case value == "":
	case err != nil:
		d.wrong(about, "Give the base64 of 24 to 64 random bytes: openssl rand -base64 32",
			"%s is not base64.", setting)
	case len(raw) < fewest:
		d.wrong(about, "Give the base64 of 24 to 64 random bytes: openssl rand -base64 32",
			"%s has %d bytes and can be guessed.", setting, len(raw))
	}
}

// files checks how many files a process may open if it is started like the doctor; 0 = unknown.
func (d *doctor) files(limit uint64) {
	if limit > 0 && limit < admission.FewFiles {
		d.warn("settings", "Raise it for replicas, to 65536: LimitNOFILE= of systemd, ulimits of "+
			"compose, ulimit -n of a shell.",
			"Only %d files may be open here, and each socket is one: the next browser is not let in.", limit)
	}
}

// rooms checks ROOMS_FILE.
func (d *doctor) rooms() {
	const about = "rooms"
	if d.RoomsFile.Path == "" {
		return
	}
	file, err := roomsfile.Read(d.RoomsFile)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			d.wrong(about, "Correct it: a server does not start with it, and one that serves keeps what "+
				"it read before.", "%s", strings.TrimSpace(line))
		}
		return
	}
	for _, warning := range file.Warnings {
		d.warn(about, "Correct it, and have servers read it again by SIGHUP.", "%s.", warning)
	}
	if !d.any(about) {
		d.fine(about, "%s is right: %d entries.", d.RoomsFile.Path, file.Len())
	}
}

// ports checks whether a replica could listen on its address, or already does.
func (d *doctor) ports(ctx context.Context) {
	d.port(ctx, "WAITROOM_ADDR", d.Addr)
	if d.MetricsAddr != "" {
		d.port(ctx, "WAITROOM_METRICS_ADDR", d.MetricsAddr)
	}
}

func (d *doctor) port(ctx context.Context, name, addr string) {
	const about = "ports"
	l, err := net.Listen("tcp", addr)
	switch {
	case err == nil:
		_ = l.Close()
		d.fine(about, "%s %s is free.", name, addr)
	case !errors.Is(err, syscall.EADDRINUSE):
		d.wrong(about, sentence(admission.ListenRemedy(err)), "%s %s: %v.", name, addr, err)
	case name == "WAITROOM_ADDR" && d.Serves(ctx, d.LocalURL):
		d.fine(about, "%s %s: a waitroom serves there.", name, addr)
	case name == "WAITROOM_METRICS_ADDR" && d.Serves(ctx, d.LocalURL):
		d.fine(about, "%s %s is taken, and a waitroom with these settings serves.", name, addr)
	default:
		d.wrong(about, sentence(admission.ListenRemedy(err)), "%s %s is taken by another program.", name, addr)
	}
}

// frames checks the sites that may show a seller's page in a frame, and whether the page can work there.
func (d *doctor) frames(about string) {
	if len(d.FrameAncestors) == 0 {
		return
	}
	if d.SellersProven {
		d.warn(about, "Have the portal and waitroom below one domain, or have the portal's page use "+
			"the module with a token (docs/embed.md).",
			"With WAITROOM_SELLER_AUTH=jwt a page in a frame on another site does not know its seller: "+
				"browsers send no cookie there.")
	}
	for _, origin := range d.FrameAncestors {
		if strings.HasPrefix(origin, "http://") && strings.HasPrefix(d.PublicURL, "https://") {
			d.warn(about, "Serve the page that has the frame by https.",
				"WAITROOM_FRAME_ANCESTORS names %s: without https anyone on the way can put anything "+
					"around the page.", origin)
		}
	}
}

// collectorWithin is the time limit for a connection to the collector.
const collectorWithin = 2 * time.Second

// traces checks whether a configured collector can be reached. The server works without it.
func (d *doctor) traces(ctx context.Context) {
	const about = "traces"
	if !d.Tracing.On() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, collectorWithin)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.Tracing.Address())
	if err != nil {
		d.warn(about, "Is it up, and is it OTEL_EXPORTER_OTLP_ENDPOINT's host and port? By HTTP "+
			"collectors listen on 4318. Requests do not wait for it.",
			"The collector can not be reached, and traces are lost: %v.", err)
		return
	}
	_ = conn.Close()
	d.fine(about, "The collector %s can be reached.", d.Tracing.Address())
}

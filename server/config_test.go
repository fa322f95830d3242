package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/web/quota"
)

func TestDefaultsAreTheContracts(t *testing.T) {
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:8080", c.Addr, "the embedded store has no business on the network")
	require.True(t, c.Redis.Embedded())
	require.Equal(t, "integration", c.Rooms.String())
	require.Equal(t, 2*time.Minute, c.Lease)
	require.Equal(t, 15*time.Second, c.AwayAfter)
	require.Equal(t, 5*time.Minute, c.DropAfter)
	require.Equal(t, 20*time.Second, c.DrainTimeout)
	require.Equal(t, 400*24*time.Hour, c.Retention)
	require.Equal(t, quota.Rate{PerSecond: 100, Burst: 1000}, c.RateLimit)
	require.Equal(t, 200, c.PlacesPerIP)
	require.Equal(t, 1000, c.SocketsPerIP)
	require.Equal(t, 10000, c.RoomLimit)
	require.Empty(t, c.MetricsAddr)
	require.Zero(t, c.MinDrain)
	require.Empty(t, c.AllowedOrigins)
	require.Empty(t, c.FrameAncestors)
	require.Empty(t, c.TrustedProxies)
	require.Equal(t, "text", c.LogFormat)
	require.Equal(t, slog.LevelInfo, c.LogLevel)
	require.Equal(t, Secret("sqlite:data/waitroom.db"), c.DatabaseURL)
	require.True(t, c.SMSCompletes)
	require.Equal(t, "open", c.SellerAuth)

	c, err = ParseConfig([]string{"--redis-url", "redis://localhost"})
	require.NoError(t, err)
	require.Equal(t, ":8080", c.Addr)
	c, err = ParseConfig([]string{"--addr", ":9000"})
	require.NoError(t, err)
	require.Equal(t, ":9000", c.Addr)
}

func TestRetentionIsSaidInDaysOrHours(t *testing.T) {
	for text, want := range map[string]time.Duration{"2d": 48 * time.Hour, "48h": 48 * time.Hour,
		"2d12h": 60 * time.Hour, "36500d": 36500 * 24 * time.Hour} {
		c, err := ParseConfig([]string{"--retention", text})
		require.NoError(t, err, text)
		require.Equal(t, want, c.Retention, text)
	}
	_, err := ParseConfig([]string{"--retention", "1d"})
	require.EqualError(t, err, `WAITROOM_RETENTION (--retention) is "1d": want a duration from 2d to 36500d, such as 400d or 9600h`)
}

func TestFlagWinsOverEnvironment(t *testing.T) {
	t.Setenv("WAITROOM_LEASE", "30s")
	t.Setenv("WAITROOM_AWAY_AFTER", "")
	t.Setenv("WAITROOM_TRUSTED_PROXIES", "10.1.2.3, 192.168.0.0/16, ::1")
	t.Setenv("WAITROOM_FRAME_ANCESTORS", "https://portal.example, http://localhost:3000,https://[::1]:8443")
	t.Setenv("WAITROOM_LAESE", "30s")
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, c.Lease)
	require.Equal(t, 15*time.Second, c.AwayAfter, "an empty variable is none")
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.1.2.3/32"),
		netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("::1/128")}, c.TrustedProxies)
	require.Equal(t, []string{"https://portal.example", "http://localhost:3000", "https://[::1]:8443"},
		c.FrameAncestors)
	require.Equal(t, map[string]string{"WAITROOM_LAESE": "correct its name to WAITROOM_LEASE"}, c.Unknown)
	c, err = ParseConfig([]string{"--lease=45s"})
	require.NoError(t, err)
	require.Equal(t, 45*time.Second, c.Lease)
}

func TestSourcesAreReadByNameKindAndSecret(t *testing.T) {
	c, err := ParseConfig([]string{"--sms-sources",
		"phone=httpsms:one:with=all, twilio:two,\nphone=httpsms:three"})
	require.NoError(t, err)
	require.Len(t, c.SMSSources, 2)
	require.Equal(t, "twilio", c.SMSSources["twilio"].Kind)
	require.Equal(t, "httpsms", c.SMSSources["phone"].Kind)
	require.Equal(t, "one:with=all", c.SMSSources["phone"].Secrets[0].Reveal())
	require.Equal(t, "three", c.SMSSources["phone"].Secrets[1].Reveal())
	require.NotContains(t, fmt.Sprintf("%+v %#v", c, c), "with=all")
}

func TestVariableThatIsNoSettingIsNamedWithItsRemedy(t *testing.T) {
	t.Setenv("waitroom_redis_url", "redis://localhost")
	t.Setenv("WAITROOM_LEASE_FILE", "/run/lease")
	t.Setenv("WAITROOM_SECRET", "x")
	t.Setenv("waitroom_directory", "/srv") // a shell's own
	t.Setenv("WAITROM_ROOMS", "a")
	t.Setenv("TZ", "Asia/Soul")
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"waitroom_redis_url":  "correct its name to WAITROOM_REDIS_URL",
		"WAITROOM_LEASE_FILE": "set WAITROOM_LEASE itself: only secrets are read from files",
		"WAITROOM_SECRET":     "correct its name (waitroom --help has all), or take it away",
		"WAITROM_ROOMS":       "correct its name to WAITROOM_ROOMS",
		"TZ":                  `name a zone such as Asia/Seoul: "Asia/Soul" is none, and counts as UTC`,
	}, c.Unknown)
}

func TestQuotesThatAreLeftAroundAValueAreNamed(t *testing.T) {
	for _, value := range []string{`"integration, b"`, `'a'`} {
		_, err := ParseConfig([]string{"--rooms", value})
		require.ErrorContains(t, err, "; the quotes around it are part of it: leave them out")
	}
	_, err := ParseConfig([]string{"--redis-url", `"redis://:hush@host"`})
	require.ErrorContains(t, err, "quotes around it")
	require.NotContains(t, err.Error(), "hush")
	// any text is a value of these, so nothing else would name the quotes
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(`"`+strings.Repeat("hush", 8)+"\"\n"), 0o600))
	for _, args := range [][]string{{"--seller-auth", "jwt", "--seller-jwt-secret", `'` + strings.Repeat("hush", 8) + `'`},
		{"--seller-auth", "jwt", "--seller-jwt-secret-file", file}, {"--rooms-file", `"rooms.yaml"`}} {
		_, err := ParseConfig(args)
		require.ErrorContains(t, err, "quotes around it", args[len(args)-2])
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestVariableWithMoreThanItsNameIsUnknown(t *testing.T) {
	t.Setenv("\uFEFFWAITROOM_LEASE", "45s")
	t.Setenv("export WAITROOM_ROOMS", "a")
	t.Setenv("WAITROOM_LOG_LEVEL ", "debug")
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		`"\ufeffWAITROOM_LEASE"`:  "correct its name to WAITROOM_LEASE",
		`"export WAITROOM_ROOMS"`: "correct its name to WAITROOM_ROOMS",
		`"WAITROOM_LOG_LEVEL "`:   "correct its name to WAITROOM_LOG_LEVEL",
	}, c.Unknown)
}

// Kubernetes describes the Services of a namespace to its containers by variables.
func TestVariablesOfKubernetesAreNoUnknownSettings(t *testing.T) {
	for name, value := range map[string]string{
		"SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8080", "SERVICE_PORT_HTTP": "8080",
		"PORT": "tcp://10.0.0.1:8080", "PORT_8080_TCP": "tcp://10.0.0.1:8080",
		// variables of a Service called waitroom
		"PORT_8080_TCP_PROTO": "tcp", "PORT_8080_TCP_PORT": "8080", "PORT_8080_TCP_ADDR": "10.0.0.1",
		// variables of a Service called waitroom-metrics
		"METRICS_SERVICE_HOST": "10.0.0.2", "METRICS_PORT_9090_UDP_ADDR": "10.0.0.2",
		"METRICS_PORT": "udp://10.0.0.2:9090",
	} {
		t.Setenv("WAITROOM_"+name, value)
	}
	t.Setenv("WAITROOM_METRICS_SERVICE", "x")
	t.Setenv("WAITROOM_WEB_PORT", "8080")
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Equal(t, []string{"WAITROOM_METRICS_SERVICE", "WAITROOM_WEB_PORT"},
		slices.Sorted(maps.Keys(c.Unknown)), "these may be misspelt")
}

// sha is the form of a hash.
const sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

// A refused URL is shown, and a password in it is not.
func TestRefusedURLIsShownWithoutItsPassword(t *testing.T) {
	for _, name := range []string{"allowed-origins", "frame-ancestors", "public-url", "seller-jwks-url",
		"support-oidc-issuer", "webhook-url"} {
		for _, value := range []string{"ftp://kim:can/ary@portal.example",
			"ftp://a.example,ftp://kim:canary@b.example"} {
			_, err := ParseConfig([]string{"--" + name + "=" + value})
			require.ErrorContains(t, err, "--"+name)
			require.NotContains(t, err.Error(), "ary@", name)
			require.NotContains(t, err.Error(), "kim", name)
		}
	}
}

// badValues has at least one invalid value of every setting that can have one.
var badValues = map[string][]string{
	"addr":         {"8080", "host", ":http-ish", ":70000", "1.2.3.4:x"},
	"redis-url":    {"hush", "http://hush", "redis+cluster://hush"},
	"redis-prefix": {"a{b}", "a*", "a b", "가:", strings.Repeat("x", 65)},
	"rooms": {"", "A", "support", "a,,b", "*", "a*", "stock:", "a b",
		strings.Repeat("x", 129)},
	"lease":        {"", "2", "999ms", "10m1s", "-1m", "two minutes"},
	"away-after":   {"", "0s", "25h", "x"},
	"drop-after":   {"", "0s", "25h", "x"},
	"claim-within": {"", "-1s", "11m", "x"},
	"allowed-origins": {"portal.example", "https://portal.example/path", "*", "ftp://x",
		"https://a.example b", "null"},
	"frame-ancestors": {"portal.example", "https://portal.example/path", "*", "https://*.example",
		"'self'", "https://a.example;", "https://a;script-src", "null"},
	"trusted-proxies": {"proxy", "10.0.0.0/33", "*"},
	"rate-limit":      {"", "100", "-1/s", "x/s", "0/s", "1/h", "NaN/s", "Inf/s"},
	"places-per-ip":   {"", "-1", "x", "1000001", "1.5"},
	"sockets-per-ip":  {"", "-1", "x"},
	"room-limit":      {"", "-1", "x"},
	"metrics-addr":    {"9090", ":x", "1.2.3.4"},
	"log-format":      {"", "xml"},
	"log-level":       {"", "loud", "info+1"},
	"retention": {"", "0", "0d", "1d", "47h59m", "-3d", "400", "x", "1d24h", "1d1", "36501d",
		"99999d", "3.5d", "d"},
	"drain-timeout": {"", "0s", "11m", "x"},
	"min-drain":     {"", "-1s", "11m", "x"},
	"database-url":  {"hush", "sqlite:", "mysql://hush"},
	"sms-sources": {"hush", "phone=httpsms", "phone=httpsms:", "phone=hush:hush",
		"Phone=httpsms:hush", "=httpsms:hush", "phone=template:hush", "a=httpsms:hush,a=twilio:hush"},
	"sms-guard":      {"", "-1s", "2m"},
	"sms-completes":  {"", "maybe"},
	"web-push":       {"", "maybe"},
	"sms-expect":     {"", "never"},
	"sms-quarantine": {"", "-1s", "301s", "x"},
	"rooms-file":     {"a\nb", "rooms\x7f.yaml"},
	"webhook-url":    {"hush", "ftp://hush", "https://"},
	"webhook-near":   {"0", "101", "-1", "1ms", "2h", "soon"},
	"support-users":  {"hush", ":hush", "name:hush", "name"},
	"support-tokens": {"hush", "desk:hush", "desk:act:hush", "desk:act:" + sha + "0",
		"desk:hush:" + sha, ":act:" + sha, "de sk:act:" + sha, "desk:Act:" + sha, "hush:x:" + sha,
		"a:act:" + sha + ",b:act:" + sha},
	"support-oidc-issuer": {"hush", "https://", "http://login.example", "ftp://login.example",
		"https://a:b@login.example", "https://login.example?x", "https://login.example/#x"},
	"support-oidc-client-id":   {strings.Repeat("x", 256), "a\tb"},
	"support-oidc-watch-group": {strings.Repeat("x", 256), "a\x7fb"},
	"support-oidc-act-group":   {"a\xffb", "a\nb"},
	"public-url": {"wait.example", "https://", "ftp://wait.example", "https://wait.example/desk",
		"https://wait.example?x", "https://a:b@wait.example"},
	"seller-auth":     {"", "JWT", "closed"},
	"seller-jwks-url": {"x", "ftp://x", "https://", "http://portal.example/keys", "https://a:b@portal.example"},
}

func TestWrongValueStopsTheStartAndIsNamed(t *testing.T) {
	for _, s := range settings() {
		if strings.HasSuffix(s.name, "-secret") {
			continue // any text is one
		}
		require.NotEmpty(t, badValues[s.name], "%s has no bad value in badValues", s.name)
		for _, value := range badValues[s.name] {
			t.Run(s.name+"="+value, func(t *testing.T) {
				_, err := ParseConfig([]string{"--" + s.name + "=" + value})
				require.ErrorContains(t, err, s.env())
				require.ErrorContains(t, err, "--"+s.name)
				if s.secret {
					require.NotContains(t, err.Error(), "hush")
				} else {
					require.ErrorContains(t, err, fmt.Sprintf("%q", strings.ReplaceAll(value, "a:b@", "***@")))
				}
				if value != "" {
					t.Setenv(s.env(), value)
					_, fromEnv := ParseConfig(nil)
					require.EqualError(t, fromEnv, err.Error())
				}
			})
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	_, err := ParseConfig([]string{"--lease", "x", "--rooms", "X"})
	require.ErrorContains(t, err, "WAITROOM_LEASE")
	require.ErrorContains(t, err, "WAITROOM_ROOMS")
}

func TestUnknownFlagsAndWordsStopTheStart(t *testing.T) {
	_, err := ParseConfig([]string{"--laese", "2m"})
	require.ErrorContains(t, err, "laese")
	_, err = ParseConfig([]string{"fast"})
	require.ErrorContains(t, err, `"fast"`)
	_, err = ParseConfig([]string{"--help"})
	require.ErrorIs(t, err, ErrHelp)
}

func TestMetricsHaveAPortOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		addr, metrics string
		same          bool
	}{
		{":8080", ":8080", true}, {"0.0.0.0:8080", "[::]:8080", true}, {"127.0.0.1:8080", ":8080", true},
		{":8080", "127.0.0.1:8080", true}, {"127.0.0.1:8080", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "10.0.0.1:8080", false}, {":8080", ":9090", false}, {":0", ":0", false}, {"", "", false},
	} {
		_, err := ParseConfig([]string{"--addr", c.addr, "--metrics-addr", c.metrics})
		if !c.same {
			require.NoError(t, err, c)
			continue
		}
		require.EqualError(t, err, fmt.Sprintf("WAITROOM_ADDR (--addr) is %q and WAITROOM_METRICS_ADDR "+
			"(--metrics-addr) is %q: want another port for the metrics, such as :9090", c.addr, c.metrics))
	}
}

func TestWebhookNeedsItsSecret(t *testing.T) {
	_, err := ParseConfig([]string{"--webhook-url", "https://integration.example"})
	require.ErrorContains(t, err, "WAITROOM_WEBHOOK_SECRET")
	_, err = ParseConfig([]string{"--webhook-url", "https://integration.example", "--webhook-secret", "x"})
	require.NoError(t, err)
}

func TestProviderIsSetWhollyAndInsteadOfUsers(t *testing.T) {
	issuer, id, secret := "--support-oidc-issuer=https://login.example/realms/shop",
		"--support-oidc-client-id=waitroom", "--support-oidc-client-secret=hush"
	public := "--public-url=https://wait.example/"
	c, err := ParseConfig([]string{issuer, id, secret, public, "--support-oidc-watch-group=IT Support",
		"--support-oidc-act-group=/leads"})
	require.NoError(t, err)
	require.Equal(t, SupportOIDC{Issuer: "https://login.example/realms/shop", ClientID: "waitroom",
		ClientSecret: "hush", WatchGroup: "IT Support", ActGroup: "/leads"},
		c.SupportOIDC)
	require.Equal(t, "https://wait.example", c.PublicURL)
	hash, err := bcrypt.GenerateFromPassword([]byte("x"), bcrypt.MinCost)
	require.NoError(t, err)
	for missing, args := range map[string][]string{
		"SUPPORT_OIDC_CLIENT_ID":     {issuer, secret, public},
		"SUPPORT_OIDC_CLIENT_SECRET": {issuer, id, public},
		"PUBLIC_URL":                 {issuer, id, secret},
		"choose one":                 {issuer, id, secret, public, "--support-users=kim:" + string(hash)},
		"SUPPORT_OIDC_ISSUER":        {id},
	} {
		_, err := ParseConfig(args)
		require.ErrorContains(t, err, missing)
		require.ErrorContains(t, err, "WAITROOM_SUPPORT_OIDC_ISSUER (--support-oidc-issuer)")
		require.NotContains(t, err.Error(), "hush")
		require.NotContains(t, err.Error(), "\n", "nothing else is wrong")
	}
	for _, near := range []string{"http://localhost:5556/dex", "http://127.0.0.1:1", "http://[::1]:1"} {
		_, err := ParseConfig([]string{"--support-oidc-issuer=" + near, id, secret, public})
		require.NoError(t, err, "the provider may be on this machine")
	}
}

func TestSellersAreKnownInOneWay(t *testing.T) {
	secret, keys := "--seller-jwt-secret="+strings.Repeat("hush", 8),
		"--seller-jwks-url=https://portal.example/keys"
	for missing, args := range map[string][]string{
		"SELLER_JWT_SECRET (--seller-jwt-secret) or WAITROOM_SELLER_JWKS_URL": {"--seller-auth=jwt"},
		"choose one": {"--seller-auth=jwt", secret, keys},
		"RETURN_SECRET (--return-secret): want at least 32 bytes": {"--return-secret=" +
			strings.Repeat("hush", 7) + "hus"},
		"at least 32 bytes":     {"--seller-auth=jwt", "--seller-jwt-secret=" + strings.Repeat("hush", 7) + "hus"},
		"where a comma divides": {"--seller-auth=jwt", secret + ",hush"},
		"bytes, of each":        {"--seller-auth=jwt", secret + ","},
		"SELLER_JWT_SECRET":     {secret},
		"WAITROOM_SELLER_AUTH":  {keys},
	} {
		_, err := ParseConfig(args)
		require.ErrorContains(t, err, missing)
		require.NotContains(t, err.Error(), "hush")
		require.NotContains(t, err.Error(), "\n", "nothing else is wrong")
	}
	for _, way := range []string{secret, secret + ", " + strings.Repeat("next", 8), keys, "--seller-jwks-url=http://127.0.0.1:1/keys"} {
		c, err := ParseConfig([]string{"--seller-auth=jwt", way})
		require.NoError(t, err)
		require.Equal(t, "jwt", c.SellerAuth)
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("x"), bcrypt.MinCost)
	require.NoError(t, err)
	c, err := ParseConfig([]string{"--redis-url", "redis://:hush@localhost", "--database-url",
		"postgres://u:hush@db/x",
		"--sms-webhook-secret", "hush", "--webhook-url", "https://u:hush@x.example", "--webhook-secret", "hush",
		"--seller-auth", "jwt", "--seller-jwt-secret", strings.Repeat("hush", 8), "--support-users",
		"kim:" + string(hash),
		"--support-tokens", "zendesk:act:" + sha})
	require.NoError(t, err)
	c.SupportOIDC.ClientSecret = "hush"
	var out bytes.Buffer
	c.NewLog(&out).Info("config", "config", c, "secret", c.WebhookSecret)
	for _, text := range []string{out.String(), fmt.Sprintf("%v %+v %#v", c, c, c)} {
		require.NotContains(t, text, "hush")
		require.NotContains(t, text, string(hash))
		require.NotContains(t, text, sha)
	}
}

func TestHelpListsEverySetting(t *testing.T) {
	var out bytes.Buffer
	WriteSettings(&out)
	for _, s := range allSettings() {
		require.Contains(t, out.String(), "--"+s.name+", "+s.env())
	}
}

// A row has the name, the default and, for a setting with a file, a key.
func TestConfigurationPageListsEverySettingWithItsDefault(t *testing.T) {
	page, err := os.ReadFile("../docs/configuration.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, row := range regexp.MustCompile(
		"(?m)^\\| `(WAITROOM_[A-Z_]+)`( 🔑)? \\| ([^|]+) \\|").FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2:]
	}
	for _, s := range settings() {
		row, ok := rows[s.env()]
		require.True(t, ok, "docs/configuration.md has no row for %s", s.env())
		require.Equal(t, s.secret, row[0] != "", "%s: docs/configuration.md marks with 🔑 what may be in a file",
			s.env())
		fallback := "none"
		if s.fallback != "" {
			fallback = "`" + s.fallback + "`"
		}
		if s.name != "addr" { // which depends on the store
			require.True(t, strings.HasPrefix(row[1], fallback),
				"%s: its default is %s, docs/configuration.md says %s", s.env(), fallback, row[1])
		}
		delete(rows, s.env())
	}
	require.Empty(t, rows, "docs/configuration.md has rows for what is no setting")
}

// A setting that is read and never used would do nothing.
func TestEverySettingIsUsed(t *testing.T) {
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") && name != "config.go" && name != "read.go" {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			source.Write(text)
		}
	}
	for f := range reflect.TypeFor[Config]().Fields() {
		used := regexp.MustCompile(`\.` + f.Name + `\b`).MatchString(source.String())
		require.True(t, used, "nothing in server/ uses Config.%s", f.Name)
	}
}

func TestSecretIsReadFromItsFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	// an editor's byte order mark is not part of the secret
	t.Setenv("WAITROOM_WEBHOOK_SECRET_FILE", write("webhook", "\uFEFFhush\n"))
	c, err := ParseConfig([]string{"--redis-url-file", write("redis", "redis://:hush@localhost:7000\n"),
		"--webhook-url", "https://x.example"})
	require.NoError(t, err)
	require.Equal(t, Secret("hush"), c.WebhookSecret)
	require.Equal(t, "Redis at localhost:7000, db 0", c.Redis.String())
	require.Empty(t, c.Unknown)

	for name, path := range map[string]string{"gone": filepath.Join(dir, "gone"), "empty": write("empty", " \n"),
		"wrong": write("wrong", "hush"), "several lines": write("lines", "sqlite:x\nhush\n"),
		"in UTF-16": write("marked", "\xff\xfes\x00"), "UTF-16": write("unmarked", "s\x00q\x00")} {
		_, err := ParseConfig([]string{"--database-url-file", path})
		require.ErrorContains(t, err, "WAITROOM_DATABASE_URL", name)
		require.NotContains(t, err.Error(), "hush", name)
		if name != "gone" && name != "wrong" {
			require.ErrorContains(t, err, name)
		}
	}
	_, err = ParseConfig([]string{"--webhook-url", "https://x.example", "--sms-sources-file", write("sources",
		"a=httpsms:one\r\nb=httpsms:two\n")})
	require.NoError(t, err, "a list may have a line for each entry")
	_, err = ParseConfig([]string{"--webhook-secret", "hush", "--webhook-url", "https://x.example"})
	require.ErrorContains(t, err, "WAITROOM_WEBHOOK_SECRET_FILE (--webhook-secret-file): set one of them")
	_, err = ParseConfig([]string{"--lease-file", "x"})
	require.ErrorContains(t, err, "lease-file", "what is no secret has no file")
}

func TestTurnIsToBeClaimedBeforeItEnds(t *testing.T) {
	c, err := ParseConfig(nil)
	require.NoError(t, err)
	require.Zero(t, c.ClaimWithin, "off")
	c, err = ParseConfig([]string{"--lease", "30s", "--claim-within", "29999ms"})
	require.NoError(t, err)
	require.Equal(t, 29_999*time.Millisecond, c.ClaimWithin)
	_, err = ParseConfig([]string{"--lease", "30s", "--claim-within", "30s"})
	require.ErrorContains(t, err, "WAITROOM_CLAIM_WITHIN (--claim-within) is 30s: want less than "+
		"WAITROOM_LEASE (--lease), which is 30s")
}

func TestServerServesNoLongerThanItMayTakeToStop(t *testing.T) {
	_, err := ParseConfig([]string{"--min-drain", "20s"})
	require.NoError(t, err)
	_, err = ParseConfig([]string{"--min-drain", "20001ms"})
	require.ErrorContains(t, err, "WAITROOM_MIN_DRAIN (--min-drain)")
}

func TestLogIsInTheFormatThatIsAskedFor(t *testing.T) {
	var out bytes.Buffer
	Config{LogFormat: "json"}.NewLog(&out).Info("hello")
	require.True(t, strings.HasPrefix(out.String(), "{"))
	Config{LogLevel: slog.LevelWarn}.NewLog(&out).Info("not said")
	require.NotContains(t, out.String(), "not said")
}

// Browsers send a host name in other letters than Latin as xn--….
func TestPublicURLOfAKoreanNameIsAsBrowsersSendIt(t *testing.T) {
	var c Config
	require.NoError(t, readPublicURL(&c, "https://예약.example.kr:8443"))
	require.Equal(t, "https://xn--3f5bzj.example.kr:8443", c.PublicURL)
	require.ErrorContains(t, readPublicURL(&c, "https://예\u2028약.example"), "no name that browsers send")
}

package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
	"golang.org/x/net/idna"

	"github.com/waitroom/waitroom/internal/origin"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/server/near"
	"github.com/waitroom/waitroom/server/store"
	"github.com/waitroom/waitroom/web"
	"github.com/waitroom/waitroom/web/quota"
)

// The limits of settings that a room may override.
const (
	leaseLeast, leaseMost = time.Second, room.LongestLease
	quarantineMost        = 5 * time.Minute
)

func duration(field func(*Config) *time.Duration, least, most time.Duration) func(*Config, string) error {
	return func(c *Config, value string) error {
		d, err := between(least, most)(value)
		if err == nil {
			*field(c) = d
		}
		return err
	}
}

func truth(field func(*Config) *bool) func(*Config, string) error {
	return func(c *Config, value string) (err error) {
		if *field(c), err = strconv.ParseBool(value); err != nil {
			return errors.New("want true or false")
		}
		return nil
	}
}

// between parses a duration.
func between(least, most time.Duration) func(string) (time.Duration, error) {
	return func(value string) (time.Duration, error) {
		d, err := time.ParseDuration(value)
		if err != nil || d < least || d > most {
			return 0, fmt.Errorf("want a duration from %s to %s, such as 90s or 2m", short(least), short(most))
		}
		return d, nil
	}
}

// short writes 10m0s as 10m.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

const day = 24 * time.Hour

// The ledger must keep leases for late messages. Those are matched for a day, and support may assign them
// later still.
const (
	leastRetention = 2 * day
	mostRetention  = 36500 * day
)

// readRetention also parses days, which Go's durations lack: 400d, 2d12h, 72h.
func readRetention(c *Config, value string) (err error) {
	if c.Retention, err = parseDays(value); err != nil || c.Retention < leastRetention ||
		c.Retention > mostRetention {
		return errors.New("want a duration from 2d to 36500d, such as 400d or 9600h")
	}
	return nil
}

func parseDays(value string) (time.Duration, error) {
	before, rest, ok := strings.Cut(value, "d")
	if !ok {
		return time.ParseDuration(value)
	}
	days, err := strconv.ParseUint(before, 10, 16)
	if err != nil || rest == "" {
		return time.Duration(days) * day, err
	}
	d, err := time.ParseDuration(rest)
	if err == nil && (d < 0 || d >= day) {
		err = errors.New("hours behind days are fewer than 24")
	}
	return time.Duration(days)*day + d, err
}

func oneOf(field func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, value string) error {
		if !slices.Contains(allowed, value) {
			return fmt.Errorf("want %s", strings.Join(allowed, " or "))
		}
		*field(c) = value
		return nil
	}
}

func secret(field func(*Config) *Secret) func(*Config, string) error {
	return func(c *Config, value string) error {
		*field(c) = Secret(value)
		return nil
	}
}

func readAddr(c *Config, value string) error {
	c.Addr = value
	return checkAddr(value)
}

func readMetricsAddr(c *Config, value string) error {
	c.MetricsAddr = value
	return checkAddr(value)
}

// checkAddr validates a listening address; "" stands for none.
func checkAddr(value string) error {
	if value == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("want host:port or :port, such as :8080 or 127.0.0.1:8080")
	}
	return nil
}

// samePort reports whether one program cannot listen on both addresses. Port 0 is any free one.
func samePort(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(a)
	hostB, portB, errB := net.SplitHostPort(b)
	return errA == nil && errB == nil && portA == portB && portA != "0" &&
		(hostA == hostB || everyAddress(hostA) || everyAddress(hostB))
}

func everyAddress(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "" || err == nil && ip.IsUnspecified()
}

// count parses a limit: 0 is none.
func count(field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, value string) (err error) {
		if *field(c), err = strconv.Atoi(value); err != nil || *field(c) < 0 || *field(c) > mostCounted {
			return errors.New("want a whole number up to a million, or 0 for no limit")
		}
		return nil
	}
}

const mostCounted = 1_000_000

func readRedis(c *Config, value string) (err error) {
	c.Redis, err = store.Parse(value)
	return err
}

func readRedisPrefix(c *Config, value string) error {
	if !room.ValidPrefix(value) {
		return errors.New("want at most 64 letters, digits and - _ . : / of ASCII, such as staging: before " +
			"each name")
	}
	c.RedisPrefix = value
	return nil
}

func readRooms(c *Config, value string) (err error) {
	c.Rooms, err = web.ParseRooms(value)
	return err
}

func readRate(c *Config, value string) (err error) {
	if c.RateLimit, err = quota.ParseRate(value); err != nil {
		return errors.New("want a rate such as 100/s or 30/m, or 0 for no limit")
	}
	return nil
}

func readLevel(c *Config, value string) error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, strings.ToLower(value)) {
		return errors.New("want debug, info, warn or error")
	}
	return c.LogLevel.UnmarshalText([]byte(value))
}

// list returns the entries of a comma-separated value.
func list(value string) []string {
	var entries []string
	for entry := range strings.SplitSeq(value, ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// originHost matches hosts that are safe in a response header: url.Parse accepts many more.
var originHost = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

func origins(field func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, value string) error {
		for _, entry := range list(value) {
			_, host, _ := strings.Cut(entry, "://")
			if origin.Plain(entry) == "" || !originHost.MatchString(host) {
				return fmt.Errorf("%q is not an origin: want scheme://host or scheme://host:port, such as "+
					"https://portal.example", withoutUser(entry))
			}
			*field(c) = append(*field(c), entry)
		}
		return nil
	}
}

// userIn matches what may be a user and a password in a URL.
var userIn = regexp.MustCompile(`://[^,\s]*@`)

// withoutUser returns a text without the users and passwords of its URLs.
func withoutUser(text string) string { return userIn.ReplaceAllString(text, "://***@") }

func readProxies(c *Config, value string) error {
	for _, entry := range list(value) {
		network, err := netip.ParsePrefix(entry)
		if addr, bad := netip.ParseAddr(entry); bad == nil {
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if network = plainNetwork(network); err != nil || !network.IsValid() {
			return fmt.Errorf("%q is neither an address nor a network: want such as 10.0.0.7 or 10.0.0.0/8", entry)
		}
		c.TrustedProxies = append(c.TrustedProxies, network.Masked())
	}
	return nil
}

// plainNetwork converts IPv4 in IPv6 to IPv4, as clients' addresses are compared. A network wider than all of
// IPv4 is invalid.
func plainNetwork(network netip.Prefix) netip.Prefix {
	if !network.Addr().Is4In6() {
		return network
	}
	return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-96)
}

func readDatabase(c *Config, value string) error {
	path, sqlite := strings.CutPrefix(value, "sqlite:")
	postgres := strings.HasPrefix(value, "postgres://") || strings.HasPrefix(value, "postgresql://")
	if !postgres && (!sqlite || path == "") {
		return errors.New("want sqlite:PATH or postgres://…")
	}
	c.DatabaseURL = Secret(value)
	return nil
}

func readWebhook(c *Config, value string) error {
	if value != "" && !isHTTP(value) {
		return errors.New("want a URL such as https://integration.example/hooks")
	}
	c.WebhookURL = Secret(value)
	return nil
}

func readNear(c *Config, value string) (err error) {
	c.WebhookNear, err = near.Parse(value)
	return err
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// readUsers never repeats an entry: it may hold an unhashed password.
func readUsers(c *Config, value string) error {
	c.SupportUsers = map[string]Secret{}
	for i, entry := range list(value) {
		name, hash, ok := strings.Cut(entry, ":")
		if !ok || name == "" {
			return fmt.Errorf("entry %d is not name:bcrypt-hash", i+1)
		}
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return fmt.Errorf("entry %d has no bcrypt hash after its name; `waitroom hash-password` makes one", i+1)
		}
		c.SupportUsers[name] = Secret(hash)
	}
	return nil
}

// oneLine parses a name given by another program.
func oneLine(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		if len(value) > 255 || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
			return errors.New("want one line of at most 255 bytes")
		}
		*field(c) = value
		return nil
	}
}

func readIssuer(c *Config, value string) error {
	u, ok := site(value)
	if value != "" && (!ok || (u.Scheme != "https" && !isLoopback(u.Hostname()))) {
		return errors.New("want the provider's https URL as it calls itself, such as " +
			"https://login.example/realms/shop (http on this machine only)")
	}
	c.SupportOIDC.Issuer = value
	return nil
}

func readPublicURL(c *Config, value string) error {
	if value == "" {
		return nil
	}
	u, ok := site(value)
	if !ok || strings.Trim(u.Path, "/") != "" {
		return errors.New("want scheme://host or scheme://host:port, such as https://wait.example")
	}
	if name := u.Hostname(); strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		sent, err := idna.Lookup.ToASCII(name) // as browsers send it: xn--…
		if err != nil {
			return fmt.Errorf("its host is no name that browsers send: %w", err)
		}
		u.Host = strings.Replace(u.Host, name, sent, 1)
	}
	c.PublicURL = u.Scheme + "://" + u.Host
	return nil
}

// site parses a URL with an optional path, and no query, fragment or credentials. A host of only dots is
// refused.
func site(text string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, "?#") || u.User != nil {
		return nil, false
	}
	return u, (u.Scheme == "http" || u.Scheme == "https") && strings.Trim(u.Hostname(), ".") != "" &&
		!strings.Contains(u.Host, "%")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/waitroom/waitroom/server/dialer"
	"github.com/waitroom/waitroom/server/sentinel"
)

// Time-outs towards Redis: a seller is told that the store is away rather than kept waiting.
const (
	dialTimeout = 2 * time.Second
	callTimeout = 2 * time.Second
	poolSize    = 64          // connections per node
	reloadAfter = time.Second // the client asks for a cluster's masters anew when it is used and knows them for longer
)

// RedisURL says which store to use. It does not print its password.
type RedisURL struct {
	kind   string // embedded, single, sentinel or cluster
	single *redis.Options
	many   *redis.UniversalOptions
}

var errRedis = errors.New("want embedded, redis://host:port/db, rediss://…, unix:///path, " +
	"redis+sentinel://h1:p,h2:p/master-name?db=0 or redis+cluster://h1:p,h2:p")

// ParseRedis reads the forms of REDIS_URL. The error never repeats any of it: a password that has not
// been escaped can be anywhere in it.
func ParseRedis(text string) (RedisURL, error) {
	if text == "embedded" {
		return RedisURL{kind: "embedded"}, nil
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.Contains(text, "#") { // what is behind it would count for nothing
		return RedisURL{}, errRedis
	}
	switch scheme {
	case "unix":
		if !isSocket(rest) {
			return RedisURL{}, errRedis
		}
		return parseSingle(text)
	case "redis", "rediss":
		return parseSingle(text)
	case "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster":
		return parseMany(scheme, rest)
	}
	return RedisURL{}, errRedis
}

// isSocket reports whether nothing but a path follows the credentials: what else stands there may be half of a password.
func isSocket(rest string) bool {
	user, path, ok := strings.Cut(rest, "/")
	return ok && (user == "" || strings.HasSuffix(user, "@") && !strings.Contains(path, "@"))
}

func parseSingle(text string) (RedisURL, error) {
	rest, files, err := cutCertificates(text)
	if err != nil {
		return RedisURL{}, err
	}
	o, err := redis.ParseURL(rest)
	if err != nil {
		return RedisURL{}, errRedis
	}
	if err := files.into(o.TLSConfig); err != nil {
		return RedisURL{}, err
	}
	setDefault(&o.DialTimeout, dialTimeout)
	setDefault(&o.ReadTimeout, callTimeout)
	setDefault(&o.WriteTimeout, callTimeout)
	setDefault(&o.PoolTimeout, callTimeout)
	setDefault(&o.PoolSize, poolSize)
	setDefault(&o.DialerRetries, 1)
	o.ContextTimeoutEnabled = true
	o.MaintNotificationsConfig = noMaintenance()
	return RedisURL{kind: "single", single: o}, nil
}

// parseMany reads what comes after the scheme. The hosts are taken out first: a URL has only one.
func parseMany(scheme, rest string) (RedisURL, error) {
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	user, hosts := "", authority
	if i := strings.LastIndex(authority, "@"); i >= 0 {
		user, hosts = authority[:i+1], authority[i+1:]
	}
	u, err := url.Parse("redis://" + user + "hosts" + path)
	if err != nil {
		return RedisURL{}, errRedis
	}
	o, err := manyOptions(hosts, u)
	if err != nil {
		return RedisURL{}, err
	}
	if strings.HasPrefix(scheme, "rediss+") {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return RedisURL{}, errRedis
	}
	files, err := takeCertificates(q)
	if err == nil {
		err = files.into(o.TLSConfig)
	}
	if err != nil {
		return RedisURL{}, err
	}
	if strings.HasSuffix(scheme, "+cluster") {
		if strings.Trim(u.Path, "/") != "" || len(q) > 0 {
			return RedisURL{}, errors.New("redis+cluster:// takes hosts, cert, key and ca only: a cluster has neither a master's name nor databases")
		}
		return RedisURL{kind: "cluster", many: o}, nil
	}
	return parseSentinel(o, u.Path, q)
}

func manyOptions(hosts string, u *url.URL) (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{DialTimeout: dialTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		PoolTimeout: callTimeout, PoolSize: poolSize, DialerRetries: 1, ContextTimeoutEnabled: true,
		MaintNotificationsConfig: noMaintenance(), Username: u.User.Username()}
	o.Password, _ = u.User.Password()
	for host := range strings.SplitSeq(hosts, ",") {
		_, port, err := net.SplitHostPort(host)
		if err == nil {
			_, err = strconv.ParseUint(port, 10, 16)
		}
		if err != nil {
			return nil, errRedis
		}
		o.Addrs = append(o.Addrs, host)
	}
	return o, nil
}

func parseSentinel(o *redis.UniversalOptions, path string, q url.Values) (RedisURL, error) {
	o.MasterName = strings.Trim(path, "/")
	if o.MasterName == "" {
		return RedisURL{}, errors.New("redis+sentinel:// needs the master's name after the hosts, as in redis+sentinel://h1:p,h2:p/master-name")
	}
	if strings.ContainsAny(o.MasterName, "/@") { // half of a password that was not escaped
		return RedisURL{}, errRedis
	}
	for name, values := range q {
		switch name {
		case "db":
			db, err := strconv.Atoi(values[0])
			if err != nil || db < 0 {
				return RedisURL{}, errors.New("redis+sentinel:// has a db that is not a number")
			}
			o.DB = db
		case "sentinel_username":
			o.SentinelUsername = values[0]
		case "sentinel_password":
			o.SentinelPassword = values[0]
		default:
			return RedisURL{}, errors.New("redis+sentinel:// takes db, sentinel_username, sentinel_password, cert, key and ca, nothing else")
		}
	}
	return RedisURL{kind: "sentinel", many: o}, nil
}

// noMaintenance spares every connection a handshake that only one vendor's server answers.
func noMaintenance() *maintnotifications.Config {
	return &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Embedded reports whether the store is in this process.
func (u RedisURL) Embedded() bool { return u.kind == "embedded" }

// String says where the store is, without its credentials.
func (u RedisURL) String() string {
	switch u.kind {
	case "single":
		return fmt.Sprintf("Redis at %s, db %d", u.single.Addr, u.single.DB)
	case "sentinel":
		return fmt.Sprintf("Redis master %s by the sentinels %s", u.many.MasterName, strings.Join(u.many.Addrs, ", "))
	case "cluster":
		return "Redis Cluster at " + strings.Join(u.many.Addrs, ", ")
	}
	return "embedded: in this process, nothing is kept when it ends"
}

// address is the store's host:port; "" where it is not one alone.
func (u RedisURL) address() string {
	if u.kind == "single" {
		return u.single.Addr
	}
	return ""
}

// GoString keeps %#v from printing the password.
func (u RedisURL) GoString() string { return u.String() }

// store is an open client and how to close it. What uses the client looks at its type: a cluster is asked of each of its masters.
type store struct {
	client redis.UniversalClient
	close  func()
}

// open makes the client, and the server where it is embedded. No connection is made yet.
func (u RedisURL) open(log *slog.Logger) (store, error) {
	switch u.kind {
	case "single":
		o := *u.single // the client fills in its options
		o.Dialer = dialer.Eager(redis.NewDialer(u.single))
		return storeOf(redis.NewClient(&o)), nil
	case "sentinel":
		c, closeAll := sentinel.NewClient(sentinel.Config{Master: u.many.MasterName, Addrs: u.many.Addrs, Options: *u.many.Simple(),
			Username: u.many.SentinelUsername, Password: u.many.SentinelPassword, Log: log})
		return store{c, closeAll}, nil
	case "cluster":
		o := u.many.Cluster()
		o.Dialer = dialer.Eager(redis.NewDialer(u.many.Simple()))
		o.ClusterStateReloadInterval = reloadAfter // a master that does not answer is no reason for the client to ask
		return storeOf(redis.NewClusterClient(o)), nil
	}
	return embed()
}

func storeOf(c redis.UniversalClient) store {
	return store{c, func() { _ = c.Close() }}
}

// embed starts the store in this process. Its port is open to the whole machine, hence the password.
func embed() (store, error) {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	password := rand.Text()
	m.RequireAuth(password)
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		return store{}, fmt.Errorf("start embedded store: %w", err)
	}
	o, err := parseSingle("redis://:" + password + "@" + m.Addr())
	if err != nil {
		m.Close()
		return store{}, err
	}
	c := redis.NewClient(o.single)
	return store{c, func() { _ = c.Close(); m.Close() }}, nil
}

// startWithin is how long the store may keep a starting server waiting.
const startWithin = 5 * time.Second

// awaitStore returns when the store answers. The error tells what the last try came to.
func awaitStore(ctx context.Context, s store, where RedisURL) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := s.client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("WAITROOM_REDIS_URL (--redis-url): %s does not answer: %w", where, last)
		}
	}
}

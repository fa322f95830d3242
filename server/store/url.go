// Package store opens Redis: which one a URL names, how to reach it, and whether it takes writes.
package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Time-outs towards Redis: a seller gets an error rather than a long wait.
const (
	dialTimeout = 2 * time.Second
	callTimeout = 2 * time.Second
	poolSize    = 64 // connections per node
)

// URL is a parsed REDIS_URL. It does not print its password.
type URL struct {
	kind   string // embedded, single, sentinel or cluster
	single *redis.Options
	many   *redis.UniversalOptions
	reread func() (string, error) // the URL as its file has it now; nil = it is in no file
}

// Following returns a URL whose user and password are read again for each new connection to Redis, so that a
// password can be replaced without a restart. read returns the text of the URL as it is now.
func (u URL) Following(read func() (string, error)) URL {
	u.reread = read
	return u
}

// credentials returns the user and password that the file has now. While the file cannot be read, or names
// another kind of store, it returns those of the start.
func (u URL) credentials(context.Context) (user, password string, err error) {
	now := u
	if text, err := u.reread(); err == nil {
		if read, err := Parse(text); err == nil && read.kind == u.kind {
			now = read
		}
	}
	if now.kind == "single" {
		return now.single.Username, now.single.Password, nil
	}
	return now.many.Username, now.many.Password, nil
}

var errRedis = errors.New("want embedded, redis://host:port/db, rediss://…, unix:///path, " +
	"redis+sentinel://h1:p,h2:p/master-name?db=0 or redis+cluster://h1:p,h2:p; what is no letter or digit in " +
	"user and password is percent-encoded (/ is %2F, @ is %40, # is %23)")

// Parse parses a REDIS_URL. The error repeats nothing of it, since a password that is not escaped can be in
// any part.
func Parse(text string) (URL, error) {
	if text == "embedded" {
		return URL{kind: "embedded"}, nil
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || strings.Contains(text, "#") { // what is behind it would count for nothing
		return URL{}, errRedis
	}
	switch scheme {
	case "unix":
		if !isSocket(rest) {
			return URL{}, errRedis
		}
		return parseSingle(text)
	case "redis", "rediss":
		return parseSingle(text)
	case "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster":
		return parseMany(scheme, rest)
	}
	return URL{}, errRedis
}

// isSocket reports whether only a path follows the credentials; anything else may be half of a password.
func isSocket(rest string) bool {
	user, path, ok := strings.Cut(rest, "/")
	return ok && (user == "" || strings.HasSuffix(user, "@") && !strings.Contains(path, "@"))
}

func parseSingle(text string) (URL, error) {
	rest, files, err := cutCertificates(text)
	if err != nil {
		return URL{}, err
	}
	o, err := redis.ParseURL(rest)
	if err != nil {
		return URL{}, errRedis
	}
	if err := files.into(o.TLSConfig); err != nil {
		return URL{}, err
	}
	setDefault(&o.DialTimeout, dialTimeout)
	setDefault(&o.ReadTimeout, callTimeout)
	setDefault(&o.WriteTimeout, callTimeout)
	setDefault(&o.PoolTimeout, callTimeout)
	setDefault(&o.PoolSize, poolSize)
	setDefault(&o.DialerRetries, 1)
	o.ContextTimeoutEnabled = true
	o.MaintNotificationsConfig = noMaintenance()
	return URL{kind: "single", single: o}, nil
}

// parseMany parses a URL with several hosts, after its scheme. It removes the hosts first, since net/url
// accepts one only.
func parseMany(scheme, rest string) (URL, error) {
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
		return URL{}, errRedis
	}
	o, err := manyOptions(hosts, u)
	if err != nil {
		return URL{}, err
	}
	if strings.HasPrefix(scheme, "rediss+") {
		o.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return URL{}, errRedis
	}
	files, err := takeCertificates(q)
	if err == nil {
		err = files.into(o.TLSConfig)
	}
	if err != nil {
		return URL{}, err
	}
	if strings.HasSuffix(scheme, "+cluster") {
		if strings.Trim(u.Path, "/") != "" || len(q) > 0 {
			return URL{}, errors.New("redis+cluster:// takes hosts, cert, key and ca only: a cluster has " +
				"neither a master's name nor databases")
		}
		return URL{kind: "cluster", many: o}, nil
	}
	return parseSentinel(o, u.Path, q)
}

func manyOptions(hosts string, u *url.URL) (*redis.UniversalOptions, error) {
	o := &redis.UniversalOptions{DialTimeout: dialTimeout, ReadTimeout: callTimeout,
		WriteTimeout: callTimeout,
		PoolTimeout:  callTimeout, PoolSize: poolSize, DialerRetries: 1, ContextTimeoutEnabled: true,
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

func parseSentinel(o *redis.UniversalOptions, path string, q url.Values) (URL, error) {
	o.MasterName = strings.Trim(path, "/")
	if o.MasterName == "" {
		return URL{}, errors.New("redis+sentinel:// needs the master's name after the hosts, as in " +
			"redis+sentinel://h1:p,h2:p/master-name")
	}
	if strings.ContainsAny(o.MasterName, "/@") { // half of a password that was not escaped
		return URL{}, errRedis
	}
	for name, values := range q {
		switch name {
		case "db":
			db, err := strconv.Atoi(values[0])
			if err != nil || db < 0 {
				return URL{}, errors.New("redis+sentinel:// has a db that is not a number")
			}
			o.DB = db
		case "sentinel_username":
			o.SentinelUsername = values[0]
		case "sentinel_password":
			o.SentinelPassword = values[0]
		default:
			return URL{}, errors.New("redis+sentinel:// takes db, sentinel_username, sentinel_password, " +
				"cert, key and ca, nothing else")
		}
	}
	return URL{kind: "sentinel", many: o}, nil
}

// noMaintenance turns off a handshake for every connection that only one vendor's server answers.
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
func (u URL) Embedded() bool { return u.kind == "embedded" }

// String returns the store's address for people, without its credentials.
func (u URL) String() string {
	switch u.kind {
	case "single":
		return fmt.Sprintf("Redis at %s, db %d", u.single.Addr, u.single.DB)
	case "sentinel":
		return fmt.Sprintf("Redis master %s by the sentinels %s", u.many.MasterName,
			strings.Join(u.many.Addrs, ", "))
	case "cluster":
		return "Redis Cluster at " + strings.Join(u.many.Addrs, ", ")
	}
	return "embedded: in this process, places are lost when it ends"
}

// Address returns the store's host:port; "" if there are several.
func (u URL) Address() string {
	if u.kind == "single" {
		return u.single.Addr
	}
	return ""
}

// Sentinels returns the sentinels and their options; false if the URL names none.
func (u URL) Sentinels() (redis.UniversalOptions, bool) {
	if u.kind != "sentinel" {
		return redis.UniversalOptions{}, false
	}
	return *u.many, true
}

// GoString hides the password from %#v.
func (u URL) GoString() string { return u.String() }

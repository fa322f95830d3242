package tracing

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// endpoint returns the collector's URL. The address for all signals is a base to which each adds its path.
func (e *env) endpoint() *url.URL {
	name := e.name("ENDPOINT")
	u, err := url.Parse(e.get(name))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" {
		e.bad(name, "http://host:port or https://host:port, and credentials in OTEL_EXPORTER_OTLP_HEADERS")
		return nil
	}
	if name == forAll+"ENDPOINT" {
		return u.JoinPath("v1", "traces")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u
}

// token matches a header's name.
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (e *env) headers() Headers {
	list, ok := pairs(e.headersText(), token.MatchString)
	if !ok {
		e.bad(e.name("HEADERS"), "name=value,name=value, values percent-encoded")
	}
	headers := make(http.Header)
	for _, pair := range list {
		headers.Set(pair[0], pair[1])
	}
	return Headers(headers)
}

// headersText returns the variable's value or, as for every secret, the content of the file that another
// variable names.
func (e *env) headersText() string {
	path := e.export("HEADERS_FILE")
	if path == "" || e.export("HEADERS") != "" {
		return e.export("HEADERS")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		e.bad(e.name("HEADERS_FILE"), "a file that can be read")
	}
	return strings.TrimSpace(strings.TrimPrefix(string(text), "\uFEFF")) // a prefix that some editors write
}

// pairs parses name=value,name=value.
func pairs(text string, isName func(string) bool) (list [][2]string, ok bool) {
	if text == "" {
		return nil, true
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || !found || !isName(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, false
		}
		list = append(list, [2]string{name, value})
	}
	return list, true
}

func (e *env) timeout() time.Duration {
	text := e.export("TIMEOUT")
	if text == "" {
		return timeout
	}
	if !isCount(text) {
		e.bad(e.name("TIMEOUT"), "milliseconds")
	}
	ms, _ := strconv.Atoi(text)
	return time.Duration(ms) * time.Millisecond
}

// tls loads the files with trusted authorities and the client's certificate; nil without any.
func (e *env) tls() *tls.Config {
	authority, cert, key := e.export("CERTIFICATE"), e.export("CLIENT_CERTIFICATE"), e.export("CLIENT_KEY")
	if authority+cert+key == "" {
		return nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		c.RootCAs = x509.NewCertPool()
		if err != nil || !c.RootCAs.AppendCertsFromPEM(pem) {
			e.bad(e.name("CERTIFICATE"), "a file with certificates in PEM")
		}
	}
	if cert+key != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			e.bad(e.name("CLIENT_CERTIFICATE")+" and "+e.name("CLIENT_KEY"),
				"files with a certificate and its key in PEM")
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c
}

// sampling checks the sampler's variables.
func (e *env) sampling() {
	const sampler = "OTEL_TRACES_SAMPLER"
	e.check(sampler, "always_on, always_off, traceidratio, or one of these with parentbased_ before it",
		func(text string) bool {
			return slices.Contains([]string{"always_on", "always_off", "traceidratio"},
				strings.TrimPrefix(strings.ToLower(text), "parentbased_"))
		})
	if strings.HasSuffix(strings.ToLower(e.get(sampler)), "traceidratio") {
		e.check("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1, such as 0.01", func(text string) bool {
			ratio, err := strconv.ParseFloat(text, 64)
			return err == nil && ratio >= 0 && ratio <= 1
		})
	}
}

// limits checks the variables of the batches and of the program's name.
func (e *env) limits() {
	for _, name := range []string{"SCHEDULE_DELAY", "EXPORT_TIMEOUT", "MAX_QUEUE_SIZE",
		"MAX_EXPORT_BATCH_SIZE"} {
		e.check("OTEL_BSP_"+name, "a whole number over 0", isCount)
	}
	e.check("OTEL_RESOURCE_ATTRIBUTES", "name=value,name=value, values percent-encoded", func(text string) bool {
		_, ok := pairs(text, func(name string) bool { return name != "" })
		return ok
	})
}

// among requires one of some words.
func (e *env) among(name string, words ...string) {
	e.check(name, strings.Join(words, " or "), func(text string) bool { return slices.Contains(words, text) })
}

func isCount(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0
}

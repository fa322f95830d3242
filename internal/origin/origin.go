// Package origin decides which sites' pages may act here, by a request or by a socket.
package origin

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Sites are those whose pages may act. The zero value is the server's own, under any name.
type Sites struct {
	public string // the server's own, where it is configured
	others map[string]bool
}

// New takes the server's own origin, "" for any host that a request names, and other trusted ones. It returns
// an error for a text that is no origin.
func New(public string, others []string) (Sites, error) {
	s := Sites{others: map[string]bool{}}
	if public != "" {
		if s.public = Plain(public); s.public == "" {
			return Sites{}, fmt.Errorf("%q is not an origin", public)
		}
	}
	for _, other := range others {
		plain := Plain(other)
		if plain == "" {
			return Sites{}, fmt.Errorf("%q is not an origin", other)
		}
		s.others[plain] = true
	}
	return s, nil
}

// Plain returns an origin in its comparable form; "" if the text is none. An origin is scheme://host or
// scheme://host:port, and nothing else.
func Plain(text string) string {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" ||
		!strings.EqualFold(text, u.Scheme+"://"+u.Host) {
		return ""
	}
	return u.Scheme + "://" + Host(u.Host, u.Scheme)
}

// Host returns a host in its comparable form. That has small letters, no dot at its end,
// and no port of its scheme.
func Host(host, scheme string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), ""
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if port == "" || (scheme == "https" && port == "443") || (scheme == "http" && port == "80") {
		return name
	}
	return net.JoinHostPort(name, port)
}

// Any reports whether there are other sites than the server's own.
func (s Sites) Any() bool { return len(s.others) > 0 }

// Alone returns the sites without the other ones.
func (s Sites) Alone() Sites { return Sites{public: s.public} }

// Own reports whether a request comes from the server's own pages. Without a configured origin, https counts
// as http does: TLS may end at an unknown proxy.
func (s Sites) Own(r *http.Request) bool {
	from := of(r)
	if s.public != "" {
		return from == s.public
	}
	scheme, host, found := strings.Cut(from, "://")
	return found && host == Host(r.Host, scheme)
}

// Trusted reports whether a request comes from a page of one of the other sites.
func (s Sites) Trusted(r *http.Request) bool { return s.others[of(r)] }

// Allowed reports whether a request comes from the server's own pages or another site's that may act.
func (s Sites) Allowed(r *http.Request) bool { return s.Own(r) || s.Trusted(r) }

// of returns a request's origin; "" if it has none, or more than one.
func of(r *http.Request) string {
	if given := r.Header.Values("Origin"); len(given) == 1 {
		return Plain(given[0])
	}
	return ""
}

// Crossed reports whether a request is a change from the page of a site that may not act. It judges by the
// browser's Sec-Fetch-Site or, without one, by the Origin. Without either it is no browser's. It works as
// http.CrossOriginProtection, except that the latter compares hosts alone.
func (s Sites) Crossed(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "same-origin" || site == "none":
		return false
	case site != "":
		return !s.Trusted(r)
	}
	return strings.Join(r.Header.Values("Origin"), "") != "" && !s.Allowed(r)
}

// KeepHTTPS is a CheckRedirect that follows no redirect from https to http, and no more than ten.
func KeepHTTPS(next *http.Request, via []*http.Request) error {
	switch {
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	case next.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https":
		return errors.New("redirects from https to http")
	}
	return nil
}

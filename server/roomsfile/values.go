package roomsfile

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// text reads a line that is shown as it is.
func text(most int, field func(*Entry) *string) func(*reader, *draft, *node) error {
	return says(func(text string) (string, error) {
		if utf8.RuneCountInString(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return "", fmt.Errorf("want one line of at most %d characters", most)
		}
		return text, nil
	}, field)
}

var telephone = regexp.MustCompile(`^\+?[0-9](?:[ -]?[0-9]){1,19}$`)

// tel reads a telephone number; "" is none.
func tel(field func(*Entry) *string) func(*reader, *draft, *node) error {
	return says(func(text string) (string, error) {
		if text != "" && !telephone.MatchString(text) {
			return "", errors.New("want a telephone number of 2 to 20 digits, with spaces or hyphens between them and + in front, such as 010-1234-5678")
		}
		return text, nil
	}, field)
}

// longestURL is what browsers and proxies take without a thought.
const longestURL = 2000

// link reads where a page leads to; "" is nowhere.
func link(field func(*Entry) *string) func(*reader, *draft, *node) error {
	return says(func(text string) (string, error) {
		if text != "" && !safe(text) {
			return "", errors.New("want an https URL, such as https://seller.example/link (http on this machine only)")
		}
		return text, nil
	}, field)
}

// safe reports whether a page may lead there.
func safe(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.Trim(u.Hostname(), ".") == "" || len(text) > longestURL || strings.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && ip.Unmap().IsLoopback())
}

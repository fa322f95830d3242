package source

import (
	"crypto/sha1" //nolint:gosec // Twilio's choice; an HMAC does not need what SHA-1 has lost
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/waitroom/waitroom/sms"
)

// twilio reads Twilio's incoming messages: a form, signed with the URL that Twilio calls by HMAC-SHA1 under
// the account's auth token. They have no time of sending.
// https://www.twilio.com/docs/usage/webhooks/webhooks-security
type twilio struct{ keys keys }

func (t twilio) Verify(r sms.Request) error {
	given, err := base64.StdEncoding.DecodeString(r.Header.Get("X-Twilio-Signature"))
	if err != nil || len(given) == 0 {
		return refused("there is no X-Twilio-Signature")
	}
	form, err := url.ParseQuery(string(r.Body))
	if err != nil {
		return refused("the body is no form")
	}
	values := signedValues(form)
	for _, address := range addresses(r.URL) {
		signed := []byte(address + values)
		if t.keys.match(given, func(key []byte) []byte { return mac(sha1.New, key, signed) }) {
			return nil
		}
	}
	return refused("Twilio signs the address that it calls: in its console that has to be "+
		"WAITROOM_PUBLIC_URL and %s to the letter, and the secret the account's primary auth token", pathOf(r.URL))
}

func (t twilio) Parse(r sms.Request) (sms.Post, error) {
	form, err := url.ParseQuery(string(r.Body))
	if err != nil || len(form) == 0 {
		return sms.Post{}, sms.FaultBody
	}
	if status := form.Get("SmsStatus"); form.Has("MessageStatus") || (status != "" && status != "received") {
		return sms.Post{}, sms.ErrIgnored // a report about a message that the account sent
	}
	id := form.Get("MessageSid")
	if id == "" {
		id = form.Get("SmsMessageSid")
	}
	return sms.Post{ID: id, From: form.Get("From"), To: form.Get("To"),
		Text: sms.NewSecret(form.Get("Body"))}, nil
}

// signedValues returns the form's names and values as they are signed: sorted and concatenated.
func signedValues(form url.Values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := slices.Clone(form[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			b.WriteString(name + value)
		}
	}
	return b.String()
}

// addresses returns a URL with and without its scheme's default port: Twilio signs either.
func addresses(address string) []string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	port := map[string]string{"http": ":80", "https": ":443"}[scheme]
	plain := strings.TrimSuffix(host, port)
	if host == plain && strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
		return []string{address} // another port
	}
	return []string{scheme + "://" + plain + path, scheme + "://" + plain + port + path}
}

func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "this path"
	}
	return u.Path
}

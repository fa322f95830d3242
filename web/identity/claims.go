package identity

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json" // refuses duplicate fields, and matches names exactly

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/web/wayback"
)

// maxReach is the most characters of the claim reach, which is one line of the page.
const maxReach = 60

// claims are the verified claims of a token about its seller. Instants are unix ms, 0 without one.
type claims struct {
	seller                 string
	issuer, id             string
	audience               []string
	room                   string // the only room it is for; "" for any
	reach                  string // how the portal can reach the seller; "" = it can not
	issued, begins, expire int64
	payload                []byte
	wide                   bool // its audience is wider than one room
}

// tokenPayload is a token's payload.
type tokenPayload struct {
	Subject  string   `json:"sub"`
	Issuer   string   `json:"iss"`
	ID       string   `json:"jti"`
	Audience audience `json:"aud"`
	Room     string   `json:"room"`
	Reach    string   `json:"reach"`
	Issued   moment   `json:"iat"`
	Begins   moment   `json:"nbf"`
	Expires  moment   `json:"exp"`
}

// audience is one text or several.
type audience []string

// UnmarshalJSON reads both forms.
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	var several []string
	if err := json.Unmarshal(text, &several); err != nil {
		return err
	}
	*a = append(audience{}, several...)
	return nil
}

// moment is a NumericDate in ms: unix seconds, which may have a fraction.
type moment int64

const lastSecond = 253402300799 // of the year 9999

// UnmarshalJSON refuses values that are no instant.
func (m *moment) UnmarshalJSON(text []byte) error {
	seconds, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(seconds >= 1 && seconds <= lastSecond) {
		return fmt.Errorf("%s is no time", text)
	}
	*m = moment(math.Floor(seconds * 1000))
	return nil
}

// verify checks a token's signature and audience, not its times.
func (s *Sellers) verify(ctx context.Context, id room.ID, token string) (claims, error) {
	signed, err := parse(token, s.keys.algorithms())
	if err != nil {
		return claims{}, err
	}
	payload, err := s.keys.verify(ctx, signed)
	if err != nil && len(s.cfg.Secrets) > 0 {
		err = wrongSecret(s.cfg.Secrets, token)
	}
	if err != nil {
		return claims{}, err
	}
	c, err := read(payload)
	if err != nil {
		return claims{}, err
	}
	return c, c.checkAudience(id, s.cfg.Audiences, len(s.cfg.Secrets) > 0)
}

// parse parses a token in compact form. An algorithm outside the list is refused before any key is read.
func parse(token string, algorithms []jose.SignatureAlgorithm) (*jose.JSONWebSignature, error) {
	if len(token) > maxToken {
		return nil, refuse(ErrToken, "it is longer than %d bytes", maxToken)
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, unsigned(token, algorithms) // the library's error may quote the token
	}
	if typ, _ := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType].(string); typ == wayback.Type {
		return nil, refuse(ErrToken, "it is one of the way back to the portal")
	}
	return signed, nil
}

// read parses the claims of a verified payload.
func read(payload []byte) (claims, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(payload, &all); err != nil {
		return claims{}, refuse(ErrToken, "its payload is no JSON object, or has a claim twice")
	}
	var s tokenPayload
	for _, claim := range []struct {
		name string
		to   any
	}{{"sub", &s.Subject}, {"iss", &s.Issuer}, {"jti", &s.ID}, {"aud", &s.Audience}, {"room", &s.Room},
		{"reach", &s.Reach}, {"iat", &s.Issued}, {"nbf", &s.Begins}, {"exp", &s.Expires}} {
		raw, ok := all[claim.name]
		if ok && json.Unmarshal(raw, claim.to) != nil {
			return claims{}, malformed(claim.name, claim.to, raw)
		}
	}
	seller, err := readSeller(s.Subject)
	if err != nil {
		return claims{}, err
	}
	if utf8.RuneCountInString(s.Reach) > maxReach {
		return claims{}, refuse(ErrToken, "reach is longer than %d characters", maxReach)
	}
	if strings.ContainsFunc(s.Reach, unicode.IsControl) {
		return claims{}, refuse(ErrToken, "reach is more than one line, or has a control character")
	}
	return claims{seller: seller, issuer: s.Issuer, id: s.ID, audience: s.Audience, room: s.Room, reach: s.Reach,
		issued: int64(s.Issued),
		begins: int64(s.Begins), expire: int64(s.Expires), payload: payload}, nil
}

// malformed returns why a claim's value was refused.
func malformed(name string, to any, raw []byte) error {
	switch to.(type) {
	case *audience:
		return refuse(ErrToken, "%s is %s: want a text or a list of texts", name, kindOf(raw))
	case *moment:
		const want = "want whole seconds since 1970, as a number"
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n > lastSecond && n <= 1000*lastSecond {
			return refuse(ErrToken, "%s is in milliseconds: %s", name, want)
		}
		return refuse(ErrToken, "%s is no time: %s", name, want)
	}
	return refuse(ErrToken, "%s is %s: want a text", name, kindOf(raw))
}

// readSeller returns a valid seller id.
func readSeller(sub string) (string, error) {
	seller, err := room.ParseSeller(sub)
	const want = "want 1 to 64 letters, digits and _ . @ -"
	switch {
	case err == nil:
		return seller, nil
	case sub == "":
		return "", refuse(ErrToken, "sub is missing or empty: %s", want)
	case utf8.RuneCountInString(sub) > 64:
		return "", refuse(ErrToken, "sub is too long: %s", want)
	case strings.ContainsFunc(sub, unicode.IsSpace):
		return "", refuse(ErrToken, "sub has a space: %s", want)
	}
	return "", refuse(ErrToken, "sub is no seller id: %s", want)
}

// checkAudience requires the server or this room as the audience. With a shared secret the audience is
// optional.
func (c *claims) checkAudience(id room.ID, ours []string, optional bool) error {
	if c.room != "" && c.room != string(id) {
		return refuse(ErrAudience, "its room is another than the one that it was sent to")
	}
	want := strings.Join(ours, ", ") + " or the room's id"
	if c.audience == nil {
		if c.wide = optional; !c.wide {
			return refuse(ErrAudience, "it has no aud: want %s", want)
		}
		return nil
	}
	c.wide = slices.ContainsFunc(c.audience,
		func(a string) bool { return slices.Contains(ours, strings.TrimSuffix(a, "/")) })
	if !c.wide && !slices.Contains(c.audience, string(id)) {
		return refuse(ErrAudience, "its aud is another: want %s", want)
	}
	return nil
}

// rooms returns the rooms where a token shown in room id is valid; nil: everywhere.
func (c *claims) rooms(id room.ID) []string {
	if c.wide && c.room == "" {
		return nil
	}
	return []string{string(id)}
}

// checkBearer checks the times of a request's token, at an instant in unix ms.
func (c *claims) checkBearer(now int64) error {
	if c.expire == 0 {
		return refuse(ErrToken, "it has no exp, which a token sent as Bearer needs")
	}
	return c.checkTimes(now)
}

// checkLink checks the times of an address's token: it is valid for at most a minute, whatever exp is.
func (c *claims) checkLink(now int64) error {
	if c.issued == 0 {
		return refuse(ErrToken, "it has no iat, which a token in an address needs")
	}
	if age := now - c.issued; age > linkAge.Milliseconds() {
		return refuse(ErrExpired, "its iat is %s ago: in an address it works for %s", shownAge(age),
			shownAge(linkAge.Milliseconds()))
	}
	return c.checkTimes(now)
}

func (c *claims) checkTimes(now int64) error {
	switch {
	case c.expire != 0 && now >= c.expire:
		return refuse(ErrExpired, "its exp was %s ago", shownAge(now-c.expire))
	case max(c.issued, c.begins) > now+ahead.Milliseconds():
		return refuse(ErrEarly, "its iat or nbf is %s ahead of waitroom's clock: at most %s is taken",
			shownAge(max(c.issued, c.begins)-now), shownAge(ahead.Milliseconds()))
	}
	return nil
}

// mark returns the name under which a used token is remembered. Without jti it is a digest of the signed
// part, since one signature has several spellings.
func (c *claims) mark() string {
	if c.id != "" {
		return digest("jti", c.issuer, c.id)
	}
	return digest("payload", string(c.payload))
}

package signin

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
)

// person is a user as the provider identified them.
type person struct {
	name, subject string // safe to display
	groups        groups // nil: the provider named none, not even an empty list
	tooMany       bool   // the provider left the groups out, as the person is in too many

	id, sid string // the provider's names of the person and of its sign-in, as they are; sid may be ""
	issued  int64  // when the provider signed this, unix seconds
}

// longestName is in characters.
const longestName = 64

// claims are what a provider says of a person, in its token or as userinfo.
type claims struct {
	Username string            `json:"preferred_username"`
	Email    string            `json:"email"`
	Groups   groups            `json:"groups"`
	Party    string            `json:"azp"` // the client that the token was issued to, if it is named
	SID      string            `json:"sid"`
	Sources  map[string]string `json:"_claim_names"` // of claims that are left out, by where they can be asked for
}

// tooMany reports whether the token has no groups because the person is in too many: Entra then names an
// address for them, which needs rights that waitroom does not have.
func (c claims) tooMany() bool { return c.Groups == nil && c.Sources["groups"] != "" }

// or returns the claims, and those of more that they lack.
func (c claims) or(more claims) claims {
	if c.Groups == nil {
		c.Groups = more.Groups
	}
	if c.Username == "" && c.Email == "" {
		c.Username, c.Email = more.Username, more.Email
	}
	return c
}

// personOf returns the person of a verified token and its claims.
func personOf(token *oidc.IDToken, c claims) person {
	p := person{subject: clean(token.Subject), groups: c.Groups, tooMany: c.tooMany(),
		id: token.Subject, sid: c.SID, issued: token.IssuedAt.Unix()}
	for _, name := range []string{c.Username, c.Email, token.Subject} {
		if p.name = clean(name); p.name != "" && !passesForToken(p.name) {
			break
		}
		p.name = ""
	}
	return p
}

// clean returns a name's visible runes, so that no name imitates another or breaks a line.
func clean(text string) string { return visible(text, longestName) }

// visible returns a text's visible runes, at most so many.
func visible(text string, longest int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if letters := []rune(text); len(letters) > longest {
		text = string(letters[:longest])
	}
	return strings.TrimSpace(text)
}

// groups is a claim that some providers send as an array and some, for one group, as a string.
type groups []string

func (g *groups) UnmarshalJSON(b []byte) error {
	var claim any
	if err := json.Unmarshal(b, &claim); err != nil {
		return err
	}
	if claim == nil {
		return nil
	}
	*g = groups{}
	several, ok := claim.([]any)
	if !ok {
		several = []any{claim}
	}
	for _, one := range several {
		if name, ok := one.(string); ok {
			*g = append(*g, name)
		}
	}
	return nil
}

// has reports whether groups include name; an unset name is false.
func (g groups) has(name string) bool { return name != "" && slices.Contains(g, name) }

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
	groups        groups

	id, sid string // the provider's names of the person and of its sign-in, as they are; sid may be ""
	issued  int64  // when the provider signed this, unix seconds
}

// longestName is in characters.
const longestName = 64

// personOf reads a verified token. Party is the client that it was issued to, if it is named.
func personOf(token *oidc.IDToken) (p person, party string, err error) {
	var claims struct {
		Username string `json:"preferred_username"`
		Email    string `json:"email"`
		Groups   groups `json:"groups"`
		Party    string `json:"azp"`
		SID      string `json:"sid"`
	}
	if err := token.Claims(&claims); err != nil {
		return person{}, "", err
	}
	p = person{subject: clean(token.Subject), groups: claims.Groups, id: token.Subject, sid: claims.SID,
		issued: token.IssuedAt.Unix()}
	for _, name := range []string{claims.Username, claims.Email, token.Subject} {
		if p.name = clean(name); p.name != "" && !passesForToken(p.name) {
			break
		}
		p.name = ""
	}
	return p, claims.Party, nil
}

// clean keeps a text's visible runes, so that no name imitates another or breaks a line.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if letters := []rune(text); len(letters) > longestName {
		text = string(letters[:longestName])
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

package server

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/waitroom/waitroom/web/signin"
)

// SupportToken lets an integration use support's API.
type SupportToken struct {
	Name string
	Role signin.Role
	Hash Secret // SHA-256 of the token, in lower-case hexadecimal
}

var (
	tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$`)
	tokenHash = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
)

// The errors of an entry of support-tokens, to follow "entry 2".
var (
	errTokenForm = errors.New("is not name:role:sha256; `waitroom support token NAME ROLE` makes one")
	errTokenName = errors.New("has a name of other than 1 to 48 letters, digits and . _ - of ASCII")
	errTokenRole = errors.New("has a role that is neither watch nor act")
	errTokenHash = errors.New("does not end in a SHA-256 of 64 hexadecimal digits: " +
		"`waitroom support token NAME ROLE` makes a token and its entry")
)

// readTokens parses entries separated by commas or line breaks. It names every invalid entry, and repeats
// none: it may hold an unhashed token.
func readTokens(c *Config, value string) error {
	c.SupportTokens = nil
	var wrong []string
	for i, entry := range list(strings.ReplaceAll(value, "\n", ",")) {
		t, err := parseToken(entry)
		if err == nil {
			err = beside(c.SupportTokens, t)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("entry %d %v", i+1, err))
		}
		c.SupportTokens = append(c.SupportTokens, t) // also an invalid one, to keep the numbers right
	}
	if len(wrong) > 0 {
		c.SupportTokens = nil
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

func parseToken(entry string) (SupportToken, error) {
	parts := strings.Split(entry, ":")
	if len(parts) != 3 {
		return SupportToken{}, errTokenForm
	}
	t := SupportToken{parts[0], signin.Role(parts[1]), Secret(strings.ToLower(parts[2]))}
	switch {
	case !tokenName.MatchString(t.Name):
		return SupportToken{}, errTokenName
	case t.Role != signin.Watch && t.Role != signin.Act:
		return SupportToken{}, errTokenRole
	case !tokenHash.MatchString(string(t.Hash)):
		return SupportToken{}, errTokenHash
	}
	return t, nil
}

// beside checks that a token belongs to one integration, and that an integration has one role.
func beside(others []SupportToken, t SupportToken) error {
	for i, other := range others {
		switch {
		case other.Hash == t.Hash:
			return fmt.Errorf("has the hash of entry %d: give each its own token", i+1)
		case other.Name == t.Name && other.Role != t.Role:
			return fmt.Errorf("has the name of entry %d and another role: give both the same, or another name", i+1)
		}
	}
	return nil
}

// signinTokens converts the integrations' tokens for package signin.
func (c Config) signinTokens() (tokens []signin.Token) {
	for _, t := range c.SupportTokens {
		tokens = append(tokens, signin.Token{Name: t.Name, Role: t.Role, Hash: string(t.Hash)})
	}
	return tokens
}

// WriteSupportToken makes a token for an integration. It writes the token and, on the next line, its settings
// entry to out, and instructions to notes.
func WriteSupportToken(out, notes io.Writer, name, role string) error {
	token, hash := signin.NewToken()
	entry := name + ":" + role + ":" + hash
	if _, err := parseToken(entry); err != nil {
		return fmt.Errorf("a token for %q with the role %q: its entry %w", name, role, err)
	}
	fmt.Fprintf(out, "%s\n%s\n", token, entry)
	fmt.Fprintf(notes, "The first line is the token: give it to %s, it is shown once. Add the second one, "+
		"which has only its hash, to WAITROOM_SUPPORT_TOKENS of every replica.\n", name)
	return nil
}

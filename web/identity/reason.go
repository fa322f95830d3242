package identity

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"

	"github.com/waitroom/waitroom/room"
)

// refused is the error of a refused token. Its reason says what to change, and quotes nothing of the token.
type refused struct {
	kind   error // such as ErrToken
	reason string
}

func (r *refused) Error() string { return r.kind.Error() + ": " + r.reason }
func (r *refused) Unwrap() error { return r.kind }

func refuse(kind error, reason string, args ...any) error {
	return &refused{kind, fmt.Sprintf(reason, args...)}
}

// Reason returns why a token was refused, for the developers of its portal; "" for any other error. It
// quotes nothing of the token.
func Reason(err error) string {
	if r, ok := errors.AsType[*refused](err); ok {
		return r.reason
	}
	return ""
}

// Check returns the seller of a token, and how it counts as Bearer and in an address at an instant: nil, or
// the refusals of Bearer and Link. It uses no token up and needs no store.
func (s *Sellers) Check(ctx context.Context, id room.ID, token string, now time.Time) (seller string, bearer,
	link error) {
	c, err := s.verify(ctx, id, token)
	if err != nil {
		return "", err, err
	}
	return c.seller, c.checkBearer(now.UnixMilli()), c.checkLink(now.UnixMilli())
}

// jwtAlgorithms are the algorithms that a reason may name; a header may have any text.
var jwtAlgorithms = []string{"none", "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384",
	"ES512", "PS256", "PS384", "PS512", "EdDSA"}

// unsigned returns why a token could not be parsed.
func unsigned(token string, want []jose.SignatureAlgorithm) error {
	parts := strings.Split(token, ".")
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	var its struct {
		Algorithm string `json:"alg"`
	}
	if len(parts) != 3 || err != nil || json.Unmarshal(header, &its) != nil {
		return refuse(ErrToken, "it is no JWT: want header.payload.signature, each in base64url without =")
	}
	var names []string
	for _, algorithm := range want {
		names = append(names, string(algorithm))
	}
	switch {
	case slices.Contains(names, its.Algorithm):
		return refuse(ErrToken, "it is no JWT: its header, payload or signature cannot be read")
	case slices.Contains(jwtAlgorithms, its.Algorithm):
		return refuse(ErrToken, "its alg is %s: want %s", its.Algorithm, strings.Join(names, ", "))
	}
	return refuse(ErrToken, "its alg is unknown: want %s", strings.Join(names, ", "))
}

// decodings are the ways in which a portal's library may decode the secret, which signs as it is written.
var decodings = map[string]func(string) ([]byte, error){
	"base64":    base64.StdEncoding.DecodeString,
	"base64url": base64.RawURLEncoding.DecodeString,
	"hex":       hex.DecodeString,
}

// wrongSecret returns why a token is signed with none of the secrets.
func wrongSecret(secrets [][]byte, token string) error {
	dot := strings.LastIndex(token, ".")
	sum, err := base64.RawURLEncoding.DecodeString(token[dot+1:])
	if err != nil {
		return refuse(ErrToken, "its signature is not in base64url without =")
	}
	for _, secret := range secrets {
		for name, decode := range decodings {
			key, err := decode(string(secret))
			if err != nil {
				continue
			}
			mac := hmac.New(sha256.New, key)
			_, _ = mac.Write([]byte(token[:dot]))
			if hmac.Equal(sum, mac.Sum(nil)) {
				return refuse(ErrToken, "it is signed with the secret decoded from %s: sign with its text as it is",
					name)
			}
		}
	}
	return refuse(ErrToken, "it is signed with another secret than WAITROOM_SELLER_JWT_SECRET")
}

// kindOf returns the kind of a JSON value.
func kindOf(raw []byte) string {
	switch raw[0] {
	case '"':
		return "a text"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// shownAge returns milliseconds as a reason shows them.
func shownAge(ms int64) string {
	return max(time.Duration(ms)*time.Millisecond, time.Second).Round(time.Second).String()
}

// refusals logs refused tokens: the first of each kind at once, then one line a minute.
type refusals struct {
	log *slog.Logger

	mu    sync.Mutex
	kinds map[string]*noted // by metric label
}

// noted is a kind's refusals since its last line.
type noted struct {
	at      time.Time
	count   int
	reasons []string // each once, at most mostReasons
}

const (
	noteEvery   = time.Minute
	mostReasons = 5
)

func (r *refusals) note(way, kind string, err error) {
	reason := Reason(err)
	if reason == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.kinds[kind]
	if n == nil {
		n = &noted{}
		r.kinds[kind] = n
	}
	n.count++
	if len(n.reasons) < mostReasons && !slices.Contains(n.reasons, reason) {
		n.reasons = append(n.reasons, reason)
	}
	if time.Since(n.at) < noteEvery {
		return
	}
	r.log.Warn("a seller's token was refused", "way", way, "reason", strings.Join(n.reasons, "; "),
		"count", n.count)
	n.at, n.count, n.reasons = time.Now(), 0, nil
}

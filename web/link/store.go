package link

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	_ "embed" // of the scripts
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed make.lua
var makeSource string

//go:embed use.lua
var useSource string

var makeScript, useScript = redis.NewScript(makeSource), redis.NewScript(useSource)

// prefix begins the name of every key; its tag keeps them in one slot.
const prefix = "{waitroom-link}:"

func (l *Links) tokenKey(id room.ID, token string) string { return l.key("token", id, token) }

func (l *Links) placeKey(id room.ID, session string) string { return l.key("place", id, session) }

func (l *Links) joinedKey(id room.ID, session string) string { return l.key("joined", id, session) }

func (l *Links) browsersKey(id room.ID, p Place) string {
	return l.key("browsers", id, p.Session+" "+strconv.FormatInt(p.Ticket, 10))
}

func (l *Links) standKey(id room.ID, session string) string { return l.key("stands", id, session) }

func (l *Links) key(kind string, id room.ID, secret string) string {
	return l.names.Key(prefix + kind + ":" + digest(id, secret))
}

// digest replaces in Redis a secret that must not be readable there; a room's id has no space.
func digest(id room.ID, secret string) string {
	sum := sha256.Sum256([]byte(string(id) + " " + secret))
	return hex.EncodeToString(sum[:])
}

var errUnreadable = errors.New("what is kept can not be read")

// seal encrypts a place with the secret it is stored under.
func seal(secret, key string, p Place) string {
	text, err := json.Marshal(p)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return string(cipherOf(secret).Seal(nil, nil, text, []byte(key)))
}

func open(secret, key, sealed string, p *Place) error {
	text, err := cipherOf(secret).Open(nil, nil, []byte(sealed), []byte(key))
	if err != nil {
		return stored(errUnreadable)
	}
	if err := json.Unmarshal(text, p); err != nil {
		return stored(fmt.Errorf("%w: %w", errUnreadable, err))
	}
	return nil
}

// cipherOf makes a key from an unguessable secret: a token or a session.
func cipherOf(secret string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "waitroom link", 32)
	if err != nil { // only for a key that is too long
		panic(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil { // only for a key of another length
		panic(err)
	}
	sealer, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	return sealer
}

// Package seal encrypts the messages that Redis keeps, and makes keyed digests of their parts. It needs Go's
// standard library alone.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Keyring seals messages before Redis gets them. Redis's keys, slow log, MONITOR, files and replicas then
// have no message in plain text. It seals with the first secret and opens with any of its secrets, so secrets
// can be rotated.
type Keyring struct {
	keys []sealKey

	learning sync.Mutex
	learned  atomic.Pointer[map[string]sealKey] // by id; none of them seals
}

type sealKey struct {
	id        string // derived from the secret, and does not reveal it
	sealer    cipher.AEAD
	digestKey []byte
}

// NewKeyring derives keys from at least one secret, the current one first.
func NewKeyring(secrets ...[]byte) *Keyring {
	k := &Keyring{}
	for _, secret := range secrets {
		k.keys = append(k.keys, newSealKey(secret))
	}
	return k
}

// Learn adds secrets with which the keyring opens messages, but does not seal them.
func (k *Keyring) Learn(secrets ...[]byte) {
	k.learning.Lock()
	defer k.learning.Unlock()
	all := make(map[string]sealKey)
	if known := k.learned.Load(); known != nil {
		maps.Copy(all, *known)
	}
	for _, secret := range secrets {
		key := newSealKey(secret)
		all[key.id] = key
	}
	k.learned.Store(&all)
}

func newSealKey(secret []byte) sealKey {
	derive := func(info string, n int) []byte {
		key, err := hkdf.Key(sha256.New, secret, nil, "waitroom "+info, n)
		if err != nil {
			panic(err) // only for a key length that the hash cannot give
		}
		return key
	}
	block, err := aes.NewCipher(derive("seal", 32))
	if err != nil {
		panic(err) // only for a key of a wrong length
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return sealKey{id: hex.EncodeToString(derive("key id", 4)), sealer: sealer,
		digestKey: derive("digest", 32)}
}

// ErrUnknown reports a text that no secret of the keyring has sealed.
var ErrUnknown = errors.New("it was sealed with a secret that is not known here")

// Seal encrypts text. about names its owner, as associated data that Open needs too.
func (k *Keyring) Seal(text []byte, about string) string {
	key := k.keys[0]
	nonce := make([]byte, key.sealer.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	return key.id + "." + base64.RawURLEncoding.EncodeToString(key.sealer.Seal(nonce, nonce, text,
		[]byte(about)))
}

// Open returns a text that Seal encrypted for the same owner. It returns ErrUnknown where its secret is not
// known here, and another error where the owner is another one.
func (k *Keyring) Open(sealed, about string) ([]byte, error) {
	id, body, _ := strings.Cut(sealed, ".")
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return nil, ErrUnknown
	}
	key, ok := k.key(id)
	if !ok || len(b) <= key.sealer.NonceSize() {
		return nil, ErrUnknown
	}
	n := key.sealer.NonceSize()
	return key.sealer.Open(nil, b[:n], b[n:], []byte(about))
}

func (k *Keyring) key(id string) (sealKey, bool) {
	if at := slices.IndexFunc(k.keys, func(key sealKey) bool { return key.id == id }); at >= 0 {
		return k.keys[at], true
	}
	learned := k.learned.Load()
	if learned == nil {
		return sealKey{}, false
	}
	key, ok := (*learned)[id]
	return key, ok
}

// Digest returns a keyed digest of some texts. Guesses at the texts cannot be tried without the secret.
func (k *Keyring) Digest(texts ...string) string { return k.keys[0].digest(texts...) }

// Digests returns the digests of some texts under each known secret, the current one's first. A replica whose
// first secret is another one uses another of them for the same texts.
func (k *Keyring) Digests(texts ...string) (digests []string) {
	for _, key := range k.keys {
		digests = append(digests, key.digest(texts...))
	}
	if learned := k.learned.Load(); learned != nil {
		for _, id := range slices.Sorted(maps.Keys(*learned)) {
			if key := (*learned)[id]; !slices.ContainsFunc(k.keys,
				func(mine sealKey) bool { return mine.id == id }) {
				digests = append(digests, key.digest(texts...))
			}
		}
	}
	return digests
}

func (key sealKey) digest(texts ...string) string {
	h := hmac.New(sha256.New, key.digestKey)
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		h.Write(sum[:])
	}
	return key.id + ":" + hex.EncodeToString(h.Sum(nil)[:16])
}

package identity

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // of the scripts
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room"
)

//go:embed find.lua
var findSource string

//go:embed spend.lua
var spendSource string

var findScript, spendScript = redis.NewScript(findSource), redis.NewScript(spendSource)

// prefix begins the name of every key; its tag keeps them in one slot.
const prefix = "{waitroom-seller}:"

const (
	// markGrace extends the memory of a used token beyond its validity: Redis's clock may be set back.
	markGrace = 5 * time.Minute
	markMost  = 400 * 24 * time.Hour
)

func (s *Sellers) rootName() string { return s.cfg.Names.Key(prefix + "key") }

func (s *Sellers) sessionKey(session string) string {
	return s.cfg.Names.Key(prefix + "session:" + digest(session))
}

func (s *Sellers) markKey(mark string) string { return s.cfg.Names.Key(prefix + "token:" + mark) }

// record is a session's entry in Redis: its seller, expiry (unix ms by Redis's clock) and rooms; nil is all.
type record struct {
	Seller string   `json:"seller"`
	Rooms  []string `json:"rooms,omitempty"`
	Until  int64    `json:"until"`
	Reach  string   `json:"reach,omitempty"`
}

func (r record) admits(id room.ID) bool {
	return r.Seller != "" && (r.Rooms == nil || slices.Contains(r.Rooms, string(id)))
}

// with adds the rooms of an earlier record of the same seller.
func (r record) with(before record) record {
	switch {
	case before.Seller != r.Seller || r.Rooms == nil:
	case before.Rooms == nil:
		r.Rooms = nil
	default:
		r.Rooms = append(slices.Clone(before.Rooms), r.Rooms...)
		slices.Sort(r.Rooms)
		r.Rooms = slices.Compact(r.Rooms)
	}
	return r
}

func (r record) encode() string {
	b, err := json.Marshal(r)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return string(b)
}

// root is the key from which the engine's sessions are derived.
type root string

// session returns the seller's session in the engine. It is the same on every replica and after every
// restart, and secret without the key.
func (r root) session(seller string) string {
	mac := hmac.New(sha256.New, []byte(r))
	fmt.Fprintf(mac, "session of %s", seller)
	return uuid.Must(uuid.FromBytes(version8(mac.Sum(nil)[:16]))).String()
}

// version8 marks 16 bytes as a UUID of custom content (RFC 9562, 5.8).
func version8(b []byte) []byte {
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	return b
}

// rootKey remembers Redis's root, to restore it after a loss.
type rootKey struct {
	mu   sync.Mutex
	text string // as in Redis
}

// newRootKey returns a candidate for a store without a root.
func newRootKey() *rootKey { return &rootKey{text: rand.Text() + rand.Text()} }

func (k *rootKey) last() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text
}

func (k *rootKey) learn(text string) root {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text = text
	return root(text)
}

// finding is Redis's state of a session and a token at one instant.
type finding struct {
	now    int64 // unix ms, by Redis's clock
	root   root
	record record // of the session; zero without one
	spent  bool   // the token was used in an address
	own    bool   // and was exchanged for this session
}

// find reads a session and a token from Redis, and restores entries that Redis lost and this process knows.
// Session and mark may be "".
func (s *Sellers) find(ctx context.Context, session, mark string) (finding, error) {
	key := s.sessionKey(session)
	put, until := "", int64(0)
	if r, ok := s.known.Get(key); ok {
		put, until = r.encode(), r.Until
	}
	reply, err := findScript.Run(ctx, s.cfg.Redis, []string{s.rootName(), key, s.markKey(mark)}, s.root.last(),
		put, until).Slice()
	if err != nil {
		return finding{}, stored(err)
	}
	f, err := readFinding(reply)
	if err != nil {
		return finding{}, stored(err)
	}
	f.root = s.root.learn(string(f.root))
	if f.record.Seller == "" {
		s.known.Remove(key)
	} else {
		s.known.Add(key, f.record)
	}
	return f, nil
}

func readFinding(reply []any) (f finding, err error) {
	if len(reply) != 4 {
		return f, fmt.Errorf("%d replies", len(reply))
	}
	now, ok1 := reply[0].(int64)
	key, ok2 := reply[1].(string)
	text, ok3 := reply[2].(string)
	spent, ok4 := reply[3].(int64)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return f, fmt.Errorf("replies of other types: %T %T %T %T", reply[0], reply[1], reply[2], reply[3])
	}
	f = finding{now: now, root: root(key), spent: spent > 0, own: spent == 2}
	if text != "" {
		err = json.Unmarshal([]byte(text), &f.record)
	}
	return f, err
}

// spend uses a token up and stores its session in one step: no failure in between can waste the token.
func (s *Sellers) spend(ctx context.Context, c claims, now int64, session string, r record) error {
	key := s.sessionKey(session)
	left := time.Duration(max(c.expire, c.issued+linkAge.Milliseconds())-now) * time.Millisecond
	reply, err := spendScript.Run(ctx, s.cfg.Redis, []string{s.markKey(c.mark()), key}, r.encode(), r.Until,
		min(left+markGrace, markMost).Milliseconds()).Int()
	switch {
	case err != nil:
		return stored(err)
	case reply == 0:
		return ErrUsed
	}
	s.known.Add(key, r)
	return nil
}

func (s *Sellers) keep(ctx context.Context, session string, r record) error {
	key := s.sessionKey(session)
	if err := s.cfg.Redis.SetArgs(ctx, key, r.encode(),
		redis.SetArgs{ExpireAt: time.UnixMilli(r.Until)}).Err(); err != nil {
		return stored(err)
	}
	s.known.Add(key, r)
	return nil
}

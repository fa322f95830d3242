package signin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

const here = "192.0.2.1"

// diary has the audit and the log of a desk, and how often the desk compared a password.
type diary struct {
	mu       sync.Mutex
	lines    []string
	log      bytes.Buffer
	compared atomic.Int64
}

// latin matches words of another language than Korean; an account's name stands in brackets.
var latin, inBrackets = regexp.MustCompile(`[A-Za-z]{2}`), regexp.MustCompile(`\(.*\)`)

func (d *diary) write(ctx context.Context, who, address, action, reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	korean := templates.TextIn("ko").DeskReason(action, reason)
	if latin.MatchString(inBrackets.ReplaceAllString(korean, "")) {
		panic("templates/locales/desk/audit.yaml has no note for " + reason)
	}
	if ctx.Err() != nil {
		action += " too late"
	}
	if address != "" {
		reason += ", from " + address
	}
	d.lines = append(d.lines, fmt.Sprintf("%s %s: %s", who, action, reason))
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(b)
}

// take returns the lines of the audit since the last call.
func (d *diary) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

func hashed(t *testing.T, password string, cost int) string {
	hash, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	require.NoError(t, err)
	return string(hash)
}

func newDesk(cfg Config) (*Desk, *diary) {
	written := &diary{}
	cfg.Audit, cfg.Log = written.write, slog.New(slog.NewTextHandler(written,
		&slog.HandlerOptions{Level: slog.LevelDebug}))
	d := New(cfg)
	d.compare = func(hash, password []byte) error {
		written.compared.Add(1)
		return bcrypt.CompareHashAndPassword(hash, password)
	}
	return d, written
}

func kimsConfig(t *testing.T, rdb redis.UniversalClient) Config {
	return Config{Redis: rdb, Users: map[string]string{"kim": hashed(t, "open sesame", bcrypt.MinCost)}}
}

func enter(d *Desk, name, password, address string) error {
	_, _, err := d.SignIn(context.Background(), name, password, address)
	return err
}

// everything returns all keys and values in Redis.
func everything(t *testing.T, rdb *redis.Client) string {
	keys, err := rdb.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	var all strings.Builder
	for _, key := range keys {
		var value any
		if kind := rdb.Type(t.Context(), key).Val(); kind == "zset" {
			value, err = rdb.ZRangeWithScores(t.Context(), key, 0, -1).Result()
		} else {
			value, err = rdb.Get(t.Context(), key).Result()
		}
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(key, "{waitroom-support}:"), key)
		require.Positive(t, rdb.PTTL(t.Context(), key).Val(), "%s stays for ever", key)
		fmt.Fprintln(&all, key, value)
	}
	return all.String()
}

func TestNothingInTheStoreOrTheLogOpensAnything(t *testing.T) {
	server := redistest.Start(t)
	d, written := newDesk(kimsConfig(t, server.Client()))
	once, _ := newDesk(Config{Redis: server.Client()})
	token, _, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	require.ErrorIs(t, enter(d, "kim", "open barley", here), ErrWrong)
	require.ErrorIs(t, enter(d, "typed into the wrong field", "", here), ErrWrong)
	password, err := once.OneTime(t.Context())
	require.NoError(t, err)
	kept := everything(t, server.Client())
	require.Equal(t, 8, strings.Count(kept, "\n"),
		"a session, the index, two names, an address, both, a one-time password: %s", kept)
	kept += written.log.String() + strings.Join(written.take(), "\n")
	for _, secret := range []string{token, password, asMade(password), "sesame", "barley", "wrong field",
		digest("typed into the wrong field"), digest(here)} {
		require.NotContains(t, kept, secret)
	}
}

func TestStoreThatIsAwayIsNoRefusal(t *testing.T) {
	server := redistest.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1})
	defer func() { _ = rdb.Close() }()
	d, written := newDesk(kimsConfig(t, rdb))
	once, _ := newDesk(Config{Redis: rdb})
	token, who, err := d.SignIn(t.Context(), "kim", "open sesame", here)
	require.NoError(t, err)
	server.Kill()
	compared := written.compared.Load()
	_, agent := d.Agent(t.Context(), token)
	_, signed := d.Signed(t.Context(), who.Key)
	_, out := d.SignOut(t.Context(), token, "")
	_, password := once.OneTime(t.Context())
	for _, err := range []error{agent, signed, out, password, enter(d, "kim", "open sesame", here),
		enter(once, "support", "x", here)} {
		require.ErrorIs(t, err, room.ErrStore)
	}
	require.Equal(t, compared, written.compared.Load(), "what can not be counted is not compared")
}

// The default store is embedded in the process; others may be clusters.
func TestSignInWorksOnEveryKindOfStore(t *testing.T) {
	embedded := redis.NewClient(&redis.Options{Addr: redistest.StartEmbedded(t).Addr()})
	defer func() { _ = embedded.Close() }()
	for name, rdb := range map[string]redis.UniversalClient{"embedded": embedded,
		"cluster": redistest.StartCluster(t).Client()} {
		t.Run(name, func(t *testing.T) {
			d, _ := newDesk(Config{Redis: rdb})
			password, err := d.OneTime(t.Context())
			require.NoError(t, err)
			token, _, err := d.SignIn(t.Context(), "support", password, here)
			require.NoError(t, err)
			for range 10 {
				require.ErrorIs(t, enter(d, "support", password, here), ErrWrong)
			}
			require.ErrorAs(t, enter(d, "support", password, here), &Limited{})
			who, err := d.SignOut(t.Context(), token, "")
			require.NoError(t, err)
			require.Equal(t, "support", who.Name)
			_, err = d.Agent(t.Context(), token)
			require.ErrorIs(t, err, ErrNotSignedIn)
		})
	}
}

package server

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/pushtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

const (
	erased = "gäste_7@erase"
	alike  = "gäste_7@erase2" // another seller, not erased
)

// everything returns the whole content of a database and a Redis, one line for each row or key.
func everything(t *testing.T, r *redis.Client, db *sql.DB, columns string) (lines []string) {
	t.Helper()
	rows, err := db.Query(columns)
	require.NoError(t, err)
	var places [][2]string
	for rows.Next() {
		var p [2]string
		require.NoError(t, rows.Scan(&p[0], &p[1]))
		places = append(places, p)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(places), 60)
	for _, p := range places {
		values, err := db.Query(fmt.Sprintf(`SELECT CAST("%s" AS TEXT) FROM "%s"`, p[1], p[0]))
		require.NoError(t, err)
		for values.Next() {
			var v sql.NullString
			require.NoError(t, values.Scan(&v))
			lines = append(lines, p[0]+"."+p[1]+": "+v.String)
		}
		require.NoError(t, values.Err())
	}
	keys, err := r.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		lines = append(lines, "key "+key, "value "+key+": "+dumped(t, r, key))
	}
	return lines
}

func dumped(t *testing.T, r *redis.Client, key string) string {
	t.Helper()
	kind, err := r.Type(t.Context(), key).Result()
	require.NoError(t, err)
	var value any
	switch kind {
	case "string":
		value, _ = r.Get(t.Context(), key).Result()
	case "hash":
		value, err = r.HGetAll(t.Context(), key).Result()
	case "zset":
		value, err = r.ZRangeWithScores(t.Context(), key, 0, -1).Result()
	case "set":
		value, err = r.SMembers(t.Context(), key).Result()
	case "list":
		value, err = r.LRange(t.Context(), key, 0, -1).Result()
	case "stream":
		value, err = r.XRange(t.Context(), key, "-", "+").Result()
	case "none": // it has just ended
	default:
		t.Fatalf("%s is a %s", key, kind)
	}
	require.NoError(t, err)
	return fmt.Sprint(value)
}

// naming returns the lines that contain a seller's name, also within a longer name.
func naming(lines []string, seller string) (found []string) {
	for _, line := range lines {
		if strings.Contains(line, seller) || strings.Contains(line, norm.NFD.String(seller)) {
			found = append(found, line)
		}
	}
	return found
}

var columnsOf = map[string]string{
	"sqlite":   `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
	"postgres": `SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'`,
}

// lived lets two sellers do everything that is stored, and support write about one of them.
func lived(t *testing.T, r *replica) {
	t.Helper()
	a, b := newSeller(t, r.URL(), norm.NFD.String(erased)), newSeller(t, r.URL(), alike)
	first := a.join()
	require.Equal(t, "locked", first.text("status"), first.body)
	by := room.Action{Who: "kim", Reason: "the seller " + norm.NFD.String(erased) + "님이 called, not " + alike}
	_, err := r.engine.Extend(t.Context(), "integration", "", first.number("fence"), 30*time.Second, by)
	require.NoError(t, err)
	require.Equal(t, "matched", carrier(t, r.URL(), "m-1", "인증번호는 [482913] 입니다 "+erased+".",
		moment(t, first.text("granted_at"))).text("result"))
	require.Equal(t, "locked", b.join().text("status"))
	require.Equal(t, "waiting", a.join().text("status"))
	require.Equal(t, "subscribed", a.subscribe(pushtest.NewBrowser(t, "https://push.example/1")).text("status"))
	require.Equal(t, "left", a.leave("").text("status"))
	require.Equal(t, "released", b.leave("?reason=completed").text("status"))
	require.Equal(t, "locked", a.joinRoom("stock:1", "").text("status"))
	require.Equal(t, 200, a.ask("DELETE", "/api/stock:1/lock", "").StatusCode)
	require.NoError(t, r.engine.Incident(t.Context(), "integration", "carrier_clock", "m-9", erased+" said so"))
}

func TestErasedSellerIsFoundNowhereAndNoOtherSellerIsTouched(t *testing.T) {
	for name, url := range map[string]func() string{
		"sqlite":   func() string { return "sqlite:" + filepath.Join(t.TempDir(), "waitroom.db") },
		"postgres": func() string { return pgtest.Start(t).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			store := redistest.Lent(t)
			cfg := config(t, "--redis-url", store.URL(), "--rooms", "integration,stock:*", "--database-url", url(),
				"--sms-webhook-secret", smsSecret,
				"--webhook-url", "http://127.0.0.1:9/nobody", "--webhook-secret", smsSecret)
			r := start(t, cfg)
			lived(t, r)
			journalsEmpty(t, store.Client(), "integration", "stock:1")
			require.NotEmpty(t, naming(everything(t, store.Client(), r.db.SQL(), columnsOf[name]), erased))
			others := len(naming(lasting(everything(t, store.Client(), r.db.SQL(), columnsOf[name])), alike))
			holder := newSeller(t, r.URL(), erased)
			require.Equal(t, "locked", holder.join().text("status"))

			var out bytes.Buffer
			err := Erase(t.Context(), cfg, EraseRequest{Seller: erased}, &out)
			require.ErrorIs(t, err, errHasPlace)
			require.ErrorContains(t, err, "holds the lock of integration (ticket 4)")
			require.NotContains(t, err.Error(), erased)
			require.Equal(t, "locked", holder.status().me().text("status"), "nothing was done")
			require.NoError(t, Erase(t.Context(), cfg, EraseRequest{Seller: norm.NFD.String(erased), EndPlaces: true,
				Reason: "letter of " + norm.NFD.String(erased)}, &out))
			require.Equal(t, "forced", holder.status().me().text("outcome"))
			require.Contains(t, out.String(), "redis   integration: 2 places, ")
			require.Contains(t, out.String(), "ledger  leases: 3 rows")
			require.NotContains(t, out.String(), "erased-", "the new name is not shown")

			left := everything(t, store.Client(), r.db.SQL(), columnsOf[name])
			for _, line := range left {
				require.Empty(t, naming([]string{strings.ReplaceAll(line, alike, "")}, erased))
			}
			require.Len(t, naming(lasting(left), alike), others, "the other one is where it was")
			require.Len(t, names(t, r.db.SQL()), 2, "one name for all that one seller did")

			var who, reason, pseudonym string
			require.NoError(t, r.db.SQL().QueryRow(`SELECT who, reason, seller FROM actions WHERE room = 'support'
				AND action = 'erased'`).Scan(&who, &reason, &pseudonym), "the audit has it")
			require.Contains(t, who, "waitroom erase")
			require.Equal(t, "letter of "+pseudonym, reason)
			require.NoError(t, VerifyAudit(t.Context(), cfg, "", &out), "no rewritten row counts as edited")
			require.NotContains(t, out.String(), "of 0 the texts")

			out.Reset()
			require.NoError(t, Erase(t.Context(), cfg, EraseRequest{Seller: erased}, &out), "again")
			require.NotContains(t, out.String(), "places,")
			require.Contains(t, out.String(), "ledger  leases: 0 rows")
		})
	}
}

// journalsEmpty waits until the ledger has recorded all entries of the rooms' journals, and Redis holds none.
func journalsEmpty(t *testing.T, r *redis.Client, rooms ...room.ID) {
	t.Helper()
	testproc.Until(t, patience, func() error {
		for _, id := range rooms {
			if n, err := r.XLen(t.Context(), room.Names{}.Journal(id)).Result(); err != nil || n > 0 {
				return fmt.Errorf("the journal of %s holds %d entries: %w", id, n, err)
			}
		}
		return nil
	})
}

// lasting drops the party whose code is open: the next lease changes it.
func lasting(lines []string) []string {
	kept := make([]string, len(lines))
	for i, line := range lines {
		kept[i] = regexp.MustCompile(`"open_party":"[^"]*"`).ReplaceAllString(line, "")
	}
	return kept
}

// names returns the names of sellers in the ledger.
func names(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	rows, err := db.Query(`SELECT seller FROM places UNION SELECT seller FROM leases UNION SELECT seller FROM timeline WHERE seller <> ''`)
	require.NoError(t, err)
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		list = append(list, name)
	}
	require.NoError(t, rows.Err())
	return list
}

func TestErasureThatCanNotReachAPartSaysWhichPartWasDone(t *testing.T) {
	t.Parallel() // it waits
	store := redistest.Start(t)
	database, away, back := cutOffDatabase(t)
	cfg := config(t, "--redis-url", store.URL(), "--database-url", database)
	r := start(t, cfg)
	a := newSeller(t, r.URL(), erased)
	require.Equal(t, "locked", a.join().text("status"))
	require.Equal(t, "released", a.leave("").text("status"))
	journalsEmpty(t, store.Client(), "integration")
	require.NoError(t, r.stop(t))
	away()
	var out bytes.Buffer
	err := Erase(t.Context(), cfg, EraseRequest{Seller: erased}, &out)
	require.ErrorContains(t, err, "ledger: not",
		"not erased, or not all of it: whether a journal had to be taken in first")
	require.ErrorContains(t, err, "Redis is done")
	require.Contains(t, out.String(), "redis   integration: 1 places, 1 ended leases")
	back()
	require.NoError(t, Erase(t.Context(), cfg, EraseRequest{Seller: erased}, &out))
	require.Contains(t, out.String(), "ledger  leases: 1 rows")

	store.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorContains(t, Erase(ctx, cfg, EraseRequest{Seller: erased}, &out), "nothing was erased")
}

func TestErasureRefusesWhatItCanNotDo(t *testing.T) {
	for why, do := range map[string]func() error{
		"seller id is not valid": func() error {
			return Erase(t.Context(), config(t), EraseRequest{Seller: "no such thing"}, nil)
		},
		"there is no ledger": func() error {
			return Erase(t.Context(), config(t, "--database-url", "sqlite:"+filepath.Join(t.TempDir(), "none.db")),
				EraseRequest{Seller: "s-1"}, nil)
		},
		"embedded store serves": func() error {
			cfg := config(t)
			s, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			cfg.Addr = run(t, s).Addr()
			return Erase(t.Context(), cfg, EraseRequest{Seller: "s-1"}, nil)
		},
	} {
		require.ErrorContains(t, do(), why)
	}
}

//go:build long

package server

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/portaltest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

// Each secret of "Replace a secret" in docs/runbook.md, while sellers take turns through two replicas. No request
// is refused, each code is shown, each webhook and way back is signed as its receiver expects, and a seller
// who waits all the while keeps its place.
func TestEverySecretIsReplacedUnderLoadWithoutAFailedTurn(t *testing.T) {
	f, steps := openFleet(t)
	const lock = "/api/quiet/lock"
	holder, waiter := f.visitor("holder"), f.visitor("waiter")
	for _, s := range []*seller{holder, waiter} {
		token := portaltest.Sign(t, jwt.SigningMethodHS256, []byte(f.portal.takes()[0]), "", portaltest.For(s.id))
		require.Equal(t, http.StatusOK, s.ask("GET", "/rooms/quiet?token="+token, "").StatusCode)
	}
	require.Equal(t, http.StatusOK, holder.ask("POST", lock, "{}", asJSON, jsonType).StatusCode)
	ticket := waiter.ask("POST", lock, "{}", asJSON, jsonType).number("ticket")
	f.everybody()
	for _, step := range steps {
		before := f.turns.Load()
		step.replace()
		f.everybody()
		t.Logf("%s: %d turns meanwhile", step.name, f.turns.Load()-before)
		require.Equal(t, ticket, waiter.ask("GET", lock+"/status?here=true", "").me().number("ticket"), step.name)
	}
	f.stop()
	f.done.Wait()
	require.Empty(t, f.failed)
	require.Equal(t, http.StatusOK, holder.ask("DELETE", lock, "").StatusCode)
	turn := waiter.ask("GET", lock+"/status", "").me()
	require.Equal(t, "locked", turn.text("status"), turn.json)
	require.Equal(t, ticket, turn.number("ticket"))

	testproc.Until(t, patience, func() error {
		var completed, agreed int64
		err := f.replicas[0].db.SQL().QueryRow(`SELECT (SELECT count(*) FROM leases WHERE outcome = 'completed'),
			(SELECT count(*) FROM messages WHERE verdict = 'agreed')`).Scan(&completed, &agreed)
		if err == nil && (completed != f.turns.Load() || agreed != completed) {
			err = fmt.Errorf("the ledger has %d turns and %d codes of %d", completed, agreed, f.turns.Load())
		}
		return err
	})
	require.Positive(t, f.hooks.Load())
}

// replacement is how one secret is replaced.
type replacement struct {
	name    string
	replace func()
}

// anySecret returns a new secret of the form that webhooks have; others may be any text.
func anySecret() string {
	return "whsec_" + base64.StdEncoding.EncodeToString([]byte(rand.Text()+rand.Text()))
}

// phonesOf returns the setting of a phone that may use each of the secrets.
func phonesOf(secrets ...string) string {
	return "phone=smsforwarder:" + strings.Join(secrets, ",phone=smsforwarder:")
}

// openFleet starts two replicas with every secret, and their users. It returns how each secret is replaced.
func openFleet(t *testing.T) (*fleet, []replacement) {
	t.Helper()
	f := &fleet{t: t, to: &http.Transport{MaxIdleConnsPerHost: 100}, failed: make(chan error, 1)}
	t.Cleanup(f.to.CloseIdleConnections)
	for _, p := range []*partner{&f.carrier, &f.own, &f.phone, &f.hook, &f.hookUser, &f.portal, &f.back} {
		p.uses(anySecret())
	}
	token, entry := makeToken(t, "zendesk", "watch")
	f.program.uses(token)
	hooks, hash := strings.Replace(f.receives().URL, "://", "://waitroom:%s@", 1), func(password string) string {
		return string(must(bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)))
	}
	lee := ",lee:" + hash("lee's password")
	room := "{return_url: https://portal.example/done"
	rooms := func(own string) string {
		return "integration: " + room + "}\nown: " + room + ", sms_secret: \"" + own + "\"}\n"
	}
	f.rooms = roomsFile(t, rooms(f.own.takes()[0]))
	f.args = map[string]string{"addr": "127.0.0.1:0", "rooms": "integration,own,quiet", "rooms-file": f.rooms,
		"places-per-ip": "0", "away-after": "1m", "sms-webhook-secret": f.carrier.takes()[0],
		"sms-sources": phonesOf(f.phone.takes()[0]),
		"webhook-url": fmt.Sprintf(hooks, f.hookUser.takes()[0]), "webhook-secret": f.hook.takes()[0],
		"seller-auth": "jwt", "seller-jwt-secret": f.portal.takes()[0], "return-secret": f.back.takes()[0],
		"support-users": "kim:" + hash("kim's password") + lee, "support-tokens": entry}
	redisPassword, databaseRole := f.redisPassword(), f.databaseRole()
	for i := range f.replicas {
		f.replicas[i] = &berth{reread: make(chan os.Signal)}
		f.serve(f.replicas[i])
	}

	kim := f.visitor("kim")
	signIn := func(s *seller, password string) int {
		return s.submit("/support/sign-in", "username", s.id, "password", password, "next", "/support/integration").
			StatusCode
	}
	require.Equal(t, http.StatusOK, signIn(kim, "kim's password"))
	const sealing, sources = "sms-webhook-secret", "sms-sources"
	steps := []replacement{
		{"Redis", redisPassword},
		{"PostgreSQL", databaseRole},
		{"a room's sms_secret", func() {
			old, next := f.own.takes()[0], anySecret()
			f.reads(rooms(next + "," + old))
			f.own.uses(next)
			f.everybody()
			f.reads(rooms(next))
		}},
		{"portal", func() {
			old, next := f.portal.takes()[0], anySecret()
			back := anySecret()
			f.back.uses(back, f.back.takes()[0])
			f.roll("seller-jwt-secret", old+","+next, "return-secret", back)
			f.portal.uses(next)
			f.back.uses(back)
			f.everybody()
			f.roll("seller-jwt-secret", next)
		}},
		{"webhooks", func() {
			old, next := f.hook.takes()[0], anySecret()
			user := rand.Text()
			f.hookUser.uses(user, f.hookUser.takes()[0])
			f.roll("webhook-secret", next+","+old, "webhook-url", fmt.Sprintf(hooks, user))
			f.hook.uses(next)
			f.hookUser.uses(user)
			f.everybody()
			f.roll("webhook-secret", next)
		}},
		{"support", func() {
			token, next := makeToken(t, "zendesk", "watch")
			f.roll("support-tokens", entry+","+next, "support-users", "kim:"+hash("another password")+lee)
			requireProblem(t, kim.ask("GET", "/api/support/integration/history", ""), 401, "not_signed_in")
			require.Equal(t, http.StatusOK, signIn(kim, "another password"))
			f.program.uses(token)
			f.everybody()
			f.roll("support-tokens", next)
		}},
		// the last, since what the old one sealed is in Redis for ten minutes more
		{"SMS", func() {
			old, next := f.carrier.takes()[0], anySecret()
			phone := anySecret()
			f.roll(sealing, old+","+next, sources, phonesOf(f.phone.takes()[0], phone))
			f.phone.uses(phone)
			f.everybody()
			f.roll(sealing, next+","+old, sources, phonesOf(phone))
			f.carrier.uses(next)
			f.everybody()
			f.roll(sealing, next)
		}},
	}

	var ctx context.Context
	ctx, f.stop = context.WithCancel(t.Context())
	t.Cleanup(func() { f.stop(); f.done.Wait() })
	agent := f.visitor("lee")
	require.Equal(t, http.StatusOK, signIn(agent, "lee's password"))
	f.use(ctx, f.watches(agent, func() string { return "" }))
	f.use(ctx, f.watches(f.visitor("zendesk"), func() string { return f.program.takes()[0] }))
	f.use(ctx, f.takesTurns("integration", 1, f.signed(&f.carrier)))
	f.use(ctx, f.takesTurns("integration", 2, f.forwarded))
	f.use(ctx, f.takesTurns("own", 3, f.signed(&f.own)))
	return f, steps
}

// redisPassword starts a Redis with a password, and returns how this is replaced: by two that count meanwhile.
func (f *fleet) redisPassword() func() {
	store := redistest.Start(f.t)
	file := filepath.Join(f.t.TempDir(), "redis_url")
	write := func(password string) {
		require.NoError(f.t, os.WriteFile(file, []byte("redis://:"+password+"@"+store.Addr()+"\n"), 0o600))
	}
	c := store.Client().Conn() // it stays signed in
	f.t.Cleanup(func() { require.NoError(f.t, c.Close()) })
	require.NoError(f.t, c.ConfigSet(f.t.Context(), "requirepass", "first").Err())
	write("first")
	f.args["redis-url-file"] = file
	return func() {
		require.NoError(f.t, c.Do(f.t.Context(), "ACL", "SETUSER", "default", ">second").Err())
		write("second")
		for _, kind := range []string{"normal", "pubsub"} { // as when a network breaks
			require.NoError(f.t, c.Do(f.t.Context(), "CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes").Err())
		}
		f.everybody()
		require.NoError(f.t, c.ConfigSet(f.t.Context(), "requirepass", "second").Err())
		require.ErrorContains(f.t, c.Auth(f.t.Context(), "first").Err(), "WRONGPASS")
	}
}

// databaseRole makes a database with a role, and returns how its login is replaced: by a second role.
func (f *fleet) databaseRole() func() {
	at := must(url.Parse(pgtest.Start(f.t).URL()))
	name := strings.Trim(at.Path, "/")
	db, err := pgx.Connect(f.t.Context(), at.String()) // as the superuser
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, db.Close(context.Background())) })
	ask := func(statements ...string) {
		for _, statement := range statements {
			_, err := db.Exec(f.t.Context(), statement)
			require.NoError(f.t, err)
		}
	}
	ask("CREATE ROLE "+name+" LOGIN PASSWORD 'first'", "ALTER DATABASE "+name+" OWNER TO "+name)
	file := filepath.Join(f.t.TempDir(), "database_url")
	write := func(role, password string) {
		mine := *at
		mine.User = url.UserPassword(role, password)
		require.NoError(f.t, os.WriteFile(file, []byte(mine.String()), 0o600))
	}
	write(name, "first")
	f.args["database-url-file"] = file
	return func() {
		next := name + "_2"
		ask("CREATE ROLE "+next+" LOGIN PASSWORD 'second' IN ROLE "+name,
			"ALTER ROLE "+next+" SET role = "+name)
		write(next, "second")
		testproc.Until(f.t, patience, func() error {
			for _, b := range f.replicas {
				b.db.SQL().SetMaxIdleConns(0) // closes those that are idle, as their age does within minutes
				b.db.SQL().SetMaxIdleConns(4)
			}
			var old int
			require.NoError(f.t, db.QueryRow(f.t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1",
				name).Scan(&old))
			if old > 0 {
				return fmt.Errorf("%d sessions are the old role's", old)
			}
			return nil
		})
		ask("ALTER ROLE " + name + " NOLOGIN")
	}
}

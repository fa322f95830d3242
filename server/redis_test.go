package server

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
)

func TestServesOnEveryKindOfStore(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	servesOn(t, map[string]func(*testing.T) string{
		"embedded": func(*testing.T) string { return "embedded" },
		"redis":    func(t *testing.T) string { return redistest.Lent(t).URL() + "/3" },
		"unix": func(t *testing.T) string {
			redistest.StartWith(t, redistest.Config{Args: []string{"--unixsocket", socket}})
			return "unix://" + socket
		},
	})
}

// servesOn has sellers take turns on stores at these addresses.
func servesOn(t *testing.T, stores map[string]func(*testing.T) string) {
	for name, url := range stores {
		t.Run(name, func(t *testing.T) {
			r := start(t, config(t, "--redis-url", url(t)))
			a, b := newSeller(t, r.URL(), "a"), newSeller(t, r.URL(), "b")
			require.Equal(t, http.StatusOK, a.join().StatusCode)
			require.Equal(t, http.StatusAccepted, b.join().StatusCode)
			conn := open(t, r.URL(), "X-Session-ID", b.session)
			require.Equal(t, "waiting", next(t, conn)["status"])
			require.Equal(t, http.StatusOK, a.leave("").StatusCode)
			until(t, conn, "locked")
			readiness(t, a, http.StatusOK)
		})
	}
}

func TestRedisURLSaysWhereAndNeverHow(t *testing.T) {
	for text, where := range map[string]string{
		"embedded":                                           "embedded: in this process, nothing is kept when it ends",
		"redis://localhost":                                  "Redis at localhost:6379, db 0",
		"redis://me:hush@10.0.0.1:7000/4":                    "Redis at 10.0.0.1:7000, db 4",
		"rediss://:hush@cache.example":                       "Redis at cache.example:6379, db 0",
		"unix:///run/redis.sock":                             "Redis at /run/redis.sock, db 0",
		"redis+sentinel://me:hush@a:1,b:2/main?db=7":         "Redis master main by the sentinels a:1, b:2",
		"redis+sentinel://a:1/main?sentinel_password=hush":   "Redis master main by the sentinels a:1",
		"redis+cluster://:hu@sh@a:1,[::1]:2":                 "Redis Cluster at a:1, [::1]:2",
		"rediss+cluster://me:hush@clustercfg.example:6379":   "Redis Cluster at clustercfg.example:6379",
		"redis+sentinel://:p%40hush@sentinel-0:26379/master": "Redis master master by the sentinels sentinel-0:26379",
	} {
		u, err := ParseRedis(text)
		require.NoError(t, err, text)
		require.Equal(t, where, u.String())
		require.Equal(t, where, fmt.Sprintf("%v", u))
		require.NotContains(t, fmt.Sprintf("%+v %#v", u, u), "hush")
	}
	u, err := ParseRedis("redis+sentinel://me:p%40ss@a:1,b:2/main?db=7&sentinel_password=other")
	require.NoError(t, err)
	require.Equal(t, "p@ss", u.many.Password)
	require.Equal(t, "me", u.many.Username)
	require.Equal(t, "other", u.many.SentinelPassword)
	require.Equal(t, 7, u.many.DB)
}

func TestBadRedisURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, text := range []string{
		"", "hush", "localhost:6379", "http://hush", "redis://h:hush/0", "redis://h/hush", "redis://h?hush=1",
		"redis://:hu/sh@host:6379/hush", "redis+sentinel://a:1", "redis+sentinel://a:1/", "redis+sentinel://a/main", "redis+sentinel://:hush@/main",
		"redis+sentinel://a:1/main?db=hush", "redis+sentinel://a:1/main?hush=1", "redis+cluster://", "redis+cluster://a:1,,b:2",
		"redis+cluster://a:1/3", "redis+cluster://a:1?db=1", "redis+cluster://u:%zzhush@a:1",
	} {
		_, err := ParseRedis(text)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hush", text)
	}
}

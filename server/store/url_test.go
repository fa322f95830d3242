package store

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

func TestRedisURLSaysWhereAndNeverHow(t *testing.T) {
	for text, where := range map[string]string{
		"embedded": "embedded: in this process, places are lost " +
			"when it ends",
		"redis://localhost":                                "Redis at localhost:6379, db 0",
		"redis://me:hush@10.0.0.1:7000/4":                  "Redis at 10.0.0.1:7000, db 4",
		"rediss://:hush@cache.example":                     "Redis at cache.example:6379, db 0",
		"unix:///run/redis.sock":                           "Redis at /run/redis.sock, db 0",
		"redis+sentinel://me:hush@a:1,b:2/main?db=7":       "Redis master main by the sentinels a:1, b:2",
		"redis+sentinel://a:1/main?sentinel_password=hush": "Redis master main by the sentinels a:1",
		"redis+cluster://:hu@sh@a:1,[::1]:2":               "Redis Cluster at a:1, [::1]:2",
		"rediss+cluster://me:hush@clustercfg.example:6379": "Redis Cluster at clustercfg.example:6379",
		"redis+sentinel://:p%40hush@sentinel-0:26379/master": "Redis master master by the sentinels " +
			"sentinel-0:26379",
	} {
		u, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, where, u.String())
		require.Equal(t, where, fmt.Sprintf("%v", u))
		require.NotContains(t, fmt.Sprintf("%+v %#v", u, u), "hush")
	}
	u, err := Parse("redis+sentinel://me:p%40ss@a:1,b:2/main?db=7&sentinel_password=other")
	require.NoError(t, err)
	require.Equal(t, "p@ss", u.many.Password)
	require.Equal(t, "me", u.many.Username)
	require.Equal(t, "other", u.many.SentinelPassword)
	require.Equal(t, 7, u.many.DB)
}

func TestBadRedisURLIsRefusedWithoutRepeatingIt(t *testing.T) {
	for _, text := range []string{
		"", "hush", "localhost:6379", "http://hush", "redis://h:hush/0", "redis://h/hush", "redis://h?hush=1",
		"redis://:hu/sh@host:6379/hush", "redis+sentinel://a:1", "redis+sentinel://a:1/",
		"redis+sentinel://a/main", "redis+sentinel://:hush@/main",
		"redis+sentinel://a:1/main?db=hush", "redis+sentinel://a:1/main?hush=1", "redis+cluster://",
		"redis+cluster://a:1,,b:2",
		"redis+cluster://a:1/3", "redis+cluster://a:1?db=1", "redis+cluster://u:%zzhush@a:1",
	} {
		_, err := Parse(text)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hush", text)
	}
	for _, password := range []string{"a/b", "a#b", "12/0"} {
		_, err := Parse("redis://:" + password + "@host:6379")
		require.ErrorContains(t, err, "percent-encoded (/ is %2F, @ is %40, # is %23)", password)
	}
}

// Callers check the client's type: only for a *redis.ClusterClient do they call and subscribe to each master.
func TestEnginesClientIsOfTheStoresKind(t *testing.T) {
	for text, want := range map[string]any{"redis://127.0.0.1:1/7": &redis.Client{},
		"redis+sentinel://127.0.0.1:1/m?db=7": &redis.Client{},
		"redis+cluster://127.0.0.1:1":         &redis.ClusterClient{}} {
		u, err := Parse(text)
		require.NoError(t, err)
		s, err := u.Open(slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.IsType(t, want, s.Client, text)
		if _, cluster := want.(*redis.ClusterClient); !cluster {
			require.Contains(t, room.NamesOf(s.Client, "").LockNotices("r"), "@7_", text)
		}
		s.Close()
	}
}

// An accepted Redis URL never prints its password, which is the text between the user's colon and the last @.
// The error of a refused one does not either. A store outside this process has at least one address.
func FuzzRedisURL(f *testing.F) {
	const mark = "zq7hush"
	for scheme, rest := range map[string]string{"redis://": "@10.0.0.1:7000/4",
		"rediss://": "@cache.example?db=4", "unix://": "@/run/redis.sock",
		"redis+sentinel://":  "@a:1,b:2/main?db=7",
		"rediss+sentinel://": "@h:1/main?sentinel_password=x&sentinel_username=y",
		"redis+cluster://":   "@a:1,[::1]:2", "": "@h:1"} {
		for _, password := range []string{"", "%40", "/", "12/", "12?", "12#", "12@", "12/0?db="} {
			f.Add(scheme, password, rest)
		}
	}
	f.Fuzz(func(t *testing.T, scheme, password, rest string) {
		if strings.ContainsAny(scheme, "@?#") ||
			strings.Contains(strings.Replace(scheme, "://", "", 1), "/") ||
			strings.Contains(rest+password, mark) {
			t.Skip("the password is not where one is")
		}
		u, err := Parse(scheme + "user:" + password + mark + rest)
		if err != nil {
			require.NotContains(t, err.Error(), mark)
			return
		}
		if !strings.Contains(rest, "@") {
			return // there is no password: what stands there is the host
		}
		require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", u, u, u, u), mark)
		if u.many != nil {
			require.NotEmpty(t, u.many.Addrs)
		}
		require.False(t, u.Embedded())
	})
}

package room

import (
	"context"
	"crypto/sha1" //nolint:gosec // as Redis names scripts: it tells versions apart, and keeps no secret
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua lua/verb/*.lua lua/index/*.lua
var luaFiles embed.FS

// modules are the files of the library behind library.lua. The verbs come behind them, and call.lua last.
var modules = []string{"text", "clock", "state", "lineage", "existence", "journal", "event", "places", "line", "leases", "asks", "presence", "messages",
	"matching", "support", "reply", "uncontended", "advance"}

// libraryText is the whole library. Each file is a block of its own; all are within one function, since Lua makes functions faster there.
var libraryText = sync.OnceValue(func() string {
	var text strings.Builder
	text.WriteString(luaSource("library") + "\ndo (function()\n")
	block := func(name string) { text.WriteString("do\n" + luaSource(name) + "end\n") }
	for _, name := range modules {
		block(name)
	}
	verbs, _ := fs.Glob(luaFiles, "lua/verb/*.lua")
	for _, path := range verbs {
		block(strings.TrimSuffix(strings.TrimPrefix(path, "lua/"), ".lua"))
	}
	block("call")
	text.WriteString("end)() end\n")
	return text.String()
})

// libraryName names the library by its content, so that several versions serve side by side.
var libraryName = sync.OnceValue(func() string {
	sum := sha1.Sum([]byte(libraryText())) //nolint:gosec // see the import
	return "waitroom_" + hex.EncodeToString(sum[:6])
})

// functionsText registers the library's two functions: one writes, the other answers also where Redis takes no writes.
func functionsText() string {
	name := libraryName()
	return "#!lua name=" + name + "\n" + libraryText() +
		"redis.register_function('" + name + "', call)\n" +
		"redis.register_function{function_name='" + name + "_ro', callback=call, flags={'no-writes'}}\n"
}

// libraryScript is the library as one script, for Redis without functions: it makes the library anew for each call.
var libraryScript = sync.OnceValue(func() *redis.Script { return redis.NewScript(libraryText() + "return call(KEYS, ARGV)\n") })

// library calls the Lua library, by Redis's functions or, where there are none, as a script.
type library struct {
	rdb     redis.UniversalClient
	scripts atomic.Pointer[string] // why there are no functions; nil = there are, as far as is known
}

func newLibrary(rdb redis.UniversalClient, scripts bool) *library {
	l := &library{rdb: rdb}
	if scripts {
		why := "the program is set to"
		l.scripts.Store(&why)
	}
	return l
}

// call calls the library. A function that Redis does not know, since it was started anew, promoted or flushed, is loaded within the call.
func (l *library) call(ctx context.Context, readOnly bool, keys []string, argv ...any) (any, error) {
	if l.scripts.Load() != nil {
		return libraryScript().Run(ctx, l.rdb, keys, argv...).Result()
	}
	res, err := l.function(ctx, readOnly, keys, argv)
	if err == nil || !strings.Contains(err.Error(), "Function not found") {
		if why := withoutFunctions(err); why != "" {
			l.scripts.Store(&why)
			return l.call(ctx, readOnly, keys, argv...)
		}
		return res, err
	}
	if err := l.load(ctx, keys[0]); err != nil {
		if why := withoutFunctions(err); why != "" {
			l.scripts.Store(&why)
			return l.call(ctx, readOnly, keys, argv...)
		}
		return nil, err
	}
	return l.function(ctx, readOnly, keys, argv)
}

func (l *library) function(ctx context.Context, readOnly bool, keys []string, argv []any) (any, error) {
	if readOnly {
		return l.rdb.FCallRO(ctx, libraryName()+"_ro", keys, argv...).Result()
	}
	return l.rdb.FCall(ctx, libraryName(), keys, argv...).Result()
}

// load loads the library where a key is.
func (l *library) load(ctx context.Context, key string) error {
	node := redis.Cmdable(l.rdb)
	if cluster, ok := l.rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, key)
		if err != nil {
			return fmt.Errorf("find the node of a room: %w", err)
		}
		node = master
	}
	err := node.FunctionLoad(ctx, functionsText()).Err()
	if err != nil && strings.Contains(err.Error(), "already exists") { // another process was faster
		return nil
	}
	return err
}

// withoutFunctions says why a server has no functions, by the error of a call; "" for any other error.
func withoutFunctions(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(lower, "err unknown command"):
		return "this server has no functions (Redis 7 has)"
	case strings.HasPrefix(text, "NOPERM") && strings.Contains(lower, "permissions to run"):
		return "the user may not call functions (FCALL, FCALL_RO, FUNCTION LOAD)"
	}
	return ""
}

// indexScript makes a script on the index, which shares nothing with a room's.
func indexScript(name string) *redis.Script { return redis.NewScript(luaSource("index/" + name)) }

func luaSource(name string) string {
	b, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // the file is compiled in; only a typing error gets here
	}
	return string(b)
}

package room

import (
	"context"
	"crypto/sha1" //nolint:gosec // as Redis names scripts: it tells versions apart, and keeps no secret
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua lua/verb/*.lua lua/index/*.lua
var luaFiles embed.FS

// modules are the files of the library behind library.lua. The verbs come behind them, and call.lua last.
var modules = []string{"text", "clock", "state", "lineage", "existence", "journal", "event", "places", "line", "leases", "asks", "presence", "messages",
	"matching", "support", "reply", "uncontended", "advance"}

// eager are the modules that are no tables of functions.
var eager = []string{"text", "advance"}

// libraryText is the whole library. Each file is a block of its own; all are within one function, since Lua makes functions faster there.
var libraryText = sync.OnceValue(func() string {
	var text strings.Builder
	text.WriteString(luaSource("library") + "\ndo (function()\n")
	for _, name := range append(slices.Clone(modules), verbFiles()...) {
		text.WriteString("do\n" + luaSource(name) + "end\n")
	}
	text.WriteString("do\n" + luaSource("call") + "end\nend)() end\n")
	return text.String()
})

// scriptText is the same library as a script, which Redis runs anew for each call: so a module's functions are made when one of them is used first, and
// the verb's alone.
func scriptText() string {
	var text strings.Builder
	text.WriteString(luaSource("library") + "\ndo (function()\n" + luaSource("lazily"))
	for _, name := range modules {
		if slices.Contains(eager, name) {
			text.WriteString("do\n" + luaSource(name) + "end\n")
		} else {
			text.WriteString("when_used(" + name + ", function()\n" + luaSource(name) + "end)\n")
		}
	}
	for _, name := range verbFiles() {
		text.WriteString("if ARGV[1] == '" + strings.TrimPrefix(name, "verb/") + "' then\n" + luaSource(name) + "end\n")
	}
	text.WriteString("do\n" + luaSource("call") + "end\nend)() end\nreturn call(KEYS, ARGV)\n")
	return text.String()
}

// verbFiles are the verbs, each in a file of its own.
func verbFiles() (names []string) {
	files, _ := fs.Glob(luaFiles, "lua/verb/*.lua")
	for _, path := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path, "lua/"), ".lua"))
	}
	return names
}

const libraryPrefix = "waitroom_"

// libraryName names the library by its content, so that several versions serve side by side.
var libraryName = sync.OnceValue(func() string {
	sum := sha1.Sum([]byte(libraryText())) //nolint:gosec // see the import
	return libraryPrefix + hex.EncodeToString(sum[:6])
})

// functionsText registers the library's two functions: one writes, the other answers also where Redis takes no writes.
func functionsText() string {
	name := libraryName()
	return "#!lua name=" + name + "\n" + libraryText() +
		"redis.register_function('" + name + "', call)\n" +
		"redis.register_function{function_name='" + name + "_ro', callback=call, flags={'no-writes'}}\n"
}

// libraryScript is the library for Redis without functions. It is one script: Lua's collector goes through all scripts that a server knows, and two dozen
// with most of their text in common cost a call a third of its time.
var libraryScript = sync.OnceValue(func() *redis.Script { return redis.NewScript(scriptText()) })

// library calls the Lua library, by Redis's functions or, where there are none, as a script.
type library struct {
	rdb     redis.UniversalClient
	named   string                 // a sorted set: which libraries processes use, and when each was named last (unix ms of that process); "" = none
	scripts atomic.Pointer[string] // why there are no functions; nil = there are, as far as is known
}

func newLibrary(rdb redis.UniversalClient, named string, scripts bool) *library {
	l := &library{rdb: rdb, named: named}
	if scripts {
		why := "the program is set to"
		l.scripts.Store(&why)
	}
	return l
}

// call calls the library. A function that Redis does not know, since it was started anew, promoted or flushed, is loaded within the call.
func (l *library) call(ctx context.Context, readOnly bool, keys []string, argv ...any) (any, error) {
	if l.scripts.Load() != nil {
		return l.script(ctx, keys, argv)
	}
	res, err := l.function(ctx, readOnly, keys, argv)
	if err != nil && strings.Contains(err.Error(), "Function not found") {
		if err = l.load(ctx, keys[0]); err == nil {
			return l.function(ctx, readOnly, keys, argv)
		}
		if NoWrites(err) { // a script can be loaded all the same
			return l.script(ctx, keys, argv)
		}
	}
	if why := withoutFunctions(err); why != "" {
		l.scripts.Store(&why)
		return l.script(ctx, keys, argv)
	}
	return res, err
}

// command is the command by which the library is called.
func (l *library) command() string {
	if l.scripts.Load() != nil {
		return "EVALSHA"
	}
	return "FCALL"
}

func (l *library) script(ctx context.Context, keys []string, argv []any) (any, error) {
	return libraryScript().Run(ctx, l.rdb, keys, argv...).Result()
}

func (l *library) function(ctx context.Context, readOnly bool, keys []string, argv []any) (any, error) {
	if readOnly {
		return l.rdb.FCallRO(ctx, libraryName()+"_ro", keys, argv...).Result()
	}
	return l.rdb.FCall(ctx, libraryName(), keys, argv...).Result()
}

// load loads the library where a key is, and deletes there what other versions left.
func (l *library) load(ctx context.Context, key string) error {
	node := redis.Cmdable(l.rdb)
	if cluster, ok := l.rdb.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, key)
		if err != nil {
			return fmt.Errorf("find the node of a room: %w", err)
		}
		node = master
	}
	l.name(ctx) // first: another process may be about to delete what is not named
	err := node.FunctionLoad(ctx, functionsText()).Err()
	if err != nil && !strings.Contains(err.Error(), "already exists") { // another process was faster
		return err
	}
	if l.named != "" {
		l.deleteOthers(ctx, node)
	}
	return nil
}

const (
	nameEvery = 10 * time.Minute // a process says so often which library it uses
	namedFor  = time.Hour        // a library that no process has named for so long is deleted; a process that names none loads it again within the call
)

// name says that this process uses its library. An error is of no consequence: a library that is deleted is loaded again.
func (l *library) name(ctx context.Context) {
	if l.named == "" {
		return
	}
	_ = l.rdb.ZAdd(ctx, l.named, redis.Z{Score: float64(time.Now().UnixMilli()), Member: libraryName()}).Err()
}

// keepNamed is name until ctx ends.
func (l *library) keepNamed(ctx context.Context) {
	tick := time.NewTicker(nameEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.name(ctx)
		}
	}
}

// deleteOthers deletes the libraries of other versions on a node that no process has named lately.
func (l *library) deleteOthers(ctx context.Context, node redis.Cmdable) {
	libraries, err := node.FunctionList(ctx, redis.FunctionListQuery{LibraryNamePattern: libraryPrefix + "*"}).Result()
	if err != nil || len(libraries) < 2 {
		return
	}
	since := strconv.FormatInt(time.Now().Add(-namedFor).UnixMilli(), 10)
	used, err := l.rdb.ZRangeByScore(ctx, l.named, &redis.ZRangeBy{Min: since, Max: "+inf"}).Result()
	if err != nil {
		return
	}
	for _, library := range libraries {
		if !slices.Contains(used, library.Name) {
			_ = node.FunctionDelete(ctx, library.Name).Err()
		}
	}
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

// TryFunctions says why an engine on this client calls its library as a script and not by Redis's functions; "" where it calls functions. It loads
// the library, as the first call of an engine would.
func TryFunctions(ctx context.Context, rdb redis.UniversalClient) (why string) {
	const key = "{waitroom}:library" // of whichever node
	l := newLibrary(rdb, "", false)
	if why = withoutFunctions(rdb.FCallRO(ctx, libraryName()+"_ro", []string{key}).Err()); why == "" {
		why = withoutFunctions(l.load(ctx, key))
	}
	return why
}

// WithoutFunctions says why the library is called as a script and not by Redis's functions; "" where it is called by functions, as far as is known: before
// the first call the engine has not tried.
func (e *Engine) WithoutFunctions() string {
	if why := e.library.scripts.Load(); why != nil {
		return *why
	}
	return ""
}

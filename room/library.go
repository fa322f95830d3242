package room

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/waitroom/waitroom/room/wire"
)

//go:embed lua/*.lua lua/verb/*.lua lua/index/*.lua
var luaFiles embed.FS

// others are the files of lua/ that are no modules: libraryText, scriptText and functionsText name each of
// them.
var others = []string{"library", "call", "functions", "lazily"}

// eager are the modules that scriptText cannot create at their first use, since they are not tables of
// functions. The other such module, text, is in first.
var eager = []string{"advance"}

// first are the modules that a thin lock needs. A script answers for it before it makes anything else.
var first = []string{"text", "thin"}

// modules returns the files of lua/ that are modules: all but others.
func modules() []string {
	return slices.DeleteFunc(luaNames("*.lua"),
		func(name string) bool { return slices.Contains(others, name) })
}

// verbFiles returns the files of the verbs.
func verbFiles() []string { return luaNames("verb/*.lua") }

// luaNames returns the files of lua/ that match a pattern, without their extension.
func luaNames(pattern string) (names []string) {
	files, err := fs.Glob(luaFiles, "lua/"+pattern)
	if err != nil {
		panic(err) // only for a malformed pattern
	}
	for _, path := range files {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path, "lua/"), ".lua"))
	}
	return names
}

// libraryText is the whole library. Each file is a block of its own. All blocks are within one function,
// since Lua creates their functions faster there.
var libraryText = sync.OnceValue(func() string {
	var text strings.Builder
	text.WriteString(luaLimits() + luaSource("library") + "\ndo (function()\n")
	text.WriteString("local wire = {}\ndo\n" + wire.Lua() + "end\n" + callerConstructor())
	for _, name := range slices.Concat(modules(), verbFiles(), []string{"call"}) {
		text.WriteString("do\n" + luaSource(name) + "end\n")
		if name, ok := strings.CutPrefix(name, "verb/"); ok {
			text.WriteString(argumentsConstructor(name))
		}
	}
	text.WriteString("end)() end\n")
	return text.String()
})

// scriptText returns the library as a script. Redis runs the whole script for each call, so the script
// creates the functions of a module when one is used, and of the verbs only the called one's.
func scriptText() string {
	var text strings.Builder
	text.WriteString(luaLimits() + luaSource("library") + "take_globals()\n")
	for _, name := range first {
		text.WriteString("do\n" + luaSource(name) + "end\n")
	}
	text.WriteString("local answer = thin.answer(KEYS[1], ARGV)\nif answer then return answer end\n" +
		"do (function()\n" + luaSource("lazily") + callerConstructor() +
		"local wire = {}\nwhen_used(wire, function()\n" + wire.Lua() + "end)\n")
	for _, name := range modules() {
		if slices.Contains(eager, name) {
			text.WriteString("do\n" + luaSource(name) + "end\n")
		} else if !slices.Contains(first, name) {
			text.WriteString("when_used(" + name + ", function()\n" + luaSource(name) + "end)\n")
		}
	}
	text.WriteString("local called = thin.room_verb[ARGV[1]] or ARGV[1]\n")
	for _, file := range verbFiles() {
		name := strings.TrimPrefix(file, "verb/")
		text.WriteString("if called == '" + name + "' then\n" + luaSource(file) + argumentsConstructor(name) +
			"end\n")
	}
	text.WriteString("do\n" + luaSource("call") + "end\nend)() end\nreturn call(KEYS, ARGV)\n")
	return text.String()
}

// argumentsConstructor returns the Lua function that makes the table of a verb's arguments from ARGV.
func argumentsConstructor(verb string) string {
	return constructor(verb, argumentsOf[verb].lua(argumentsAt))
}

// callerConstructor returns the Lua function that makes the table of the caller from ARGV.
func callerConstructor() string { return constructor("caller", callerFields.lua(callerAt)) }

func constructor(name, table string) string {
	return "function from_argv." + name + "(v)\n  return " + table + "\nend\n"
}

const libraryPrefix = "waitroom_"

// libraryName returns a name made from the library's content, so that several versions serve side by side.
var libraryName = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(libraryText() + luaSource("functions")))
	return libraryPrefix + hex.EncodeToString(sum[:6])
})

// functionsText returns the library with its functions.
func functionsText() string {
	name := libraryName()
	return "#!lua name=" + name + "\nlocal NAME = '" + name + "'\n" + libraryText() + luaSource("functions")
}

// libraryScript is the library for a Redis without functions. It is a single script: Lua's garbage collector
// visits all scripts of a server, and a script for each verb made calls a third slower.
var libraryScript = sync.OnceValue(func() *redis.Script { return redis.NewScript(scriptText()) })

// library calls the Lua library by Redis's functions, or as a script if there are none.
type library struct {
	rdb     redis.UniversalClient
	scripts atomic.Pointer[string] // why there are no functions; nil while functions work
}

func newLibrary(rdb redis.UniversalClient, scripts bool) *library {
	l := &library{rdb: rdb}
	if scripts {
		why := "the program is set to"
		l.scripts.Store(&why)
	}
	return l
}

// A call retries to load the library while the nodes of a cluster disagree about which has the room.
const (
	loadsMost = 5
	loadAgain = 50 * time.Millisecond
)

// call calls the library. If Redis does not know the function, since it was restarted, promoted or flushed,
// call loads the library first.
func (l *library) call(ctx context.Context, readOnly bool, keys []string, argv ...any) (any, error) {
	if l.scripts.Load() != nil {
		return l.script(ctx, keys, argv)
	}
	res, err := l.function(ctx, readOnly, keys, argv)
	for n := 0; n < loadsMost && notLoaded(err); n++ {
		if n > 0 {
			if err := pause(ctx, loadAgain); err != nil {
				return nil, err
			}
		}
		if err = l.load(ctx, keys[0]); err == nil {
			res, err = l.function(ctx, readOnly, keys, argv)
		} else if NoWrites(err) { // Redis refuses to load functions then, but still loads scripts
			return l.script(ctx, keys, argv)
		}
	}
	if why := withoutFunctions(err); why != "" {
		l.scripts.Store(&why)
		return l.script(ctx, keys, argv)
	}
	return res, err
}

func notLoaded(err error) bool {
	return err != nil && strings.Contains(err.Error(), "Function not found")
}

// command returns the Redis command that calls the library.
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

// load loads the library into the node of a key, and deletes unused other versions there.
func (l *library) load(ctx context.Context, key string) error {
	node := redis.Cmdable(l.rdb)
	if cluster, ok := l.rdb.(*redis.ClusterClient); ok {
		// This makes the client read the cluster's slots again.
		_ = cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil })
		master, err := cluster.MasterForKey(ctx, key)
		if err != nil {
			return fmt.Errorf("find the node of a room: %w", err)
		}
		node = master
	}
	err := node.FunctionLoad(ctx, functionsText()).Err()
	if err != nil && !strings.Contains(err.Error(), "already exists") { // unless another process loaded it
		return err
	}
	deleteIdle(ctx, node)
	return nil
}

// unusedFor is the time without a call after which a library is deleted. A process that still calls it loads
// it again within the call.
const unusedFor = time.Hour

// deleteIdle deletes the libraries of other versions that are unused on a node. It ignores errors: a later
// load deletes the rest.
func deleteIdle(ctx context.Context, node redis.Cmdable) {
	libraries, _ := node.FunctionList(ctx, redis.FunctionListQuery{LibraryNamePattern: libraryPrefix +
		"*"}).Result()
	for _, library := range libraries {
		idle, err := node.FCallRO(ctx, library.Name+"_idle", nil).Int64()
		if err == nil && library.Name != libraryName() && idle > unusedFor.Milliseconds() {
			_ = node.FunctionDelete(ctx, library.Name).Err()
		}
	}
}

var (
	noSuchCommand = regexp.MustCompile("(?i)^ERR unknown command [`'\"]?(?:fcall|function)")
	noPermission  = regexp.MustCompile(`(?i)^NOPERM .* permissions to run the '(?:fcall|function)`)
)

// withoutFunctions returns why a server has no functions, from the error of a call. It is "" for any other
// error, also of a command within a function.
func withoutFunctions(err error) string {
	switch {
	case err == nil:
		return ""
	case noSuchCommand.MatchString(err.Error()):
		return "this server has no functions (Redis 7 has)"
	case noPermission.MatchString(err.Error()):
		return "the user may not call functions (FCALL, FCALL_RO, FUNCTION LOAD)"
	}
	return ""
}

// indexScript returns a script on the index. It shares no code with room/lua, the library of the verbs.
func indexScript(name string) *redis.Script {
	return redis.NewScript(luaLimits() + luaSource("index/"+name))
}

func luaSource(name string) string {
	b, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // only for a wrong name: the files are compiled in
	}
	return string(b)
}

// TryFunctions returns why an engine on this client calls the library as a script; "" if it calls functions.
// It loads the library, as the first call of an engine does.
func TryFunctions(ctx context.Context, rdb redis.UniversalClient) (why string) {
	const key = "{waitroom}:library" // any node will do
	l := newLibrary(rdb, false)
	if why = withoutFunctions(rdb.FCallRO(ctx, libraryName()+"_ro", []string{key}).Err()); why == "" {
		why = withoutFunctions(l.load(ctx, key))
	}
	return why
}

package room

import (
	"embed"
	"regexp"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// shared is what every verb's script begins with.
var shared = []string{"text", "prelude", "state", "lineage", "places", "lease", "tell"}

// alone has the parts of verbs that answer before all else is made ready, where nobody else is concerned.
var alone = map[string]string{"join": "join_alone", "leave": "leave_alone"}

// script makes a verb's script: what it is handed has its names first. early is its part that stands right behind the prelude; "" = none.
func script(args arguments, early string, files ...string) *redis.Script {
	var source strings.Builder
	source.WriteString(preamble())
	source.WriteString(args.lua(1 + shareArgs))
	for _, name := range shared {
		source.WriteString(part(luaSource(name)))
		if name == "prelude" && early != "" {
			source.WriteString(luaSource(early))
		}
	}
	own := len(files) - 1
	for _, name := range files[:own] {
		source.WriteString(part(luaSource(name)))
	}
	source.WriteString(luaSource(files[own]))
	return redis.NewScript(source.String())
}

// exports is a return at the end of a file.
var exports = regexp.MustCompile(`(?m)^return (\w+(?:, \w+)*)\n\z`)

// part is what scripts share. One that ends by returning names is a function of its own: only those names are seen behind it. A script may have 200 at a time;
// and to make a function costs the more the more names of the one around it are used by any: of those further out they are just handed on.
func part(source string) string {
	names := exports.FindStringSubmatch(source)
	if names == nil {
		return source + "\n"
	}
	return "local " + names[1] + " = (function()\n" + source + "end)()\n"
}

// indexScript makes a script on the index, which shares nothing with a room's.
func indexScript(verb string) *redis.Script { return redis.NewScript(luaSource(verb)) }

func luaSource(name string) string {
	b, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // the file is compiled in; only a typing error gets here
	}
	return string(b)
}

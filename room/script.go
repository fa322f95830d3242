package room

import (
	"embed"
	"regexp"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// bare is what every verb's script begins with, and shared what stands in one function behind it.
var (
	bare   = []string{"text", "prelude", "state", "lineage"}
	shared = []string{"places", "past_leases", "lease", "ending", "waiters", "times", "advance", "vanishing", "tell"}
)

// alone has the parts of verbs that answer before all else is made ready, where nobody else is concerned.
var alone = map[string]string{"join": "join_alone", "leave": "leave_alone"}

// theScript is all verbs in one script, which looks at VERB. Lua's collector goes through all scripts that a server knows, again and again while they run: two dozen that have
// most of their text in common cost a call a third of its time.
var theScript = sync.OnceValue(func() *redis.Script {
	var source strings.Builder
	source.WriteString(preamble())
	for _, name := range bare {
		source.WriteString(part(name))
		if name == "prelude" {
			for _, v := range scripts {
				if v.early != "" {
					source.WriteString(v.only(v.args.lua(1+shareArgs) + luaSource(v.early)))
				}
			}
		}
	}
	source.WriteString(together(shared))
	for _, v := range scripts {
		last := len(v.parts) - 1
		text := v.args.lua(1 + shareArgs)
		for _, name := range v.parts[:last] {
			text += part(name)
		}
		source.WriteString(v.only(text + luaSource(v.parts[last])))
	}
	return redis.NewScript(source.String())
})

// scripts are the verbs of theScript: each has its name.
var scripts []verbScript

type verbScript struct {
	verb  string
	args  arguments
	early string   // its part right behind the prelude; "" = none
	parts []string // the last is its own
}

// only is text that is for this verb alone.
func (v verbScript) only(text string) string {
	return "if VERB == '" + v.verb + "' then\n" + text + "end\n"
}

// exports is a return at the end of a file: of names, or of a table of functions.
var (
	exports   = regexp.MustCompile(`(?m)^return (\w+(?:, \w+)*)\n\z`)
	functions = regexp.MustCompile(`(?m)^return \{ (\w+) = \w+(?:, \w+ = \w+)* \}\n\z`)
)

// part is what scripts share. One that ends by returning names is a function of its own: only those names are seen behind it. A script may have 200 at a time.
func part(name string) string {
	source, names := open(name)
	if names == "" {
		return source + "\n"
	}
	return "local " + names + " = (function()\n" + source + "return " + names + "\nend)()\n"
}

// together is parts in one function, each of which sees the names of those before it. To make a function costs Lua a walk over the names of the one around it, for each of
// them that it uses; those further out are just handed on, but only 60 of them.
func together(parts []string) string {
	var source strings.Builder
	var all []string
	for _, name := range parts {
		text, names := open(name)
		source.WriteString(text)
		all = append(all, names)
	}
	names := strings.Join(all, ", ")
	return "local " + names + " = (function()\n" + source.String() + "return " + names + "\nend)()\n"
}

// open is a part's text without the return at its end, and the names that are seen behind it. One that ends by returning a table of functions is made when it is first
// needed, since most calls need it not: the function finish of ending.lua is ending().finish.
func open(name string) (source, names string) {
	source = luaSource(name)
	if functions.MatchString(source) {
		made := name + "_made"
		return "local " + made + "\nlocal function " + name + "()\n" + made + " = " + made + " or (function()\n" + source + "end)()\nreturn " + made + "\nend\n", name
	}
	if found := exports.FindStringSubmatchIndex(source); found != nil {
		return source[:found[0]], source[found[2]:found[3]]
	}
	return source, ""
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

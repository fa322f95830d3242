package room

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// bare is what every verb's script begins with, shared what stands in one function behind it, and several what is made for the verbs alone that name it.
var (
	bare    = []string{"text", "prelude", "state", "lineage"}
	shared  = []string{"places", "past_leases", "lease", "ending", "waiters", "times", "advance", "vanishing", "tell"}
	several = []string{"claims", "beginning", "wake", "back", "inbox", "here", "support", "asks", "could"}
)

// alone has the parts of verbs that answer before all else is made ready, where nobody else is concerned.
var alone = map[string]string{"join": "join_alone", "leave": "leave_alone"}

// goesOn has the files in which a verb's text goes on.
var goesOn = map[string][]string{"match": {"match_whose", "match_bind"}}

// theScript is all verbs in one script, which looks at VERB. Lua's collector goes through all scripts that a server knows, again and again while they run: two dozen that have
// most of their text in common cost a call a third of its time. For the same reason nothing is in it twice.
var theScript = sync.OnceValue(func() *redis.Script { return redis.NewScript(scriptText()) })

func scriptText() string {
	var text strings.Builder
	text.WriteString(preamble())
	for _, name := range bare {
		text.WriteString(part(name))
		if name == "prelude" {
			for _, v := range scripts {
				if v.early != "" {
					text.WriteString(v.only(v.args.lua(1+shareArgs) + luaSource(v.early)))
				}
			}
		}
	}
	text.WriteString(together(shared))
	for i := range len(several) + 1 {
		if i > 0 {
			text.WriteString(partFor(several[i-1]))
		}
		for _, v := range scripts {
			if v.behind() == i {
				text.WriteString(v.text())
			}
		}
	}
	return text.String()
}

// scripts are the verbs of theScript: each has its name.
var scripts []verbScript

type verbScript struct {
	verb  string
	still string // the verb's name where it only asks, and of a store that takes no writes; "" = it is not asked so
	file  string
	args  arguments
	early string   // its part right behind the prelude; "" = none
	parts []string // those of several that it uses
}

// text is the verb's own.
func (v verbScript) text() string {
	begins := ""
	if v.still != "" {
		begins = "if VERB == '" + v.verb + "' then\n" + luaSource("now") + "else\n" + luaSource("still") + "end\n"
	}
	return v.only(v.args.lua(1+shareArgs) + begins + v.source())
}

// source is what its files say.
func (v verbScript) source() string {
	text := luaSource(v.file)
	for _, file := range goesOn[v.file] {
		text += part(file)
	}
	return text
}

// only is text that is for this verb alone.
func (v verbScript) only(text string) string { return "if " + v.called() + " then\n" + text + "end\n" }

// called is true where it is this verb that is called.
func (v verbScript) called() string {
	if v.still != "" {
		return "VERB == '" + v.verb + "' or VERB == '" + v.still + "'"
	}
	return "VERB == '" + v.verb + "'"
}

// behind is how many of several a verb stands behind: it comes as soon as those that it names are there, so that who is called often and names few is asked for early.
func (v verbScript) behind() (n int) {
	for _, name := range v.parts {
		n = max(n, 1+slices.Index(several, name))
	}
	return n
}

// exports is a return at the end of a file: of names, or of a table of functions.
var (
	exports   = regexp.MustCompile(`(?m)^return (\w+(?:, \w+)*)\n\z`)
	functions = regexp.MustCompile(`(?m)^return \{ (\w+) = \w+(?:, \w+ = \w+)* \}\n\z`)
)

// part is what all verbs share. One that ends by returning names is a function of its own: only those names are seen behind it. A script may have 200 at a time.
func part(name string) string {
	source, names := open(name)
	if names == "" {
		return source + "\n"
	}
	return "local " + names + " = (function()\n" + source + "return " + names + "\nend)()\n"
}

// partFor is a part that is made where a verb is called that names it; else its names are nil.
func partFor(name string) string {
	source, names := open(name)
	var users []string
	for _, v := range scripts {
		if slices.Contains(v.parts, name) {
			users = append(users, v.called())
		}
	}
	return "local " + names + "\nif " + strings.Join(users, " or ") + " then\n" + names + " = (function()\n" + source + "return " + names + "\nend)()\nend\n"
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

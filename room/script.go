package room

import (
	"embed"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// shared is what every verb's script begins with.
var shared = []string{"prelude", "lineage", "lease", "tell"}

// script makes a verb's script: what all verbs share, the parts that it shares with some others, and its own file.
func script(verb string, parts ...string) *redis.Script {
	var source strings.Builder
	for _, name := range slices.Concat(shared, parts, []string{verb}) {
		source.WriteString(luaSource(name) + "\n")
	}
	return redis.NewScript(source.String())
}

// reading is a verb that asks only. It brings the room to now as every verb does, unless the store takes no writes.
type reading struct{ now, still *redis.Script }

func readScript(verb string, parts ...string) reading {
	return reading{now: script(verb, append(parts, "now")...), still: script(verb, append(parts, "still")...)}
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

package room

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// shared is what every verb's script begins with.
var shared = []string{"prelude", "lineage", "lease", "tell"}

// script makes a verb's script: what it is handed has its names first.
func script(args arguments, files ...string) *redis.Script {
	var source strings.Builder
	source.WriteString(preamble())
	for _, name := range shared {
		source.WriteString(luaSource(name) + "\n")
	}
	source.WriteString(args.lua(1 + shareArgs))
	for _, name := range files {
		source.WriteString(luaSource(name) + "\n")
	}
	return redis.NewScript(source.String())
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

package room

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// What a script is handed has a name, the same in Go and in Lua: the field MayWait of a verb's struct is MAY_WAIT in its script. At which position of ARGV it is
// is known to this file alone.

// arguments is how the fields of a struct are handed over, in order, from a position of ARGV on. A bool is one in Lua too; integers and durations (in whole
// milliseconds) are numbers; a list comes last and is a table; all else is text.
type arguments struct {
	names []string
	kinds []reflect.Type
}

func argumentsOf(t reflect.Type) arguments {
	var a arguments
	for i := range t.NumField() {
		a.names = append(a.names, luaName(t.Field(i).Name))
		a.kinds = append(a.kinds, t.Field(i).Type)
	}
	return a
}

// luaName writes MayWait as MAY_WAIT.
func luaName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// lua names them for a script, from a position of ARGV on.
func (a arguments) lua(first int) string {
	if len(a.names) == 0 {
		return ""
	}
	reads := make([]string, len(a.names))
	for i, kind := range a.kinds {
		reads[i] = luaRead(kind, first+i)
	}
	return "local " + strings.Join(a.names, ", ") + " = " + strings.Join(reads, ", ") + "\n"
}

func luaRead(kind reflect.Type, at int) string {
	switch kind.Kind() {
	case reflect.Bool:
		return fmt.Sprintf("ARGV[%d] == '1'", at)
	case reflect.Int, reflect.Int64:
		return fmt.Sprintf("ARGV[%d] + 0", at) // which reads the number once; tonumber does so twice
	case reflect.Slice:
		if kind.Elem().Kind() != reflect.Uint8 {
			return fmt.Sprintf("{ unpack(ARGV, %d) }", at)
		}
	}
	return fmt.Sprintf("ARGV[%d]", at)
}

// appendTo writes the fields of a struct.
func (a arguments) appendTo(argv []any, fields reflect.Value) []any {
	for i, kind := range a.kinds {
		switch v := fields.Field(i); {
		case kind == reflect.TypeFor[time.Duration]():
			argv = append(argv, time.Duration(v.Int()).Milliseconds())
		case kind.Kind() == reflect.Bool:
			argv = append(argv, flag(v.Bool()))
		case kind.Kind() == reflect.Int || kind.Kind() == reflect.Int64:
			argv = append(argv, v.Int())
		case kind.Kind() == reflect.String:
			argv = append(argv, v.String())
		case kind.Elem().Kind() == reflect.Uint8:
			argv = append(argv, v.Bytes())
		default:
			for j := range v.Len() {
				argv = append(argv, v.Index(j).Interface())
			}
		}
	}
	return argv
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// policy is what every script is told that stays the same; see Config.
type policy struct {
	Lease, AwayAfter, DropAfter time.Duration
	ClaimWithin                 time.Duration // 0 = no lease is to be claimed
	JournalMax                  int           // 0 = no journal
	EndedKept                   time.Duration // how long an ended place's outcome is told
	LeasesKept                  time.Duration // how far back a late message finds its lease; 0 = not at all
	Events                      string        // the end of the name of the channel that events are published on; "" = on none
	Quarantine                  time.Duration // of asks
	Required                    bool          // every lease is asking
	Doubt                       time.Duration // how long a room that may have gone back answers nobody
	Vanishes                    bool          // a room in which nobody is is not kept
}

// caller is what every script is told of whoever calls it.
type caller struct {
	Verb        string // the script's part that is called
	Room        string
	ToldEpoch   int64 // what the caller was told last of the room; 0 = nothing
	ToldVersion int64
	ToldLineage string
	Lays        bool   // it lays before the room what it was told (renew.lua)
	Outage      int64  // when the store was away for it last (unix ms); 0 = not lately
	Latest      int64  // what the store's clock says at the most, as far as it can tell (unix ms); 0 = it can not
	Stepped     int64  // when that clock was last stepped ahead, as far as it knows (unix ms); 0 = not lately
	Trace       string // what the call is part of, for the journal (see Entry.Trace); "" = nothing that is traced
}

var (
	callerArgs = argumentsOf(reflect.TypeFor[caller]())
	policyArgs = argumentsOf(reflect.TypeFor[policy]())
	shareArgs  = len(callerArgs.names) + len(policyArgs.names) // of every script
)

// preamble names what every script is told.
func preamble() string { return callerArgs.lua(1) + policyArgs.lua(1+len(callerArgs.names)) }

// verb is a part of the script that is handed the fields of an A.
type verb[A any] struct {
	name string // of its span
	verb string
	args arguments
}

// newVerb adds a verb to the script: its own file, and the parts that it shares with some others.
func newVerb[A any](name string, parts ...string) verb[A] {
	return addVerb[A](name, verbScript{verb: name, file: name, early: alone[name], parts: parts})
}

func addVerb[A any](name string, s verbScript) verb[A] {
	s.args = argumentsOf(reflect.TypeFor[A]())
	scripts = append(scripts, s)
	return verb[A]{name: "room." + name, verb: s.verb, args: s.args}
}

// call is a verb and what it is handed besides what all are.
type call struct {
	name string // of its span
	verb string
	args []any
}

// with makes a call.
func (v verb[A]) with(a A) call {
	fields := reflect.ValueOf(a)
	return call{v.name, v.verb, v.args.appendTo(make([]any, 0, len(v.args.names)), fields)}
}

// question is a verb that asks only. It brings the room to now as every verb does, unless the store takes no writes.
type question[A any] struct{ now, still verb[A] }

func newQuestion[A any](name string, parts ...string) question[A] {
	now := addVerb[A](name, verbScript{verb: name, still: name + "_still", file: name, parts: parts})
	still := now
	still.verb = name + "_still"
	return question[A]{now: now, still: still}
}

// with makes both of its calls: the second is for a store that takes no writes.
func (q question[A]) with(a A) [2]call { return [2]call{q.now.with(a), q.still.with(a)} }

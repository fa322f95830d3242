package room

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/waitroom/waitroom/room/wire"
)

// fields are the fields of a struct that Go hands over to the Lua library. In Lua, MayWait is may_wait, and a
// duration is whole milliseconds. A field of type []byte is JSON already.
type fields struct {
	names []string
	types []reflect.Type
}

func fieldsOf(t reflect.Type) fields {
	var f fields
	for i := range t.NumField() {
		f.names, f.types = append(f.names, wire.Name(t.Field(i).Name)), append(f.types, t.Field(i).Type)
	}
	return f
}

// lua returns a Lua constructor of a table with the fields, from the texts that have the positions from
// `first` on in the list v.
func (f fields) lua(first int) string {
	var b strings.Builder
	for i, name := range f.names {
		from := fmt.Sprintf("v[%d]", first+i)
		switch kind := f.types[i].Kind(); kind {
		case reflect.String:
		case reflect.Bool:
			from += " == '1'"
		case reflect.Int, reflect.Int64:
			from += " + 0"
		default:
			from = "cjson.decode(" + from + ")"
		}
		b.WriteString("['" + name + "'] = " + from + ", ")
	}
	return "{ " + b.String() + "}"
}

// texts returns the fields of a struct as the texts that the constructor of lua reads.
func (f fields) texts(to []any, of reflect.Value) []any {
	for i := range f.names {
		switch v := of.Field(i); v.Kind() {
		case reflect.String:
			to = append(to, v.String())
		case reflect.Bool:
			to = append(to, map[bool]string{true: "1", false: "0"}[v.Bool()])
		default:
			to = append(to, string(appendJSON(nil, v)))
		}
	}
	return to
}

// json encodes all fields of a struct.
func (f fields) json(of reflect.Value) string {
	return f.write(of, func(reflect.Value) bool { return true })
}

// known encodes the fields that are not zero; "" = all are.
func (f fields) known(of reflect.Value) string {
	return f.write(of, func(v reflect.Value) bool { return !v.IsZero() })
}

func (f fields) write(of reflect.Value, which func(reflect.Value) bool) string {
	b := make([]byte, 0, 32*(len(f.names)+1))
	for i, name := range f.names {
		if v := of.Field(i); which(v) {
			b = append(append(append(b, ",\""...), name...), "\":"...)
			b = appendJSON(b, v)
		}
	}
	if len(b) == 0 {
		return ""
	}
	b[0] = '{'
	return string(append(b, '}'))
}

func appendJSON(b []byte, v reflect.Value) []byte {
	switch kind := v.Kind(); {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return strconv.AppendInt(b, time.Duration(v.Int()).Milliseconds(), 10)
	case kind == reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case kind == reflect.Int || kind == reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		return append(b, v.Bytes()...)
	case kind == reflect.Slice && v.IsNil():
		return append(b, "[]"...)
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		panic(err) // only for a type that JSON cannot encode
	}
	return append(b, text...)
}

// policy has the room's settings, which every call sends; see Config.
type policy struct {
	Lease, AwayAfter, DropAfter time.Duration
	ClaimWithin                 time.Duration // 0 = leases need no claim
	JournalMax                  int           // 0 = no journal
	EndedKept                   time.Duration // how long the outcome of an ended place is kept
	LeasesKept                  time.Duration // time that ended leases are kept, for late messages; 0 = none
	Events                      string        // suffix of the events channel's name; "" = no events
	Quarantine                  time.Duration // least time between the asks of two leases
	Required                    bool          // every lease asks
	Recovery                    time.Duration // recovery window of a room that may have lost data
	Ephemeral                   bool          // a room without sessions is deleted
}

// caller has what the calling process has observed of the room and of Redis's clock.
type caller struct {
	Epoch   int64 // last epoch that the process observed; 0 = none
	Version int64
	Lineage string
	Latest  int64 // latest time of Redis's clock at which the call may run (unix ms); 0 = not known
	// For a verb that may begin the room: when this process registered it in the index (unix ms), and the
	// absence token under which it may begin; "" = it may not.
	Registered int64
	Absence    string
}

// rare has what a calling process seldom has to say.
type rare struct {
	Replays   bool   // the call replays what the process observed: see verb/replay.lua
	ReadOnly  bool   // the call writes nothing
	Outage    int64  // end of the last outage that the process saw (unix ms); 0 = none lately
	ClockJump int64  // last jump ahead of Redis's clock that the process saw (unix ms); 0 = none lately
	Trace     string // trace of the call, for the journal (see Entry.Trace); "" = none
	Evicts    bool   // the process saw that Redis has evicted keys: see lineage.outcome_without_lock
}

var (
	callerFields = fieldsOf(reflect.TypeFor[caller]())
	rareFields   = fieldsOf(reflect.TypeFor[rare]())
	policyFields = fieldsOf(reflect.TypeFor[policy]())
)

// Positions in ARGV, where Lua counts from 1. call.lua lists all.
const (
	callerAt    = 4
	argumentsAt = 11
)

// argumentsOf has the arguments of each verb, by its name.
var argumentsOf = make(map[string]fields)

// verb is a function of the Lua library. Its arguments are the fields of an A.
type verb[A any] struct {
	name   string
	fields fields
}

// newVerb declares a verb, for the library too.
func newVerb[A any](name string) verb[A] {
	v := verb[A]{name: name, fields: fieldsOf(reflect.TypeFor[A]())}
	argumentsOf[name] = v.fields
	return v
}

// call is a verb with its arguments.
type call struct {
	verb     string
	args     []any   // texts
	once     string  // name of the key that keeps the reply for a repeat of the request; "" = it is not kept
	readOnly bool    // the verb writes nothing, because Redis refuses writes
	listing  listing // for a verb that may begin the room
}

// with returns a call of the verb.
func (v verb[A]) with(a A) call {
	return call{verb: v.name, args: v.fields.texts(nil, reflect.ValueOf(a))}
}

// keptIn returns the call with the name of the key that keeps its reply.
func (c call) keptIn(once string) call {
	c.once = once
	return c
}

// begins returns the call with the room's entry in the index.
func (c call) begins(l listing) call {
	c.listing = l
	return c
}

// argv returns the ARGV of the call.
func (c call) argv(policy string, by caller, seldom rare) []any {
	argv := make([]any, 0, argumentsAt+len(c.args))
	argv = callerFields.texts(append(argv, c.verb, policy, c.once), reflect.ValueOf(by))
	return append(append(argv, rareFields.known(reflect.ValueOf(seldom))), c.args...)
}

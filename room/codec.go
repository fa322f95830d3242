package room

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// fields encodes a struct as the JSON object that the Lua library decodes into a table. MayWait becomes
// may_wait, and a duration becomes whole milliseconds. A field of type []byte is JSON already.
type fields struct{ names []string }

func fieldsOf(t reflect.Type) fields {
	var f fields
	for i := range t.NumField() {
		f.names = append(f.names, luaName(t.Field(i).Name))
	}
	return f
}

// luaName returns the Lua name of a field: may_wait for MayWait.
func luaName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// json encodes all fields of a struct.
func (f fields) json(of reflect.Value) string {
	return f.write(of, func(reflect.Value) bool { return true })
}

// known encodes the fields that are not zero.
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
		return "{}"
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
	Epoch     int64 // last epoch that the process observed; 0 = none
	Version   int64
	Lineage   string
	Replays   bool   // the call replays what the process observed: see verb/replay.lua
	ReadOnly  bool   // the call writes nothing
	Outage    int64  // end of the last outage that the process saw (unix ms); 0 = none lately
	Latest    int64  // latest time of Redis's clock at which the call may run (unix ms); 0 = not known
	ClockJump int64  // last jump ahead of that clock that the process saw (unix ms); 0 = none lately
	Trace     string // trace of the call, for the journal (see Entry.Trace); "" = none
}

var (
	callerFields = fieldsOf(reflect.TypeFor[caller]())
	policyFields = fieldsOf(reflect.TypeFor[policy]())
)

// verb is a function of the Lua library. Its arguments are the fields of an A.
type verb[A any] struct {
	name   string
	fields fields
}

func newVerb[A any](name string) verb[A] {
	return verb[A]{name: name, fields: fieldsOf(reflect.TypeFor[A]())}
}

// call is a verb with its encoded arguments.
type call struct {
	verb     string
	args     string // JSON
	readOnly bool   // the verb writes nothing, because Redis refuses writes
	thin     []any  // what the verb needs for a thin lock: see thin.go; nil = the room executes it
}

// with returns a call of the verb.
func (v verb[A]) with(a A) call {
	return call{verb: v.name, args: v.fields.json(reflect.ValueOf(a))}
}

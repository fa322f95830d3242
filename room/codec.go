package room

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// fields writes a struct as the JSON object that the library reads as a table: MayWait is may_wait there, and a duration is in whole
// milliseconds. A field of type []byte is JSON already.
type fields struct{ names []string }

func fieldsOf(t reflect.Type) fields {
	var f fields
	for i := range t.NumField() {
		f.names = append(f.names, luaName(t.Field(i).Name))
	}
	return f
}

// luaName writes MayWait as may_wait.
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

// json writes the fields of a struct.
func (f fields) json(of reflect.Value) string {
	return f.write(of, func(reflect.Value) bool { return true })
}

// known writes those that are not zero.
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
		panic(err) // only a field of a type that JSON has not gets here
	}
	return append(b, text...)
}

// policy is the room's settings, which every call has; see Config.
type policy struct {
	Lease, AwayAfter, DropAfter time.Duration
	ClaimWithin                 time.Duration // 0 = no lease is to be claimed
	JournalMax                  int           // 0 = no journal
	EndedKept                   time.Duration // how long an ended place's outcome is kept
	LeasesKept                  time.Duration // how far back a late message finds its lease; 0 = not at all
	Events                      string        // the end of the name of the channel that events are published on; "" = on none
	Quarantine                  time.Duration // of asks
	Required                    bool          // every lease asks
	Recovery                    time.Duration // how long a room that may have lost data answers no call
	Ephemeral                   bool          // a room without sessions is not kept
}

// caller is what the calling process knows of the room and of Redis's clock.
type caller struct {
	Epoch    int64 // that it has observed last; 0 = none
	Version  int64
	Lineage  string
	Replays  bool   // the call replays what it has observed (replay)
	ReadOnly bool   // the call writes nothing
	Thorough bool   // the call is not to take the short way of an uncontended lock
	Outage   int64  // when Redis was away for it last (unix ms); 0 = not lately
	Latest   int64  // what Redis's clock says at the most, as far as it can tell (unix ms); 0 = it cannot
	Stepped  int64  // when that clock was last stepped ahead, as far as it knows (unix ms); 0 = not lately
	Trace    string // what the call is part of, for the journal (see Entry.Trace); "" = nothing that is traced
}

var (
	callerFields = fieldsOf(reflect.TypeFor[caller]())
	policyFields = fieldsOf(reflect.TypeFor[policy]())
)

// verb is a function of the library, whose arguments are the fields of an A.
type verb[A any] struct {
	name   string
	fields fields
}

func newVerb[A any](name string) verb[A] {
	return verb[A]{name: name, fields: fieldsOf(reflect.TypeFor[A]())}
}

// call is a verb with its arguments.
type call struct {
	verb     string
	args     string // JSON
	readOnly bool   // it writes nothing, since Redis takes no writes
}

// with makes a call.
func (v verb[A]) with(a A) call {
	return call{verb: v.name, args: v.fields.json(reflect.ValueOf(a))}
}

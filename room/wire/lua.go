package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// written are the records that Lua writes; `members` are those whose JSON has no braces, since it is a part
// of another object.
var (
	members = types(Room{}, Lease{}, Holder{}, State{})
	written = types(BySupport{}, Place{}, StoredPlace{}, EndedLease{}, Ask{}, StoredMessage{}, Parts{}, Match{},
		ShownMessage{}, RecentMessage{}, Candidate{}, Joined{}, Missed{}, Finished{}, Note{}, Kept{}, Asked{},
		Glance{})
	read = types(StoredPlace{}, EndedLease{}, StoredMessage{}, Parts{})
	// full are those that Lua writes only from tables that wire.read_NAME or wire.new_NAME made: no member is
	// nil there but those of pointers.
	full = append(types(StoredPlace{}), members...)
)

func types(values ...any) (list []reflect.Type) {
	for _, v := range values {
		list = append(list, reflect.TypeOf(v))
	}
	return list
}

// Lua returns the functions of the module wire, as Lua.
//
//   - wire.NAME(v) returns the JSON of a record, from the members of the table v. A member that is nil is
//     absent. Those of room, lease, holder and state have no braces.
//   - wire.read_NAME(text) returns a table with the members of a record, and wire.new_NAME(v) makes v one. A
//     member that is absent is zero; one whose field is a pointer is nil.
//   - wire.record(kind, v, more) returns a record of the journal. `more` is JSON members that Go has made.
//
// NAME is the name of the struct, such as stored_place.
func Lua() string {
	var b strings.Builder
	b.WriteString("local absent = {\n")
	writeAbsent(&b, "state", members...)
	for _, t := range read {
		writeAbsent(&b, Name(t.Name()), t)
	}
	b.WriteString("}\n" + listFunction)
	for _, t := range slices.Concat(members, written) {
		writeFunction(&b, "wire."+Name(t.Name()), FieldsOf(t), "", slices.Contains(members, t),
			slices.Contains(full, t))
	}
	b.WriteString("local records = {}\n")
	for _, k := range Kinds {
		writeFunction(&b, "records."+k.Type, k.Written(), `{"type":"`+k.Type+`","at":' .. int(NOW) .. '`, false,
			false)
	}
	b.WriteString(recordFunction)
	for _, name := range append([]string{"state"}, names(read)...) {
		fmt.Fprintf(&b, "function wire.new_%[1]s(v) return setmetatable(v, absent.%[1]s) end\n"+
			"function wire.read_%[1]s(text) return setmetatable(cjson.decode(text), absent.%[1]s) end\n", name)
	}
	return b.String()
}

const listFunction = `
function wire.list(list, write)
  local texts = {}
  for i, v in ipairs(list) do texts[i] = write(v) end
  return '[' .. concat(texts, ',') .. ']'
end
`

const recordFunction = `
local nothing = {}
function wire.record(kind, v, more)
  local text = records[kind](v or nothing)
  return more and more ~= '' and text:sub(1, -2) .. ',' .. more .. '}' or text
end
`

func names(list []reflect.Type) (names []string) {
	for _, t := range list {
		names = append(names, Name(t.Name()))
	}
	return names
}

// Written returns the fields that Lua writes of a kind of record.
func (k Kind) Written() (list []Field) {
	all := FieldsOf(reflect.TypeFor[Record]())
	for _, name := range strings.Fields(k.Fields) {
		i := slices.IndexFunc(all, func(f Field) bool { return f.Go == name })
		if i < 0 {
			panic("wire: Record has no field " + name) // only for a wrong name: Kinds is compiled in
		}
		list = append(list, all[i])
	}
	return list
}

// Field is one field of a record.
type Field struct {
	Go, Name  string // its name in Go, and in JSON and Lua
	OmitEmpty bool   // it is left out where it is zero
	Type      reflect.Type
}

// FieldsOf returns the fields of a struct in order, with those of the structs that it embeds in their places.
func FieldsOf(t reflect.Type) (list []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			list = append(list, FieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("lua") != "apart" {
			list = append(list, Field{f.Name, name, options == "omitempty", f.Type})
		}
	}
	return list
}

// Name returns the Lua name of a Go name: may_wait for MayWait.
func Name(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// writeAbsent writes a metatable with the zero values of fields.
func writeAbsent(b *strings.Builder, name string, of ...reflect.Type) {
	fmt.Fprintf(b, "  %s = { __index = { ", name)
	for _, t := range of {
		for _, f := range FieldsOf(t) {
			switch f.Type.Kind() {
			case reflect.Pointer:
			case reflect.Slice:
				if f.OmitEmpty {
					panic("wire: a list that Lua reads is never left out: " + f.Name)
				}
			case reflect.String:
				fmt.Fprintf(b, "%s = '', ", f.Name)
			case reflect.Bool:
				fmt.Fprintf(b, "%s = false, ", f.Name)
			default:
				fmt.Fprintf(b, "%s = 0, ", f.Name)
			}
		}
	}
	b.WriteString("} },\n")
}

// writeFunction writes a function that returns the JSON of a record. begin is what the object begins with.
// It reads each member that may be absent once, and joins all texts in one step: Redis's Lua takes long for
// both.
func writeFunction(b *strings.Builder, name string, fields []Field, begin string, bare, full bool) {
	parts, comma := []string{"'" + begin + "'"}, ","
	if begin == "" {
		parts, comma = nil, ""
		if !bare {
			parts = []string{"'{'"}
		}
	}
	var optional, values []string
	for i, f := range fields {
		if i == 0 && f.OmitEmpty && comma == "" {
			panic("wire: the first field of a record is never left out: " + f.Name)
		}
		if f.optional() {
			optional, values = append(optional, f.Name), append(values, "v."+f.Name)
		}
		parts, comma = append(parts, f.lua(comma, full)), ","
	}
	if !bare {
		parts = append(parts, "'}'")
	}
	fmt.Fprintf(b, "function %s(v)\n", name)
	if len(optional) > 0 {
		fmt.Fprintf(b, "  local %s = %s\n", strings.Join(optional, ", "), strings.Join(values, ", "))
	}
	text := strings.ReplaceAll(strings.Join(parts, " .. "), "' .. '", "")
	fmt.Fprintf(b, "  return %s\nend\n", text)
}

// optional reports whether the field's member is left out where it is absent.
func (f Field) optional() bool { return f.OmitEmpty || f.Type.Kind() == reflect.Pointer }

// lua returns Lua expressions of the field's member, to be joined; they are empty where it is absent. `full`
// is true if the member is never nil. A member that may be absent is in a local variable of its name.
func (f Field) lua(comma string, full bool) string {
	v, t := "v."+f.Name, f.Type
	if f.optional() {
		v = f.Name
	}
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	begin, text, end, absent := comma+`"`+f.Name+`":`, "", "", ""
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		text = "wire.list(" + v + ", wire." + Name(t.Elem().Name()) + ")"
	case t.Kind() == reflect.Slice:
		text = "wire.list(" + v + ", int)"
	case t.Kind() == reflect.Struct:
		text = "wire." + Name(t.Name()) + "(" + v + ")"
	case t.Kind() == reflect.String:
		begin, text, end, absent = begin+`"`, v, `"`, "''"
	case t.Kind() == reflect.Bool:
		text = "(" + v + " and 'true' or 'false')"
	case t.Kind() == reflect.Float64:
		text = v
	default:
		text, absent = "int("+v+")", "0"
	}
	if !f.optional() {
		return "'" + begin + "' .. " + text + " .. '" + end + "'"
	}
	present := v
	switch {
	case pointer && t.Kind() == reflect.Bool:
		present = v + " ~= nil"
	case pointer || absent == "":
	case full:
		present = v + " ~= " + absent
	default:
		present = v + " and " + v + " ~= " + absent
	}
	parts := []string{"(" + present + " and '" + begin + "' or '')", "(" + present + " and " + text + " or '')"}
	switch {
	case t.Kind() == reflect.Bool && !pointer:
		return "(" + v + " and '" + begin + "true' or '')"
	case t.Kind() == reflect.String && full && !pointer:
		parts[1] = v
	case t.Kind() == reflect.String:
		parts[1] = "(" + v + " or '')"
	}
	if end != "" {
		parts = append(parts, "("+present+" and '"+end+"' or '')")
	}
	return strings.Join(parts, " .. ")
}

// Package frame appends JSON to frames without reflection: each function appends one member or value.
package frame

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Int appends a number after its name, which is written unchanged with its separators.
func Int(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// IntIf appends a number, or null if it does not apply.
func IntIf(b []byte, name string, n int64, applies bool) []byte {
	if !applies {
		return append(append(b, name...), "null"...)
	}
	return Int(b, name, n)
}

// Bool appends true or false.
func Bool(b []byte, name string, yes bool) []byte {
	return strconv.AppendBool(append(b, name...), yes)
}

// Word appends a constant that needs no escaping; "" is null.
func Word(b []byte, name, word string) []byte {
	b = append(b, name...)
	if word == "" {
		return append(b, "null"...)
	}
	return append(append(append(b, '"'), word...), '"')
}

// Text appends any text, with escapes. Sellers' ids need none.
func Text(b []byte, s string) []byte {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return JSON(b, s)
		}
	}
	if !utf8.ValidString(s) {
		return JSON(b, s)
	}
	return append(append(append(b, '"'), s...), '"')
}

// JSON appends any value; null if it cannot be marshalled.
func JSON(b []byte, v any) []byte {
	s, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...) // strings and our own structs always marshal
	}
	return append(b, s...)
}

// List appends a member with a list; it leaves out an empty one.
func List[T any](b []byte, open string, list []T, one func([]byte, *T) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, open...)
	for i := range list {
		b = one(Comma(b), &list[i])
	}
	return append(b, ']')
}

// Comma appends a comma if the list has an element already.
func Comma(b []byte) []byte {
	if b[len(b)-1] == '[' {
		return b
	}
	return append(b, ',')
}

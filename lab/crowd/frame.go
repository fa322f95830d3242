package crowd

import (
	"bytes"
	"encoding/json"
)

// State is a session's state in a room at one version, from a state frame or from an answer. Fields that do
// not apply are zero.
type State struct {
	Epoch, Version int64
	Status         string // idle, waiting, locked or ended
	Outcome        string
	Ticket         int64
	Position       int64 // from 1 = next
	Length         int64 // of the line
	Fence          int64
	ServerTime     int64 // unix ms of Redis's clock; 0 = unknown
	ExpiresAt      int64 // unix ms, of the current lease
	ClaimBy        int64 // unix ms; 0 = nothing to claim
}

// kinds of frames.
const (
	kindState = "state"
	kindSMS   = "sms"
	kindPing  = "ping"
)

// fields finds the fields of a flat frame without parsing all of it, since thousands of frames arrive each
// second. It finds them fastest in the order of docs/api.md.
type fields struct{ text, rest []byte }

func (f *fields) value(name string) []byte {
	if _, after, ok := bytes.Cut(f.rest, []byte(name)); ok {
		f.rest = after
		return after
	}
	if _, after, ok := bytes.Cut(f.text, []byte(name)); ok {
		return after
	}
	return nil
}

// number returns 0 for null and for a missing field.
func (f *fields) number(name string) (n int64) {
	for _, d := range f.value(name) {
		if d < '0' || d > '9' {
			break
		}
		n = n*10 + int64(d-'0')
	}
	return n
}

// word returns "" for null and for a missing field.
func (f *fields) word(name string) string {
	value := f.value(name)
	if len(value) == 0 || value[0] != '"' {
		return ""
	}
	end := bytes.IndexByte(value[1:], '"')
	if end < 0 {
		return ""
	}
	return known(value[1 : 1+end])
}

// known returns a constant for a frequent word, to save an allocation.
func known(word []byte) string {
	switch string(word) {
	case "waiting":
		return "waiting"
	case "locked":
		return "locked"
	case "ended":
		return "ended"
	case "idle":
		return "idle"
	case kindState:
		return kindState
	}
	return string(word)
}

// kindOf returns the type of a frame.
func kindOf(text []byte) string {
	f := fields{text, text}
	return f.word(`"type":`)
}

// parseState reads a state frame.
func parseState(text []byte) State {
	f := fields{text, text}
	return State{
		Epoch:      f.number(`"epoch":`),
		Version:    f.number(`"version":`),
		ServerTime: f.number(`"server_time":`),
		Status:     f.word(`"status":`),
		Outcome:    f.word(`"outcome":`),
		Ticket:     f.number(`"ticket":`),
		Position:   f.number(`"queue_position":`),
		Length:     f.number(`"queue_length":`),
		ExpiresAt:  f.number(`"lease_expires_at":`),
		Fence:      f.number(`"fence":`),
		ClaimBy:    f.number(`"claim_by":`),
	}
}

// ReadState parses a frame; it returns false if the frame's type is not state.
func ReadState(text []byte) (State, bool) {
	if kindOf(text) != kindState {
		return State{}, false
	}
	return parseState(text), true
}

// IsPing reports whether a frame wants a Pong.
func IsPing(text []byte) bool { return kindOf(text) == kindPing }

// smsFrame is a frame with a code for its holder.
type smsFrame struct {
	MessageID string `json:"message_id"`
	Code      string `json:"code"`
}

func parseSMS(text []byte) (s smsFrame, err error) {
	err = json.Unmarshal(text, &s)
	return s, err
}

package hub

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/waitroom/waitroom/hub/frame"
	"github.com/waitroom/waitroom/hub/mirror"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
)

// shared has the parts of a state frame that are equal for all sockets of the room, encoded once for each
// version. A socket's own parts stand between them, in the order of docs/api.md.
type shared struct {
	open   []byte // {"type":"state","room":"…"
	head   []byte // open, then ,"epoch":…,"version":…,"server_time":
	length []byte // ,"queue_length":…,"estimated_wait":
	lease  []byte // ,"lease_expires_at":…,"fence":
	tail   []byte // the members of wire.Public, ,"claim_by":
	opens  int64  // when the room takes new places again, in unix ms; 0 = it does

	notices notices
	support *room.BySupport // by which opens and notices were set
	timed   bool            // they were set
}

func (s *shared) room(id room.ID) {
	name, err := json.Marshal(string(id))
	if err != nil {
		name = []byte(`""`) // strings always marshal
	}
	s.open = append([]byte(`{"type":"state","room":`), name...)
}

func (s *shared) state(m *mirror.State) {
	b := append(s.head[:0], s.open...)
	b = frame.Int(b, `,"epoch":`, m.Epoch)
	b = frame.Int(b, `,"version":`, m.Version)
	s.head = append(b, `,"server_time":`...)

	b = frame.Int(s.length[:0], `,"queue_length":`, int64(len(m.Line)))
	s.length = append(b, `,"estimated_wait":`...)

	b = frame.IntIf(s.lease[:0], `,"lease_expires_at":`, m.Lease.ExpiresAt, m.Held())
	s.lease = append(b, `,"fence":`...)

	s.tail = append(appendMembers(s.tail[:0], m.Room.Public), `,"claim_by":`...)
}

// appendState appends a state frame with the room's state and a seat. now is in unix ms of Redis's clock,
// lease the length of a lease, lang the reader's language. ok is false if seat and mirror contradict each
// other.
func (s *shared) appendState(b []byte, m *mirror.State, st mirror.Seat, lang string, now int64,
	lease time.Duration) (_ []byte, ok bool) {
	position, newcomer := 0, len(m.Line)+1
	switch st.Status {
	case room.Waiting:
		if position, ok = m.Line.Position(st.Rank); !ok {
			return b, false
		}
	case room.Locked:
		if st.Fence != m.Lease.Fence {
			return b, false
		}
	}
	b = append(b, s.head...)
	b = strconv.AppendInt(b, now, 10)
	b = frame.Word(b, `,"status":`, string(st.Status))
	b = frame.Word(b, `,"outcome":`, string(st.Outcome))
	b = frame.IntIf(b, `,"ticket":`, st.Ticket, st.Ticket != 0)
	b = frame.IntIf(b, `,"queue_position":`, int64(position), position != 0)
	b = append(b, s.length...)
	if position == 0 {
		position = newcomer
	}
	w, known := m.Waits(position, now, lease)
	known = known && st.Status != room.Locked
	b = frame.IntIf(b, "", room.Seconds(w.Estimated), known)
	b = frame.IntIf(b, `,"maximum_wait":`, room.Seconds(w.Maximum), known)
	b = append(b, s.lease...)
	b = frame.IntIf(b, "", st.Fence, st.Status == room.Locked)
	b = frame.IntIf(b, `,"opens_at":`, s.opens, s.opens != 0)
	b = append(append(b, `,"notice":`...), s.notices.in(lang)...)
	b = append(b, s.tail...)
	b = frame.IntIf(b, "", m.Lease.ClaimBy, st.Status == room.Locked && m.Lease.ClaimBy != 0)
	if st.Marks != (wire.Marks{}) {
		b = appendMembers(b, st.Marks)
	}
	b = append(b, `,"codes":`...)
	if st.Status == room.Locked {
		b = appendCodes(b, m.Lease, now)
	} else {
		b = append(b, "null"...)
	}
	return append(b, '}'), true
}

// appendMembers appends the members of a struct of flags, numbers and strings.
func appendMembers(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil || len(text) <= len("{}") {
		return b // such a struct always marshals
	}
	return append(append(b, ','), text[1:len(text)-1]...)
}

// appendCodes appends how many codes the holder has asked for.
func appendCodes(b []byte, lease room.Lease, now int64) []byte {
	b = frame.Int(b, `{"asked":`, int64(lease.Asked))
	b = frame.Int(b, `,"open":`, int64(lease.Open))
	b = frame.IntIf(b, `,"ask_after":`, lease.AskAfter, lease.AskAfter > now)
	return append(b, '}')
}

// appendPing appends the page's ping; the page answers {"type":"pong"}. asOf is when Redis last answered, 0 =
// now.
func appendPing(b []byte, now, asOf int64) []byte {
	b = frame.Int(b, `{"type":"ping","server_time":`, now)
	if asOf != 0 {
		b = frame.Int(b, `,"as_of":`, asOf)
	}
	return append(b, '}')
}

// appendMessage appends an SMS. Its text and code are secrets, for this socket only.
func appendMessage(b []byte, m mirror.Message) []byte {
	var frame any = struct {
		Type string `json:"type"`
		room.Message
	}{"sms", m.Message}
	if m.Offered {
		frame = struct {
			Type       string `json:"type"`
			MessageID  string `json:"message_id"`
			ReceivedAt int64  `json:"received_at"`
		}{"sms_unclaimed", m.MessageID, m.ReceivedAt}
	}
	text, err := json.Marshal(frame)
	if err != nil {
		return b // strings and integers always marshal
	}
	return append(b, text...)
}

func appendNotice(b []byte, n mirror.Notice, now int64) []byte {
	b = frame.Word(b, `{"type":"notice","notice":`, string(n.What))
	return append(frame.Int(b, `,"server_time":`, now), '}')
}

package mirror

import (
	"slices"

	"github.com/waitroom/waitroom/room"
)

// noticesKept is how many notices a session's sockets may be behind.
const noticesKept = 4

// Notice is for one session, about what was done for it. It is sent after the state of that change, or a
// later one.
type Notice struct {
	What room.Helping
	Revision
	Number uint32
}

func (s *Session[V]) notice(what room.Helping, at Revision) {
	s.noticed++
	s.notices = append(s.notices[max(0, len(s.notices)-noticesKept+1):len(s.notices):len(s.notices)],
		Notice{what, at, s.noticed})
}

// Notify notes something for a session that is no change of the room.
func (m *Mirror[V]) Notify(s *Session[V], what room.Helping) { s.notice(what, m.Revision) }

// Noticed is the number of the latest notice; 0 = there was none.
func (s *Session[V]) Noticed() uint32 { return s.noticed }

// Notices lists those after a number that a socket may be sent which was sent the state of a revision.
func (s *Session[V]) Notices(after uint32, sent Revision) []Notice {
	return slices.DeleteFunc(slices.Clone(s.notices),
		func(n Notice) bool { return n.Number <= after || n.Compare(sent) > 0 })
}

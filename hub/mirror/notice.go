package mirror

import (
	"slices"

	"github.com/waitroom/waitroom/room/wire"
)

// noticesKept is the most notices that are kept for a session's sockets.
const noticesKept = 4

// Notice reports to one session what another person did for it. It is sent after the state of that change, or
// a later one.
type Notice struct {
	What wire.Helping
	Revision
	Number uint32
}

func (s *Session[V]) notice(what wire.Helping, at Revision) {
	s.noticed++
	s.notices = append(s.notices[max(0, len(s.notices)-noticesKept+1):len(s.notices):len(s.notices)],
		Notice{what, at, s.noticed})
}

// Notify adds a notice that belongs to no change of the room.
func (m *Mirror[V]) Notify(s *Session[V], what wire.Helping) { s.notice(what, m.Revision) }

// Noticed returns the number of the latest notice; 0 = there was none.
func (s *Session[V]) Noticed() uint32 { return s.noticed }

// Notices returns the notices after a number that a socket may get once it has the state of a revision.
func (s *Session[V]) Notices(after uint32, sent Revision) []Notice {
	return slices.DeleteFunc(slices.Clone(s.notices),
		func(n Notice) bool { return n.Number <= after || n.Compare(sent) > 0 })
}

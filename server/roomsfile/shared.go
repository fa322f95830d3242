package roomsfile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waitroom/waitroom/room/smstext"
	"github.com/waitroom/waitroom/sms"
)

// shared warns of rooms with one number whose messages nothing tells apart: without sms_from, or with a
// sender in both lists, each room takes the other's codes.
func (r *reader) shared(f *File, drafts map[string]*draft) (list []string) {
	names := slices.Sorted(maps.Keys(f.entries))
	for i, a := range names {
		for _, b := range names[i+1:] {
			one, other := f.entries[a], f.entries[b]
			if one.Phone == "" || !sms.SameNumber(one.Phone, other.Phone) || apart(one.Senders, other.Senders) {
				continue
			}
			list = append(list, fmt.Sprintf("%s:%d: %s and %s have one phone, and no sms_from tells their messages "+
				"apart: each shows the other's codes. Give each room the senders of its own marketplace",
				r.checks.Path, drafts[b].line, a, b))
		}
	}
	return list
}

// apart reports whether no message can have a sender of both lists.
func apart(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(sender string) bool {
		return smstext.OneOf(sender, b)
	})
}

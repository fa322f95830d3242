package room

import "encoding/json"

// members returns the JSON members of an action without braces, for a journal record; "" for no action.
func (a Action) members() string {
	if a == (Action{}) {
		return ""
	}
	return members(a)
}

// reasons returns the JSON members of an action without ticket and fence, which the script adds itself.
func (a Action) reasons() string {
	a.Ticket, a.Fence = 0, 0
	return a.members()
}

// members returns the JSON members of a struct without braces. Structs of strings and integers always
// marshal.
func members(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}

package room

import "encoding/json"

// members are the JSON members of an action without braces, for a journal record; "" for no action.
func (a Action) members() string {
	if a == (Action{}) {
		return ""
	}
	return members(a)
}

// reasons are those of who did what and why alone: whom it concerns is the script's to say.
func (a Action) reasons() string {
	a.Ticket, a.Fence = 0, 0
	return a.members()
}

// members are the JSON members of a struct of strings and integers, which always marshals, without braces.
func members(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}

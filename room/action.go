package room

import "encoding/json"

// members are the JSON members of an action without braces, for a journal record; "" for no action.
func (a Action) members() string {
	if a == (Action{}) {
		return ""
	}
	b, err := json.Marshal(a)
	if err != nil { // strings and integers always marshal
		return ""
	}
	return string(b[1 : len(b)-1])
}

package templates

import "strings"

// deskData is the JSON block of a live page of support, from which its modules start.
type deskData struct {
	Room         string       `json:"room,omitempty"`
	Lang         string       `json:"lang"`
	MayAct       bool         `json:"may_act"`
	LeaseSeconds int          `json:"lease_seconds,omitempty"`
	Words        DeskLiveText `json:"words"`
	Names        []RoomName   `json:"names,omitempty"`
}

func (v RoomsView) data(words DeskLiveText) deskData {
	return deskData{Lang: TextIn(v.Lang).Page.Lang, MayAct: v.MayAct, Words: words, Names: v.Names}
}

func (v DeskRoomView) data(words DeskLiveText) deskData {
	return deskData{
		Room: v.Room, Lang: TextIn(v.Lang).Page.Lang, MayAct: v.MayAct, LeaseSeconds: v.LeaseSeconds, Words: words,
	}
}

// deskStyle returns the address of a style sheet of a page of support. A bare name is one of our own.
func deskStyle(prefix, name string) string {
	if !strings.Contains(name, "/") {
		name = "css/" + name
	}
	return prefix + "/" + name + ".css"
}

// startSort returns the initial sort order of a column in the table of all rooms.
func startSort(column string) string {
	if column == "trouble" {
		return "descending"
	}
	return "none"
}

package templates

import (
	"strings"

	"github.com/waitroom/waitroom/templates/locales"
)

// deskData is the JSON block of a live page of support, from which its modules start.
type deskData struct {
	Room         string `json:"room,omitempty"`
	Lang         string `json:"lang"`
	MayAct       bool   `json:"may_act"`
	LeaseSeconds int    `json:"lease_seconds,omitempty"`
	Hours        bool   `json:"hours,omitempty"`
	// Incidents has what an agent may announce in the usual incidents, by incident and language.
	Incidents map[string]map[string]string `json:"incidents,omitempty"`
	Words     DeskLiveText                 `json:"words"`
	Names     []RoomName                   `json:"names,omitempty"`
}

func (v RoomsView) data(words DeskLiveText) deskData {
	return deskData{Lang: TextIn(v.Lang).Page.Lang, MayAct: v.MayAct, Words: words, Names: v.Names}
}

func (v DeskRoomView) data(words DeskLiveText) deskData {
	data := deskData{Room: v.Room, Lang: TextIn(v.Lang).Page.Lang, MayAct: v.MayAct, Hours: v.Hours,
		LeaseSeconds: v.LeaseSeconds, Words: words}
	if v.MayAct {
		data.Incidents = incidentTexts()
	}
	return data
}

// usualIncidents are the incidents whose announcement an agent only has to choose, the commonest first.
var usualIncidents = []string{"late", "marketplace", "checking", "maintenance", "refused"}

// incidentTexts returns the announcements of the usual incidents, by incident and language.
func incidentTexts() map[string]map[string]string {
	texts := map[string]map[string]string{}
	for _, incident := range usualIncidents {
		texts[incident] = map[string]string{}
		for _, lang := range locales.Languages() {
			texts[incident][lang] = TextIn(lang).Incidents.Announce[incident]
		}
	}
	return texts
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

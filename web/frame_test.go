package web

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
)

// stateFields are the fields of the state frame as it is described; hub's tests hold what sockets are told to the same description. One is there only while it is so.
func stateFields(t *testing.T) []string {
	t.Helper()
	var async struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	require.NoError(t, yaml.Unmarshal(describe.AsyncAPI(), &async))
	fields := slices.Sorted(maps.Keys(async.Components.Schemas["State"].Properties))
	require.Contains(t, fields, "unclaimed")
	return slices.DeleteFunc(fields, func(name string) bool { return name == "unclaimed" })
}

func fieldsIn(t *testing.T, text string) []string {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &fields), text)
	return slices.Sorted(maps.Keys(fields))
}

func TestPageScriptAndDocumentHaveEveryFieldOfTheStateFrame(t *testing.T) {
	described := stateFields(t)

	var page strings.Builder
	view := roomView("integration", room.View{}, room.Seat{Place: room.Place{Status: room.Idle}}, 0)
	require.NoError(t, templates.RoomPage(view).Render(t.Context(), &page))
	block := regexp.MustCompile(`(?s)<script id="page-data"[^>]*>(.*?)</script>`).FindStringSubmatch(page.String())
	require.NotNil(t, block)
	var data struct{ State json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(block[1]), &data))
	require.Equal(t, described, fieldsIn(t, string(data.State)), "templates/data.go: frame")

	store, err := os.ReadFile("../static/js/store.js")
	require.NoError(t, err)
	nothing, _, _ := strings.Cut(string(store), "};")
	said := []string{"epoch", "room", "server_time", "version"} // by every frame
	for _, m := range regexp.MustCompile(`(?m)^  (\w+):`).FindAllStringSubmatch(nothing, -1) {
		said = append(said, m[1])
	}
	slices.Sort(said)
	require.Equal(t, described, said, "static/js/store.js: NOTHING")

	api, err := os.ReadFile("../docs/api.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`(?s)\{"type":"state".*?\n? ?"codes":\w+\}`).FindString(string(api))
	require.Equal(t, described, fieldsIn(t, example), "docs/api.md: the example of a state frame")
}

package web

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/room/wire"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
)

// stateFields returns the fields that every state frame has. The hub's tests check sent frames against the
// same description.
func stateFields(t *testing.T) []string {
	t.Helper()
	var async struct {
		Components struct {
			Schemas map[string]struct{ Required []string }
		}
	}
	require.NoError(t, yaml.Unmarshal(describe.AsyncAPI(), &async))
	fields := slices.Sorted(slices.Values(async.Components.Schemas["State"].Required))
	require.NotEmpty(t, fields)
	return fields
}

func fieldsIn(t *testing.T, text string) []string {
	t.Helper()
	var fields map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &fields), text)
	return slices.Sorted(maps.Keys(fields))
}

func TestPageAndDocumentHaveEveryFieldOfTheStateFrame(t *testing.T) {
	described := stateFields(t)

	first := firstState(t, room.View{}, room.Place{Status: room.Idle})
	require.Equal(t, described, slices.Sorted(maps.Keys(first)), "templates/data.go: frame")

	api, err := os.ReadFile("../docs/api.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`(?s)\{"type":"state".*?\n? ?"codes":\w+\}`).FindString(string(api))
	require.Equal(t, described, fieldsIn(t, example), "docs/api.md: the example of a state frame")
}

// firstState returns the fields of the state that a page's modules start from.
func firstState(t *testing.T, v room.View, p room.Place) (fields map[string]any) {
	t.Helper()
	var page strings.Builder
	require.NoError(t, templates.RoomPage(roomView("integration", "ko", v, room.Seat{Place: p},
		time.Minute, 1)).Render(t.Context(), &page))
	block := regexp.MustCompile(`(?s)<script id="page-data"[^>]*>(.*?)</script>`).FindStringSubmatch(page.String())
	require.NotNil(t, block)
	var data struct{ State map[string]any }
	require.NoError(t, json.Unmarshal([]byte(block[1]), &data))
	return data.State
}

// fill sets every field to a value that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.String:
		v.SetString("1")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(1)
	}
}

// A field that the first state lacks would show on the page only after the first change.
func TestPageHasEveryFieldOfTheStateFrameFromItsFirstState(t *testing.T) {
	filled := map[string]bool{}
	for _, status := range []room.Status{room.Waiting, room.Locked, room.Ended} {
		var v room.View
		var p room.Place
		fill(reflect.ValueOf(&v).Elem())
		fill(reflect.ValueOf(&p).Elem())
		p.Status = status
		v.Support.Notice = wire.Announcement{Texts: []wire.Wording{{Lang: "en", Text: "Late."}}}.Encode()
		v.Support.NoticeUntil = v.Now + 1
		for _, v.Paused = range []bool{false, true} {
			for name, value := range firstState(t, v, p) {
				filled[name] = filled[name] || value != nil && value != 0.0 && value != false && value != ""
			}
		}
	}
	for _, name := range stateFields(t) {
		require.True(t, filled[name], "%s is never sent to a page: see roomView in web/page.go", name)
	}
}

package web

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
	"github.com/waitroom/waitroom/web/describe"
	"github.com/waitroom/waitroom/web/link"
	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/push"
	"github.com/waitroom/waitroom/web/reach"
	"github.com/waitroom/waitroom/web/support"
)

// described checks every answer of this package's tests against the descriptions.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

func must[T any](r T, err error) T {
	if err != nil {
		panic(err)
	}
	return r
}

func TestEveryCodeIsDescribedWithItsStatus(t *testing.T) {
	var open struct {
		Paths      map[string]map[string]any
		Components struct {
			Schemas map[string]struct{ Enum []string }
		}
	}
	require.NoError(t, yaml.Unmarshal(describe.OpenAPI(), &open))
	require.Equal(t, problem.Codes(), open.Components.Schemas["Code"].Enum,
		"Code in web/describe/openapi.yaml is the table of package problem, sorted")

	named := map[string]bool{}
	line := regexp.MustCompile(`'(\d{3})': .*responses/[A-Z]\w+', description: '(.*)'}`)
	for _, m := range line.FindAllStringSubmatch(string(describe.OpenAPI()), -1) {
		for _, code := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(m[2], -1) {
			if known := problem.For(code[1]); known.Status != 0 {
				require.Equal(t, strconv.Itoa(known.Status), m[1], code[1])
				named[code[1]] = true
			}
		}
	}
	// These are answered by what is no operation, or on pages alone.
	for _, code := range []string{"not_found", "method_not_allowed", "wrong_password", "sign_in_expired",
		"sign_in_denied", "too_many_groups", "not_admitted", "not_dead", "provider_unavailable",
		"another_seller", "no_link", "session_has_place", "cookies_blocked"} {
		require.False(t, named[code], code)
		named[code] = true
	}
	require.Equal(t, problem.Codes(), slices.Sorted(maps.Keys(named)),
		"each code is beside a status of some operation")
}

// Client generators need one type per schema, and unions discriminated by a field. Their closed objects
// refuse the answers of later versions. make check runs some of them.
func TestDescriptionIsWrittenAsGeneratorsOfClientsReadIt(t *testing.T) {
	var open any
	require.NoError(t, yaml.Unmarshal(describe.OpenAPI(), &open))
	require.Empty(t, unreadable(open, "openapi"))
	for _, schema := range []map[string]any{
		{"type": []any{"string", "null"}},
		{"properties": map[string]any{"n": map[string]any{"const": true}}},
		{"additionalProperties": false},
		{"schema": []any{map[string]any{"oneOf": []any{map[string]any{"$ref": "#/a"},
			map[string]any{"$ref": "#/b"}}}}},
	} {
		require.Len(t, unreadable(schema, "schema"), 1)
	}
}

// unreadable returns the places of a document that client generators cannot read.
func unreadable(node any, place string) (places []string) {
	switch n := node.(type) {
	case []any:
		for i, one := range n {
			places = append(places, unreadable(one, place+"/"+strconv.Itoa(i))...)
		}
	case map[string]any:
		_, types := n["type"].([]any)
		_, constant := n["const"]
		_, typed := n["type"].(string)
		options, _ := n["oneOf"].([]any)
		shapes := slices.DeleteFunc(slices.Clone(options),
			func(one any) bool { return one.(map[string]any)["$ref"] == nil })
		if types || constant && !typed || len(shapes) > 1 && n["discriminator"] == nil ||
			n["additionalProperties"] == false {
			places = append(places, place)
		}
		for name, one := range n {
			places = append(places, unreadable(one, place+"/"+name)...)
		}
	}
	return places
}

func TestEveryRouteOfTheAPIIsDescribed(t *testing.T) {
	rooms, err := ParseRooms("integration")
	require.NoError(t, err)
	s := newSite(Config{Rooms: rooms, Support: &support.Config{}, Links: link.New(nil, room.Names{}),
		Pushes: &push.Pushes{}, Reach: &reach.Choices{}})
	g, err := s.router()
	require.NoError(t, err)
	var routes, operations []string
	for _, r := range g.Routes() {
		if strings.HasPrefix(r.Path, "/api/") || strings.HasSuffix(r.Path, ".yaml") {
			routes = append(routes, r.Method+" "+strings.NewReplacer(":room", "{room}", ":source",
				"{source}").Replace(r.Path))
		}
	}
	for _, op := range described.Operations() {
		operations = append(operations, op.Method+" "+op.Path)
	}
	beside := []string{"GET /healthz", "GET /metrics", "GET /readyz"} // the server's own
	api, err := os.ReadFile("../docs/api.md")
	require.NoError(t, err)
	for _, route := range routes {
		require.True(t, slices.Contains(operations, route), "%s is not described in web/describe/openapi.yaml",
			route)
		last := regexp.MustCompile("[/`]" + path.Base(route) + "[`?]") // a table names it alone
		require.True(t, last.Match(api), "%s is not in docs/api.md", route)
	}
	require.ElementsMatch(t, append(routes, beside...), operations)
}

func TestDocumentsAreNotSentAgainToAClientThatHasThem(t *testing.T) {
	h := handler(t, Config{})
	for path, want := range map[string][]byte{"/openapi.yaml": describe.OpenAPI(),
		"/asyncapi.yaml": describe.AsyncAPI()} {
		w := ask(t, h, "GET", path)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, "application/yaml", w.Header().Get("Content-Type"))
		require.True(t, bytes.Equal(want, w.Body.Bytes()))
		require.Regexp(t, `^"[0-9a-f]+"$`, w.Header().Get("ETag"))
	}
	require.NotEqual(t, ask(t, h, "GET", "/openapi.yaml").Header().Get("ETag"),
		ask(t, h, "GET", "/asyncapi.yaml").Header().Get("ETag"))
}

func TestPageShowsEveryOperationMessageCodeAndShapeAndLeadsNowhereElse(t *testing.T) {
	h := handler(t, Config{})
	w := ask(t, h, "GET", "/docs?lang=en")
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	require.Equal(t, templates.ContentSecurityPolicy, w.Header().Get("Content-Security-Policy"))
	page := w.Body.String()
	for _, op := range described.Operations() {
		require.Contains(t, page, `id="op-`+op.ID+`"`)
		require.Contains(t, page, op.Method+" "+op.Path)
	}
	for _, code := range problem.Codes() {
		require.Contains(t, page, "<code>"+code+"</code>")
	}
	for _, part := range []string{"channel-room", "channel-desk", "channel-overview", "channel-webhooks",
		"schema-State", "schema-Locked", "schema-LockEnded"} {
		require.Contains(t, page, `id="`+part+`"`)
	}
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, links)
	for _, m := range links {
		require.Contains(t, page, `id="`+m[1]+`"`)
	}
	for _, m := range regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		require.Equal(t, 1, strings.Count(page, `id="`+m[1]+`"`), m[1])
	}
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "style=")
	require.NotContains(t, page, "map[")
	require.NotContains(t, page, "{{")
	require.Contains(t, ask(t, h, "GET", "/docs?lang=ko").Body.String(), "API 설명서")
}

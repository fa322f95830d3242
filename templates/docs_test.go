package templates_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/static"
	"github.com/waitroom/waitroom/templates"
)

// docsView returns a view that has each kind of content once.
func docsView(lang string) templates.DocsView {
	state := templates.DocsType{{Text: "State", Schema: "State"}}
	field := templates.DocsField{Name: "queue_position", Words: "Of `waiting`; 1 is next.",
		Type: templates.DocsType{{Text: "integer | null"}}, Required: true}
	return templates.DocsView{Lang: lang, AssetPrefix: static.Prefix(),
		Groups: []templates.DocsGroup{{Name: "lock", Words: "A seller's place in a room.",
			Operations: []templates.DocsOperation{{ID: "join", Method: "POST", Path: "/api/{room}/lock",
				Summary: "I am ready", Words: "Gives the session the lock.", Parameters: []templates.DocsField{field},
				Body:    state,
				Answers: []templates.DocsAnswer{{Status: "409", Words: "`lock_held` `room_paused`", Type: state}}}}}},
		Channels: []templates.DocsChannel{{Name: "room", Address: "/api/{room}/ws", Title: "The seller's socket",
			Words: "The first frame is a full state.",
			Messages: []templates.DocsMessage{{Words: "The room and my place in it", Type: state},
				{Words: "An answer", Type: state, Client: true}}}},
		Problems: []templates.DocsProblem{{Code: "lock_held", Status: 409,
			Problem: templates.TextIn(lang).Problems.API["lock_held"]}},
		Schemas: []templates.DocsSchema{{Name: "State", Words: "How the room is.",
			Fields: []templates.DocsField{field}}, {Name: "Version", Type: templates.DocsType{{Text: "integer"}}}},
	}
}

func TestDocsShowCodeAsCodeAndLeadToShapes(t *testing.T) {
	page := render(t, templates.DocsPage(docsView("en")))
	for _, part := range []string{`<code>lock_held</code>`, `Of <code>waiting</code>`,
		`<a href="#schema-State">State</a>`, `<section id="schema-State">`, `<section id="op-join">`,
		`href="#op-join"`, "from the client", "required"} {
		require.Contains(t, page, part)
	}
	require.NotContains(t, page, "`")
}

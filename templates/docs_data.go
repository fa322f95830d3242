package templates

import "strings"

// DocsView is the content of the page about the API. Words in it are English, as in the
// documents that it is made from.
type DocsView struct {
	Lang        string
	AssetPrefix string
	Groups      []DocsGroup
	Channels    []DocsChannel
	Problems    []DocsProblem
	Schemas     []DocsSchema
}

// DocsGroup is operations that belong together.
type DocsGroup struct {
	Name, Words string
	Operations  []DocsOperation
}

// DocsOperation is one method of one path.
type DocsOperation struct {
	ID, Method, Path string
	Summary, Words   string
	Parameters       []DocsField
	Body             DocsType // nil: there is none
	Answers          []DocsAnswer
}

// DocsAnswer is one possible answer of an operation.
type DocsAnswer struct {
	Status, Words string
	Type          DocsType
}

// DocsChannel is a socket, or the webhooks.
type DocsChannel struct {
	Name, Address string // "" where the address is not the server's
	Title, Words  string
	Messages      []DocsMessage
}

// DocsMessage is a frame or a webhook.
type DocsMessage struct {
	Words  string
	Type   DocsType
	Client bool // the client sends it
}

// DocsProblem is a code of a refusal, with its words in the reader's language.
type DocsProblem struct {
	Code   string
	Status int
	Problem
}

// DocsSchema is a shape with a name.
type DocsSchema struct {
	Name, Words string
	Type        DocsType
	Fields      []DocsField
}

// DocsField is a field, one within another as outer.inner, of a list's items as list[].inner.
type DocsField struct {
	Name, Words string
	Type        DocsType
	Required    bool
}

// DocsType is a type in words, some of which lead to a shape.
type DocsType []DocsPart

// DocsPart is a word of a type.
type DocsPart struct {
	Text   string
	Schema string // the shape that it names; "" = none
}

// docsPieces returns the parts of a text between backticks and outside of them, in turn, beginning outside.
func docsPieces(text string) []string { return strings.Split(strings.TrimSpace(text), "`") }

func docsAnchor(kind, name string) string { return kind + "-" + name }

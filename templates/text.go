package templates

import (
	"encoding/json"
	"sync"

	"github.com/waitroom/waitroom/templates/locales"
)

// Notice is one announcement: its subject, and what to do about it.
type Notice struct {
	Title string `json:"title"`
	Lead  string `json:"lead"`
}

// Problem is the words for a refused request: for the programmer, and what to do about it.
type Problem struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// Question asks before an action that cannot be undone.
type Question struct {
	Title string `json:"title"`
	Lead  string `json:"lead"`
	Yes   string `json:"yes"`
	No    string `json:"no"`
}

// DeskAct is an action in a dialog: its question, its button, and the words for its result.
type DeskAct struct {
	Title string `json:"title"`
	Yes   string `json:"yes"`
	Done  string `json:"done"`
}

// DeskChart is a figure's heading and its description for a reader who cannot see it.
type DeskChart struct {
	Title string `json:"title"`
	Label string `json:"label"`
}

// DeskKey is a key and what it does.
type DeskKey struct {
	Keys string `json:"keys"`
	What string `json:"what"`
}

// texts reads the catalogue once; it is never changed.
var texts = sync.OnceValue(func() map[string]Text {
	catalogue, err := locales.Read()
	if err != nil {
		panic("templates: the embedded catalogue of words: " + err.Error())
	}
	read := map[string]Text{}
	for _, lang := range locales.Languages() {
		read[lang] = textOf(catalogue.In(lang))
	}
	return read
})

// textOf converts an entry of the catalogue to the types that were generated from it.
func textOf(entry any) (t Text) {
	encoded, err := json.Marshal(entry)
	if err == nil {
		err = json.Unmarshal(encoded, &t)
	}
	if err != nil {
		panic("templates: text_gen.go is not of this catalogue, run make generate: " + err.Error())
	}
	return t
}

// Languages returns the languages of sellers' texts as BCP 47 tags; the first is the product's own.
func Languages() []string { return locales.Languages() }

// DeskLanguages returns the languages of support's pages and of the API's description.
func DeskLanguages() []string { return locales.DeskLanguages() }

// otherLanguage returns the other one of the two languages of support's pages.
func otherLanguage(t Text) string {
	if two := DeskLanguages(); t.Page.Lang == two[0] {
		return two[1]
	}
	return DeskLanguages()[0]
}

// TextIn returns the text of a language; an unknown one gets the first language's.
func TextIn(lang string) Text {
	if text, ok := texts()[lang]; ok {
		return text
	}
	return texts()[Languages()[0]]
}

// notice returns the words for a code, or those for every other.
func notice(of map[string]Notice, code string) Notice {
	if found, ok := of[code]; ok {
		return found
	}
	return of[""]
}

func (t DeskTopText) role(act bool) string {
	if act {
		return t.MayAct
	}
	return t.MayWatch
}

package templates

import (
	"embed"

	"github.com/a-h/templ"
)

//go:embed guides/*.html
var guides embed.FS

// guide returns the agents' guide in one language, made from docs by make generate.
func guide(lang string) templ.Component {
	html, err := guides.ReadFile("guides/" + lang + ".html")
	if err != nil {
		panic("templates: the embedded guide: " + err.Error())
	}
	return templ.Raw(string(html))
}

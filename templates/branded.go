package templates

import "github.com/waitroom/waitroom/templates/brand"

// Brand is the look of a seller's portal on the pages of a room; without one they have the product's own.
type Brand struct {
	Name  string      // empty: the product's
	Logo  *brand.Logo // nil: the product's mark
	Style *brand.File // of its colour; nil: the product's
}

// textIn is TextIn with the brand's name as the product's.
func textIn(lang string, b Brand) Text {
	t := TextIn(lang)
	t.Live.Brand = orElse(b.Name, t.Live.Brand)
	return t
}

// whose is what the head of a page says it belongs to.
type whose struct {
	room  string // its id
	name  string // its display name; empty: none
	brand Brand
}

func (w whose) logo() string { return w.file(w.brand.Logo.File, "logo") }

func (w whose) style() string { return w.file(*w.brand.Style, "style") }

func (w whose) file(f brand.File, kind string) string {
	return string(RoomView{Room: w.room}.path("/brand/" + f.Digest + "/" + kind))
}

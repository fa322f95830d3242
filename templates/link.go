package templates

import "github.com/a-h/templ"

// LinkView is a link's content for the device that opened it.
type LinkView struct {
	Lang        string
	AssetPrefix string
	Room        string // already checked
	Name        string // its display name; empty: none
	Brand       Brand
	Token       string // the end of the link's own address

	SellerID string
	State    string // StateWaiting or StateLocked
	Refused  string // the contract's code of why this browser cannot use it; empty where it can
}

// NewLinkView is a link that was just made, for a page without JavaScript.
type NewLinkView struct {
	Lang        string
	AssetPrefix string
	Room        string // already checked
	Name        string // its display name; empty: none
	Brand       Brand

	URL       string
	ExpiresAt int64 // unix milliseconds
	QRSize    int   // of an SVG of as many units
	QRPath    string
}

// ArrivalView is a portal's link in the browser of another seller with a live place.
type ArrivalView struct {
	Lang        string
	AssetPrefix string
	Room        string // already checked
	Name        string // its display name; empty: none
	Brand       Brand
	Token       string
	Other       string // the browser's seller
}

// joinedWords report that another device was let into this place.
func (v RoomView) joinedWords() string {
	if !v.JoinedDevice {
		return ""
	}
	return v.text().Live.Notices["joined_device"]
}

func (v LinkView) path() templ.SafeURL { return RoomView{Room: v.Room}.path("/link/" + v.Token) }

func (v LinkView) refusal() Notice { return notice(TextIn(v.Lang).Page.Errors, v.Refused) }

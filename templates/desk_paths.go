package templates

import (
	"net/url"
	"strings"

	"github.com/a-h/templ"
)

// desk is the address that all pages of support are below.
const desk = "/support"

func roomPath(room string) templ.SafeURL {
	return templ.SafeURL(desk + "/" + url.PathEscape(room))
}

// historyPath returns the address of a room's history; of one seller's where one is given.
func historyPath(room, seller string) templ.SafeURL {
	return roomPath(room) + "/history" + query("seller", seller)
}

func reportPath(room string) templ.SafeURL { return roomPath(room) + "/report" }

// sellerPath returns the address of a seller's timeline; of one room where one is given.
func sellerPath(seller, room string) templ.SafeURL {
	return desk + "/-/sellers/" + templ.SafeURL(url.PathEscape(seller)) + query("room", room)
}

// langPath returns the page's address in another language.
func langPath(query, lang string) templ.SafeURL {
	if query != "" {
		query += "&"
	}
	return templ.SafeURL("?" + query + "lang=" + lang)
}

func query(name, value string) templ.SafeURL {
	if value == "" {
		return ""
	}
	return templ.SafeURL("?" + url.Values{name: {value}}.Encode())
}

// ownPath returns an address within this site, so that no page leads to another.
func ownPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return desk
	}
	return path
}

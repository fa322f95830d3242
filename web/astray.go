package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
)

// refused counts a request as a refused message, and reports it to support. A message that is posted to a
// wrong address is lost: carriers do not repeat what got a 4xx.
func (b *base) refused(c *gin.Context, code string) {
	if b.Refused != nil {
		path := c.Request.URL.Path
		b.Refused(b.roomInPath(path), sourceInPath(path), code)
	}
}

// refusedAddress is refused for a request that no handler has seen, if its address speaks of SMS. Reading an
// address posts nothing, unless it has a query: some providers send a message in one.
func (b *base) refusedAddress(c *gin.Context, code string) {
	switch c.Request.Method {
	case http.MethodHead, http.MethodOptions:
		return
	case http.MethodGet:
		if c.Request.URL.RawQuery == "" || c.Request.Context().Value(headKey{}) != nil {
			return
		}
	}
	if speaksOfSMS(c.Request.URL.Path) {
		b.refused(c, code)
	}
}

// speaksOfSMS reports whether a path is below /api/ and names sms, whatever its case, in another place than
// within a room's name.
func speaksOfSMS(path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	if len(parts) < 3 || parts[1] != "api" {
		return false
	}
	return parts[2] == "sms" || slices.ContainsFunc(parts[3:], func(part string) bool {
		return strings.Contains(part, "sms")
	})
}

// sourceInPath returns the name that a path ends with, in small letters: that of a source, if it is one.
func sourceInPath(path string) string {
	path = strings.ToLower(strings.TrimRight(path, "/"))
	return path[strings.LastIndexByte(path, '/')+1:]
}

// roomInPath returns the room that a path below /api/ names, whatever its case; "" for none that exists.
func (b *base) roomInPath(path string) room.ID {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return ""
	}
	for _, name := range []string{parts[2], strings.ToLower(parts[2])} {
		if id, err := room.ParseID(name); err == nil && b.Rooms.Has(id) {
			return id
		}
	}
	return ""
}

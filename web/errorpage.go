package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// errorRoom adds to an error page the link to its room and, after a form, the address to retry. A room's form
// leads to the room; a link's form leads to the link, which asks before it is used.
func (s *site) errorRoom(c *gin.Context, v *templates.ErrorView) {
	if id, err := room.ParseID(c.Param("room")); err == nil && s.Rooms.Has(id) {
		v.Room = string(id)
	} else if id, ok := s.Rooms.Default(); ok {
		v.Room = string(id)
	}
	if c.Request.Method == http.MethodGet || v.Room == "" {
		return
	}
	v.AgainAt = pagePath(room.ID(v.Room), "?lang="+v.Lang)
	if strings.HasSuffix(c.FullPath(), linkPath+":token") {
		v.AgainAt = "?lang=" + v.Lang
	}
}

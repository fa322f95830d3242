package web

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// errorRoom completes an error page: the room that it leads to, and the address that it asks again after a
// form. A room's form leads to the room, a link's to the link, which asks before it is used.
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

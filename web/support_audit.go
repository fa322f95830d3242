package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
	"github.com/waitroom/waitroom/templates"
)

// AuditFilter says which actions of support are wanted. Zero fields do not narrow it.
type AuditFilter struct {
	Who    string
	Room   room.ID
	Cursor string
}

// auditPage is GET /support/-/audit?who=&room=&cursor=.
func (s *site) auditPage(c *gin.Context) {
	v := templates.AuditView{DeskView: s.deskView(c), Who: c.Query("who"), Room: c.Query("room")}
	ctx, cancel := s.asking(c)
	defer cancel()
	rows, next, err := s.Support.Records.Audit(ctx, AuditFilter{Who: v.Who, Room: room.ID(v.Room), Cursor: c.Query("cursor")})
	status := http.StatusOK
	if err != nil {
		v.Error, status = s.pageError(c, err)
	}
	v.Rows = rows
	if next != "" {
		query := c.Request.URL.Query()
		query.Del("lang")
		query.Set("cursor", next)
		v.Next = query.Encode()
	}
	s.show(c, status, v.Lang, templates.AuditPage(v))
}

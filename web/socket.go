package web

import "github.com/gin-gonic/gin"

// socket is GET /api/{room}/ws. After the upgrade nothing more is written here.
func (s *site) socket(c *gin.Context) {
	if s.Sockets == nil {
		s.refuse(c, "not_found")
		return
	}
	session, err := s.socketSession(c)
	if err != nil {
		s.fail(c, err)
		return
	}
	if err := s.Sockets.ServeSocket(c.Writer, c.Request, roomOf(c), session); err != nil && !c.Writer.Written() {
		s.fail(c, err)
	}
}

package request

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
)

// InSupport is true for every address of support's.
func InSupport(path string) bool {
	path = strings.TrimPrefix(path, "/api")
	return path == "/support" || strings.HasPrefix(path, "/support/")
}

// Room is the room that a request's path names. The router checks that there is one of that name.
func Room(c *gin.Context) room.ID { return room.ID(c.Param("room")) }

// WantsPage reports whether a person is asking: never of the API, always of a room's page, and of support's
// unless it asks for JSON.
func WantsPage(c *gin.Context) bool {
	path := c.Request.URL.Path
	switch {
	case strings.HasPrefix(path, "/api/"):
		return false
	case strings.HasPrefix(path, "/rooms/"):
		return true
	case InSupport(path) && !strings.Contains(c.GetHeader("Accept"), "application/json"):
		return true
	}
	return strings.Contains(c.GetHeader("Accept"), "text/html")
}

// Bearer is the scheme of tokens in Authorization.
const Bearer = "Bearer"

// Token is the token that a request has in its header.
func Token(c *gin.Context) (token string, ok bool) {
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, Bearer)
}

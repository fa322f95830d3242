package request

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/room"
)

// InSupport reports whether a path belongs to support.
func InSupport(path string) bool {
	path = strings.TrimPrefix(path, "/api")
	return path == "/support" || strings.HasPrefix(path, "/support/")
}

// Room returns the room of a request's path. The router checks that it exists.
func Room(c *gin.Context) room.ID { return room.ID(c.Param("room")) }

// WantsPage reports whether a person is asking. The API never answers pages, a room's page always, and
// support unless the request wants JSON.
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

// Token returns the token of a request's Authorization header.
func Token(c *gin.Context) (token string, ok bool) {
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, Bearer)
}

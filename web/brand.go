package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/templates/brand"
	"github.com/waitroom/waitroom/web/request"
)

// logoPolicy is the policy of a logo. An SVG has its own styles; opened as a page, it runs no script.
const logoPolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; " + noFrames

// brandFile is GET /rooms/{room}/brand/{digest}/logo and …/style. Only the current digest's address is
// cached: while replicas read a changed file, browsers ask this one for another one's.
func (h *pages) brandFile(c *gin.Context) {
	var file *brand.File
	of := h.info(request.Room(c), "").Brand
	switch c.Param("file") {
	case "style":
		file = of.Style
	case "logo":
		if of.Logo != nil {
			file = &of.Logo.File
			c.Header("Content-Security-Policy", logoPolicy)
		}
	}
	if file == nil {
		h.Refuse(c, "not_found")
		return
	}
	cache := "no-store"
	if c.Param("digest") == file.Digest {
		cache = "public, max-age=31536000, immutable"
	}
	c.Header("Cache-Control", cache)
	c.Data(http.StatusOK, file.Kind, file.Content)
}

package web

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// beside serves one of Config.Handlers and replaces the handler's 404 with the server's own.
func beside(handler http.Handler, notFound gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		w := &finder{ResponseWriter: c.Writer}
		handler.ServeHTTP(w, c.Request)
		if w.missing {
			c.Writer.Header().Del("Content-Type")
			notFound(c)
		}
	}
}

// finder suppresses the handler's 404.
type finder struct {
	gin.ResponseWriter
	missing bool
}

func (f *finder) WriteHeader(status int) {
	if status == http.StatusNotFound {
		f.missing = true
		return
	}
	f.ResponseWriter.WriteHeader(status)
}

func (f *finder) Write(p []byte) (int, error) {
	if f.missing {
		return len(p), nil
	}
	return f.ResponseWriter.Write(p)
}

package main

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

// serve listens until ctx ends; then it closes at once, with its sockets.
func serve(ctx context.Context, addr string, handler http.Handler) error {
	s := &http.Server{Addr: addr, Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.ListenAndServe(); ctx.Err() == nil {
		return err
	}
	return nil
}

// newGin returns a Gin engine without middleware.
func newGin() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.GET("/readyz", func(c *gin.Context) { c.Status(http.StatusOK) })
	return g
}

// ginHandler is the simplest lock over HTTP: SET NX PX and DEL, without a line, a fence or a record. It has
// waitroom's paths, so that the same client can use both.
func ginHandler(addr string) http.Handler {
	rdb := redis.NewClient(&redis.Options{Addr: addr})
	g := newGin()
	g.POST("/api/:room/lock", func(c *gin.Context) {
		var body struct {
			Seller string `json:"seller_id"`
		}
		if err := c.ShouldBindJSON(&body); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
			return
		}
		ok, err := rdb.SetNX(c, "lock:"+c.Param("room"), body.Seller, lease).Result()
		switch {
		case err != nil:
			c.JSON(http.StatusServiceUnavailable, gin.H{"error": err.Error()})
		case !ok:
			c.JSON(http.StatusConflict, gin.H{"status": "held"})
		default:
			c.JSON(http.StatusOK, gin.H{"status": "locked"})
		}
	})
	g.DELETE("/api/:room/lock", func(c *gin.Context) {
		if err := rdb.Del(c, "lock:"+c.Param("room")).Err(); err != nil {
			c.JSON(http.StatusServiceUnavailable, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{"status": "released"})
	})
	return g
}

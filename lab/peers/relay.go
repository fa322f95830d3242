package main

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
)

const relayed = "relayed" // the channel

// relay is the shortest way from a request to a socket of another process through Redis. POST /push
// publishes, and the server with the socket writes what it receives to it. It decides nothing and writes to
// no other socket.
type relay struct {
	rdb    *redis.Client
	socket atomic.Pointer[websocket.Conn]
}

func newRelay(ctx context.Context, addr string) http.Handler {
	r := &relay{rdb: redis.NewClient(&redis.Options{Addr: addr})}
	go r.deliver(ctx)
	g := newGin()
	g.GET("/ws", func(c *gin.Context) {
		if conn, err := websocket.Accept(c.Writer, c.Request, nil); err == nil {
			r.socket.Store(conn)
			<-conn.CloseRead(context.Background()).Done()
		}
	})
	g.POST("/push", func(c *gin.Context) {
		text, err := io.ReadAll(io.LimitReader(c.Request.Body, longestPush))
		if err == nil {
			err = r.rdb.Publish(c, relayed, text).Err()
		}
		if err != nil {
			c.JSON(http.StatusServiceUnavailable, gin.H{"error": err.Error()})
			return
		}
		c.JSON(http.StatusOK, gin.H{})
	})
	return g
}

// deliver writes what is published, until ctx ends.
func (r *relay) deliver(ctx context.Context) {
	heard := r.rdb.Subscribe(ctx, relayed)
	defer func() { _ = heard.Close() }()
	for {
		m, err := heard.ReceiveMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if conn := r.socket.Load(); err == nil && conn != nil {
			_ = conn.Write(ctx, websocket.MessageText, []byte(m.Payload))
		}
	}
}

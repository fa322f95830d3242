package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"
)

const (
	subscriberBuffer = 16
	writeWithin      = 5 * time.Second
	longestPush      = 64 << 10
)

// plain is a WebSocket server as coder/websocket's chat example has it: a handler that blocks and a buffered
// channel for each socket. It tells everybody the same.
type plain struct {
	mu          sync.Mutex
	subscribers map[chan []byte]bool
}

func newPlain() http.Handler {
	p := &plain{subscribers: map[chan []byte]bool{}}
	g := newGin()
	g.GET("/ws", p.subscribe)
	g.POST("/push", p.push)
	return g
}

func (p *plain) subscribe(c *gin.Context) {
	conn, err := websocket.Accept(c.Writer, c.Request, nil)
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := conn.CloseRead(context.Background())
	told := make(chan []byte, subscriberBuffer)
	p.keep(told, true)
	defer p.keep(told, false)
	for {
		select {
		case text := <-told:
			if write(ctx, conn, text) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func write(ctx context.Context, conn *websocket.Conn, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, text)
}

func (p *plain) keep(told chan []byte, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.subscribers[told] = true
		return
	}
	delete(p.subscribers, told)
}

// push tells all; who is slow misses it.
func (p *plain) push(c *gin.Context) {
	text, err := io.ReadAll(io.LimitReader(c.Request.Body, longestPush))
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for told := range p.subscribers {
		select {
		case told <- text:
		default:
		}
	}
	c.JSON(http.StatusOK, gin.H{"told": len(p.subscribers)})
}

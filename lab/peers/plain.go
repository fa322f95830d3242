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

// plain is a WebSocket server like the chat example of coder/websocket: a blocking handler and a buffered
// channel for each socket. It sends the same frame to all.
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
	sent := make(chan []byte, subscriberBuffer)
	p.keep(sent, true)
	defer p.keep(sent, false)
	for {
		select {
		case text := <-sent:
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

func (p *plain) keep(sent chan []byte, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		p.subscribers[sent] = true
		return
	}
	delete(p.subscribers, sent)
}

// push sends a frame to all sockets; a slow one misses it.
func (p *plain) push(c *gin.Context) {
	text, err := io.ReadAll(io.LimitReader(c.Request.Body, longestPush))
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for sent := range p.subscribers {
		select {
		case sent <- text:
		default:
		}
	}
	c.JSON(http.StatusOK, gin.H{"sent": len(p.subscribers)})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/waitroom/waitroom/room"
)

const (
	people   = 8 // in each room
	look     = 150 * time.Millisecond
	hold     = 50 * time.Millisecond
	patience = time.Minute // from a join to the turn, which takes about a second
)

// seller is an honest one, behind a proxy that the server trusts.
type seller struct {
	client      *http.Client
	base, room  string
	id, address string
	session     string
	found       *result
}

// sellers makes all sellers take turns until ctx ends. The channel closes when the last place is over.
func (s *site) sellers(ctx context.Context, found *result) <-chan struct{} {
	done := make(chan struct{})
	var all sync.WaitGroup
	client := from("127.0.0.1")
	for i := range 2 * people {
		one := &seller{client: client, base: s.sellersURL, room: []string{"integration", "coupang"}[i%2],
			id: fmt.Sprint("s-", i), address: fmt.Sprint("198.51.100.", i+1), found: found}
		all.Go(func() {
			for ctx.Err() == nil {
				one.turn()
			}
		})
	}
	go func() {
		all.Wait()
		close(done)
	}()
	return done
}

// turn joins, waits for the turn and completes it, also after the end of the run.
func (s *seller) turn() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s.session = room.NewSession()
	window, begun := s.found.window(), time.Now()
	status, place := s.ask(ctx, "POST", "/lock", fmt.Sprintf(`{"seller_id":%q}`, s.id))
	s.found.joined(window, time.Since(begun))
	if status != http.StatusOK && status != http.StatusAccepted {
		s.found.lose("%s: a join got %d", s.id, status)
		time.Sleep(time.Second)
		return
	}
	for place.Status != "locked" {
		time.Sleep(look)
		status, seen := s.ask(ctx, "GET", "/lock/status", "")
		lives := seen.Me.Status == "waiting" || seen.Me.Status == "locked"
		if ctx.Err() != nil || status == http.StatusOK && !lives {
			s.found.lose("%s: its place became %q (%v)", s.id, seen.Me.Status, ctx.Err())
			return
		}
		place.Status = seen.Me.Status
	}
	time.Sleep(hold)
	if status, _ := s.ask(ctx, "DELETE", "/lock?reason=completed", ""); status != http.StatusOK {
		s.found.lose("%s: the end of its turn got %d", s.id, status)
		return
	}
	s.found.completed()
}

// standing is what a seller needs of an answer.
type standing struct {
	Status string `json:"status"`
	Me     struct {
		Status string `json:"status"`
	} `json:"me"`
}

func (s *seller) ask(ctx context.Context, method, path, body string) (status int, answer standing) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+"/api/"+s.room+path, strings.NewReader(body))
	if err != nil {
		return 0, answer
	}
	req.Header.Set("X-Session-ID", s.session)
	req.Header.Set("X-Forwarded-For", s.address)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, answer
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	_ = json.Unmarshal(text, &answer)
	return resp.StatusCode, answer
}

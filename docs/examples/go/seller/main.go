// Seller joins a room, waits for the lock, and gives it back: go run ./docs/examples/go/seller [seller id].
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/coder/websocket"
	"github.com/google/uuid"
)

var room = cmp.Or(os.Getenv("WAITROOM"), "http://localhost:8080") + "/api/" + cmp.Or(os.Getenv("ROOM"),
	"integration")

// session identifies the seller's place: any program that has it can act for the place, and a call whose
// answer was lost can be repeated with it.
var session = http.Header{"X-Session-Id": {uuid.NewString()}}

// place has the fields that answers and state frames have in common.
type place struct {
	Type     string `json:"type"`
	Status   string `json:"status"`
	Outcome  string `json:"outcome"`
	Position int    `json:"queue_position"`
	Fence    int64  `json:"fence"`
	ClaimBy  *int64 `json:"claim_by"`
}

func main() {
	ctx := context.Background()
	seller := "s-1"
	if len(os.Args) > 1 {
		seller = os.Args[1]
	}
	mine, err := ask(ctx, http.MethodPost, "/lock", map[string]any{"seller_id": seller}) // join
	if err == nil && mine.Status == "waiting" {
		mine, err = wait(ctx)
	}
	if err == nil && mine.ClaimBy != nil {
		_, err = ask(ctx, http.MethodPost, "/lock/claim", map[string]any{"fence": mine.Fence}) // claim
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("locked", mine.Fence)

	// … the work that the lock protects; hand the fence on to it …

	// done: with the fence, so that no other lease is ended by mistake
	ended, err := ask(ctx, http.MethodDelete, fmt.Sprintf("/lock?reason=completed&fence=%d", mine.Fence), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ended.Outcome)
}

// wait reads states until it is the seller's turn. A program that runs for long would reopen the socket when
// it breaks, after a random delay.
func wait(ctx context.Context) (place, error) {
	conn, _, err := websocket.Dial(ctx, room+"/ws", &websocket.DialOptions{HTTPHeader: session})
	if err != nil {
		return place{}, err
	}
	defer conn.CloseNow()
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return place{}, err
		}
		var frame place
		if err := json.Unmarshal(text, &frame); err != nil {
			return place{}, err
		}
		switch {
		case frame.Type == "ping":
			err = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"pong"}`))
		case frame.Type != "state":
		case frame.Status == "locked":
			return frame, nil
		case frame.Status == "waiting":
			fmt.Println("waiting", frame.Position)
		default:
			err = fmt.Errorf("no lock: %s", text)
		}
		if err != nil {
			return place{}, err
		}
	}
}

func ask(ctx context.Context, method, path string, body any) (got place, err error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return got, err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, room+path, sent)
	if err != nil {
		return got, err
	}
	r.Header = session.Clone()
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, text) // a Problem, with a code
	}
	if err != nil {
		return got, err
	}
	return got, json.Unmarshal(text, &got)
}

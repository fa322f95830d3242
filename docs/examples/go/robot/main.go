// Robot takes a turn, asks for a code, uses it and gives the turn back: go run ./docs/examples/go/robot
// [seller id]. It opens no socket: every call may be repeated, so a connection that breaks costs nothing but
// another call.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

var room = cmp.Or(os.Getenv("WAITROOM"), "http://localhost:8080") + "/api/" + cmp.Or(os.Getenv("ROOM"),
	"integration")

// session is one for each robot: whoever has it acts for the place, and so a call whose answer was lost can
// be repeated.
var session = uuid.NewString()

// answer has what is used of all answers.
type answer struct {
	Status, Outcome string
	Position        int `json:"queue_position"`
	Fence           int64
	Asked           int
	Me              *answer
	Judging         bool
	Messages        []struct {
		ID   string `json:"message_id"`
		Code string // "" for null
	}
}

func main() {
	log.SetFlags(0)
	// join, and wait for the turn
	mine := ask("POST", "/lock", fmt.Sprintf(`{"seller_id":%q,"asks":true}`, append(os.Args[1:], "s-1")[0]))
	for mine.Status == "waiting" {
		fmt.Println("waiting", mine.Position)
		time.Sleep(time.Second)
		mine = me()
	}
	if mine.Status != "locked" {
		log.Fatalf("no turn: %s %s", mine.Status, mine.Outcome)
	}
	fmt.Println("locked", mine.Fence)

	// ask: right before the marketplace is asked. A busy number says number_busy until another seller's code can
	// not come any more.
	fmt.Println("asked", ask("POST", "/lock/expect", fmt.Sprintf(`{"fence":%d}`, mine.Fence)).Asked)

	// … ask the marketplace to send the code …

	// code: a turn that a message has ended is "ended" with its message, so the messages are looked at first
	code := ""
	for after := ""; code == ""; {
		got := ask("GET", "/lock/messages?wait=30&after="+url.QueryEscape(after), "")
		for _, m := range got.Messages {
			code, after = cmp.Or(m.Code, code), m.ID
		}
		if code == "" && got.Status == "ended" && !got.Judging { // where it is judging, the code is still checked
			log.Fatalf("no code: the turn is over (%s)", me().Outcome)
		}
	}
	fmt.Println("code", code)

	// … use the code …

	// done: the message has ended the turn already, which is no error
	fmt.Println(ask("DELETE", fmt.Sprintf("/lock?reason=completed&fence=%d", mine.Fence), "").Outcome)
}

// me is how the robot stands, the zero answer where it has no place.
func me() answer { return *cmp.Or(ask("GET", "/lock/status", "").Me, &answer{}) }

// ask repeats a call until it is answered, and where the answer says Retry-After, such as 409 number_busy,
// when that has passed.
func ask(method, path, body string) (got answer) {
	for ; ; time.Sleep(time.Second) {
		r, _ := http.NewRequest(method, room+path, strings.NewReader(body))
		// it asks once only
		r.Header = http.Header{"X-Session-Id": {session}, "Idempotency-Key": {session},
			"Content-Type": {"application/json"}}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch later, _ := strconv.Atoi(resp.Header.Get("Retry-After")); {
		case err != nil:
		case resp.StatusCode < 300 && json.Unmarshal(text, &got) == nil:
			return got
		case later == 0:
			log.Fatalf("%d %s", resp.StatusCode, text) // a Problem, with a code
		default:
			time.Sleep(time.Duration(later-1) * time.Second)
		}
	}
}

package push

import "encoding/json"

// declarative marks a message that a browser can show by itself: Declarative Web Push, in Safari from iOS
// 18.4.
const declarative = 8030

// declared is a Message with the fields of Declarative Web Push. Other browsers pass the whole to the service
// worker, which reads the Message alone.
type declared struct {
	Message
	WebPush      int           `json:"web_push,omitempty"`
	Notification *notification `json:"notification,omitempty"`
}

type notification struct {
	Title    string `json:"title"`
	Body     string `json:"body"`
	Navigate string `json:"navigate"` // an absolute URL
	Lang     string `json:"lang"`
	Tag      string `json:"tag"`
}

// write returns a message's JSON. Without a site, the address to open is unknown, and only the service worker
// can show the message.
func (m Message) write(site string) ([]byte, error) {
	d := declared{Message: m}
	if site != "" && len(m.Paths) > 0 {
		d.WebPush, d.Notification = declarative, &notification{m.Title, m.Plain, site + m.Paths[0], m.Lang, m.Tag}
	}
	return json.Marshal(d)
}

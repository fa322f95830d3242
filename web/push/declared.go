package push

import "encoding/json"

// declarative marks a message that a browser can show by itself: Declarative Web Push, in Safari from iOS 18.4.
const declarative = 8030

// declared is a Message with what such a browser shows. All others hand the whole to the service worker, which reads the Message alone.
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

// write returns the JSON of a message. Without a site, the address to open is not known, and only the service worker can show it.
func (m Message) write(site string) ([]byte, error) {
	d := declared{Message: m}
	if site != "" && len(m.Paths) > 0 {
		d.WebPush, d.Notification = declarative, &notification{m.Title, m.Plain, site + m.Paths[0], m.Lang, m.Tag}
	}
	return json.Marshal(d)
}

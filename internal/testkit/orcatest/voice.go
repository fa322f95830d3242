package orcatest

import (
	"bufio"
	"fmt"
	"html"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// voice is a speech dispatcher that records each text instead of speaking it. It serves SSIP, the protocol
// of Debian's speech-dispatcher, and speaks in no time.
type voice struct {
	listener net.Listener

	mu   sync.Mutex
	said []Spoken
}

// Spoken is a text that Orca gave to the voice.
type Spoken struct {
	At   time.Time
	Text string
}

// answers are those to commands whose answer Orca reads. All other commands are acknowledged.
var answers = map[string]string{
	"HISTORY GET CLIENT_ID": "245-1\r\n245 OK CLIENT ID SENT",
	"LIST OUTPUT_MODULES":   "250-record\r\n250 OK MODULE LIST SENT",
	"LIST SYNTHESIS_VOICES": "249-record\tko\tnone\r\n249 OK VOICE LIST SENT",
	"GET OUTPUT_MODULE":     "251-record\r\n251 OK GET RETURNED",
	"GET LANGUAGE":          "251-ko\r\n251 OK GET RETURNED",
	"GET RATE":              "251-0\r\n251 OK GET RETURNED",
	"GET PITCH":             "251-0\r\n251 OK GET RETURNED",
	"GET VOLUME":            "251-0\r\n251 OK GET RETURNED",
	"GET PUNCTUATION":       "251-none\r\n251 OK GET RETURNED",
}

func (v *voice) serve() {
	for {
		conn, err := v.listener.Accept()
		if err != nil {
			return
		}
		go v.talk(conn)
	}
}

func (v *voice) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var err error
		switch command := lines.Text(); {
		case command == "SPEAK":
			if _, err = fmt.Fprint(conn, "230 OK RECEIVING DATA\r\n"); err == nil {
				err = v.spoken(conn, read(lines))
			}
		case command == "QUIT":
			return
		case answers[command] != "":
			_, err = fmt.Fprint(conn, answers[command], "\r\n")
		default:
			_, err = fmt.Fprint(conn, "208 OK\r\n")
		}
		if err != nil {
			return
		}
	}
}

// read returns the lines of a text; a single dot ends it.
func read(lines *bufio.Scanner) string {
	var text []string
	for lines.Scan() && lines.Text() != "." {
		text = append(text, strings.TrimPrefix(lines.Text(), "."))
	}
	return strings.Join(text, " ")
}

var markup = regexp.MustCompile(`<[^>]*>`)

// spoken records a text, and reports that it was spoken.
func (v *voice) spoken(conn net.Conn, text string) error {
	text = strings.TrimSpace(html.UnescapeString(markup.ReplaceAllString(text, "")))
	v.mu.Lock()
	v.said = append(v.said, Spoken{time.Now(), text})
	n := len(v.said)
	v.mu.Unlock()
	_, err := fmt.Fprintf(conn, "225-%d\r\n225 OK MESSAGE QUEUED\r\n701-%[1]d\r\n701-1\r\n701 BEGIN\r\n"+
		"702-%[1]d\r\n702-1\r\n702 END\r\n", n)
	return err
}

func (v *voice) all() []Spoken {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.said)
}

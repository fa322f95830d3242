package wire

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// BySupport is what support has set for a whole room. Each part holds until its time and is then as if it
// were absent.
type BySupport struct {
	Ends        int64  `json:"ends"`                   // when the last part ends
	Notice      string `json:"notice,omitempty"`       // an Announcement, as Encode returns it
	NoticeUntil int64  `json:"notice_until,omitempty"` // until when every page shows it
	// OpenUntil is until when the room takes new places outside its hours; 0 = it does not.
	OpenUntil int64 `json:"open_until,omitempty"`
	// ClosedUntil is until when the room takes none, whatever its hours are; 0 = they decide.
	ClosedUntil int64 `json:"closed_until,omitempty"`
}

// ShowsAs reports whether two rooms are equal in what every page shows of them beside the line.
func (r *Room) ShowsAs(o *Room) bool {
	return r.Public == o.Public && r.Support.Equal(o.Support)
}

// Equal reports whether both are the same; nil is nothing.
func (s *BySupport) Equal(o *BySupport) bool { return s == o || s != nil && o != nil && *s == *o }

// Announcement is a line of support for all readers of a room, in one or more languages.
type Announcement struct {
	Texts []Wording `json:"texts"` // one at least; the first is for readers of all other languages
	Level string    `json:"level"` // LevelInfo or LevelWarning
}

// Wording is a text in one language.
type Wording struct {
	Lang string `json:"lang"` // a BCP 47 tag
	Text string `json:"text"`
}

// The levels of an announcement.
const (
	LevelInfo    = "info"
	LevelWarning = "warning"
)

// Notice is an announcement as one reader gets it.
type Notice struct {
	Text  string `json:"text"`
	Level string `json:"level"`
	Until string `json:"until"` // RFC 3339, in UTC
}

// String returns all its texts, each in a line after its language.
func (a Announcement) String() string {
	lines := make([]string, len(a.Texts))
	for i, w := range a.Texts {
		lines[i] = w.Lang + ": " + w.Text
	}
	return strings.Join(lines, "\n")
}

// Encode returns the announcement as a text that needs no escaping.
func (a Announcement) Encode() string {
	text, err := json.Marshal(a)
	if err != nil {
		return "" // strings always marshal
	}
	return base64.StdEncoding.EncodeToString(text)
}

// Announced returns what support announces at a time, in unix ms; nil if that is nothing.
func (s *BySupport) Announced(now int64) *Announcement {
	if s == nil || now >= s.NoticeUntil {
		return nil
	}
	text, err := base64.StdEncoding.DecodeString(s.Notice)
	a := new(Announcement)
	if err != nil || json.Unmarshal(text, a) != nil || len(a.Texts) == 0 {
		return nil // a later version may have another form
	}
	return a
}

// NoticeIn returns the announcement at a time, in unix ms, for a reader of a language; nil if there is none.
func (s *BySupport) NoticeIn(lang string, now int64) *Notice {
	a := s.Announced(now)
	if a == nil {
		return nil
	}
	text := a.Texts[0].Text
	for _, w := range a.Texts {
		if w.Lang == lang {
			text = w.Text
		}
	}
	until := time.UnixMilli(s.NoticeUntil).UTC().Format("2006-01-02T15:04:05.000Z")
	return &Notice{text, a.Level, until}
}

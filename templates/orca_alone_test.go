//go:build alone

package templates_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/orcatest"
	"github.com/waitroom/waitroom/internal/testkit/webdriver"
	"github.com/waitroom/waitroom/templates"
)

// linePace is how long a place that is not near yet goes unsaid after another one, less the time that Orca
// takes.
const linePace = 19 * time.Second

// listener is a seller who hears the page.
type listener struct {
	t      *testing.T
	room   *fakeRoom
	page   *webdriver.Browser
	reader *orcatest.Reader
	heard  int // how many texts the journey so far is about
	steps  []heardStep
}

// heardStep is an event of the journey, and how many texts were said before it.
type heardStep struct {
	event string
	from  int
}

func (l *listener) step(event string) { l.steps = append(l.steps, heardStep{event, l.heard}) }

// hears waits until Orca has said texts that contain the parts, in any order: it hears of the focus and of
// texts apart.
func (l *listener) hears(parts ...string) {
	l.t.Helper()
	before := l.heard
	for _, part := range parts {
		l.heard = max(l.heard, l.reader.Says(before, part))
	}
}

// focuses moves to an element, and hears which.
func (l *listener) focuses(id, name string) {
	l.t.Helper()
	l.page.Until(fmt.Sprintf(`(document.getElementById(%q).focus(), true)`, id))
	l.hears(name)
}

// presses moves to a button, and presses it by the keyboard.
func (l *listener) presses(id, name string) {
	l.t.Helper()
	l.focuses(id, name+" push button")
	l.reader.Press("space")
}

// keepsConnected sends pings, as a server does: a page that hears nothing for long connects anew, and says so.
func (l *listener) keepsConnected() {
	for tick := time.NewTicker(10 * time.Second); ; {
		select {
		case now := <-tick.C:
			l.room.write(l.t, fmt.Appendf(nil, `{"type":"ping","server_time":%d}`, now.UnixMilli()))
		case <-l.t.Context().Done():
			return
		}
	}
}

func (l *listener) turn() object {
	return object{"status": "locked", "queue_position": nil, "fence": 77, "estimated_wait": nil,
		"maximum_wait": nil, "lease_expires_at": time.Now().Add(10 * time.Minute).UnixMilli(),
		"codes": object{"asked": 0, "open": 0, "ask_after": nil}}
}

func (l *listener) place(n int) object {
	return object{"status": "waiting", "ticket": 9, "queue_position": n, "queue_length": 12,
		"estimated_wait": 300 + 60*n, "maximum_wait": 600 + 60*n,
		"lease_expires_at": time.Now().Add(10 * time.Minute).UnixMilli()}
}

// TestOrcaSaysEachThingOnceAndInTime has Debian's Orca read Firefox along a seller's journey.
// testdata/orca.txt has its words.
func TestOrcaSaysEachThingOnceAndInTime(t *testing.T) {
	room, reader := startFakeRoom(t), orcatest.Start(t)
	room.view.Info = templates.RoomInfo{Phone: "010-0000-0000", ReturnURL: room.server.URL + "/rooms/integration"}
	l := &listener{t: t, room: room, reader: reader,
		page: webdriver.Firefox(t, webdriver.Config{Desktop: reader.Env})}
	go l.keepsConnected()
	l.page.Open(room.server.URL + "/rooms/integration?lang=ko")
	l.page.Until(`document.body?.dataset.connection === "open"`)
	l.hears("실시간 연결됨")
	reader.Press("F6") // from the address to the page
	l.hears("인증 대기실")
	l.joins()
	l.comesNearer()
	l.getsTheTurn()
	l.asksBeforeTheEnd()
	l.getsTheCode()

	said := reader.Said()[:l.heard]
	requirePace(t, said)
	requireOnce(t, plain(said[l.steps[0].from:]))
	got := l.written(said)
	if path := os.Getenv("ORCA_WORDS"); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/orca.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), got, "ORCA_WORDS=FILE writes what Orca said")
}

// written returns the texts by events, those of the focus first.
func (l *listener) written(said []orcatest.Spoken) string {
	var text strings.Builder
	for i, step := range l.steps {
		end := len(said)
		if i+1 < len(l.steps) {
			end = l.steps[i+1].from
		}
		words := plain(said[step.from:end])
		slices.SortStableFunc(words, func(a, b string) int { return ofFocus(a) - ofFocus(b) })
		fmt.Fprintf(&text, "# %s\n%s\n\n", step.event, strings.Join(words, "\n"))
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func ofFocus(text string) int {
	if strings.HasSuffix(text, "heading level 1.") {
		return 0
	}
	return 1
}

func (l *listener) joins() {
	l.step("fills in the form")
	l.focuses("seller-id", "판매자 ID")
	l.page.Until(`(document.getElementById("seller-id").value = "s-1", true)`)
	l.room.then(l.place(12))
	l.presses("join", "준비 완료")
	l.step("is in line")
	l.hears("12번째 heading", "지금 12번째예요")
}

func (l *listener) comesNearer() {
	l.step("the line moves by one, five times")
	for n := 11; n > 6; n-- {
		l.room.push(l.t, l.place(n))
	}
	l.hears("지금 7번째예요")
	l.step("third, then next")
	l.room.push(l.t, l.place(3))
	l.hears("지금 3번째예요")
	l.room.push(l.t, l.place(1))
	l.hears("바로 다음 차례예요")
}

func (l *listener) getsTheTurn() {
	l.step("the turn comes")
	l.room.push(l.t, l.turn())
	l.hears("지금 차례예요 heading", "지금부터 ")
	l.step("asks for a code")
	l.presses("ask", "이제 요청할게요")
	l.step("may ask the marketplace")
	l.hears("요청해 주세요 heading", "문자가 오면")
}

// asksBeforeTheEnd opens the question of a press on cancel.
func (l *listener) asksBeforeTheEnd() {
	l.step("presses cancel")
	l.presses("cancel", "취소")
	l.hears("이번 차례를 취소할까요")
	l.step("a text without a code comes under the question")
	l.room.send(l.t, object{"type": "sms", "message_id": "m-1", "text": "점검 안내", "code": nil,
		"received_at": time.Now().UnixMilli()})
	l.hears("점검 안내")
	l.step("goes on, then presses cancel again")
	l.reader.Press("space") // the answer with the focus
	l.hears("취소 push button")
	l.reader.Press("space")
	l.hears("이번 차례를 취소할까요")
}

// getsTheCode is the usual end: the code's frame, and that of the end right after it.
func (l *listener) getsTheCode() {
	l.step("the code comes under the question, and ends the turn")
	l.room.send(l.t, object{"type": "sms", "message_id": "m-2", "text": "인증번호 482103", "code": "482103",
		"received_at": time.Now().UnixMilli()})
	l.room.push(l.t, object{"status": "ended", "outcome": "completed", "fence": nil, "lease_expires_at": nil})
	l.hears("4 8 2 1 0 3", "도착했어요 heading", "마켓플레이스에 입력하면 끝나요")
	l.step("presses that the code is entered")
	l.presses("entered", "인증 완료")
	l.step("goes back")
	l.hears("인증을 마쳤어요 heading")
	l.focuses("return", "돌아가기")
}

// requirePace requires 20 s between places that are not near yet.
func requirePace(t *testing.T, said []orcatest.Spoken) {
	t.Helper()
	far := regexp.MustCompile(`지금 (?:[4-9]|1[0-9])번째예요`)
	var last time.Time
	for _, one := range said {
		if !far.MatchString(one.Text) {
			continue
		}
		require.Greater(t, one.At.Sub(last), linePace, one.Text)
		last = one.At
	}
	require.False(t, last.IsZero())
}

var (
	hangul  = regexp.MustCompile(`\p{Hangul}`)
	minutes = regexp.MustCompile(`\d+분(?: \d+초)?`)
	percent = regexp.MustCompile(`\d+ ?(?:%|percent|퍼센트)`)
)

// plain returns the texts of a page, with N for minutes. Orca's own words differ by its version.
func plain(said []orcatest.Spoken) (words []string) {
	for _, one := range said {
		if hangul.MatchString(one.Text) || percent.MatchString(one.Text) {
			text := strings.ReplaceAll(one.Text, "push button", "button")
			words = append(words, minutes.ReplaceAllString(text, "N분"))
		}
	}
	return words
}

// requireOnce requires that no sentence follows itself, and that no progress is said.
func requireOnce(t *testing.T, words []string) {
	t.Helper()
	before := ""
	for _, text := range words {
		require.NotRegexp(t, percent, text)
		for _, sentence := range strings.Split(strings.TrimSuffix(text, "."), ". ") {
			sentence = strings.TrimSuffix(sentence, " heading level 1")
			require.NotEqual(t, before, sentence, "Orca repeats itself: %q", words)
			before = sentence
		}
	}
}

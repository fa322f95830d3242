package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

func TestSupportAnnouncesToAllReadersOfARoomOnEveryReplica(t *testing.T) {
	o := openOffice(t)
	kim := newAgent(t, o.a.URL(), "kim")
	waiting := newSeller(t, o.b.URL(), "s-1")
	waiting.joinRoom("integration", "")
	conn := open(t, o.b.URL())
	notice := func(conn *websocket.Conn) string {
		for {
			frame := next(t, conn)
			if frame["type"] != "state" {
				continue
			}
			if n, ok := frame["notice"].(map[string]any); ok {
				return fmt.Sprint(n["text"], " ", n["level"], " ", n["until"])
			}
			return ""
		}
	}
	require.Empty(t, notice(conn))
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	kim.mustAct("announce", fmt.Sprintf(`{"text":{"ko":"문자가 늦어져요","en":"Texts are <late>."},"level":"warning",`+
		`"until":%q,"reason":"the carrier says so"}`, until.Format(time.RFC3339)))
	ends := until.Format("2006-01-02T15:04:05.000Z")
	for notice(conn) != "문자가 늦어져요 warning "+ends {
	}
	for lang, text := range map[string]string{"en-GB": "Texts are <late>.", "ko": "문자가 늦어져요", "ja": "문자가 늦어져요"} {
		status := waiting.ask(http.MethodGet, "/api/integration/lock/status", "", "Accept-Language", lang)
		require.Equal(t, map[string]any{"text": text, "level": "warning", "until": ends}, status.json["notice"], lang)
	}
	page := waiting.ask(http.MethodGet, "/rooms/integration?lang=en", "", "Accept", "text/html").body
	require.Contains(t, page, `data-level="warning">Texts are &lt;late&gt;.</p>`)
	row := kim.history("", func(r reply) bool { return len(r.list("actions")) == 1 }).list("actions")[0].(map[string]any)
	require.Equal(t, []any{"announce", "ko: 문자가 늦어져요\nen: Texts are <late>.", ends, "the carrier says so"},
		[]any{row["action"], row["text"], row["until"], row["reason"]})

	later := start(t, o.a.cfg)
	english := open(t, later.URL(), "Accept-Language", "en")
	require.Equal(t, "Texts are <late>. warning "+ends, notice(english), "also after a restart")
	kim.mustAct("announce", `{"text":null,"reason":"it is over"}`)
	for notice(english) != "" {
	}
	for notice(conn) != "" {
	}
}

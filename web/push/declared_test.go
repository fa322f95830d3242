package push

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The members are those of the Push API's declarative push message: web_push is 8030, title and navigate are
// required.
func TestBrowserCanShowAMessageWithoutTheServiceWorker(t *testing.T) {
	m := Message{Title: "Your turn", Body: "by {time}", Plain: "Go back", Until: 2, Now: 1, Room: "a", Lang: "en",
		Tag: "waitroom:a", Paths: []string{"/rooms/a", "/"}}
	text, err := m.write("https://wait.example")
	require.NoError(t, err)
	require.JSONEq(t, `{"title":"Your turn","body":"by {time}","until":2,"server_time":1,"room":"a","lang":"en","tag":"waitroom:a","paths":["/rooms/a","/"],"web_push":8030,
		"notification":{"title":"Your turn","body":"Go back","navigate":"https://wait.example/rooms/a","lang":"en","tag":"waitroom:a"}}`, string(text))

	text, err = m.write("")
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(text, &members))
	require.NotContains(t, members, "web_push", "there is no address to open")
	require.Equal(t, "by {time}", members["body"])
}

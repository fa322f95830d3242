package server

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/room"
)

// reply is an answer with its whole body.
type reply struct {
	*http.Response
	body string
	json map[string]any // nil where the body is no JSON object
}

func (r reply) text(field string) string {
	s, _ := r.json[field].(string)
	return s
}

func (r reply) number(field string) int64 {
	n, _ := r.json[field].(json.Number)
	i, _ := n.Int64()
	return i
}

func (r reply) me() reply {
	me, _ := r.json["me"].(map[string]any)
	return reply{json: me}
}

// seller is an API client with a session of its own.
type seller struct {
	t       *testing.T
	http    *http.Client
	base    string
	session string // "" = none is sent
	id      string
	host    string // what the server is called; "" = as in base
	token   string // of an integration; "" = none is sent
}

func newSeller(t *testing.T, base, id string) *seller {
	return &seller{t: t, http: newHTTP(t), base: base, session: room.NewSession(), id: id}
}

// ask sends a request; headers are name, value, name, value …
func (s *seller) ask(method, path, body string, headers ...string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Host = s.host
	if s.session != "" {
		req.Header.Set("X-Session-ID", s.session)
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.http.Do(req)
	require.NoError(s.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	r := reply{Response: resp, body: string(text)}
	decoder := json.NewDecoder(strings.NewReader(r.body))
	decoder.UseNumber()
	_ = decoder.Decode(&r.json) // a page is none
	return r
}

func (s *seller) join() reply { return s.joinRoom("integration", "") }

func (s *seller) joinRoom(id, query string) reply {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"seller_id": s.id})
	require.NoError(s.t, err)
	return s.ask(http.MethodPost, "/api/"+id+"/lock"+query, string(body), "Content-Type", "application/json")
}

func (s *seller) leave(query string) reply {
	s.t.Helper()
	return s.ask(http.MethodDelete, "/api/integration/lock"+query, "")
}

func (s *seller) status() reply {
	s.t.Helper()
	r := s.ask(http.MethodGet, "/api/integration/lock/status", "")
	require.Equal(s.t, http.StatusOK, r.StatusCode, r.body)
	return r
}

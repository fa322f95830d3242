package server

import (
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The client sends requests again and again and reads nothing, until the kernel's buffers are full of
// answers.
func TestSocketThatTakesNoAnswersIsClosed(t *testing.T) {
	s, err := New(t.Context(), config(t, "--rate-limit", "0"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Positive(t, s.http.WriteTimeout)
	s.http.WriteTimeout = 100 * time.Millisecond
	r := run(t, s)
	conn, err := net.Dial("tcp", r.Addr())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	for err == nil {
		_, err = conn.Write([]byte("GET /support/sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}
	var late net.Error
	require.False(t, errors.As(err, &late) && late.Timeout(), "it is kept: %v", err)
}

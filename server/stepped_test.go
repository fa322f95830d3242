package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Of a cluster each room is told of a step of its shard's clock.
func TestStepOfTheClockIsOneLineAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &Server{log: slog.New(slog.NewTextHandler(&log, nil))}
		for range 1000 {
			s.stepped(20 * time.Second)
		}
		require.Equal(t, 1, strings.Count(log.String(), "ahead=20s"))
		time.Sleep(time.Minute)
		s.stepped(5 * time.Second)
		require.Equal(t, 1, strings.Count(log.String(), "ahead=5s"))
	})
}

package server

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestARepeatingFailureIsLoggedOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := newThrottledLog(slog.New(slog.NewTextHandler(&out, nil)), 10*time.Second)
		lines := func() int { return strings.Count(out.String(), "is broken") }

		for range 9 {
			log.failed("is broken", errors.New("why"))
			time.Sleep(time.Second)
		}
		require.Equal(t, 1, lines(), "the first is logged at once")
		time.Sleep(time.Second)
		log.failed("is broken", errors.New("why"))
		require.Equal(t, 2, lines())
	})
}

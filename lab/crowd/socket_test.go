package crowd

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFramesBeginBehindAnAnswersHeadHoweverLongItsLinesAre(t *testing.T) {
	for length := readBuffer - 3; length < readBuffer+3; length++ {
		text := fmt.Sprintf("HTTP/1.1 101 Switching Protocols\r\n%s\r\nUpgrade: websocket\r\n\r\nframe",
			"X: "+strings.Repeat("x", length-3))
		s := &Socket{r: bufio.NewReaderSize(strings.NewReader(text), readBuffer)}
		status, err := s.answer()
		require.NoError(t, err)
		require.Equal(t, 101, status)
		rest, err := s.r.Peek(len("frame"))
		require.NoError(t, err)
		require.Equal(t, "frame", string(rest), "a line of %d", length)
	}
}

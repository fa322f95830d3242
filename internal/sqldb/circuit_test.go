package sqldb

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnOutageIsReportedOnceEachTimeItBegins(t *testing.T) {
	var reported []error
	refused, gone := errors.New("refused"), errors.New("gone")
	c := &circuit{now: time.Now}
	c.leave(errors.New("while it is opened"), false)
	c.wrote()
	c.onOpen(func(err error) { reported = append(reported, err) })
	for range 3 {
		c.leave(refused, false)
		require.False(t, c.probed(gone, c.count()))
	}
	require.Equal(t, []error{refused}, reported)
	require.True(t, c.wrote())
	c.fail(gone)
	require.Equal(t, []error{refused, gone}, reported)
}

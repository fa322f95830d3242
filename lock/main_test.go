package lock_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/waitroom/waitroom/lock"
)

const long = time.Minute // a wait or a lease that does not run out in a test

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKey(t testing.TB, parts ...string) lock.Key {
	t.Helper()
	key, err := lock.NewKey(parts...)
	require.NoError(t, err)
	return key
}

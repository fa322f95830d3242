package server

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/pgtest"
	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
)

func TestLedgerIsWholeBehindAPoolerAndTheDoctorFindsItWell(t *testing.T) {
	t.Parallel() // it waits
	for mode, size := range map[string]int{"session": 20, "transaction": 2} {
		t.Run(mode, func(t *testing.T) {
			cfg := sound(t, "--redis-url", redistest.StartKept(t).URL(), "--public-url", "",
				"--database-url", pgtest.Pooler(t, pgtest.Start(t).URL(), "pool_mode = "+mode,
					fmt.Sprint("default_pool_size = ", size)))
			report, well := diagnosed(t, cfg)
			require.True(t, well, report)
			one, other := start(t, cfg), start(t, cfg)
			a := newSeller(t, one.URL(), "a")
			require.Equal(t, http.StatusOK, a.join().StatusCode)
			require.Equal(t, http.StatusOK, a.leave("").StatusCode)
			testproc.Until(t, patience, func() error { return recorded(t, one, 1) })
			testproc.Until(t, patience, func() error {
				if checks := readiness(t, newSeller(t, other.URL(), "b"), http.StatusOK); checks["ledger"] != "ok" {
					return fmt.Errorf("readyz: %v", checks)
				}
				return nil
			})
		})
	}
}
